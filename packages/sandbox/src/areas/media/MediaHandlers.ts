/**
 * Handler of the media area: recording an uploaded file.
 *
 * Source: interface v1, "Endpoints", POST /media.
 */
import { MediaId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { CurrentAssumptions } from "../../Assumptions.ts"
import { CurrentCaller, InterfaceApi, RequestBody } from "../../InterfaceApi.ts"
import { CurrentLatitude } from "../../latitude/CurrentLatitude.ts"
import * as Stored from "../../latitude/Stored.ts"
import { Db } from "../../storage/Db.ts"
import { checkText } from "../../Validation.ts"
import { MediaFiles } from "./MediaFiles.ts"
import { MediaRepo } from "./MediaRepo.ts"

export const layer = HttpApiBuilder.group(InterfaceApi, "media", (handlers) =>
  Effect.gen(function*() {
    const { transaction } = yield* Db
    const repo = yield* MediaRepo
    const files = yield* MediaFiles
    const latitude = yield* CurrentLatitude
    const { maxFileNameLength } = yield* CurrentAssumptions

    return handlers.handleAll({
      uploadMedia: () =>
        Effect.gen(function*() {
          const { accountId } = yield* CurrentCaller
          const body = yield* RequestBody
          if (body.kind !== "file") {
            return yield* Effect.die("admission receives the file first")
          }
          const { contentType, file, name, sha256, size } = body.file
          const record = Effect.gen(function*() {
            yield* checkText("file", name, maxFileNameLength)
            const seq = repo.nextSeq()
            const id = MediaId.make(Stored.id(latitude.value, "media", seq, `media-${String(seq).padStart(6, "0")}`))
            repo.insert({ seq, id, accountId, name, contentType, size, sha256, file })
            return { mediaId: id, fileName: name, contentType, size }
          })
          // The file was written first; without a row nothing refers to it.
          return yield* Effect.onError(transaction(record), () => files.remove([file]))
        })
    })
  }))
