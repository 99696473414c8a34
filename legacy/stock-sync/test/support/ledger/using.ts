/** Opens ledgers by their place, as the program does, in whichever database they are, and the commands that tests of every ledger share. */
import { Reactivity } from "@effect/experimental"
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import type { SqlClient } from "@effect/sql"
import { PgClient } from "@effect/sql-pg"
import * as SqliteClient from "@plaza-legacy/client/sqlite"
import { ProductId } from "@plaza-legacy/domain"
import type { Row } from "@plaza-legacy/tabular/Stock"
import { Chunk, Duration, Effect, Layer, Option, Redacted, type Scope, Stream } from "effect"
import type { Refusal } from "../../../src/ledger/Entry.ts"
import { type FailedSend, Ledger, type LedgerOptions, type Selection, type Send } from "../../../src/ledger/Ledger.ts"
import type { LedgerFault, LedgerInUse } from "../../../src/ledger/LedgerError.ts"
import { layer, layerReadOnly, layerTemporaryCopy, layerWithoutLock } from "../../../src/ledger/Open.ts"
import { RowsAhead } from "../../../src/ledger/RowsAhead.ts"
import type { SnapshotInput, SnapshotPolicy } from "../../../src/ledger/Snapshot.ts"
import { utc } from "../utc.ts"

/** A place for a ledger where none is yet, which vanishes with the test. */
export type Fresh = Effect.Effect<string, never, Scope.Scope>

export const freshFile: Fresh = Effect.map(
  Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()),
  (folder) => `${folder}/ledger.sqlite`
).pipe(Effect.orDie, Effect.provide(NodeContext.layer))

export const options: LedgerOptions = { lateWrites: Duration.seconds(40), rateWindow: Duration.minutes(1), historyLimit: 1_000 }
export const policy: SnapshotPolicy = {
  missing: "leave",
  duplicates: "reject",
  guard: { share: 0.2, count: 10, window: Duration.days(1) },
  maxBadRows: undefined
}
/** For tests of anything but the drop guard. */
export const unguarded: Partial<SnapshotPolicy> = { guard: { share: 1, count: 1_000_000, window: Duration.days(1) } }

export const id = (text: string) => ProductId.make(text)
let line = 1
export const row = (productId: string, stock: number, at?: number): Row => ({
  _tag: "Valid",
  line: at ?? ++line,
  productId: id(productId),
  stock
})
export const negative = (productId: string, at?: number): Row => ({
  _tag: "Valid",
  line: at ?? ++line,
  productId: id(productId),
  stock: 0,
  negative: true
})
export const bad = (productId: string | undefined, reason: string, at?: number): Row => ({
  _tag: "Rejected",
  line: at ?? ++line,
  productId,
  reason
})
export const refusal = (value: number): Refusal => ({ tag: "NotFound", code: "NOT_FOUND", message: "no such product", value })

export const intake = <E = never>(rows: Stream.Stream<Row, E>, excluded: ReadonlyArray<string> = []): SnapshotInput<E, never> => ({
  source: "stock.csv",
  unit: "line",
  rows,
  excluded: new Set(excluded)
})

const openers = { layer, layerWithoutLock, layerTemporaryCopy, layerReadOnly }

/** How a ledger is opened that has no file or address of its own. */
export interface OtherPlace {
  readonly layer: (how: keyof typeof openers, options: LedgerOptions) => Layer.Layer<Ledger, LedgerFault | LedgerInUse>
  readonly inDatabase: <A, E>(use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) => Effect.Effect<A, unknown>
}
const otherPlaces = new Map<string, OtherPlace>()

/** Makes a place that the functions below accept. */
export const register = (place: string, other: OtherPlace): void => void otherPlaces.set(place, other)

/** The ledger at a place. */
export const opened = (
  place: string,
  how: keyof typeof openers = "layer",
  with_: Partial<LedgerOptions> = {}
): Layer.Layer<Ledger, LedgerFault | LedgerInUse> => {
  const all = { ...options, ...with_ }
  return otherPlaces.get(place)?.layer(how, all) ?? Layer.provide(openers[how](place, all), NodeContext.layer)
}

/** Uses the ledger as one process does, from opening to closing. */
export const using = <A, E>(
  place: string,
  use: (ledger: Ledger["Type"]) => Effect.Effect<A, E>,
  how: keyof typeof openers = "layer",
  with_: Partial<LedgerOptions> = {}
) => Effect.flatMap(Ledger, use).pipe(Effect.provide(opened(place, how, with_)))

