/**
 * The engine in simulated time: a sandbox in process with the documented rate, a source that the test changes, a ledger in
 * memory. An hour takes seconds.
 */
import { Plaza, TestTime } from "@plaza/client"
import * as SqliteClient from "@plaza/client/sqlite"
import { type Assumptions, type Fault, Sandbox } from "@plaza/sandbox"
import type { Row } from "@plaza/tabular/Stock"
import { Clock, DateTime, Duration, Effect, Fiber, Layer, Option, Queue, Ref, References, Stream } from "effect"
import { HttpClient } from "effect/http"
import { Reactivity } from "effect/reactivity"
import * as AccountLedger from "../../src/ledger/AccountLedger.ts"
import * as CurrentLedger from "../../src/ledger/CurrentLedger.ts"
import * as Faults from "../../src/ledger/database/Faults.ts"
import * as Migrations from "../../src/ledger/database/Migrations.ts"
import { Ledger, type LedgerOptions } from "../../src/ledger/Ledger.ts"
import type { LedgerFault } from "../../src/ledger/LedgerError.ts"
import * as Operation from "../../src/ledger/Operation.ts"
import * as Tables from "../../src/ledger/Schema.ts"
import * as EventRecorder from "../../src/observability/EventRecorder.ts"
import { Source, type SourceFailure } from "../../src/source/Source.ts"
import * as CountedClient from "../../src/sync/CountedClient.ts"
import * as SyncStatus from "../../src/sync/SyncStatus.ts"
import * as SyncWorker from "../../src/sync/SyncWorker.ts"
import { ledgerOptions, policy, row } from "./sandbox.ts"

/** Stock by product. */
export type Wanted = Readonly<Record<string, number>>

/** Products `P0000` and so on, each with its stock. */
export const products = (count: number, stock: (index: number) => number): Wanted =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`P${String(index).padStart(4, "0")}`, stock(index)]))

const rowsOf = (wanted: Wanted): ReadonlyArray<Row> => Object.entries(wanted).map(([id, stock], index) => row(id, stock, index + 2))

/** A source whose rows a test sets. It reports each change at once, as a watched file does. */
export const source = (first: Wanted) =>
  Effect.gen(function*() {
    const current = yield* Ref.make<{ readonly version: number; readonly rows: Effect.Effect<ReadonlyArray<Row>, SourceFailure> }>({
      version: 1,
      rows: Effect.succeed(rowsOf(first))
    })
    const changes = yield* Queue.unbounded<void>()
    const reads = yield* Ref.make(0)
    const next = (rows: Effect.Effect<ReadonlyArray<Row>, SourceFailure>) =>
      Effect.andThen(Ref.update(current, ({ version }) => ({ version: version + 1, rows })), Queue.offer(changes, undefined))
    const service: Source["Service"] = {
      name: "memory",
      open: (taken) =>
        Effect.gen(function*() {
          yield* Ref.update(reads, (count) => count + 1)
          const { rows, version } = yield* Ref.get(current)
          const mark = String(version)
          const read = yield* rows
          return Option.contains(taken, mark)
            ? Option.none()
            : Option.some({
              version: Option.some(mark),
              unit: "line" as const,
              excluded: new Set<string>(),
              rows: Stream.fromIterable(read)
            })
        }),
      changes: Stream.fromQueue(changes)
    }
    return {
      service,
      reads: Ref.get(reads),
      set: (wanted: Wanted, ...further: ReadonlyArray<Row>) => next(Effect.succeed([...rowsOf(wanted), ...further])),
      fail: (failure: SourceFailure) => next(Effect.fail(failure))
    }
  })

/** A ledger in memory, and what each opening of a ledger does to what the process before it left. */
export interface MemoryLedger {
  readonly ledger: Ledger["Service"]
  readonly reopened: Effect.Effect<void, LedgerFault>
}

