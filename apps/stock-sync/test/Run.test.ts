/** The built program as a service: over a real socket, on real files, stopped by real signals. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Schedule } from "effect"
import { DatabaseSync } from "node:sqlite"
import { account, parsed, run, start } from "./support/program.ts"
import { arrived, held } from "./support/sandbox.ts"

const layer = Layer.merge(NodeServices.layer, Sandbox.layerServer())
const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(Effect.scoped(Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test)),
    layer)
const write = (path: string, content: string) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(path, content))
const csv = (wanted: Readonly<Record<string, number>>) =>
  `productId,stock\n${Object.entries(wanted).map(([id, stock]) => `${id},${stock}\n`).join("")}`
const wanted = { "MUG-BLUE-250": 4, "MUG-BLUE-350": 1, "007": 0, "Ä-7": 1 }

/** Looks until it is so; the test's own time ends a wait for what never comes. */
const until = <E, R>(look: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(look, { until: (so) => so, schedule: Schedule.spaced("50 millis") })
const holds = (stocks: Readonly<Record<string, number>>) =>
  Effect.map(held(...Object.keys(stocks)), (found) => Object.entries(stocks).every(([id, stock]) => found[id] === stock))

describe("a request of the account", () => {
  for (const args of [["once", "--source", "stock.csv"], ["run", "--source", "stock.csv"], ["adopt"]]) {
    it.live(`is in the ledger when ${args[0]} is killed before the response`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const { addFault, countRequests } = yield* Sandbox.Sandbox
          const env = { ...yield* account, STOCK_SYNC_LEDGER: "ledger.db" }
          yield* write(`${cwd}/stock.csv`, csv(wanted))
          expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
          const recorded = Effect.sync(() => {
            const database = new DatabaseSync(`${cwd}/ledger.db`, { readOnly: true })
            const times: ReadonlyArray<unknown> = database.prepare("SELECT ended_at FROM request").all().map(({ ended_at }) => ended_at)
            database.close()
            return times
          })
          // A request for each product, and GET /me.
          const before = yield* recorded
          expect(before).toHaveLength(Object.keys(wanted).length + 1)
          yield* addFault({ kind: "delay", when: "after", millis: 60_000, path: "/me" })
          const asked = yield* countRequests({ path: "/me" })
          const running = yield* start(args, { cwd, env })
          yield* until(Effect.map(countRequests({ path: "/me" }), (count) => count > asked))
          yield* running.kill("SIGKILL")
          yield* running.ended
          expect(yield* recorded).toHaveLength(before.length + 1)
        })
      ))
  }
})

