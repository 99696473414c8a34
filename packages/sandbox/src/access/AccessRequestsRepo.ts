/** The table `access_requests`. */
import { RequestStatus } from "@plaza/domain/DeveloperAccess"
import { ProfileId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db, insert, literal } from "../storage/Db.ts"

export const AccessRequestRow = Schema.Struct({
  id: Schema.String,
  accountId: ProfileId,
  useCase: Schema.String,
  website: Schema.NullOr(Schema.String),
  botName: Schema.String,
  status: RequestStatus,
  createdAt: Schema.DateTimeUtcFromMillis,
  /** Null while it is pending. */
  decidedAt: Schema.NullOr(Schema.DateTimeUtcFromMillis)
})
export type AccessRequestRow = typeof AccessRequestRow.Type

export class AccessRequestsRepo extends Context.Service<AccessRequestsRepo>()("@plaza/sandbox/AccessRequestsRepo", {
  make: Effect.map(Db, (db) => {
    const columns = literal(`id, account_id AS accountId, use_case AS useCase, website, bot_name AS botName, status,
      created_at AS createdAt, decided_at AS decidedAt`)
    return {
      find: (id: string) => db.first(AccessRequestRow)`SELECT ${columns} FROM access_requests WHERE id = ${id}`,
      /** All requests, newest first. */
      all: () => db.all(AccessRequestRow)`SELECT ${columns} FROM access_requests ORDER BY seq DESC`,
      /** The requests of an account, newest first. */
      ofAccount: (accountId: string) =>
        db.all(AccessRequestRow)`SELECT ${columns} FROM access_requests WHERE account_id = ${accountId} ORDER BY seq DESC`,
      /** The sequence number of the next request. */
      nextSeq: () => db.seq`SELECT coalesce(max(seq), 0) + 1 AS seq FROM access_requests`,
      /** Adds a pending request. */
      insert: (request: Omit<AccessRequestRow, "decidedAt"> & { readonly seq: number }) =>
        db.run`INSERT INTO access_requests ${
          insert({
            seq: request.seq,
            id: request.id,
            account_id: request.accountId,
            use_case: request.useCase,
            website: request.website,
            bot_name: request.botName,
            status: request.status,
            created_at: DateTime.toEpochMillis(request.createdAt)
          })
        }`,
      setDecision: (id: string, status: RequestStatus, decidedAt: DateTime.Utc) =>
        db.run`UPDATE access_requests SET status = ${status}, decided_at = ${DateTime.toEpochMillis(decidedAt)}
          WHERE id = ${id}`
    }
  })
}) {
  static readonly layer = Layer.effect(AccessRequestsRepo, AccessRequestsRepo.make)
}
