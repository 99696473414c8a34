/** The times from the start of `plaza sandbox start` and `plaza mcp` to the first response. */
import { Clock, Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { BenchmarkFailed } from "./Harness.ts"
import { environment } from "./Processes.ts"

const Address = Schema.fromJsonString(Schema.Struct({ baseUrl: Schema.String, apiKey: Schema.String }))

/** Starts a program that runs until it is stopped. Its exit is awaited, so that it doesn't disturb the next measurement. */
const started = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, args, { env: { ...environment, ...env }, stdio: ["pipe", "pipe", "ignore"] })),
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("close", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )

/** Waits for the first line of a program's output. */
const firstLine = (child: { readonly stdout: NodeJS.ReadableStream } & NodeJS.EventEmitter, failed: (reason: string) => BenchmarkFailed) =>
  Effect.callback<string, BenchmarkFailed>((resume) => {
    let written = ""
    child.once("close", () => resume(failed(`exited before it responded\n${written}`)))
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      written += text
      if (written.includes("\n")) resume(Effect.succeed(written))
    })
  })

const failedBy = (name: string) => (reason: string) => new BenchmarkFailed({ message: `${name} ${reason}` })

const sandboxFailed = failedBy("plaza sandbox start")

/** Starts `plaza sandbox start` and returns the milliseconds to its first response. */
export const sandbox = (plaza: string, env: Readonly<Record<string, string>>): Effect.Effect<number, BenchmarkFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const before = yield* Clock.monotonicTimeNanos
    const child = yield* started([plaza, "sandbox", "start", "--port", "0", "--json"], env)
    const line = yield* firstLine(child, sandboxFailed)
    const { apiKey, baseUrl } = yield* Effect.mapError(Schema.decodeEffect(Address)(line), () =>
      sandboxFailed(`printed no address: ${line}`))
    const { status } = yield* Effect.tryPromise({
      try: () => fetch(`${baseUrl}/me`, { headers: { authorization: `Bearer ${apiKey}`, connection: "close" } }),
      catch: (cause) => sandboxFailed(`did not respond: ${String(cause)}`)
    })
    const after = yield* Clock.monotonicTimeNanos
    return status === 200 ? Number(after - before) / 1e6 : yield* sandboxFailed(`responded with ${status}`)
  }))

const initialize = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "benchmark", version: "1" } }
})

/** Starts `plaza mcp` and returns the milliseconds to its response to `initialize`. */
export const mcp = (plaza: string, env: Readonly<Record<string, string>>): Effect.Effect<number, BenchmarkFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const before = yield* Clock.monotonicTimeNanos
    const child = yield* started([plaza, "mcp"], env)
    child.stdin.write(`${initialize}\n`)
    const line = yield* firstLine(child, failedBy("plaza mcp"))
    const after = yield* Clock.monotonicTimeNanos
    return line.includes("serverInfo") ? Number(after - before) / 1e6 : yield* failedBy("plaza mcp")(`responded with ${line}`)
  }))
