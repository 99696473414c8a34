/**
 * A loop in simulated time: a shop in process with the document's rate, a source that a test changes as it likes, a ledger in memory.
 * An hour of it is a matter of seconds.
 */
import { HttpClient } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import { type Assumptions, type Fault, Sandbox } from "@plaza/sandbox"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import type { Row } from "@plaza/rows/Stock"
import { Context, DateTime, Duration, Effect, Fiber, Layer, Option, Queue, Ref, Stream } from "effect"
import { Ledger } from "../../src/Ledger.js"
import * as LedgerSqlite from "../../src/Ledger/Sqlite.js"
import * as Loop from "../../src/Loop.js"
import { Source, type SourceFailure } from "../../src/Source.js"
import { layer as layerStanding, Standing } from "../../src/Standing.js"
import { ledgerPath, row, terms } from "./world.js"

export type Wanted = Readonly<Record<string, number>>

/** Products `P0000` and so on, each with its stock. */
export const products = (count: number, stock: (index: number) => number): Wanted =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`P${String(index).padStart(4, "0")}`, stock(index)]))

/** A source whose rows a test sets; it says so at once, as a watched file does. */
export const source = (first: Wanted) =>
  Effect.gen(function*() {
    const told = yield* Ref.make<{ readonly version: number; readonly rows: Effect.Effect<ReadonlyArray<Row>, SourceFailure> }>({
      version: 1,
      rows: Effect.succeed(rowsOf(first))
    })
    const changes = yield* Queue.unbounded<void>()
    const reads = yield* Ref.make(0)
    const next = (rows: Effect.Effect<ReadonlyArray<Row>, SourceFailure>) =>
      Effect.zipRight(Ref.update(told, ({ version }) => ({ version: version + 1, rows })), Queue.offer(changes, undefined))
    const service: Source["Type"] = {
      name: "memory",
      open: (taken) =>
        Effect.gen(function*() {
          yield* Ref.update(reads, (count) => count + 1)
          const { rows, version } = yield* Ref.get(told)
          const mark = String(version)
          const read = yield* rows
          return Option.contains(taken, mark) ? Option.none() : Option.some({ version: Option.some(mark), rows: Stream.fromIterable(read) })
        }),
      changes: Stream.fromQueue(changes)
    }
    return {
      service,
      reads: Ref.get(reads),
      set: (wanted: Wanted) => next(Effect.succeed(rowsOf(wanted))),
      fail: (failure: SourceFailure) => next(Effect.fail(failure))
    }
  })

const rowsOf = (wanted: Wanted): ReadonlyArray<Row> => Object.entries(wanted).map(([id, stock], index) => row(id, stock, index + 2))

export type Settings = Partial<Omit<Loop.Options<never>, "assertions">> & {
  readonly assertions?: Partial<Loop.Options<never>["assertions"]>
}

/** No assertions unless told, so that a request is always for a change. */
const optionsOf = (ledger: Ledger["Type"], baseUrl: string, { assertions, ...settings }: Settings): Loop.Options<never> => ({
  baseUrl,
  ledger: Layer.succeed(Ledger, ledger),
  terms,
  concurrency: 8,
  stopWithin: Duration.seconds(10),
  ...settings,
  assertions: { share: 0, after: Duration.hours(1), allowance: { limit: 120, windowMillis: 60_000 }, ...assertions }
})

/** A loop that runs beside the test until its scope ends, over a source and a ledger. */
export const started = (from: Source["Type"], ledger: Ledger["Type"], settings: Settings = {}) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const fiber = yield* Effect.forkScoped(Loop.run(optionsOf(ledger, baseUrl, settings)).pipe(Effect.provideService(Source, from)))
    const standing = yield* Standing
    return { fiber, standing, stop: Fiber.interrupt(fiber) }
  })

/** The shop has a clock of its own, whatever the one of the loop does. */
const ownClock = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Effect.all([HttpClient.HttpClient, Effect.clock]), ([client, clock]) => HttpClient.transform(client, Effect.withClock(clock)))
)

/** A shop that holds these products and lets so many requests a minute through, and a client that knows it. */
const shop = (wanted: Wanted, limit: number, assumptions: Partial<Assumptions>) =>
  Layer.provideMerge(
    Layer.unwrapEffect(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl, rateLimit: limit }))),
    Layer.provideMerge(
      ownClock,
      Sandbox.layerHttpClient({
        assumptions: { requestsPerWindow: limit, ...assumptions },
        fixtures: { products: Object.entries(wanted).map(([id]) => ({ id })) }
      })
    )
  )

/** A request is under way for so long, in milliseconds. */
export const latency = 80

/**
 * Runs a test in a world of its own, in simulated time that begins at 0. The ledger is one in memory and opened before, because nobody
 * waits for a disk in simulated time.
 */
export const inShop = <A, E, R>(
  wanted: Wanted,
  test: (ledger: Ledger["Type"]) => Effect.Effect<A, E, R>,
  { limit = 120, ...assumptions }: Partial<Assumptions> & { readonly limit?: number } = {}
) =>
  Effect.gen(function*() {
    const path = yield* ledgerPath
    const opened = yield* Layer.build(Layer.provide(LedgerSqlite.layerCopy(path), NodeContext.layer))
    return yield* Effect.zipRight(answersAfter(latency), test(Context.get(opened, Ledger))).pipe(
      Effect.scoped,
      Effect.provide(Layer.merge(layerStanding, shop(wanted, limit, assumptions))),
      SimulatedTime.run
    )
  }).pipe(Effect.scoped)

/** Every answer comes so late from now on, in milliseconds; all other faults are gone. */
export const answersAfter = (millis: number) =>
  Effect.flatMap(Sandbox.Sandbox, ({ addFault, clearFaults }) =>
    Effect.zipRight(clearFaults, addFault({ kind: "delay", when: "after", millis, times: 1_000_000 })))

export const fault = (asked: Fault) => Effect.flatMap(Sandbox.Sandbox, ({ addFault }) => addFault(asked))

/** What was to change the shop's stock, in the order of arrival. */
export const patches = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), (records) =>
  records.flatMap(({ at, method, params, status }) =>
    method === "PATCH" ? [{ id: params["id"] ?? "", status, millis: DateTime.toEpochMillis(at) }] : []))
