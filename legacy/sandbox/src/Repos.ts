/**
 * All repositories.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as AccessRequestsRepo from "./access/AccessRequestsRepo.ts"
import * as AccountsRepo from "./access/AccountsRepo.ts"
import * as ArrivalsRepo from "./access/ArrivalsRepo.ts"
import * as KeysRepo from "./access/KeysRepo.ts"
import * as ChatRepo from "./areas/chat/ChatRepo.ts"
import * as MediaRepo from "./areas/media/MediaRepo.ts"
import * as PostsRepo from "./areas/posts/PostsRepo.ts"
import * as StoreRepo from "./areas/store/StoreRepo.ts"
import * as StoriesRepo from "./areas/stories/StoriesRepo.ts"
import { service, together } from "./Services.ts"
import * as MetaRepo from "./storage/MetaRepo.ts"
import type { Sql } from "./storage/Sql.ts"

/** @since 0.1.0 @category models */
export type Repos =
  | AccessRequestsRepo.AccessRequestsRepo
  | AccountsRepo.AccountsRepo
  | ArrivalsRepo.ArrivalsRepo
  | KeysRepo.KeysRepo
  | ChatRepo.ChatRepo
  | MediaRepo.MediaRepo
  | PostsRepo.PostsRepo
  | StoreRepo.StoreRepo
  | StoriesRepo.StoriesRepo
  | MetaRepo.MetaRepo

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Context.Context<Repos>, never, Sql> = together(
  service(AccessRequestsRepo.AccessRequestsRepo, AccessRequestsRepo.make),
  service(AccountsRepo.AccountsRepo, AccountsRepo.make),
  service(ArrivalsRepo.ArrivalsRepo, ArrivalsRepo.make),
  service(KeysRepo.KeysRepo, KeysRepo.make),
  service(ChatRepo.ChatRepo, ChatRepo.make),
  service(MediaRepo.MediaRepo, MediaRepo.make),
  service(PostsRepo.PostsRepo, PostsRepo.make),
  service(StoreRepo.StoreRepo, StoreRepo.make),
  service(StoriesRepo.StoriesRepo, StoriesRepo.make),
  service(MetaRepo.MetaRepo, MetaRepo.make)
)
