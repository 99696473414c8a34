/**
 * Handler of the media area: recording an uploaded file.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import { MediaId } from "@plaza/domain/Ids"
import type { MediaGroup } from "@plaza/domain/PlazaApi"
import * as Effect from "effect/Effect"
import { Assumed } from "../../Assumptions.js"
import type { Handlers } from "../../http/Admission.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import { Sql } from "../../storage/Sql.js"
import { checkText } from "../Validation.js"
import { MediaFiles } from "./MediaFiles.js"
import { MediaRepo } from "./MediaRepo.js"

/** @since 0.1.0 @category handlers */
export const handlers: Effect.Effect<
  Handlers<typeof MediaGroup>,
  never,
  Sql | MediaRepo | MediaFiles | Assumed | CurrentLatitude
> = Effect.gen(function*() {
  const { withTransaction } = yield* Sql
  const repo = yield* MediaRepo
  const files = yield* MediaFiles
  const latitude = yield* CurrentLatitude
  const { maxFileNameLength } = yield* Assumed

  return {
    uploadMedia: ({ payload: { contentType, file, name, sha256, size } }, { caller: { accountId } }) =>
      Effect.gen(function*() {
        yield* checkText("file", name, maxFileNameLength)
        const seq = yield* repo.nextSeq()
        const id = MediaId.make(Stored.id(latitude.value, "media", seq, `media-${String(seq).padStart(6, "0")}`))
        yield* repo.insert({ seq, id, accountId, name, contentType, size, sha256, file })
        return { mediaId: id, fileName: name, contentType, size }
      }).pipe(
        withTransaction,
        // The file was written first; without a row nothing refers to it.
        Effect.onError(() => files.remove([file]))
      )
  }
})
