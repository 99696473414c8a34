/** `plaza media`: uploads. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Argument from "effect/cli/Argument"
import { command, group } from "./Definition.ts"

const upload = command(
  "upload",
  {
    summary: "Upload files and print their ids.",
    details: ["All files are checked before the first one is sent. If one upload fails, the others continue."],
    examples: ["media upload front.jpg back.jpg"],
    output: "upload"
  },
  { files: Flags.argument("FILE", "A file to upload.").pipe(Argument.atLeast(1)) },
  () => import("./MediaHandlers.ts").then(({ upload }) => upload)
)

export const media = group("media", { summary: "Upload files.", examples: ["media upload front.jpg"] }, [upload])
