/** What `plaza media` does. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Client from "./Client.ts"
import * as Uploads from "./media/Uploads.ts"

export const upload = Effect.fnUntraced(function*({ files }: { readonly files: ReadonlyArray<string> }) {
  const output = yield* Output
  const uploads = yield* Uploads.make(files)
  yield* output.list(uploads.stream, [{ head: "mediaId", whole: true }, { head: "file" }], ({ file, mediaId }) => [mediaId, file], {
    // The failure says that no file is uploaded.
    empty: undefined,
    around: uploads.bar.beside
  })
  yield* Option.match(uploads.failure(""), { onNone: () => Effect.void, onSome: Effect.fail })
}, Client.provideWithBar)
