/**
 * The area of media: keeping what is uploaded. Knows nothing of how a body is parted; see `MultipartBody`.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import * as SqlClient from "@effect/sql/SqlClient"
import { PayloadTooLarge } from "@plaza/domain/Errors"
import { MediaId } from "@plaza/domain/Ids"
import type { MediaGroup } from "@plaza/domain/PlazaApi"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { Assumed } from "./Assumptions.js"
import * as Database from "./Database.js"
import { checkText } from "./Fields.js"
import type { Handlers } from "./Gate.js"

/** Longer than any file system allows. */
const maxNameLength = 1_000

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<Handlers<typeof MediaGroup>, never, SqlClient.SqlClient | Assumed> = Effect.gen(
  function*() {
    const sql = yield* SqlClient.SqlClient
    const { maxFileBytes } = yield* Assumed
    return {
      uploadMedia: ({ payload: { bytes, contentType, name } }, { caller }) =>
        Effect.gen(function*() {
          if (bytes.length > maxFileBytes) {
            return yield* new PayloadTooLarge({ message: `a file may have at most ${maxFileBytes} bytes` })
          }
          yield* checkText("file", name, maxNameLength)
          const [{ seq } = { seq: 1 }] = yield* sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) + 1 AS seq FROM media`
          const mediaId = MediaId.make(`media-${String(seq).padStart(6, "0")}`)
          yield* sql`INSERT INTO media ${
            sql.insert({
              seq,
              id: mediaId,
              account_id: caller.accountId,
              name,
              content_type: contentType,
              size: bytes.length,
              sha256: createHash("sha256").update(bytes).digest("hex"),
              bytes
            })
          }`
          return { mediaId, fileName: name, contentType, size: bytes.length }
        }).pipe(sql.withTransaction, Database.orDefect)
    }
  }
)
