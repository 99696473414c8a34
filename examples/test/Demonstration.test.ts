/** The demonstration ends with the stock of the file in the shop, its file has the expected rows, and `--keep` leaves both programs open. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Pty from "@lydell/node-pty"
import { Sandbox } from "@plaza/sandbox"
import { Deferred, Effect, FileSystem, Layer, Path, Stream, SubscriptionRef } from "effect"
import { ChildProcess } from "effect/process"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { createServer, type Server } from "node:net"
import { readInventory } from "../src/inventory.ts"

const here = (relative: string) => Effect.flatMap(Path.Path, (path) => path.fromFileUrl(new URL(relative, import.meta.url)))

describe("examples/inventory.csv", () => {
  it.effect("has a hundred rows, two of them bad, and names one product that the shop doesn't have", () =>
    Effect.gen(function*() {
      const rows = readInventory(yield* (yield* FileSystem.FileSystem).readFileString(yield* here("../inventory.csv")))
      const { products } = yield* (yield* Sandbox.Sandbox).state
      const known = new Set<string>(products.map(({ id }) => id))
      expect(rows).toHaveLength(100)
      expect(new Set(rows.map(({ productId }) => productId)).size).toBe(100)
      expect(rows.filter(({ stock }) => stock === undefined)).toHaveLength(2)
      expect(rows.filter(({ productId }) => !known.has(productId)).map(({ productId }) => productId)).toEqual(["SOAP-PINE"])
      expect(rows.filter(({ stock }) => stock === 0).length).toBeGreaterThan(3)
    }).pipe(Effect.provide(Layer.merge(NodeServices.layer, Sandbox.layerHttpClient()))))
})

/** Runs `start.ts` as the start command does. Without a terminal. */
const start = Effect.fnUntraced(function*(...args: ReadonlyArray<string>) {
  const child = yield* ChildProcess.make(
    process.execPath,
    ["--conditions=@plaza/source", yield* here("../src/start.ts"), ...args],
    { cwd: yield* here("../..") }
  )
  const [output, errors, status] = yield* Effect.all(
    [Stream.mkString(Stream.decodeText(child.stdout)), Stream.mkString(Stream.decodeText(child.stderr)), child.exitCode],
    { concurrency: "unbounded" }
  )
  return { errors, output, status }
})

describe("the demonstration", () => {
  it.live("brings shop and file to agree, finds them agreed when it is run again, and begins anew beside a new shop",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const run = (confirmed: number) =>
          Effect.map(start(folder), ({ errors, output, status }) => {
            expect(errors).toBe(
              "plaza-stock-sync: 2 rows of the source rejected, 1 product refused by the service: correct them, and run it again\n"
            )
            expect(output).toContain(`confirmed\t${confirmed}\nunchanged\t${97 - confirmed}\nrows rejected\t2\nquarantined\t1\n`)
            expect(output).toMatch(/^Rows that were rejected or changed\nwhere\tproduct\treason\nline 30\tTEA-MINT-250G\t/m)
            expect(output).toMatch(/^Quarantined products\nproduct\twanted\tretried at\tresponse\nSOAP-PINE\t24\t/m)
            expect(output).toContain("shop and file agree in all 97 products")
            expect(output).toMatch(/^Next: change a stock in examples\/inventory\.csv and run the command again: /m)
            for (const rejected of ["line 30, TEA-MINT-250G", "line 50, CANDLE-LINEN-S", "line 76, SOAP-PINE"])
              expect(output).toContain(rejected)
            expect(status).toBe(0)
          })
        yield* run(97)
        yield* run(0)
        for (const name of yield* fs.readDirectory(folder))
          if (name.startsWith("shop.sqlite")) yield* fs.remove(`${folder}/${name}`, { recursive: true })
        yield* run(97)
      }).pipe(Effect.provide(NodeServices.layer)), 600_000)
})

/** Starts a program at a terminal of its own. `shows` and `ended` end with everything that it has printed. */
const openTerminal = Effect.fnUntraced(function*(file: string, args: ReadonlyArray<string>, cwd: string) {
  const output = yield* SubscriptionRef.make("")
  const exit = yield* Deferred.make<number>()
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => Pty.spawn(file, [...args], { cols: 300, cwd })),
    (child) => Effect.flatMap(Deferred.isDone(exit), (done) => done ? Effect.void : Effect.sync(() => child.kill("SIGKILL")))
  )
  child.onData((text) => Effect.runSync(SubscriptionRef.update(output, (before) => before + text.replaceAll("\r\n", "\n"))))
  child.onExit(({ exitCode }) => Effect.runSync(Deferred.succeed(exit, exitCode)))
  return {
    type: (keys: string) => Effect.sync(() => child.write(keys)),
    shows: (text: string) =>
      Effect.raceFirst(
        Stream.runHead(Stream.filter(SubscriptionRef.changes(output), (all) => all.includes(text))),
        Deferred.await(exit)
      ).pipe(Effect.andThen(SubscriptionRef.get(output))),
    ended: Effect.all({ code: Deferred.await(exit), screen: SubscriptionRef.get(output) })
  }
})

