/** Runs `plaza mcp` as a child process: with the official client, or with raw lines. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { McpError } from "@modelcontextprotocol/sdk/types.js"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Data, Effect, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { dist, noProfiles } from "./Plaza.ts"

type Environment = Readonly<Record<string, string>>

/** A call without a result of the tool: an error of the protocol, or a cancelled call. */
export class CallFailed extends Data.TaggedError("CallFailed")<{ readonly code: number | null; readonly message: string }> {}

const program = `${dist}/plaza.cjs`

/** The environment for the sandbox of the test; `state` is the folder of the shared rate limit. */
const environment = (state: string, env: Environment) =>
  Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => ({
    PLAZA_BASE_URL: baseUrl,
    PLAZA_API_KEY: Redacted.value(apiKey),
    XDG_CONFIG_HOME: noProfiles,
    XDG_STATE_HOME: state,
    ...env
  }))

/** An official client that is connected to `plaza mcp` with these arguments. */
export const connect = (
  argv: ReadonlyArray<string>,
  state: string,
  { cwd, env = {} }: { readonly cwd?: string; readonly env?: Environment } = {}
) =>
  Effect.gen(function*() {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, "mcp", ...argv],
      env: yield* environment(state, env),
      stderr: "pipe",
      ...(cwd === undefined ? {} : { cwd })
    })
    let stderr = ""
    transport.stderr?.on("data", (text: Buffer) => {
      stderr += text.toString()
    })
    const client = yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const client = new Client({ name: "test", version: "1" })
        await client.connect(transport)
        return client
      }),
      (client) => Effect.promise(() => client.close())
    )
    const call = (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      Effect.tryPromise({
        try: () => client.callTool({ name, arguments: args }, undefined, signal === undefined ? {} : { signal }),
        catch: (error) => new CallFailed({ code: error instanceof McpError ? error.code : null, message: String(error) })
      })
    return { client, call, stderr: () => stderr }
  })

/** Waits for a condition, for 20 seconds at most. */
export const until = (condition: () => boolean, description: string) =>
  Effect.sync(condition).pipe(
    Effect.filterOrFail((holds) => holds, () => description),
    Effect.retry(Schedule.intersect(Schedule.spaced("20 millis"), Schedule.recurs(1_000))),
    Effect.orDieWith((missing) => new Error(`did not happen: ${missing}`)),
    Effect.asVoid
  )

/** The messages that a client sends before its first request. */
export const handshake = [
  {
    jsonrpc: "2.0",
    id: "handshake",
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
  },
  { jsonrpc: "2.0", method: "notifications/initialized" }
].map((message) => `${JSON.stringify(message)}\n`).join("")

/** A line that calls a tool. */
export const toolCall = (id: string | number, name: string, args?: Readonly<Record<string, unknown>>): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, ...(args === undefined ? {} : { arguments: args }) } })}\n`

/** `plaza mcp` without a client. */
export const raw = (argv: ReadonlyArray<string>, state: string) =>
  Effect.gen(function*() {
    const env = yield* environment(state, { PATH: process.env["PATH"] ?? "" })
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => spawn(process.execPath, [program, "mcp", ...argv], { env })),
      (child) => Effect.sync(() => child.kill("SIGKILL"))
    )
    let stdout = ""
    let stderr = ""
    let code: number | string | undefined
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    child.stdin.on("error", () => {})
    child.once("exit", (status, signal) => {
      code = status ?? signal ?? "unknown"
    })
    return {
      child,
      /** Every complete line as JSON. */
      messages: (): ReadonlyArray<unknown> => stdout.split("\n").slice(0, -1).map((line): unknown => JSON.parse(line)),
      stderr: () => stderr,
      ended: Effect.as(until(() => code !== undefined, "the end of plaza mcp"), undefined).pipe(Effect.map(() => code))
    }
  })
