/**
 * The table `access_requests`.
 *
 * @since 0.1.0
 */
import { RequestStatus } from "@plaza-legacy/domain/DeveloperAccess"
import { ProfileId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "../storage/Sql.ts"
import * as SqlSchema from "../storage/SqlSchema.ts"

/** @since 0.1.0 @category rows */
export const AccessRequestRow = Schema.Struct({
  id: Schema.String,
  accountId: ProfileId,
  useCase: Schema.String,
  website: Schema.NullOr(Schema.String),
  botName: Schema.String,
  status: RequestStatus,
  createdAt: Schema.DateTimeUtcFromNumber,
  /** Null while it is pending. */
  decidedAt: Schema.NullOr(Schema.DateTimeUtcFromNumber)
})
/** @since 0.1.0 @category rows */
export type AccessRequestRow = typeof AccessRequestRow.Type

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => {
  const columns = sql.literal(`id, account_id AS accountId, use_case AS useCase, website, bot_name AS botName, status,
    created_at AS createdAt, decided_at AS decidedAt`)
  return {
    find: SqlSchema.findOne({
      Result: AccessRequestRow,
      execute: (id: string) => sql.first`SELECT ${columns} FROM access_requests WHERE id = ${id}`
    }),
    /** All requests, newest first. */
    all: SqlSchema.findAll({
      Result: AccessRequestRow,
      execute: () => sql`SELECT ${columns} FROM access_requests ORDER BY seq DESC`
    }),
    /** The requests of an account, newest first. */
    ofAccount: SqlSchema.findAll({
      Result: AccessRequestRow,
      execute: (accountId: string) => sql`SELECT ${columns} FROM access_requests WHERE account_id = ${accountId} ORDER BY seq DESC`
    }),
    /** The sequence number of the next request. */
    nextSeq: SqlSchema.single({
      Result: SqlSchema.Seq,
      execute: () => sql.first`SELECT coalesce(max(seq), 0) + 1 AS seq FROM access_requests`
    }),
    /** Adds a pending request. */
    insert: (request: Omit<AccessRequestRow, "decidedAt"> & { readonly seq: number }) =>
      Effect.asVoid(sql`INSERT INTO access_requests ${
        sql.insert({
          seq: request.seq,
          id: request.id,
          account_id: request.accountId,
          use_case: request.useCase,
          website: request.website,
          bot_name: request.botName,
          status: request.status,
          created_at: DateTime.toEpochMillis(request.createdAt)
        })
      }`),
    setDecision: (id: string, status: RequestStatus, decidedAt: DateTime.Utc) =>
      Effect.asVoid(sql`UPDATE access_requests SET status = ${status}, decided_at = ${DateTime.toEpochMillis(decidedAt)}
        WHERE id = ${id}`)
  }
})

/** @since 0.1.0 @category services */
export class AccessRequestsRepo
  extends Context.Tag("@plaza-legacy/sandbox/AccessRequestsRepo")<AccessRequestsRepo, Effect.Effect.Success<typeof make>>()
{}
