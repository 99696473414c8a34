/**
 * Setting the scene: accounts, keys, relations, products, orders and conversations as a test or a person wants them,
 * beside what the interface itself can do. Its refusals are the document's own errors. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import type { AccessTransition } from "@plaza/domain/DeveloperAccess"
import type { Conflict, NotFound, ValidationError } from "@plaza/domain/Errors"
import type { ConversationId, OrderId, PostId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AccessForm, AccessRequest } from "../access/AccessRequests.js"
import { AccessRequests } from "../access/AccessRequests.js"
import type { Accounts, Relation } from "../access/Accounts.js"
import type { Assumed } from "../Assumptions.js"
import { Commits } from "../http/Commits.js"
import * as Database from "../storage/Database.js"
import { Faults } from "../http/Faults.js"
import type { Fixtures } from "./Fixtures.js"
import * as PlantFixtures from "./SeedFixtures.js"
import { CurrentLatitude } from "../latitude/CurrentLatitude.js"
import { LateCommits } from "../latitude/LateCommits.js"
import type { CreatedKey } from "../access/Keys.js"
import { Keys } from "../access/Keys.js"
import { MediaFiles } from "../areas/media/MediaFiles.js"
import * as Plant from "./InitialData.js"
import { RateWindow } from "../access/RateWindow.js"
import * as ReadState from "../control/ReadStateSnapshot.js"
import { RequestLog } from "../http/RequestLog.js"
import * as Seed from "./SeedData.js"
import type * as Models from "./SeedingModels.js"
import * as People from "../areas/profiles/ProfilesSeeding.js"
import * as Shop from "../areas/store/StoreSeeding.js"
import * as Words from "./WritingSeeding.js"
import { Sql } from "../storage/Sql.js"
import type { State } from "../control/StateSnapshot.js"
import { VirtualClock } from "../VirtualClock.js"

/**
 * What can be set up. `accountId` defaults to the seeded shop.
 *
 * @since 0.1.0
 * @category models
 */
export interface SetupCalls {
  /** Makes an account that may do everything by default. */
  readonly createAccount: (
    account?: Models.NewAccount
  ) => Effect.Effect<{ readonly id: ProfileId; readonly username: Username }, Conflict | ValidationError>
  /** Changes what an account shows and whether it can be reached. */
  readonly setProfile: (accountId: string, change: Models.ProfileChange) => Effect.Effect<void, NotFound>
  /** Asks for developer access, as an account without it may. */
  readonly requestAccess: (
    accountId: string,
    form: AccessForm
  ) => Effect.Effect<AccessRequest, NotFound | Conflict | ValidationError>
  /** Makes the operator's decision on a request; an approval grants the access. */
  readonly decideAccess: (
    requestId: string,
    decision: "approve" | "decline"
  ) => Effect.Effect<AccessRequest, NotFound | Conflict>
  /** Makes an operator's move on the developer access of an account. */
  readonly setAccess: (accountId: string, move: AccessTransition) => Effect.Effect<void, NotFound | Conflict>
  /** Makes a key (default: with all scopes). At most 5 of an account are active. */
  readonly createKey: (accountId: string, options?: Models.NewKey) => Effect.Effect<CreatedKey, NotFound | Conflict | ValidationError>
  /** Revokes a key by its id. */
  readonly revokeKey: (keyId: string) => Effect.Effect<void, NotFound>
  /** Changes what the first account does to the second; fields that are left out stay. */
  readonly setRelation: (from: string, to: string, relation: Partial<Relation>) => Effect.Effect<void, NotFound>
  /** Adds a product to a store, or changes the one with this id. */
  readonly setProduct: (product: Models.NewProduct) => Effect.Effect<ProductId, NotFound | ValidationError>
  /** Adds an order (default: not shipped), or changes the one with this id. */
  readonly setOrder: (order: Models.NewOrder) => Effect.Effect<OrderId, NotFound | ValidationError>
  /** Adds a post of an account. */
  readonly createPost: (post: Models.NewPost) => Effect.Effect<PostId, NotFound | ValidationError>
  /** Opens a conversation of an account with another. */
  readonly createConversation: (
    conversation: Models.NewConversation
  ) => Effect.Effect<ConversationId, NotFound | ValidationError>
  /** Plants fixtures on top of what is there: all of them or, when one can't be, none. */
  readonly plant: (fixtures: Fixtures) => Effect.Effect<void, NotFound | Conflict | ValidationError>
}

/** @since 0.1.0 @category services */
export class Setup extends Context.Tag("@plaza/sandbox/Setup")<Setup, {
  readonly calls: SetupCalls
  readonly state: Effect.Effect<State>
  readonly seed: Effect.Effect<number>
  /** Back to what it began with, seed and fixtures, and to the time outside. Forgets faults, counted requests and the log too. */
  readonly reset: Effect.Effect<void>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<
  Setup,
  never,
  | Sql
  | AccessRequests
  | Accounts
  | Assumed
  | Commits
  | CurrentLatitude
  | Keys
  | Faults
  | LateCommits
  | MediaFiles
  | RateWindow
  | RequestLog
  | VirtualClock
> = Layer.effect(
  Setup,
  Effect.gen(function*() {
    const sql = yield* Sql
    const keys = yield* Keys
    const requests = yield* AccessRequests
    const faults = yield* Faults
    const window = yield* RateWindow
    const log = yield* RequestLog
    const clock = yield* VirtualClock
    const files = yield* MediaFiles
    const late = yield* LateCommits
    const latitude = yield* CurrentLatitude
    const commits = yield* Commits
    const begin = yield* Plant.make
    const plantFixtures = yield* PlantFixtures.make
    const state = yield* ReadState.make

    const calls: SetupCalls = {
      ...(yield* People.make),
      ...(yield* Shop.make),
      ...(yield* Words.make),
      requestAccess: requests.submit,
      decideAccess: requests.decide,
      setAccess: requests.move,
      plant: (fixtures) => Effect.flatMap(Seed.recorded(sql), (seed) => plantFixtures(fixtures, seed)),
      createKey: keys.create,
      revokeKey: keys.revoke
    }

    return {
      calls,
      state,
      seed: Seed.recorded(sql),
      reset: Effect.gen(function*() {
        const beginning = yield* Plant.recorded(sql)
        yield* clock.reset
        const uploaded = yield* Effect.gen(function*() {
          const rows = yield* sql<{ readonly file: string }>`SELECT file FROM media`
          yield* Effect.forEach(Database.tableNames, (table) => sql`DELETE FROM ${sql.literal(table)}`, { discard: true })
          // It could be planted once, so it can be again.
          yield* Effect.orDie(begin(beginning ?? { seed: 1 }))
          return rows
        }).pipe(sql.withTransaction)
        yield* files.remove(uploaded.map(({ file }) => file))
        yield* late.clear
        yield* latitude.reset
        yield* commits.clear
        yield* faults.clear
        yield* window.reset
        yield* log.clear
      })
    }
  })
)
