/**
 * What a person sees of `plaza` at a terminal: every session here is compared with what is written down in `transcripts`.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { expect } from "vitest"
import { environment } from "./support/Plaza.ts"
import * as Terminal from "./support/Terminal.ts"
import * as Transcript from "./support/Transcript.ts"

/** Runs the words to their end in a window of so many columns. */
const session = (typed: string, columns: number, env: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function*() {
    const ended = yield* Terminal.run(typed.split(" ").slice(1), { columns, env: { ...yield* environment, ...env } })
    return Transcript.written({
      typed: [...Object.entries(env).map(([name, value]) => `${name}=${value}`), typed].join(" "),
      columns,
      ...ended
    })
  })

const interrupt = "\u0003"

layer(Layer.merge(Sandbox.layerServer(), NodeFileSystem.layer), { excludeTestServices: true })("at a terminal", (it) => {
  it.effect("help fits the window", () =>
    Effect.gen(function*() {
      Transcript.compare("help", yield* session("plaza posts --help", 60), yield* session("plaza posts list --help", 60),
        yield* session("plaza posts list --help", 120))
    }))

  it.effect("a table fits the window, with a head in bold unless colours are not wanted", () =>
    Effect.gen(function*() {
      const list = "plaza posts list --limit 4"
      Transcript.compare("table", yield* session(list, 60), yield* session(list, 120), yield* session(list, 60, { NO_COLOR: "1" }))
    }))

  it.effect("faults are listed with everything that is set, each value readable in 80 columns", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const none = yield* session("plaza sandbox faults list", 80)
      yield* sandbox.addFault({ kind: "status", when: "after", status: 500, every: 10, account: "1001", method: "POST", path: "/posts" })
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 2_000, rate: 0.25, times: 3, lastsMillis: 60_000 })
      const some = yield* session("plaza sandbox faults list", 80)
      yield* sandbox.clearFaults
      Transcript.compare("faults", none, some, yield* session("plaza sandbox snapshot list", 80))
    }))

  it.effect("one thing is its entries, a line each", () =>
    Effect.gen(function*() {
      Transcript.compare("record", yield* session("plaza me", 60), yield* session("plaza stock set 0042 12", 60))
    }))

  it.effect("a failure is printed in lines that fit the window", () =>
    Effect.gen(function*() {
      Transcript.compare("failure", yield* session("plaza psots list", 60), yield* session("plaza orders ship 500001 --carrier DHL", 60),
        yield* session("plaza me --nonsense", 60))
    }))

  it.effect("a plan is printed in lines that fit the window", () =>
    Effect.gen(function*() {
      Transcript.compare("plan", yield* session("plaza verify --plan --write --order 500001", 60))
    }))

  it.effect("a bar shows how far an upload is, and Ctrl-C takes it away and ends at once", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-bar-" })
      yield* fs.writeFile(`${cwd}/mugs.jpg`, new Uint8Array(20_000))
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 30_000, method: "POST", path: "/media" })
      const columns = 80
      const terminal = yield* Terminal.open(["media", "upload", "mugs.jpg"], { columns, cwd, env: yield* environment })
      const bar = yield* terminal.shows(/20\.0 kB of 20\.0 kB/)
      yield* terminal.type(interrupt)
      const ended = yield* terminal.ended
      yield* sandbox.clearFaults
      const typed = "plaza media upload mugs.jpg"
      Transcript.compare("upload", Transcript.written({ typed, columns, screen: bar, code: "not there yet" }),
        Transcript.written({ typed: `${typed}, then Ctrl-C`, columns, ...ended }))
    }))

  it.effect("the sandbox prints what leads to it, and ends well by Ctrl-C", () =>
    Effect.gen(function*() {
      const columns = 120
      const terminal = yield* Terminal.open(["sandbox", "start", "--port", "0"], { columns })
      yield* terminal.shows(/PLAZA_API_KEY=/)
      yield* terminal.type(interrupt)
      const ended = yield* terminal.ended
      Transcript.compare("sandbox",
        Transcript.written({ typed: "plaza sandbox start --port 0, then Ctrl-C", columns, ...ended }, { port: /(?<=127\.0\.0\.1:)\d+/ }))
    }))

  it.effect("a key is asked for, and is nowhere on the screen or in what came from the program", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const home = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-login-" })
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const columns = 80
      const terminal = yield* Terminal.open(["auth", "login", "--base-url", baseUrl], { columns, env: { XDG_CONFIG_HOME: home } })
      yield* terminal.shows(/key/i)
      yield* terminal.type(`${Redacted.value(apiKey)}\r`)
      const ended = yield* terminal.ended
      expect(yield* terminal.raw).not.toContain(Redacted.value(apiKey).slice(-8))
      Transcript.compare("login", Transcript.written({ typed: "plaza auth login --base-url <url>", columns, ...ended }, {
        url: baseUrl,
        port: /(?<=127\.0\.0\.1:)\d+/,
        home
      }))
    }))
})