export const memoryLedger = (options: LedgerOptions = ledgerOptions) =>
  Effect.gen(function*() {
    const sql = yield* SqliteClient.make({ filename: ":memory:", disableWAL: true })
    yield* Migrations.migrate(sql, Tables.sqlite, Tables.addAccount(AccountLedger.single))
    const epoch = yield* AccountLedger.takeOver(sql, AccountLedger.single)
    const database: Operation.Database = { sql, path: "memory", faultOf: Faults.ofFile("memory") }
    const target = { account: AccountLedger.single, epoch }
    const memory: MemoryLedger = {
      ledger: AccountLedger.make(database, target, options),
      reopened: AccountLedger.recover({ sql, ...target }, options).pipe(Operation.orFault(database.faultOf))
    }
    return memory
  }).pipe(Effect.provide(Reactivity.layer), Effect.orDie)

export type Settings = Partial<Omit<SyncWorker.Options<never>, "reassert">> & {
  readonly reassert?: Partial<SyncWorker.Options<never>["reassert"]>
}

/** Options with the defaults of the program. */
export const optionsOf = (ledger: Ledger["Service"], baseUrl: string, { reassert, ...settings }: Settings): SyncWorker.Options<never> => ({
  account: { baseUrl, keyFingerprint: "0123456789abcdef" },
  ledger: Layer.succeed(Ledger, ledger),
  policy,
  concurrency: 8,
  stopWithin: Duration.seconds(10),
  retryRefusedAfter: Duration.minutes(1),
  shownStock: "check",
  sourceIncludesSales: false,
  ...settings,
  reassert: { share: 0.1, after: Duration.hours(1), rateLimit: 120, rateWindow: Duration.minutes(1), ...reassert }
})

/** `SyncWorker.run` beside the test, until the test's scope ends. */
export const started = (from: Source["Service"], ledger: Ledger["Service"], settings: Settings = {}) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const fiber = yield* Effect.forkScoped(
      SyncWorker.run(optionsOf(ledger, baseUrl, settings)).pipe(Effect.provideService(Source, from), Effect.provide(CurrentLedger.layer))
    )
    const state = yield* SyncStatus.SyncStatus
    return { fiber, state: state.state, subscribe: state.subscribe, stop: Fiber.interrupt(fiber) }
  })

/** `SyncWorker.once` as a process of its own: its client remembers nothing of earlier requests, and the ledger is opened anew. */
export const onceFrom = (
  memory: MemoryLedger,
  from: Source["Service"],
  { plaza = {}, ...settings }: Settings & { readonly plaza?: PlazaOptions } = {}
) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    yield* memory.reopened
    const { result, sends } = yield* Effect.gen(function*() {
      yield* CurrentLedger.set(memory.ledger)
      yield* EventRecorder.recordOnce
      const result = yield* SyncWorker.once(optionsOf(memory.ledger, baseUrl, settings))
      return { result, sends: (yield* (yield* SyncStatus.SyncStatus).state).sends }
    }).pipe(
      Effect.scoped,
      Effect.provideService(Source, from),
      Effect.provideService(Ledger, memory.ledger),
      // Of its own: a layer that is provided within itself is built once.
      Effect.provide(Layer.fresh(Layer.mergeAll(SyncStatus.layer, CurrentLedger.layer, client(plaza, memory))))
    )
    return { ...result, confirmed: sends.confirmed.count, counts: yield* memory.ledger.counts }
  })

export const once = (memory: MemoryLedger, wanted: Wanted, settings?: Parameters<typeof onceFrom>[2]) =>
  Effect.flatMap(source(wanted), ({ service }) => onceFrom(memory, service, settings))

type PlazaOptions = Partial<Omit<Parameters<typeof Plaza.layer>[0], "apiKey" | "baseUrl">>

/** Counts its requests in the ledger, as the programs do. */
const client = (options: PlazaOptions, { ledger }: MemoryLedger) =>
  Layer.unwrap(
    Effect.map(Effect.all([Sandbox.Sandbox, HttpClient.HttpClient]), ([{ apiKey, baseUrl }, http]) =>
      Layer.provide(
        Plaza.layer({ ...options, apiKey, baseUrl }),
        Layer.succeed(HttpClient.HttpClient, CountedClient.make(http, Effect.succeedSome(ledger)))
      ))
  )

