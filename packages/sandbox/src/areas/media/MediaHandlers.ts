/**
 * Handler of the media area: recording an uploaded file.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import { MediaId } from "@plaza/domain/Ids"
import { MediaGroup } from "@plaza/domain/PlazaApi"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../../Assumptions.js"
import * as Endpoints from "../../http/Endpoints.js"
import { CurrentCaller } from "../../http/RequiresAdmission.js"
import { servedInterface } from "../../http/ServedApi.js"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.js"
import * as Stored from "../../latitude/Stored.js"
import { Sql } from "../../storage/Sql.js"
import { checkText } from "../Validation.js"
import { MediaFiles } from "./MediaFiles.js"
import { MediaRepo } from "./MediaRepo.js"
import * as Upload from "./Upload.js"

/** @since 0.1.0 @category handlers */
export const group = Endpoints.group(servedInterface, MediaGroup, (handlers) =>
  Effect.gen(function*() {
    const { withTransaction } = yield* Sql
    const repo = yield* MediaRepo
    const files = yield* MediaFiles
    const latitude = yield* CurrentLatitude
    const { maxFileNameLength } = yield* CurrentAssumptions

    return handlers
      .handle("uploadMedia", ({ request }) =>
        Effect.gen(function*() {
          const { accountId } = yield* CurrentCaller
          const { contentType, file, name, sha256, size } = yield* Upload.received(request)
          yield* checkText("file", name, maxFileNameLength)
          const seq = yield* repo.nextSeq()
          const id = MediaId.make(Stored.id(latitude.value, "media", seq, `media-${String(seq).padStart(6, "0")}`))
          yield* repo.insert({ seq, id, accountId, name, contentType, size, sha256, file })
          return { mediaId: id, fileName: name, contentType, size }
        }).pipe(
          withTransaction,
          // The file was written first; without a row nothing refers to it.
          Effect.onError(() => Effect.flatMap(Upload.received(request), ({ file }) => files.remove([file])))
        ))
  }))
