/**
 * The area of media: keeping what is uploaded. Knows nothing of how a body is parted and where its bytes are; see `Upload`.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import { MediaId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import { Assumed } from "../../Assumptions.js"
import { checkText } from "../Validation.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import * as Upload from "./Upload.js"
import { MediaFiles } from "./MediaFiles.js"
import { Sql } from "../../storage/Sql.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedApi } from "../../http/ServedApi.js"

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedApi, "media", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const latitude = yield* CurrentLatitude
    const files = yield* MediaFiles
    const { maxFileNameLength } = yield* Assumed
    return handlers
      .handle("uploadMedia", ({ request }) =>
        Effect.gen(function*() {
          const caller = yield* CurrentCaller
          const { contentType, file, name, sha256, size } = yield* Upload.received(request)
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
          Effect.onError(() => Effect.flatMap(Upload.received(request), ({ file }) => files.remove([file])))
        ), toItsEnd)
  }))
