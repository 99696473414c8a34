/**
 * The area of media: keeping what is uploaded. Knows nothing of how a body is parted and where its bytes are; see `Upload`.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import { MediaId } from "@plaza/domain/Ids"
import type { MediaGroup } from "@plaza/domain/PlazaApi"
import * as Effect from "effect/Effect"
import { Assumed } from "../../Assumptions.js"
import { checkText } from "../Validation.js"
import type { Handlers } from "../../http/Admission.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import { MediaFiles } from "./MediaFiles.js"
import { Sql } from "../../storage/Sql.js"

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<Handlers<typeof MediaGroup>, never, Sql | MediaFiles | Assumed | CurrentLatitude> = Effect.gen(
  function*() {
    const sql = yield* Sql
    const latitude = yield* CurrentLatitude
    const files = yield* MediaFiles
    const { maxFileNameLength } = yield* Assumed
    return {
      uploadMedia: ({ payload: { contentType, file, name, sha256, size } }, { caller }) =>
        Effect.gen(function*() {
          yield* checkText("file", name, maxFileNameLength)
          const [{ seq } = { seq: 1 }] = yield* sql<{ readonly seq: number }>`SELECT coalesce(max(seq), 0) + 1 AS seq FROM media`
          const plain = `media-${String(seq).padStart(6, "0")}`
          const mediaId = MediaId.make(Stored.id(latitude.value, "media", seq, plain))
          yield* sql`INSERT INTO media ${
            sql.insert({ seq, id: mediaId, account_id: caller.accountId, name, content_type: contentType, size, sha256, file })
          }`
          return { mediaId, fileName: name, contentType, size }
        }).pipe(
          sql.withTransaction,
          // The file was there first; without a row nobody would ever ask for it.
          Effect.onError(() => files.remove([file]))
        )
    }
  }
)
