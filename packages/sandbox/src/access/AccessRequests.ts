/**
 * Developer access: asking for it, the operator's decision, and the operator's moves on what was granted. Knows nothing
 * of pages, and nothing of keys; see `Keys`.
 *
 * Source: interface v1, "Rules for getting access" and "States and transitions".
 *
 * @since 0.1.0
 */
import type { AccessTransition, AccessState } from "@plaza/domain/DeveloperAccess"
import * as DeveloperAccess from "@plaza/domain/DeveloperAccess"
import { Conflict, type NotFound, type ValidationError } from "@plaza/domain/Errors"
import { ProfileId } from "@plaza/domain/Ids"
import { Timestamp } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Assumed, type Assumptions } from "../Assumptions.js"
import * as Envelope from "../http/Envelope.js"
import { checkText } from "../areas/Validation.js"
import { Sql } from "../storage/Sql.js"

/**
 * What the document tells to be put in.
 *
 * @since 0.1.0
 * @category models
 */
export const AccessForm = Schema.Struct({
  /** What the integration is for, in free text. */
  useCase: Schema.String,
  /** An `http` or `https` address. */
  website: Schema.optionalWith(Schema.String, { exact: true, nullable: true }),
  botName: Schema.String
}).annotations({ identifier: "AccessForm" })
/** @since 0.1.0 @category models */
export interface AccessForm extends Schema.Schema.Type<typeof AccessForm> {}

/** @since 0.1.0 @category models */
export const AccessRequest = Schema.Struct({
  id: Schema.String,
  accountId: ProfileId,
  useCase: Schema.String,
  website: Schema.NullOr(Schema.String),
  botName: Schema.String,
  status: DeveloperAccess.RequestStatus,
  createdAt: Timestamp,
  /** Null while it is pending. */
  decidedAt: Schema.NullOr(Timestamp)
}).annotations({ identifier: "AccessRequest" })
/** @since 0.1.0 @category models */
export interface AccessRequest extends Schema.Schema.Type<typeof AccessRequest> {}

/** @since 0.1.0 @category services */
export class AccessRequests extends Context.Tag("@plaza/sandbox/AccessRequests")<AccessRequests, {
  /**
   * Asks for access. Assumed: an account has one pending request at most, asks only while it has no access, and may ask
   * again after a decline.
   */
  readonly submit: (
    accountId: string,
    form: AccessForm
  ) => Effect.Effect<AccessRequest, NotFound | Conflict | ValidationError>
  /**
   * Decides a pending request; an approval grants the access in the same step, and leaves it where it was granted
   * meanwhile. While access is suspended or revoked, a request can be declined only.
   */
  readonly decide: (id: string, move: "approve" | "decline") => Effect.Effect<AccessRequest, NotFound | Conflict>
  /** The requests of one account, or of all: the newest first. */
  readonly list: (accountId?: string) => Effect.Effect<ReadonlyArray<AccessRequest>>
  /** Makes an operator's move on the access of an account. */
  readonly move: (accountId: string, move: AccessTransition) => Effect.Effect<void, NotFound | Conflict>
}>() {}

interface Row {
  readonly id: string
  readonly account_id: string
  readonly use_case: string
  readonly website: string | null
  readonly bot_name: string
  readonly status: DeveloperAccess.RequestStatus
  readonly created_at: number
  readonly decided_at: number | null
}

const fromRow = (row: Row): AccessRequest => ({
  id: row.id,
  accountId: ProfileId.make(row.account_id),
  useCase: row.use_case,
  website: row.website,
  botName: row.bot_name,
  status: row.status,
  createdAt: DateTime.unsafeMake(row.created_at),
  decidedAt: row.decided_at === null ? null : DateTime.unsafeMake(row.decided_at)
})

const legal = <A>(moved: Either.Either<A, DeveloperAccess.InvalidTransition>): Either.Either<A, Conflict> =>
  Either.mapLeft(moved, ({ message }) => new Conflict({ message }))

