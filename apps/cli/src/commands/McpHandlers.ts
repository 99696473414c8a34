/** What `plaza mcp` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Output } from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import { excerpt } from "@plaza/cli-kit/Text"
import type { WriteName } from "@plaza/domain/Operations"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as McpServer from "../mcp/McpServer.ts"
import * as Tools from "../mcp/Tools.ts"
import { EphemeralSandbox } from "../sandbox/EphemeralSandbox.ts"

interface McpInput {
  readonly allowWrites: boolean
  readonly written: ReadonlyArray<string>
  readonly confirmWrites: boolean
  readonly uploads: Option.Option<string>
}

const allowedOf = ({ allowWrites, uploads, written }: McpInput): Result.Result<ReadonlyArray<WriteName>, UsageError> => {
  const refuse = (message: string) => Result.fail(new UsageError({ message }))
  const names = [...new Set(written.flatMap((word) => word.split(",")).filter((word) => word !== ""))]
  const unknown = names.find((name) => !Tools.writes.some((write) => write === name))
  if (unknown !== undefined) return refuse(`"${excerpt(unknown)}" is not a write: use one of ${Tools.writes.join(", ")}`)
  if (!allowWrites)
    return names.length === 0
      ? Result.succeed([])
      : refuse(`${names.join(" and ")} would not be offered: add --allow-writes`)
  // No argument offers every write. An empty one is most likely an unset variable in a configuration.
  if (names.length === 0 && written.length > 0) {
    return refuse(`"${excerpt(written.join(" "))}" names no write: name writes, or remove it to offer every write`)
  }
  const upload = Tools.uploads.find((name) => names.includes(name))
  if (upload !== undefined && Option.isNone(uploads)) {
    return refuse(`${upload} requires a folder: add --uploads DIR, and only its files can be uploaded`)
  }
  return Result.succeed(names.length === 0 ? Tools.writes : Tools.writes.filter((write) => names.includes(write)))
}

const folderOf = (directory: string) =>
  Effect.flatMap(Effect.promise(() => import("../mcp/UploadFolder.ts")), ({ make }) => make(directory))

// Callers give up after a minute by default. The failure reports when to call again.
const maxWait = "30 seconds"

/** Loaded when it is built: the first response of the server needs no client. */
const client = Layer.unwrap(Effect.gen(function*() {
  const [{ layer }, RateLimitFile] = yield* Effect.promise(() =>
    Promise.all([import("./Client.ts"), import("../profiles/RateLimitFile.ts")])
  )
  return layer({ maxWait, rateLimitFile: RateLimitFile.get })
}))

export const serve = Effect.fnUntraced(function*(input: McpInput) {
  yield* Program.untilStopped
  const allowed = yield* Effect.fromResult(allowedOf(input))
  const folder = yield* Effect.transposeOption(Option.map(input.uploads, folderOf))
  const { note } = yield* Output
  if (Option.isSome(folder) && !Tools.uploads.some((name) => allowed.includes(name))) {
    const names = Tools.uploads.join(", ")
    yield* note(`--uploads has no effect: ${names} is not offered without --allow-writes ${names}.`)
  }
  if (input.confirmWrites && !input.allowWrites) yield* note("--confirm-writes has no effect: no write is offered without --allow-writes.")
  const ofService = Tools.offered(allowed, folder)
  const tools = (yield* EphemeralSandbox)
    ? Effect.map(Effect.promise(() => import("../mcp/SandboxTools.ts")), ({ tools }) => [...ofService, ...tools])
    : Effect.succeed(ofService)
  yield* McpServer.serve(
    { tools, confirm: input.confirmWrites },
    client,
    InputFile.bytes("-")
  )
})
