/** A service that echoes the API key in any form and any place of a response: no command shows it. */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { Plaza } from "@plaza/client"
import * as Node from "@plaza/client/node"
import * as KeyEchoes from "@plaza/testing/KeyEchoes"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { expect } from "vitest"
import * as McpServer from "../src/mcp/McpServer.ts"
import * as Tools from "../src/mcp/Tools.ts"
import * as Plan from "../src/verify/Plan.ts"
import * as Report from "../src/verify/Report.ts"
import * as Run from "../src/verify/Run.ts"
import { plaza } from "./support/InProcess.ts"
import * as Mcp from "./support/Mcp.ts"
import { settings } from "./support/Verifying.ts"

class Service extends Context.Service<Service, KeyEchoes.Echoing>()("@plaza/cli/test/EchoingService") {}

const service = Layer.effect(Service, KeyEchoes.serve)

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(`${tmpdir()}/plaza-echo-`)),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const commands: ReadonlyArray<ReadonlyArray<string>> = [
  ["api", "GET", "/me", "--include"],
  ["api", "POST", "/x", "--field", "a=1", "--include", "--json"],
  ["me"],
  ["posts", "list", "--json"],
  ["doctor", "--json"]
]

layer(Layer.merge(service, NodeFileSystem.layer), { excludeTestServices: true })("an echo of the key", (it) => {
  const echoes = KeyEchoes.keyed().flatMap((echo) => [200, 401].map((status) => ({ ...echo, status })))

  it.effect("is in no output of a command, for any form, place and status", () =>
    Effect.gen(function*() {
      const { baseUrl, respond } = yield* Service
      for (const { form, key, name, status } of echoes) {
        respond(status, form)
        for (const argv of commands) {
          const { stderr, stdout } = yield* plaza(argv, {
            PLAZA_BASE_URL: baseUrl,
            PLAZA_API_KEY: key,
            PLAZA_DEBUG: "1",
            PLAZA_LOG_LEVEL: "All"
          })
          expect({ name, status, argv, stdout, stderr, isLeaking: KeyEchoes.isLeaking(stdout, key) || KeyEchoes.isLeaking(stderr, key) })
            .toMatchObject({
              isLeaking: false
            })
        }
      }
    }), 120_000)

  it.effect("is in no output, report or journal of an import", () =>
    Effect.gen(function*() {
      const { baseUrl, respond } = yield* Service
      for (const { form, key, name, status } of echoes) {
        respond(status, form)
        const home = yield* folder
        writeFileSync(`${home}/stock.csv`, "productId,stock\n1,2\n2,3\n")
        const { stderr, stdout } = yield* plaza(
          ["stock", "import", `${home}/stock.csv`, "--report", `${home}/rejected.csv`, "--json"],
          { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: key, XDG_STATE_HOME: home }
        )
        const files = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
          .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, "utf8"))
        const isShown = [stdout, stderr, ...files].some((text) => KeyEchoes.isLeaking(text, key))
        expect({ name, status, isShown }).toEqual({ name, status, isShown: false })
      }
    }), 60_000)

  it.effect("is in no result of a tool", () =>
    Effect.gen(function*() {
      const { baseUrl, respond } = yield* Service
      const calls = [["getMe", {}], ["listPosts", {}], ["createComment", { id: "1", text: "a" }], ["createStory", { story: {} }]] as const
      const input = Mcp.handshake + calls.map(([name, args], id) => Mcp.toolCall(id, name, args)).join("")
      for (const { form, key, name, status } of echoes) {
        respond(status, form)
        const stdout: Array<string> = []
        const stderr: Array<string> = []
        const client = Layer.provide(Plaza.layer({ baseUrl, apiKey: Redacted.make(key) }), Node.layer)
        yield* McpServer.serve({ tools: Effect.succeed(Tools.offered(Tools.writes)), confirm: false }, client,
          Stream.make(Buffer.from(input))).pipe(
            Effect.provide(Layer.provideMerge(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout, stderr })))
          )
        expect(stdout.join("").split("\n")).toHaveLength(calls.length + 2)
        const isShown = KeyEchoes.isLeaking([...stdout, ...stderr].join(""), key)
        expect({ name, status, isShown }).toEqual({ name, status, isShown: false })
      }
    }), 60_000)

  it.effect("is in no report of plaza verify", () =>
    Effect.gen(function*() {
      const { baseUrl, respond } = yield* Service
      for (const { form, key, name, status } of echoes) {
        respond(status, form)
        const outcome = yield* Run.run({
          settings: yield* settings(Redacted.make(key), baseUrl),
          plan: Plan.make(undefined).slice(0, 1),
          onProgress: () => Effect.void,
          onInterrupt: () => Effect.void
        }).pipe(Effect.provide(Node.layer))
        const isShown = KeyEchoes.isLeaking(JSON.stringify([outcome, Report.make(outcome)]), key)
        expect({ name, status, isShown }).toEqual({ name, status, isShown: false })
      }
    }), 60_000)
})
