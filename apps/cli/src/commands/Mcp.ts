/** `plaza mcp`: the account as tools for agents, by the Model Context Protocol on standard input and output. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import { excerpt } from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { isWrite, type Write, writes } from "../mcp/Writes.ts"
import * as Connection from "../profiles/Connection.ts"
import * as RateLimitFile from "../profiles/RateLimitFile.ts"
import { commonOptions, text, withOutput } from "./CommonOptions.ts"

const allowedOf = (
  { allowWrites, hasUploads, written }: {
    readonly allowWrites: boolean
    readonly hasUploads: boolean
    readonly written: ReadonlyArray<string>
  }
): Either.Either<ReadonlyArray<Write>, UsageError> => {
  const names = [...new Set(written.flatMap((word) => word.split(",")).filter((word) => word !== ""))]
  const unknown = names.find((name) => !isWrite(name))
  if (unknown !== undefined) {
    return Either.left(new UsageError({ message: `"${excerpt(unknown)}" is not a write: use one of ${writes.join(", ")}` }))
  }
  if (!allowWrites) {
    return names.length === 0
      ? Either.right([])
      : Either.left(new UsageError({ message: `${names.join(" and ")} would not be offered: add --allow-writes` }))
  }
  // No argument offers every write. An empty one is most likely an unset variable in a configuration.
  if (names.length === 0 && written.length > 0) {
    return Either.left(
      new UsageError({ message: `"${excerpt(written.join(" "))}" names no write: name writes, or remove it to offer every write` })
    )
  }
  if (names.includes("uploadMedia") && !hasUploads) {
    return Either.left(new UsageError({ message: "uploadMedia requires a folder: add --uploads DIR, and only its files can be uploaded" }))
  }
  return Either.right(names.length === 0 ? writes : writes.filter((write) => names.includes(write)))
}

// Callers give up after a minute by default. The failure reports when to call again.
const maxWait = "30 seconds"

export const mcp = Command.make("mcp", {
  allowWrites: Options.boolean("allow-writes").pipe(
    Options.withDescription("Offer the writes that the arguments name, or every write if there are none (default: reads only).")
  ),
  written: Args.text({ name: "WRITE" }).pipe(
    Args.withDescription(`A write to offer, with --allow-writes: ${writes.join(", ")}.`),
    Args.repeated
  ),
  uploads: Options.optional(
    text("uploads", "DIR", "The folder whose files uploadMedia may upload, without hidden ones (default: none, and no uploadMedia).")
  ),
  ...commonOptions
}, ({ allowWrites, uploads, written, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    yield* Program.untilStopped
    const allowed = yield* allowedOf({ allowWrites, hasUploads: Option.isSome(uploads), written })
    const [McpServer, Tools, UploadFolder] = yield* Effect.promise(() =>
      Promise.all([import("../mcp/McpServer.ts"), import("../mcp/Tools.ts"), import("../mcp/UploadFolder.ts")])
    )
    const folder = yield* Effect.transposeMapOption(uploads, UploadFolder.make)
    if (Option.isSome(folder) && !allowed.includes("uploadMedia")) {
      const { note } = yield* Output
      yield* note("--uploads has no effect: uploadMedia is not offered without --allow-writes uploadMedia.")
    }
    const client = Connection.layer(flags, { maxWait, rateLimitFile: RateLimitFile.created })
    yield* McpServer.serve(Tools.offered(allowed, folder), client, NodeStream.stdin)
  }))).pipe(Command.withDescription(describe({
    summary: "Serve the account to agents by the Model Context Protocol.",
    details: [
      "An MCP client starts this command and talks to it on standard input and output. Tools only read, unless --allow-writes adds writes.",
      "uploadMedia also requires --uploads, and reads no file outside of that folder.",
      "It shares the rate limit of the key with other commands, through a file in XDG_STATE_HOME.",
      "At the end of the input, running calls have 10 seconds to finish."
    ],
    examples: [
      "mcp",
      "mcp --allow-writes setStock shipOrder",
      "mcp --allow-writes createPost uploadMedia --uploads /srv/photos",
      "mcp --sandbox --allow-writes"
    ]
  })))
