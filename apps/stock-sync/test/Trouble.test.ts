/**
 * The built program as a service whose ledger can't be written for a while: it says why, and goes on by itself without losing anything.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import * as Postgres from "@plaza/testing/Postgres"
import * as SmallDisk from "@plaza/testing/SmallDisk"
import { Effect, FileSystem, Layer, Schedule, Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import { account, parsed, run, start } from "./support/program.ts"
import { arrived, held } from "./support/sandbox.ts"
import { products } from "./support/simulation.ts"

const limit = 100_000
const few = products(10, (index) => index)
const later = products(200, (index) => index + 1_000)
const layer = Layer.merge(
  NodeServices.layer,
  Sandbox.layerServer({ assumptions: { requestsPerWindow: limit }, fixtures: { products: Object.keys(later).map((id) => ({ id })) } })
)

const isSettled = Schema.is(
  Schema.Struct({ counts: Schema.Struct({ pending: Schema.Literal(0), sending: Schema.Literal(0), doubtful: Schema.Literal(0) }) })
)

/** Looks until it is so; the test's own time ends a wait for what never comes. */
const until = <E, R>(look: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(look, { until: (so) => so, schedule: Schedule.spaced("100 millis") })

/** The program with a ledger, a shop that equals its source, and a way to want something else. */
const running = (ledger: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const cwd = yield* files.makeTempDirectoryScoped()
    const env = {
      ...yield* account,
      PLAZA_RATE_LIMIT: String(limit),
      STOCK_SYNC_SOURCE: "stock.csv",
      STOCK_SYNC_LEDGER: ledger,
      STOCK_SYNC_REASSERT_SHARE: "0"
    }
    const tell = (stocks: Readonly<Record<string, number>>) =>
      files.writeFileString(`${cwd}/stock.csv`,
        `productId,stock\n${Object.entries(stocks).map(([id, stock]) => `${id},${stock}\n`).join("")}`)
    const holds = (stocks: Readonly<Record<string, number>>) =>
      until(Effect.map(held(...Object.keys(stocks)), (found) => Object.entries(stocks).every(([id, stock]) => found[id] === stock)))
    // What may have arrived is asserted last, when the shop has long been as it should be.
    const settled = until(Effect.map(run(["status", "--json"], { cwd, env }), ({ status, stdout }) =>
      status === 0 && isSettled(parsed(stdout))))
    yield* tell(few)
    const program = yield* start(["run"], { cwd, env })
    yield* holds(few)
    return {
      tell,
      holds,
      settled,
      says: (word: string) =>
        until(Effect.sync(() => program.stderr().includes(word))),
      /** Stops the worker, and checks that the next process finds everything in place. */
      ends: Effect.gen(function*() {
        yield* settled
        yield* program.kill("SIGTERM")
        expect((yield* program.ended).status).toBe(0)
        const before = (yield* arrived).length
        expect(yield* run(["once"], { cwd, env })).toMatchObject({ status: 0 })
        expect((yield* arrived).length).toBe(before)
      })
    }
  })

const test = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(Effect.scoped(effect), layer)

describe("a ledger that can't be written for a while", () => {
  it.live("because another program writes it, is reported, and requests in flight at that time are sent again", () =>
    test(Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const path = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/ledger.sqlite`
      const { ends, holds, says, settled, tell } = yield* running(path)
      const before = (yield* arrived).length
      // The eighth request in flight is reserved for products that sell out.
      const inFlight = 7
      yield* addFault({ kind: "delay", when: "after", millis: 2_000, method: "PATCH", times: inFlight })
      yield* tell(later)
      yield* until(Effect.map(arrived, (all) => all.length === before + inFlight))
      const other = new DatabaseSync(path, { timeout: 5_000 })
      other.exec("BEGIN EXCLUSIVE")
      yield* says("is being written by another program")
      other.exec("COMMIT")
      other.close()
      yield* holds(later)
      yield* settled
      const sent = (yield* arrived).slice(before)
      expect(sent.filter((id) => sent.slice(0, inFlight).includes(id)).length).toBeGreaterThan(inFlight)
      yield* ends
    })))

  it.live("because its server is down, is reported, and later changes of the source are sent", () =>
    test(Effect.gen(function*() {
      const server = yield* Postgres.scoped
      const { ends, holds, says, tell } = yield* running(server.url)
      yield* server.stop
      yield* tell(later)
      yield* says("can't be reached")
      yield* server.start
      yield* holds(later)
      yield* ends
    })))
})

describe.skipIf(SmallDisk.missing !== undefined)("on a disk that is full", () => {
  it.live("the ledger is reported as full, and later changes of the source are sent once there is room", () =>
    test(Effect.gen(function*() {
      const disk = yield* SmallDisk.scoped
      const { ends, holds, says, tell } = yield* running(`${disk.folder}/ledger.sqlite`)
      yield* disk.fill
      yield* tell(later)
      yield* says("the disk is full")
      yield* disk.free
      yield* holds(later)
      yield* ends
    })))
})
