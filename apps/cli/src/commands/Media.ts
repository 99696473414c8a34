/** `plaza media`: uploads. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { connect } from "../Connection.js"
import { flags, withOutput } from "../Flags.js"
import * as Uploads from "../Uploads.js"

const files = Args.text({ name: "FILE" }).pipe(Args.withDescription("A file to upload."), Args.atLeast(1))

const upload = Command.make("upload", { files, ...flags }, ({ files, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { media } = yield* connect(flags)
    const output = yield* Output
    const uploads = yield* Uploads.make(media, files)
    yield* output.list(uploads.each, [{ head: "mediaId", whole: true }, { head: "file" }], ({ file, mediaId }) => [mediaId, file],
      uploads.bar.beside)
    yield* Option.match(uploads.failure(""), { onNone: () => Effect.void, onSome: Effect.fail })
  }))).pipe(
    Command.withDescription(
      about("Upload files, and print the id of each, for plaza posts create --media-id.", "media upload front.jpg back.jpg")
    )
  )

export const media = Command.make("media").pipe(
  Command.withDescription(about("Upload files.", "media upload front.jpg")),
  Command.withSubcommands([upload])
)
