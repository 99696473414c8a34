/**
 * All repositories.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as AccessRequestsRepo from "./access/AccessRequestsRepo.js"
import * as AccountsRepo from "./access/AccountsRepo.js"
import * as ArrivalsRepo from "./access/ArrivalsRepo.js"
import * as KeysRepo from "./access/KeysRepo.js"
import * as ChatRepo from "./areas/chat/ChatRepo.js"
import * as MediaRepo from "./areas/media/MediaRepo.js"
import * as PostsRepo from "./areas/posts/PostsRepo.js"
import * as StoreRepo from "./areas/store/StoreRepo.js"
import * as StoriesRepo from "./areas/stories/StoriesRepo.js"
import * as MetaRepo from "./storage/MetaRepo.js"
import type { Sql } from "./storage/Sql.js"

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
export const make: Effect.Effect<Context.Context<Repos>, never, Sql> = Effect.context<Repos>().pipe(
  Effect.provideServiceEffect(AccessRequestsRepo.AccessRequestsRepo, AccessRequestsRepo.make),
  Effect.provideServiceEffect(AccountsRepo.AccountsRepo, AccountsRepo.make),
  Effect.provideServiceEffect(ArrivalsRepo.ArrivalsRepo, ArrivalsRepo.make),
  Effect.provideServiceEffect(KeysRepo.KeysRepo, KeysRepo.make),
  Effect.provideServiceEffect(ChatRepo.ChatRepo, ChatRepo.make),
  Effect.provideServiceEffect(MediaRepo.MediaRepo, MediaRepo.make),
  Effect.provideServiceEffect(PostsRepo.PostsRepo, PostsRepo.make),
  Effect.provideServiceEffect(StoreRepo.StoreRepo, StoreRepo.make),
  Effect.provideServiceEffect(StoriesRepo.StoriesRepo, StoriesRepo.make),
  Effect.provideServiceEffect(MetaRepo.MetaRepo, MetaRepo.make)
)
