/** Runs `plaza mcp` as a child process: with the official clients, or with raw lines. */
import { Client as ClientOf2026, ProtocolError } from "@modelcontextprotocol/client"
import { StdioClientTransport as TransportOf2026 } from "@modelcontextprotocol/client/stdio"
import { Client as ClientOf2025 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as TransportOf2025 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema, McpError } from "@modelcontextprotocol/sdk/types.js"
import { Sandbox } from "@plaza/sandbox"
import { Data, Effect, Redacted, Schedule } from "effect"
import { spawn } from "node:child_process"
import { builtProgram, noProfiles } from "./Plaza.ts"

type Environment = Readonly<Record<string, string>>

/** A call without a result of the tool: an error of the protocol, or a cancelled call. */
export class CallFailed extends Data.TaggedError("CallFailed")<{ readonly code: number | null; readonly message: string }> {}

const program = builtProgram()

/** The environment for the sandbox of the test; `state` is the folder of the shared rate limit. */
const environment = (state: string, env: Environment) =>
  Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => ({
    PLAZA_BASE_URL: baseUrl,
    PLAZA_API_KEY: Redacted.value(apiKey),
    XDG_CONFIG_HOME: noProfiles,
    XDG_STATE_HOME: state,
    ...env
  }))

/** The official clients: the first version, and the second one in each of its ways to agree on a protocol. */
export const clients = ["v1", "v2 legacy", "v2 auto", "v2 pinned"] as const

export type ClientKind = (typeof clients)[number]

/** What a person does with a question. */
export interface Answer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Record<string, boolean>
}

const modes = { "v2 legacy": "legacy", "v2 auto": "auto", "v2 pinned": { pin: "2026-07-28" } } as const

interface Options {
  readonly cwd?: string
  readonly env?: Environment
  readonly client?: ClientKind
  /** Answers a question. Without it, the client can't ask. */
  readonly answer?: (question: string) => Answer
}

interface ListedTool {
  readonly name: string
  readonly description?: string | undefined
  readonly annotations?: { readonly readOnlyHint?: boolean | undefined; readonly idempotentHint?: boolean | undefined } | undefined
}

const open = (kind: ClientKind, answer: Options["answer"]) => {
  const info = { name: "test", version: "1" }
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } }
  if (kind === "v1") {
    const client = new ClientOf2025(info, { capabilities })
    if (answer !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ ...answer(params.message) }))
    return {
      connect: (server: ConstructorParameters<typeof TransportOf2025>[0]) => {
        const transport = new TransportOf2025(server)
        return { stderr: transport.stderr, connected: client.connect(transport) }
      },
      call: (name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Record<string, unknown>> =>
        client.callTool({ name, arguments: args }, undefined, signal === undefined ? {} : { signal }),
      listTools: async (): Promise<ReadonlyArray<ListedTool>> => (await client.listTools()).tools,
      client
    }
  }
  const client = new ClientOf2026(info, { capabilities, versionNegotiation: { mode: modes[kind] } })
  if (answer !== undefined) client.setRequestHandler("elicitation/create", ({ params }) => ({ ...answer(params.message) }))
  return {
    connect: (server: ConstructorParameters<typeof TransportOf2026>[0]) => {
      const transport = new TransportOf2026(server)
      return { stderr: transport.stderr, connected: client.connect(transport) }
    },
    call: async (name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<Record<string, unknown>> => ({
      ...await client.callTool({ name, arguments: args }, signal === undefined ? {} : { signal })
    }),
    listTools: async (): Promise<ReadonlyArray<ListedTool>> => (await client.listTools()).tools,
    client
  }
}

/** An official client that is connected to `plaza mcp` with these arguments. */
export const connect = (argv: ReadonlyArray<string>, state: string, { answer, client: kind = "v1", cwd, env = {} }: Options = {}) =>
  Effect.gen(function*() {
    const server = {
      command: process.execPath,
      args: [program, "mcp", ...argv],
      env: yield* environment(state, env),
      stderr: "pipe" as const,
      ...(cwd === undefined ? {} : { cwd })
    }
    const opened = open(kind, answer)
    let stderr = ""
    yield* Effect.acquireRelease(
      Effect.promise(async () => {
        const started = opened.connect(server)
        started.stderr?.on("data", (text: Buffer) => {
          stderr += text.toString()
        })
        await started.connected
      }),
      () => Effect.promise(() => opened.client.close())
    )
    const call = (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      Effect.tryPromise({
        try: () => opened.call(name, args, signal),
        catch: (error) =>
          new CallFailed({ code: error instanceof McpError || error instanceof ProtocolError ? error.code : null, message: String(error) })
      })
    const listTools = Effect.promise(opened.listTools)
    return { client: opened.client, listTools, call, stderr: () => stderr }
  })

/** Waits for a condition, for 20 seconds at most. */
export const until = (condition: () => boolean, description: string) =>
  Effect.sync(condition).pipe(
    Effect.filterOrFail((holds) => holds, () => new Error(`did not happen: ${description}`)),
    Effect.retry({ schedule: Schedule.spaced("20 millis"), times: 1_000 }),
    Effect.orDie,
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
    child.once("close", (status, signal) => {
      code = status ?? signal ?? "unknown"
    })
    return {
      child,
      /** Every complete line as JSON. */
      messages: (): ReadonlyArray<unknown> => stdout.split("\n").slice(0, -1).map((line): unknown => JSON.parse(line)),
      stderr: () => stderr,
      ended: Effect.map(until(() => code !== undefined, "the end of plaza mcp"), () => code)
    }
  })
