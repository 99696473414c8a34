/**
 * Setting the scene: accounts, keys, relations, products, orders and conversations as a test or a person wants them,
 * beside what the interface itself can do. Its refusals are the document's own errors. Knows nothing of requests.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { AccessMove, AccessState } from "@plaza/domain/DeveloperAccess"
import { Conflict, type NotFound, type ValidationError } from "@plaza/domain/Errors"
import { ConversationId, OrderId, ProductId, ProfileId, Username } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { AccessForm, AccessRequest } from "./AccessRequests.js"
import { AccessRequests } from "./AccessRequests.js"
import type { Relation } from "./Accounts.js"
import { Accounts } from "./Accounts.js"
import { Assumed } from "./Assumptions.js"
import * as Chat from "./Chat.js"
import * as Database from "./Database.js"
import * as Envelope from "./Envelope.js"
import { Faults } from "./Faults.js"
import { checkStock, checkText } from "./Fields.js"
import type { CreatedKey } from "./Keys.js"
import { Keys } from "./Keys.js"
import { MediaFiles } from "./MediaFiles.js"
import { RateWindow } from "./RateWindow.js"
import * as ReadState from "./ReadState.js"
import { RequestLog } from "./RequestLog.js"
import * as Seed from "./Seed.js"
import type { Availability, State } from "./State.js"
import { VirtualClock } from "./VirtualClock.js"

/** @since 0.1.0 @category models */
export interface NewAccount {
  /** The next free number unless told. */
  readonly id?: string
  /** Made of the id unless told. */
  readonly username?: string
  readonly name?: string
  /** True unless told. */
  readonly photo?: boolean
  /** True unless told. */
  readonly cover?: boolean
  /** `granted` unless told. */
  readonly access?: AccessState
  /** `available` unless told. */
  readonly availability?: Availability
}

/** @since 0.1.0 @category models */
export interface ProfileChange {
  readonly photo?: boolean
  readonly cover?: boolean
  readonly availability?: Availability
}

/**
 * What can be set up. An account that isn't told is the seeded shop's.
 *
 * @since 0.1.0
 * @category models
 */
export interface SetupCalls {
  /** Makes an account that may do everything unless told otherwise. */
  readonly createAccount: (
    account?: NewAccount
  ) => Effect.Effect<{ readonly id: ProfileId; readonly username: Username }, Conflict | ValidationError>
  /** Changes what an account shows and whether it can be reached. */
  readonly setProfile: (accountId: string, change: ProfileChange) => Effect.Effect<void, NotFound>
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
  readonly setAccess: (accountId: string, move: AccessMove) => Effect.Effect<void, NotFound | Conflict>
  /** Makes a key, with all scopes unless told. At most 5 of an account are active. */
  readonly createKey: (accountId: string, options?: {
    readonly name?: string
    readonly scopes?: ReadonlyArray<string>
  }) => Effect.Effect<CreatedKey, NotFound | Conflict | ValidationError>
  /** Revokes a key by its id. */
  readonly revokeKey: (keyId: string) => Effect.Effect<void, NotFound>
  /** Changes what the first account does to the second; what isn't told stays. */
  readonly setRelation: (from: string, to: string, relation: Partial<Relation>) => Effect.Effect<void, NotFound>
  /** Adds a product to a store, or changes the one with this id. */
  readonly setProduct: (product: {
    readonly id: string
    readonly accountId?: string
    readonly name?: string
    readonly stock?: number
  }) => Effect.Effect<ProductId, NotFound | ValidationError>
  /** Adds an order that isn't shipped, or makes the one with this id so. */
  readonly setOrder: (order: {
    readonly id: string
    readonly accountId?: string
  }) => Effect.Effect<OrderId, NotFound | ValidationError>
  /** Opens a conversation of an account with another. */
  readonly createConversation: (conversation: {
    readonly accountId?: string
    readonly peerId: string
  }) => Effect.Effect<ConversationId, NotFound>
}

/** @since 0.1.0 @category services */
export class Setup extends Context.Tag("@plaza/sandbox/Setup")<Setup, {
  readonly calls: SetupCalls
  readonly state: Effect.Effect<State>
  readonly seed: Effect.Effect<number>
  /** Back to the seed and to the time outside. Forgets faults, counted requests and the log too. */
  readonly reset: Effect.Effect<void>
}>() {}

const maxIdLength = 500

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<
  Setup,
  never,
  SqlClient.SqlClient | AccessRequests | Accounts | Assumed | Keys | Faults | MediaFiles | RateWindow | RequestLog | VirtualClock
