/** What `plaza media` does. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Client from "./Client.ts"
import * as Uploads from "./media/Uploads.ts"

export const upload = Effect.fnUntraced(function*({ files }: { readonly files: ReadonlyArray<string> }) {
  const output = yield* Output
  const uploads = yield* Uploads.make(files)
  const noteUploaded = Effect.suspend(() => output.note(uploads.interrupted("")))
  yield* output.list(uploads.stream, [{ head: "mediaId", whole: true }, { head: "file" }], ({ file, mediaId }) => [mediaId, file], {
    // The failure says that no file is uploaded.
    empty: undefined,
    around: uploads.bar.beside
  }).pipe(
    Effect.onInterrupt(() => noteUploaded),
    // It stops the uploads.
    Effect.tapErrorTag("OutputFailed", () => noteUploaded)
  )
  yield* Option.match(uploads.failure(""), { onNone: () => Effect.void, onSome: Effect.fail })
}, Client.provideWithBar)
