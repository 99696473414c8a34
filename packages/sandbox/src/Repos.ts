/**
 * All repositories as one layer.
 *
 * @since 0.1.0
 */
import * as Layer from "effect/Layer"
import { AccessRequestsRepo } from "./access/AccessRequestsRepo.js"
import { AccountsRepo } from "./access/AccountsRepo.js"
import { ArrivalsRepo } from "./access/ArrivalsRepo.js"
import { KeysRepo } from "./access/KeysRepo.js"
import { ChatRepo } from "./areas/chat/ChatRepo.js"
import { MediaRepo } from "./areas/media/MediaRepo.js"
import { PostsRepo } from "./areas/posts/PostsRepo.js"
import { StoreRepo } from "./areas/store/StoreRepo.js"
import { StoriesRepo } from "./areas/stories/StoriesRepo.js"
import { MetaRepo } from "./storage/MetaRepo.js"
import type { Sql } from "./storage/Sql.js"

/** @since 0.1.0 @category models */
export type Repos =
  | AccessRequestsRepo
  | AccountsRepo
  | ArrivalsRepo
  | ChatRepo
  | KeysRepo
  | MediaRepo
  | MetaRepo
  | PostsRepo
  | StoreRepo
  | StoriesRepo

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Repos, never, Sql> = Layer.mergeAll(
  AccessRequestsRepo.Default,
  AccountsRepo.Default,
  ArrivalsRepo.Default,
  ChatRepo.Default,
  KeysRepo.Default,
  MediaRepo.Default,
  MetaRepo.Default,
  PostsRepo.Default,
  StoreRepo.Default,
  StoriesRepo.Default
)