> = Layer.effect(
  Setup,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const accounts = yield* Accounts
    const keys = yield* Keys
    const requests = yield* AccessRequests
    const faults = yield* Faults
    const window = yield* RateWindow
    const log = yield* RequestLog
    const clock = yield* VirtualClock
    const { maxStock } = yield* Assumed
    const files = yield* MediaFiles
    const state = yield* ReadState.make

    const known = (id: string) =>
      Effect.flatMap(accounts.find(id), Option.match({
        onNone: () => Effect.fail(Envelope.notFound("account", id)),
        onSome: Effect.succeed
      }))
    const next = (table: "accounts" | "conversations") =>
      Effect.map(
        sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) + 1 AS seq FROM ${sql(table)}`,
        ([row]) => row?.seq ?? 1
      )

    const calls: SetupCalls = {
      createAccount: (account = {}) =>
        Effect.gen(function*() {
          const seq = yield* next("accounts")
          const id = account.id ?? String(Seed.firstAccountNumber + seq - 1)
          const username = account.username ?? `user-${id}`
          yield* checkText("id", id, maxIdLength)
          yield* checkText("username", username, maxIdLength)
          const taken = yield* sql`SELECT 1 FROM accounts WHERE id = ${id} OR username = ${username}`
          if (taken.length > 0) {
            return yield* new Conflict({ message: `there is an account with the id "${id}" or the username "${username}"` })
          }
          yield* sql`INSERT INTO accounts ${
            sql.insert(Seed.accountRow({ ...account, seq, id, username, name: account.name ?? username }))
          }`
          return { id: ProfileId.make(id), username: Username.make(username) }
        }).pipe(sql.withTransaction, Database.orDefect),

      setProfile: (accountId, change) =>
        Effect.gen(function*() {
          const { availability, cover, photo } = { ...(yield* known(accountId)), ...change }
          yield* sql`UPDATE accounts SET photo = ${photo ? 1 : 0}, cover = ${cover ? 1 : 0}, availability = ${availability}
            WHERE id = ${accountId}`
        }).pipe(sql.withTransaction, Database.orDefect),

      requestAccess: requests.submit,

      decideAccess: requests.decide,

      setAccess: requests.move,

      createKey: keys.create,

      revokeKey: keys.revoke,

      setRelation: (from, to, change) =>
        Effect.gen(function*() {
          yield* known(from)
          yield* known(to)
          const relation = { ...(yield* accounts.relation(from, to)), ...change }
          yield* sql`INSERT OR REPLACE INTO relations ${sql.insert(Seed.relationRow(from, to, relation))}`
        }).pipe(sql.withTransaction, Database.orDefect),

      setProduct: ({ accountId = Seed.shopId, id, name = id, stock = 0 }) =>
        Effect.gen(function*() {
          yield* checkText("id", id, maxIdLength)
          yield* checkStock("stock", stock, maxStock)
          yield* known(accountId)
          yield* sql`INSERT INTO products ${sql.insert({ id, account_id: accountId, name, stock })}
            ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, name = excluded.name, stock = excluded.stock`
          return ProductId.make(id)
        }).pipe(sql.withTransaction, Database.orDefect),

      setOrder: ({ accountId = Seed.shopId, id }) =>
        Effect.gen(function*() {
          yield* checkText("id", id, maxIdLength)
          yield* known(accountId)
          yield* sql`INSERT INTO orders ${sql.insert({ id, account_id: accountId })}
            ON CONFLICT (id) DO UPDATE SET
              account_id = excluded.account_id, carrier = NULL, tracking_number = NULL, shipped_at = NULL`
          return OrderId.make(id)
        }).pipe(sql.withTransaction, Database.orDefect),

      createConversation: ({ accountId = Seed.shopId, peerId }) =>
        Effect.gen(function*() {
          yield* known(accountId)
          yield* known(peerId)
          const seq = yield* next("conversations")
          const id = ConversationId.make(Chat.idOf(seq))
          yield* sql`INSERT INTO conversations ${sql.insert({ seq, id, account_id: accountId, peer_id: peerId })}`
          return id
        }).pipe(sql.withTransaction, Database.orDefect)
    }

    return {
      calls,
      state,
      seed: Database.orDefect(Seed.recorded(sql)),
      reset: Effect.gen(function*() {
        const seed = yield* Seed.recorded(sql)
        yield* clock.reset
        const uploaded = yield* Effect.gen(function*() {
          const rows = yield* sql<{ readonly file: string }>`SELECT file FROM media`
          yield* Effect.forEach(Database.tableNames, (table) => sql`DELETE FROM ${sql(table)}`, { discard: true })
          yield* Seed.plant(sql, files, seed)
          return rows
        }).pipe(sql.withTransaction)
        yield* files.remove(uploaded.map(({ file }) => file))
        yield* faults.clear
        yield* window.reset
        yield* log.clear
      }).pipe(Database.orDefect)
    }
  })
)
