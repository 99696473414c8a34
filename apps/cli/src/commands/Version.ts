/** `plaza version`. */
import { command } from "./Definition.ts"

export const versionCommand = command(
  "version",
  {
    summary: "Print the version.",
    details: ["plaza --version prints it too."],
    examples: ["version", "version --json"],
    output: "version"
  },
  {},
  () => import("./VersionHandlers.ts").then(({ print }) => print)
)