const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** The inputs without the space around them, which nobody means. */
const check = (
  form: AccessForm,
  { maxBotNameLength, maxUseCaseLength, maxWebsiteLength }: Assumptions
) =>
  Effect.gen(function*() {
    const useCase = form.useCase.trim()
    const botName = form.botName.trim()
    const website = form.website?.trim()
    yield* checkText("useCase", useCase, maxUseCaseLength)
    yield* checkText("botName", botName, maxBotNameLength)
    if (website !== undefined) {
      yield* checkText("website", website, maxWebsiteLength)
      if (!isWebAddress(website)) {
        return yield* Envelope.invalidField("website", "has to be an address that begins with http:// or https://")
      }
    }
    return { use_case: useCase, website: website ?? null, bot_name: botName }
  })

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<AccessRequests, never, Sql | Assumed> = Layer.effect(
  AccessRequests,
  Effect.map(Effect.all([Sql, Assumed]), ([sql, assumed]) => {
    const accessOf = (accountId: string): Effect.Effect<AccessState, NotFound> =>
      Effect.flatMap(
        sql<{ readonly access: AccessState }>`SELECT access FROM accounts WHERE id = ${accountId}`,
        ([row]) => row === undefined ? Effect.fail(Envelope.notFound("account", accountId)) : Effect.succeed(row.access)
      )

    const move = (accountId: string, wanted: AccessTransition) =>
      Effect.gen(function*() {
        const moved = yield* legal(DeveloperAccess.transitionAccess(yield* accessOf(accountId), wanted))
        yield* sql`UPDATE accounts SET access = ${moved} WHERE id = ${accountId}`
      }).pipe(sql.withTransaction)

    return {
      submit: (accountId, form) =>
        Effect.gen(function*() {
          const input = yield* check(form, assumed)
          const access = yield* accessOf(accountId)
          if (access !== "none") {
            return yield* new Conflict({ message: `developer access of this account is ${access}: there is nothing to ask for` })
          }
          const pending = yield* sql`SELECT 1 FROM access_requests WHERE account_id = ${accountId} AND status = 'pending'`
          if (pending.length > 0) {
            return yield* new Conflict({ message: "a request of this account is pending: wait for its decision" })
          }
          const [{ seq } = { seq: 1 }] = yield* sql<{ readonly seq: number }>`
            SELECT coalesce(max(seq), 0) + 1 AS seq FROM access_requests`
          const row: Row = {
            id: `access-${seq}`,
            account_id: accountId,
            ...input,
            status: "pending",
            created_at: yield* Clock.currentTimeMillis,
            decided_at: null
          }
          yield* sql`INSERT INTO access_requests ${sql.insert({ seq, ...row })}`
          return fromRow(row)
        }).pipe(sql.withTransaction),

      decide: (id, decision) =>
        Effect.gen(function*() {
          const [row] = yield* sql<Row>`SELECT * FROM access_requests WHERE id = ${id}`
          if (row === undefined) {
            return yield* Envelope.notFound("access request", id)
          }
          const status = yield* legal(DeveloperAccess.decide(row.status, decision))
          // Access may have been granted meanwhile without the request; then there is nothing left to grant.
          if (decision === "approve" && (yield* accessOf(row.account_id)) !== "granted") {
            yield* move(row.account_id, "grant")
          }
          const now = yield* Clock.currentTimeMillis
          yield* sql`UPDATE access_requests SET status = ${status}, decided_at = ${now} WHERE id = ${id}`
          return fromRow({ ...row, status, decided_at: now })
        }).pipe(sql.withTransaction),

      list: (accountId) =>
        Effect.map(
          accountId === undefined
              ? sql<Row>`SELECT * FROM access_requests ORDER BY seq DESC`
              : sql<Row>`SELECT * FROM access_requests WHERE account_id = ${accountId} ORDER BY seq DESC`,
          (rows) => rows.map(fromRow)
        ),

      move: (accountId, wanted) => move(accountId, wanted)
    }
  })
)
