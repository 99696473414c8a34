/** An in-process import with a sandbox, a client, a journal folder and recorded output. */
import { NodeFileSystem } from "@effect/platform-node"
import * as Output from "@plaza/cli-kit/Output"
import * as Progress from "@plaza/cli-kit/Progress"
import * as Streams from "@plaza/cli-kit/Streams"
import { Plaza, Settings } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Cause, ConfigProvider, Effect, Exit, FileSystem, Layer, Option, type Redacted, Schema, Struct } from "effect"
import { HttpClient } from "effect/http"
import * as Import from "../../src/import/Import.ts"
import { kinds } from "../../src/import/ImportRow.ts"

interface ImportOptions extends Partial<Pick<Import.Options, "dryRun" | "again" | "concurrency" | "sheet">> {
  readonly report?: string | undefined
}

/** The result and the output of an import. */
export interface Ended {
  readonly exit: Exit.Exit<void, unknown>
  readonly stdout: string
  readonly stderr: string
}

/** Settings of the client that differ from the sandbox's. */
export interface As extends Partial<Pick<Plaza.Options, "rateLimit" | "rateWindow">> {
  readonly apiKey?: Redacted.Redacted
  /** Wraps the HTTP client. */
  readonly through?: (client: HttpClient.HttpClient) => HttpClient.HttpClient
}

const defaults = { format: Option.none(), delimiter: Option.none(), sheet: Option.none(), dryRun: false, again: false, concurrency: 16 }

/** The services of a new client for the sandbox. */
const client = ({ apiKey, through, ...more }: As) =>
  Layer.unwrap(Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const http = yield* HttpClient.HttpClient
    const options = { baseUrl: sandbox.baseUrl, apiKey: apiKey ?? sandbox.apiKey, ...more }
    return Layer.merge(
      Layer.provide(Plaza.layer(options), Layer.succeed(HttpClient.HttpClient, through?.(http) ?? http)),
      Layer.effect(Settings.Settings, Effect.fromResult(Settings.fromOptions(options)))
    )
  }))

/** A new folder for journals and files. */
export const home = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-import-" }))

/** Writes a file into a folder. */
export const write = (folder: string, name: string, content: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.as(fs.writeFileString(`${folder}/${name}`, content), `${folder}/${name}`))

/** Runs an import with a new client, recorded output and its own scope. */
export const run = (
  state: string,
  kind: "stock" | "orders",
  file: string,
  importOptions: ImportOptions & As & { readonly json?: boolean; readonly env?: Readonly<Record<string, string>> } = {}
) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const { env = { XDG_STATE_HOME: state }, json = true, report, ...options } = importOptions
    const work = Effect.provide(
      Import.run(kinds[kind], { ...defaults, ...options, file, report: Option.fromUndefinedOr(report) }),
      client(Struct.pick(importOptions, ["apiKey", "rateLimit", "rateWindow", "through"]))
    )
    const output = Layer.provideMerge(
      Layer.merge(Output.layer({ json, quiet: false }), Progress.layerSilent),
      Streams.layerTest({ stdout, stderr })
    )
    const exit = yield* Effect.exit(work.pipe(
      Effect.scoped,
      Effect.provide(output),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
    ))
    return { exit, stdout: stdout.join(""), stderr: stderr.join("") } satisfies Ended
  })

/** The failure of an import, if any. */
export const failureOf = ({ exit }: Ended): unknown => Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

/** The JSON result that an import printed. */
export const summaryOf = ({ stdout }: Ended): unknown => stdout === "" ? undefined : JSON.parse(stdout)

const Line = Schema.fromJsonString(Schema.Struct({ id: Schema.String, is: Schema.String }))

/** The rows that the journals confirm. Ignores truncated lines. */
export const confirmedIn = (state: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const names = (yield* fs.exists(state)) ? yield* fs.readDirectory(state, { recursive: true }) : []
    const journals = names.filter((name) => name.startsWith("plaza/imports/") && name.endsWith(".ndjson"))
    const texts = yield* Effect.forEach(journals, (name) => fs.readFileString(`${state}/${name}`))
    const entries = texts.join("\n").split("\n").map((line) => Option.getOrUndefined(Schema.decodeUnknownOption(Line)(line)))
    return entries.flatMap((entry) => entry !== undefined && (entry.is === "sent" || entry.is === "unverified") ? [entry.id] : [])
  })

export const inProcess = (options: Sandbox.Options = {}) => Layer.merge(Sandbox.layerHttpClient(options), NodeFileSystem.layer)

export const stockOf = (rows: Iterable<readonly [id: string, stock: number]>): string =>
  `productId,stock\n${[...rows].map(([id, stock]) => `${id},${stock}\n`).join("")}`

export const ordersOf = (ids: Iterable<string>): string =>
  `orderId,carrier,trackingNumber\n${[...ids].map((id) => `${id},DHL,T-${id}\n`).join("")}`