/** A test with a place of its own. */
export const at = <A, E>(fresh: Fresh, test: (place: string) => Effect.Effect<A, E>) => Effect.scoped(Effect.flatMap(fresh, test))

/** Runs statements in the database of a ledger, past the ledger. */
export const inDatabase = <A, E>(place: string, use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const other = otherPlaces.get(place)
    if (other !== undefined) return yield* Effect.orDie(other.inDatabase(use))
    if (!place.startsWith("postgres:")) return yield* use(yield* SqliteClient.make({ filename: place, disableWAL: true }))
    const url = new URL(place)
    const schema = url.searchParams.get("schema") ?? ""
    url.searchParams.delete("schema")
    url.searchParams.set("options", `-c search_path=${schema}`)
    return yield* use(yield* PgClient.make({ url: Redacted.make(url.href), maxConnections: 1 }))
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))

/** A file whose ledger stages every snapshot, as it otherwise does with one of many rows. */
export const freshStagingFile: Fresh = Effect.map(freshFile, (file) => {
  const place = `staging:${file}`
  register(place, {
    layer: (how, all) =>
      Layer.effect(
        Ledger,
        Effect.map(Ledger, (ledger) => ({
          ...ledger,
          applySnapshot: (input, policy) => Effect.provideService(ledger.applySnapshot(input, policy), RowsAhead, 0)
        }))
      ).pipe(Layer.provide(opened(file, how, all))),
    inDatabase: (use) => inDatabase(file, use)
  })
  return place
})

export const receive = (ledger: Ledger["Type"], ...rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(intake(Stream.fromIterable(rows)), policy)
export const receiveOn = (ledger: Ledger["Type"], further: Partial<SnapshotPolicy>, ...rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(intake(Stream.fromIterable(rows)), { ...policy, ...further })
export const receiveWithout = (ledger: Ledger["Type"], excluded: ReadonlyArray<string>, ...rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(intake(Stream.fromIterable(rows), excluded), policy)

export const collect = <A, E>(stream: Stream.Stream<A, E>) => Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** What waits, in the order of sending. */
export const queueOf = (ledger: Ledger["Type"]) =>
  Effect.map(collect(ledger.queue), (queue) =>
    queue.map(({ confirmed, priority, productId, wanted }) => ({ productId, priority, from: confirmed, to: wanted })))

export const entryOf = (ledger: Ledger["Type"], productId: string) =>
  Effect.map(collect(ledger.all), (all) => all.find((entry) => entry.productId === productId))
export const stateOf = (ledger: Ledger["Type"], productId: string) => Effect.map(entryOf(ledger, productId), (entry) => entry?.state)

/** Takes what is due; nothing is asserted again unless a moment is given. */
export const take = (
  ledger: Ledger["Type"],
  confirmedBefore?: number
): Effect.Effect<Send | undefined, Effect.Effect.Error<ReturnType<typeof ledger.take>>> =>
  takeAs(ledger, { _tag: "Due", confirmedBefore: Option.map(Option.fromNullable(confirmedBefore), utc) })

/** Takes what is due, and dies if nothing is. */
export const taken = (ledger: Ledger["Type"], confirmedBefore?: number) =>
  Effect.flatMap(
    take(ledger, confirmedBefore),
    (send) => send === undefined ? Effect.dieMessage("nothing is due") : Effect.succeed(send)
  )

const takeAs = (ledger: Ledger["Type"], choice: Selection) => Effect.map(ledger.take(choice), Option.getOrUndefined)

/** Takes this product, whatever else waits, due or not. */
export const begin = (ledger: Ledger["Type"], productId: string) =>
  Effect.gen(function*() {
    const others = (yield* collect(ledger.unsettled)).flatMap((entry) => entry.productId === productId ? [] : [entry.productId])
    const taken = yield* takeAs(ledger, { _tag: "HalfOpen", except: others })
    if (taken?.productId !== productId) throw new Error(`${productId} does not wait`)
    return taken
  })

export const settle = (ledger: Ledger["Type"], productId: string) => Effect.flatMap(begin(ledger, productId), ledger.confirm)

export const fail = (ledger: Ledger["Type"], taken: Send, state: FailedSend["state"], further: Partial<FailedSend> = {}) =>
  ledger.fail(taken, { state, refusal: refusal(taken.value), retryIn: Duration.zero, ...further })

/** One request that ends like this. */
export const failing = (ledger: Ledger["Type"], productId: string, state: FailedSend["state"], further: Partial<FailedSend> = {}) =>
  Effect.flatMap(begin(ledger, productId), (taken) => fail(ledger, taken, state, further))