/** Listens on a port, unless another program does: either way it is in use. */
const occupy = (port: number) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer()
      server.listen(port, "127.0.0.1")
      await Promise.race([once(server, "listening"), new Promise((resolve) => server.once("error", resolve))])
      return server
    }),
    (server) => Effect.sync(() => server.close())
  )

const portOf = (server: Server): number => {
  const address = server.address()
  return address === null || typeof address === "string" ? 0 : address.port
}

/** Makes the folder of an earlier run with an empty shop at a port: the default port belongs to the commands of the documentation. */
const prepare = Effect.fnUntraced(function*(folder: string, port: number) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(`${folder}/shop.sqlite`, "")
  yield* fs.writeFileString(`${folder}/port`, String(port))
})

const isOpen = (url: string) => Effect.promise(() => fetch(url).then(({ ok }) => ok, () => false))

const addressesIn = (screen: string) => ({
  console: /http:\S+\/console/.exec(screen)?.[0] ?? "",
  statusPage: /(http:\S+\/) +plaza-stock-sync/.exec(screen)?.[1] ?? ""
})

describe("the demonstration with --keep", () => {
  it.live("leaves the sandbox and the worker open, shows commands that work, and ends both on Ctrl-C with exit code 0",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const root = yield* here("../..")
        yield* prepare(folder, yield* Effect.scoped(Effect.map(occupy(0), portOf)))
        const program = ["--conditions=@plaza/source", yield* here("../src/start.ts"), "--", "--keep", folder]
        const terminal = yield* openTerminal(process.execPath, program, root)
        const screen = yield* terminal.shows("Press Ctrl-C to stop.")
        const { console, statusPage } = addressesIn(screen)
        expect([yield* isOpen(console), yield* isOpen(statusPage)]).toEqual([true, true])

        const [settings = "", ...commands] = [...screen.matchAll(/^ {2}((?:export|node) .+)$/gm)].map(([, command = ""]) => command)
        expect(commands).toHaveLength(3)
        const run = (...lines: ReadonlyArray<string>) =>
          execFileSync("sh", ["-euc", [settings, ...lines].join("\n")], {
            cwd: root,
            encoding: "utf8",
            env: { PATH: process.env["PATH"], HOME: folder }
          })
        const [fault = "", post = "", list = ""] = commands
        expect(fault).toContain("faults add lost")
        run(fault, post)
        expect(run(list).match(/Fresh tea today\./g)).toHaveLength(1)

        yield* terminal.type("\u0003")
        const { code, screen: last } = yield* terminal.ended
        expect(last).toContain(`Stopped. The data stays in ${folder}.`)
        expect(code).toBe(0)
        expect([yield* isOpen(console), yield* isOpen(statusPage)]).toEqual([false, false])
      }).pipe(Effect.provide(NodeServices.layer)), 600_000)

  it.live("says in one sentence that a port is in use, listens on another one, and ends on a signal with exit code 0",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const port = portOf(yield* occupy(0))
        yield* occupy(4020)
        yield* prepare(folder, port)
        const child = yield* ChildProcess.make(
          process.execPath,
          ["--conditions=@plaza/source", yield* here("../src/start.ts"), "--keep", folder],
          { cwd: yield* here("../..") }
        )
        const output = yield* child.stdout.pipe(
          Stream.decodeText(),
          Stream.scan(() => "", (all, text) => all + text),
          Stream.takeUntil((all) => all.includes("Press Ctrl-C to stop.")),
          Stream.runFold(() => "", (_, all) => all)
        )
        expect(output).toContain(`Port ${port} is in use: the sandbox listens on another one.\n`)
        expect(output).toContain("Port 4020 is in use: the status page listens on another one.\n")
        const { console, statusPage } = addressesIn(output)
        expect([yield* isOpen(console), yield* isOpen(statusPage)]).toEqual([true, true])
        yield* child.kill({ killSignal: "SIGINT" })
        expect(yield* child.exitCode).toBe(0)
        expect([yield* isOpen(console), yield* isOpen(statusPage)]).toEqual([false, false])
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)), 600_000)

  it.live("explains its options when it gets another one", () =>
    Effect.gen(function*() {
      expect(yield* start("--kep")).toEqual({ errors: "usage: npx -y pnpm@12.21.0 start [--keep] [FOLDER]\n", output: "", status: 2 })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})
