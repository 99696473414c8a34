/** `plaza media`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { commonOptions, withClient } from "./CommonOptions.ts"
import * as Uploads from "./media/Uploads.ts"

const files = Args.text({ name: "FILE" }).pipe(Args.withDescription("A file to upload."), Args.atLeast(1))

const upload = Command.make("upload", { files, ...commonOptions }, ({ files, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const output = yield* Output
    const uploads = yield* Uploads.make(files)
    yield* output.list(uploads.stream, [{ head: "mediaId", whole: true }, { head: "file" }], ({ file, mediaId }) => [mediaId, file],
      uploads.bar.beside)
    yield* Option.match(uploads.failure(""), { onNone: () => Effect.void, onSome: Effect.fail })
  }), { hasBar: true })).pipe(Command.withDescription(describe({
    summary: "Upload files and print their ids.",
    details: ["All files are checked before the first one is sent. If one upload fails, the others continue."],
    examples: ["media upload front.jpg back.jpg"]
  })))

export const media = Command.make("media").pipe(
  Command.withDescription(describe({ summary: "Upload files.", examples: ["media upload front.jpg"] })),
  Command.withSubcommands([upload])
)
