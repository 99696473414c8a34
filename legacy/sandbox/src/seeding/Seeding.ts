/**
 * Seeding of a sandbox: accounts, keys, relations, products, orders and conversations, in addition to what the
 * interface can create. It fails with the errors of the interface.
 *
 * @since 0.1.0
 */
import type { AccessTransition } from "@plaza-legacy/domain/DeveloperAccess"
import type { Conflict, NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import type { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { AccessForm, AccessRequest } from "../access/AccessRequests.ts"
import { AccessRequests } from "../access/AccessRequests.ts"
import type { Relation } from "../access/AccountsRepo.ts"
import type { CreatedKey } from "../access/Keys.ts"
import { Keys } from "../access/Keys.ts"
import { RateWindow } from "../access/RateWindow.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import { MediaRepo } from "../areas/media/MediaRepo.ts"
import type { PostsPolicy } from "../areas/posts/PostsPolicy.ts"
import * as ProfilesSeeding from "../areas/profiles/ProfilesSeeding.ts"
import * as StoreSeeding from "../areas/store/StoreSeeding.ts"
import type { CurrentAssumptions } from "../Assumptions.ts"
import * as ReadStateSnapshot from "../control/ReadStateSnapshot.ts"
import type { StateSnapshot } from "../control/StateSnapshot.ts"
import { Commits } from "../http/Commits.ts"
import { Faults } from "../http/Faults.ts"
import { RequestLog } from "../http/RequestLog.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { LateCommits } from "../latitude/LateCommits.ts"
import type { Repos } from "../Repos.ts"
import * as Database from "../storage/Database.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"
import { Sql } from "../storage/Sql.ts"
import { VirtualClock } from "../VirtualClock.ts"
import * as ContentSeeding from "./ContentSeeding.ts"
import type { Fixtures } from "./Fixtures.ts"
import * as InitialData from "./InitialData.ts"
import * as SeedData from "./SeedData.ts"
import * as SeedFixtures from "./SeedFixtures.ts"
import type * as Models from "./SeedingModels.ts"

/**
 * The seeding operations. `accountId` defaults to the seeded shop.
 *
 * @since 0.1.0
 * @category models
 */
export interface SeedingOperations {
  /** Creates an account. By default it has a photo, a cover and granted access. */
  readonly createAccount: (
    account?: Models.NewAccount
  ) => Effect.Effect<{ readonly id: ProfileId; readonly username: Username }, Conflict | ValidationError>
  /** Changes the photo, the cover and the availability of an account. */
  readonly setProfile: (accountId: string, change: Models.ProfileChange) => Effect.Effect<void, NotFound>
  /** Submits a request for developer access. */
  readonly requestAccess: (
    accountId: string,
    form: AccessForm
  ) => Effect.Effect<AccessRequest, NotFound | Conflict | ValidationError>
  /** Approves or declines a request, as the operator does. An approval grants the access. */
  readonly decideAccess: (
    requestId: string,
    decision: "approve" | "decline"
  ) => Effect.Effect<AccessRequest, NotFound | Conflict>
  /** Applies an operator's transition to the developer access of an account. */
  readonly setAccess: (accountId: string, transition: AccessTransition) => Effect.Effect<void, NotFound | Conflict>
  /** Creates a key (default: with all scopes). An account can have at most 5 active keys. */
  readonly createKey: (accountId: string, options?: Models.NewKey) => Effect.Effect<CreatedKey, NotFound | Conflict | ValidationError>
  /** Revokes a key by its id. */
  readonly revokeKey: (keyId: string) => Effect.Effect<void, NotFound>
  /** Changes the relation of the first account to the second. Omitted fields keep their value. */
  readonly setRelation: (from: string, to: string, relation: Partial<Relation>) => Effect.Effect<void, NotFound>
  /** Creates a product of a store, or replaces the one with this id. */
  readonly setProduct: (product: Models.NewProduct) => Effect.Effect<ProductId, NotFound | ValidationError>
  /** Creates an order (default: not shipped), or replaces the one with this id. */
  readonly setOrder: (order: Models.NewOrder) => Effect.Effect<OrderId, NotFound | ValidationError>
  /** Creates a post of an account. */
  readonly createPost: (post: Models.NewPost) => Effect.Effect<PostId, NotFound | ValidationError>
  /** Creates a conversation between two accounts. */
  readonly createConversation: (
    conversation: Models.NewConversation
  ) => Effect.Effect<ConversationId, NotFound | ValidationError>
  /** Adds fixtures to the data: all of them or, if one fails, none. */
  readonly addFixtures: (fixtures: Fixtures) => Effect.Effect<void, NotFound | Conflict | ValidationError>
}

/**
 * Seeding, the state snapshot and the reset.
 *
 * @since 0.1.0
 * @category services
 */
export class Seeding extends Context.Tag("@plaza-legacy/sandbox/Seeding")<Seeding, {
  readonly operations: SeedingOperations
  readonly state: Effect.Effect<StateSnapshot>
  readonly seed: Effect.Effect<number>
  /** Restores the initial data and the time of the outer Clock, and clears faults, rate counters and the logs. */
  readonly reset: Effect.Effect<void>
}>() {}

type Services =
  | Sql
  | AccessRequests
  | Repos
  | PostsPolicy
  | CurrentAssumptions
  | Commits
  | CurrentLatitude
  | Keys
  | Faults
  | LateCommits
  | MediaFiles
  | RateWindow
  | RequestLog
  | VirtualClock

const readSeed = Effect.flatMap(MetaRepo, (meta) => Effect.map(SeedData.storedSeed(meta), Option.getOrThrow))

const makeOperations = Effect.gen(function*() {
  const keys = yield* Keys
  const requests = yield* AccessRequests
  const seed = Effect.provideService(readSeed, MetaRepo, yield* MetaRepo)
  const seedFixtures = yield* SeedFixtures.make
  const operations: SeedingOperations = {
    ...(yield* ProfilesSeeding.make),
    ...(yield* StoreSeeding.make),
    ...(yield* ContentSeeding.make),
    requestAccess: requests.submit,
    decideAccess: requests.decide,
    setAccess: requests.transition,
    addFixtures: (fixtures) => Effect.flatMap(seed, (seed) => seedFixtures(fixtures, seed)),
    createKey: keys.create,
    revokeKey: keys.revoke
  }
  return operations
})

const reset = Effect.gen(function*() {
  const sql = yield* Sql
  const media = yield* MediaRepo
  const initial = yield* InitialData.stored(yield* MetaRepo)
  const insertInitialData = yield* InitialData.make
  yield* (yield* VirtualClock).reset
  const uploaded = yield* Effect.gen(function*() {
    const names = yield* media.files()
    yield* Effect.forEach(Database.tableNames, (table) => sql`DELETE FROM ${sql.literal(table)}`, { discard: true })
    // The same data was inserted before, so it is valid.
    yield* Effect.orDie(insertInitialData(initial ?? { seed: 1 }))
    const kept = new Set(yield* media.snapshotFiles())
    return names.filter((name) => !kept.has(name))
  }).pipe(sql.withTransaction)
  yield* (yield* MediaFiles).remove(uploaded)
  yield* (yield* LateCommits).clear
  yield* (yield* CurrentLatitude).reset
  yield* (yield* Commits).clear
  yield* (yield* Faults).reset
  yield* (yield* RateWindow).reset
  yield* (yield* RequestLog).clear
})

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Seeding["Type"], never, Services> = Effect.map(Effect.context<Services>(), (services) => {
  let made: SeedingOperations | undefined
  return {
    get operations() {
      // Made when one of them is used. To make them is to take their services.
      return made ??= Effect.runSync(Effect.provide(makeOperations, services))
    },
    state: Effect.provide(Effect.flatten(ReadStateSnapshot.make), services),
    seed: Effect.provide(readSeed, services),
    reset: Effect.provide(reset, services)
  }
})