/** The sandbox keeps its own clock, whatever happens to the engine's wall clock. */
const ownClock = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(Effect.all([HttpClient.HttpClient, Clock.Clock]),
    ([client, clock]) => HttpClient.transform(client, Effect.provideService(Clock.Clock, clock)))
)

export interface Simulation extends Partial<Assumptions> {
  /** Requests a minute (default: 120). */
  readonly limit?: number
  /** How long a request without response may still take effect (default: 1 minute). */
  readonly lateWrites?: Duration.Duration
  /** How long the client waits for a response (default: 30 seconds). */
  readonly timeout?: Duration.Duration
}

/** How long each response takes, in milliseconds. */
export const latency = 80

/** Runs a test beside a sandbox that holds these products, in simulated time that begins at 0. */
export const simulated = <A, E, R>(
  wanted: Wanted,
  test: (memory: MemoryLedger) => Effect.Effect<A, E, R>,
  { lateWrites = ledgerOptions.lateWrites, limit = 120, timeout = Duration.seconds(30), ...assumptions }: Simulation = {}
) =>
  Effect.flatMap(memoryLedger({ ...ledgerOptions, lateWrites }), (memory) =>
    Effect.andThen(respondsAfter(latency), test(memory)).pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(
        Layer.merge(SyncStatus.layer, client({ rateLimit: limit, timeout }, memory)),
        Layer.provideMerge(
          ownClock,
          Sandbox.layerHttpClient({
            assumptions: { requestsPerWindow: limit, ...assumptions },
            fixtures: { products: Object.keys(wanted).map((id) => ({ id })) }
          })
        )
      )),
      Effect.provideService(References.MinimumLogLevel, "None"),
      TestTime.advancing
    )).pipe(Effect.scoped)

/** Every response takes so many milliseconds from now on; all other faults end. */
export const respondsAfter = (millis: number) =>
  Effect.flatMap(Sandbox.Sandbox, ({ addFault, clearFaults }) =>
    Effect.andThen(clearFaults, addFault({ kind: "delay", when: "after", millis, times: 1_000_000 })))

/** All faults end. */
export const faultsEnd = respondsAfter(latency)

export const fault = (asked: Fault) => Effect.flatMap(Sandbox.Sandbox, ({ addFault }) => addFault(asked))

/** The service accepts a stock and shows another one in its response. */
export const mismatch = (id: string, stock: number, times: number): Fault => ({
  kind: "status",
  when: "after",
  status: 200,
  body: JSON.stringify({ id, name: "a product", stock }),
  contentType: "application/json",
  path: stockOf(id),
  times
})

/** For ever, as far as a test is concerned. */
export const forEver = 1_000_000

/** The path of a product's stock, as it is sent. */
export const stockOf = (id: string) => `/store/products/${encodeURIComponent(id)}/stock`
export const anyStock = stockOf("*")

/** The requests that set a stock, in the order of arrival. */
export const patches = Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests),
  (records) =>
    records.flatMap(({ at, method, params, status }) =>
      method === "PATCH" ? [{ id: params["id"] ?? "", status, millis: DateTime.toEpochMillis(at) }] : []
    ))

/** The values that took effect for a product, in this order. */
export const commitsOf = (id: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ commits }) => commits), (all) =>
    all.flatMap(({ params, payload }) =>
      params["id"] === id && typeof payload === "object" && payload !== null && "stock" in payload ? [payload.stock] : []
    ))

/** The requests for one path. */
export const requestsOf = (path: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), (records) => records.filter((record) => record.path === path))

/** How often the service was asked for the account of the key. */
export const identifications = Effect.map(requestsOf("/me"), (requests) => requests.length)

/** Every product that is not settled. */
export const unsettled = (ledger: Ledger["Service"]) => Stream.runCollect(ledger.unsettled)

/** One product as the ledger has it. */
export const entryOf = (ledger: Ledger["Service"], id: string) =>
  Effect.map(Stream.runCollect(ledger.all), (all) =>
    Option.getOrThrow(Option.fromUndefinedOr(all.find(({ productId }) => productId === id))))