describe("run", () => {
  it.live("keeps the store equal to the file, and ends with 0 at SIGTERM", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const running = yield* start(["run", "--source", "stock.csv"], { cwd, env: yield* account })
        yield* until(holds(wanted))
        const next = { ...wanted, "007": 5, "MUG-BLUE-250": 0 }
        yield* write(`${cwd}/stock.csv`, csv(next))
        yield* until(holds(next))
        yield* running.kill("SIGTERM")
        expect((yield* running.ended).status).toBe(0)
        expect(yield* arrived).toHaveLength(6)
      })
    ))

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it.live(`waits for requests in flight at ${signal}, begins none, and ends with 0`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const { addFault, clearFaults } = yield* Sandbox.Sandbox
          yield* addFault({ kind: "delay", when: "after", millis: 1_500, method: "PATCH", times: 100 })
          yield* write(`${cwd}/stock.csv`, csv(wanted))
          const env = yield* account
          const running = yield* start(["run", "--source", "stock.csv", "--concurrency", "2"], { cwd, env })
          yield* until(Effect.map(arrived, (ids) => ids.length === 2))
          yield* running.kill(signal)
          expect((yield* running.ended).status).toBe(0)
          expect(yield* arrived).toHaveLength(2)
          yield* clearFaults
          expect(parsed((yield* run(["status", "--json"], { cwd })).stdout)).toMatchObject({
            counts: { settled: 2, pending: 2, sending: 0, doubtful: 0 }
          })
          expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 0 })
          expect(yield* arrived).toHaveLength(4)
        })
      ))
  }

  it.live("waits at most for --stop-within, and interrupted requests are doubtful", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { addFault } = yield* Sandbox.Sandbox
        yield* addFault({ kind: "delay", when: "after", millis: 20_000, method: "PATCH", times: 100 })
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const env = { ...yield* account, STOCK_SYNC_STOP_WITHIN: "300 millis", STOCK_SYNC_SOURCE: "stock.csv" }
        const running = yield* start(["run"], { cwd, env })
        yield* until(Effect.map(arrived, (ids) => ids.length === 4))
        yield* running.kill("SIGTERM")
        expect((yield* running.ended).status).toBe(0)
        expect(parsed((yield* run(["status", "--json"], { cwd })).stdout)).toMatchObject({ counts: { doubtful: 4, sending: 0 } })
      })
    ))

  it.live("sends what retry releases beside it, and refuses a second process", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { addFault } = yield* Sandbox.Sandbox
        yield* addFault({ kind: "status", when: "before", status: 404, path: "/store/products/007/stock", times: 1 })
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, "007": 9 }))
        const env = yield* account
        yield* start(["run", "--source", "stock.csv"], { cwd, env })
        yield* until(Effect.map(run(["status", "--json"], { cwd }), ({ stdout }) => stdout.includes("\"quarantined\":1")))
        const second = yield* run(["run", "--source", "stock.csv"], { cwd, env })
        expect(second).toMatchObject({ status: 2 })
        expect(second.stderr).toContain("nother plaza-stock-sync works with the ledger")
        expect(yield* run(["retry", "007"], { cwd })).toMatchObject({ status: 0 })
        yield* until(holds({ "007": 9 }))
      })
    ))

  it.live("reports a ledger that was removed, makes a new one, and admits no second worker", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        yield* write(`${cwd}/stock.csv`, csv(wanted))
        const env = yield* account
        const running = yield* start(["run", "--source", "stock.csv"], { cwd, env })
        yield* until(holds(wanted))
        yield* Effect.forEach(yield* files.readDirectory(cwd), (name) =>
          name.startsWith("plaza-stock-sync.sqlite") ? files.remove(`${cwd}/${name}`) : Effect.void)
        const next = { ...wanted, "007": 5 }
        yield* write(`${cwd}/stock.csv`, csv(next))
        yield* until(Effect.sync(() => running.stderr().includes("removed, emptied or replaced")))
        yield* until(holds(next))
        // The new ledger begins empty, so every product is sent once more.
        yield* until(Effect.map(run(["status", "--json"], { cwd }), ({ stdout }) => stdout.includes("\"settled\":4")))
        expect(yield* run(["once", "--source", "stock.csv"], { cwd, env })).toMatchObject({ status: 2 })
        yield* running.kill("SIGTERM")
        expect((yield* running.ended).status).toBe(0)
      })
    ))

  for (
    const [name, args, complaint] of [
      ["standard input", ["--source", "-"], "use once"],
      ["a share that is none", ["--source", "stock.csv", "--reassert-share", "lots"], "--reassert-share or STOCK_SYNC_REASSERT_SHARE"],
      [
        "a path that is none",
        ["--source", "stock.csv", "--products-path", "store/products"],
        "--products-path or STOCK_SYNC_PRODUCTS_PATH"
      ],
      ["a time that is none", ["--source", "stock.csv", "--stop-within", "soon"], "--stop-within or STOCK_SYNC_STOP_WITHIN"]
    ] as const
  ) {
    it.live(`refuses ${name} in a sentence, and leaves no ledger behind`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const ended = yield* run(["run", ...args], { cwd, env: yield* account })
          expect(ended).toMatchObject({ status: 2, stdout: "" })
          expect(ended.stderr).toContain(complaint)
          const files = yield* FileSystem.FileSystem
          expect(yield* files.readDirectory(cwd)).toEqual([])
        })
      ))
  }

  for (
    const [name, source, variables] of [
      ["a proxy that is none", "stock.csv", { HTTP_PROXY: "ftp://lots" }],
      ["a database without a query", "postgres://shop@127.0.0.1:1/shop", {}]
    ] as const
  ) {
    it.live(`once leaves no ledger behind with ${name}`, () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const ended = yield* run(["once", "--source", source], { cwd, env: { ...yield* account, ...variables } })
          expect(ended.status).not.toBe(0)
          const files = yield* FileSystem.FileSystem
          expect(yield* files.readDirectory(cwd)).toEqual([])
        })
      ))
  }
})
