/** Opens ledgers of any kind by their place, and the commands that tests of every ledger share. */
import { ProductId } from "@plaza/domain/Ids"
import type { Row } from "@plaza/tabular/Stock"
import { Duration, Effect, type Layer, Option, Stream } from "effect"
import type { Refusal } from "../../../src/ledger/Entry.ts"
import { type FailedSend, Ledger, type LedgerOptions, type Selection, type Send } from "../../../src/ledger/Ledger.ts"
import type { LedgerFault, LedgerInUse } from "../../../src/ledger/LedgerError.ts"
import type { SnapshotInput, SnapshotPolicy } from "../../../src/ledger/Snapshot.ts"
import { utc } from "../utc.ts"
import type { Access, Kind } from "./kind.ts"

/** Where a ledger of a kind is, or will be. */
export interface Place {
  readonly kind: Kind
  /** A path or an address. */
  readonly name: string
}

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

/** The ledger at a place. */
export const opened = (
  { kind, name }: Place,
  access: Access = "owner",
  further: Partial<LedgerOptions> = {}
): Layer.Layer<Ledger, LedgerFault | LedgerInUse> => kind.layer(name, access, { ...options, ...further })

/** Uses the ledger as one process does, from opening to closing. */
export const using = <A, E, R>(
  place: Place,
  use: (ledger: Ledger["Service"]) => Effect.Effect<A, E, R>,
  access: Access = "owner",
  further: Partial<LedgerOptions> = {}
) => Effect.flatMap(Ledger, use).pipe(Effect.provide(opened(place, access, further)))

/** A test with a place of its own. */
export const at = <A, E, R>(kind: Kind, test: (place: Place) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(kind.fresh, (name) => test({ kind, name })))

export const receive = (ledger: Ledger["Service"], ...rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(intake(Stream.fromIterable(rows)), policy)
export const receiveOn = (ledger: Ledger["Service"], further: Partial<SnapshotPolicy>, ...rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(intake(Stream.fromIterable(rows)), { ...policy, ...further })
export const receiveWithout = (ledger: Ledger["Service"], excluded: ReadonlyArray<string>, ...rows: ReadonlyArray<Row>) =>
  ledger.applySnapshot(intake(Stream.fromIterable(rows), excluded), policy)

export const collect = <A, E>(stream: Stream.Stream<A, E>) => Stream.runCollect(stream)

/** What waits, in the order of sending. */
export const queueOf = (ledger: Ledger["Service"]) =>
  Effect.map(collect(ledger.queue), (queue) =>
    queue.map(({ confirmed, priority, productId, wanted }) => ({ productId, priority, from: confirmed, to: wanted })))

export const entryOf = (ledger: Ledger["Service"], productId: string) =>
  Effect.map(collect(ledger.all), (all) => all.find((entry) => entry.productId === productId))
export const stateOf = (ledger: Ledger["Service"], productId: string) => Effect.map(entryOf(ledger, productId), (entry) => entry?.state)

/** Takes what is due; nothing is asserted again unless a moment is given. */
export const take = (
  ledger: Ledger["Service"],
  confirmedBefore?: number
): Effect.Effect<Send | undefined, LedgerFault> =>
  takeAs(ledger, { _tag: "Due", confirmedBefore: Option.map(Option.fromUndefinedOr(confirmedBefore), utc) })

/** Takes what is due, and dies if nothing is. */
export const taken = (ledger: Ledger["Service"], confirmedBefore?: number) =>
  Effect.flatMap(
    take(ledger, confirmedBefore),
    (send) => send === undefined ? Effect.die(new Error("nothing is due")) : Effect.succeed(send)
  )

const takeAs = (ledger: Ledger["Service"], choice: Selection) => Effect.map(ledger.take(choice), Option.getOrUndefined)

/** Takes this product, whatever else waits, due or not. */
export const begin = (ledger: Ledger["Service"], productId: string) =>
  Effect.gen(function*() {
    const others = (yield* collect(ledger.unsettled)).flatMap((entry) => entry.productId === productId ? [] : [entry.productId])
    const taken = yield* takeAs(ledger, { _tag: "HalfOpen", except: others })
    if (taken?.productId !== productId) throw new Error(`${productId} does not wait`)
    return taken
  })

export const settle = (ledger: Ledger["Service"], productId: string) => Effect.flatMap(begin(ledger, productId), ledger.confirm)

export const fail = (ledger: Ledger["Service"], taken: Send, state: FailedSend["state"], further: Partial<FailedSend> = {}) =>
  ledger.fail(taken, { state, refusal: refusal(taken.value), retryIn: Duration.zero, ...further })

/** One request that ends like this. */
export const failing = (ledger: Ledger["Service"], productId: string, state: FailedSend["state"], further: Partial<FailedSend> = {}) =>
  Effect.flatMap(begin(ledger, productId), (taken) => fail(ledger, taken, state, further))
