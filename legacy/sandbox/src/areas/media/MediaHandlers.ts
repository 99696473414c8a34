/**
 * Handler of the media area: recording an uploaded file.
 *
 * Source: interface v1, "Endpoints", POST /media.
 *
 * @since 0.1.0
 */
import { MediaId } from "@plaza-legacy/domain/Ids"
import { MediaGroup } from "@plaza-legacy/domain/PlazaApi"
import * as Effect from "effect/Effect"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as Endpoints from "../../http/Endpoints.ts"
import { CurrentCaller } from "../../http/RequiresAdmission.ts"
import { servedInterface } from "../../http/ServedApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { Sql } from "../../storage/Sql.ts"
import { checkText } from "../Validation.ts"
import { MediaFiles } from "./MediaFiles.ts"
import { MediaRepo } from "./MediaRepo.ts"
import * as Upload from "./Upload.ts"

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
