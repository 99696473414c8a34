/** A ledger that does everything in two ledgers, and fails where they differ. */
import { expect } from "@effect/vitest"
import type { SourceError } from "@plaza/tabular/SourceError"
import { Context, DateTime, Effect, Exit, Layer, Option, Stream } from "effect"
import { inspect } from "node:util"
import { type HistoryEntry, Ledger, type LedgerOptions, type Send } from "../../../src/ledger/Ledger.ts"
import type { LedgerFault, LedgerInUse, SnapshotHeld } from "../../../src/ledger/LedgerError.ts"
import type { SnapshotInput, SnapshotPolicy } from "../../../src/ledger/Snapshot.ts"
import type { Access, Kind } from "./kind.ts"

type Service = Ledger["Service"]

/** Fails with both values. A property test prints the message of a failure, and no difference. */
const same = (what: string, actual: unknown, expected: unknown) =>
  Effect.sync(() => {
    try {
      expect(actual).toEqual(expected)
    } catch {
      throw new Error(`${what}: ${inspect(actual, { depth: 9 })} instead of ${inspect(expected, { depth: 9 })}`)
    }
  })

/** What an operation ended with: its result, or the tag of its failure. Messages may differ. */
const outcomeOf = <A, E>(exit: Exit.Exit<A, E>) =>
  Option.match(Exit.findErrorOption(exit), {
    onNone: () => Exit.isSuccess(exit) ? { value: exit.value } : { defect: true },
    onSome: (error): object => {
      // Compares the fields of a failure, which are equal but for texts and addresses.
      const { message: _message, path: _path, ...fields } = { ...error } as { readonly message?: string; readonly path?: string }
      return fields
    }
  })

/** Without what only one of the two ledgers knows. */
const comparable = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null || !("repeated" in value)) return value
  const { repeated: _, ...rest } = value
  return rest
}

/** Runs the same in both, the reference first, and returns what the other one returns. */
const both = <A, E, R>(what: string, reference: Effect.Effect<A, E, R>, tried: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const expected = yield* Effect.exit(reference)
    const actual = yield* Effect.exit(tried)
    const compared = (exit: Exit.Exit<A, E>) => outcomeOf(Exit.map(exit, comparable))
    yield* same(what, compared(actual), compared(expected))
    return yield* actual
  })

/** Requests that one crash interrupted have no order among each other. */
const inAnyOrder = (history: ReadonlyArray<HistoryEntry>): ReadonlyArray<HistoryEntry> => {
  const key = (entry: HistoryEntry) =>
    entry.code === "Interrupted"
      ? `${DateTime.toEpochMillis(entry.endedAt)} ${entry.productId} ${DateTime.toEpochMillis(entry.sentAt)}`
      : ""
  const sorted = history.filter((entry) => entry.code === "Interrupted").toSorted((one, other) => key(one) < key(other) ? 1 : -1)
  let next = 0
  return history.map((entry) => entry.code === "Interrupted" ? sorted[next++] ?? entry : entry)
}

/**
 * Rejected rows come first if rows are added up. Today's ledger takes the last line of the added-up rows for the end of the source, so a
 * rejected row before the last one can look like a row that was cut.
 */
const withoutFalseEnd = (rows: ReadonlyArray<SnapshotRow>, { duplicates, missing }: SnapshotPolicy): ReadonlyArray<SnapshotRow> => {
  if (duplicates !== "sum" || missing !== "zero") return rows
  const lines = rows.map(({ line }) => line).toSorted((one, other) => one - other)
  return [...rows]
    .sort((one, other) => Number(other._tag === "Rejected") - Number(one._tag === "Rejected"))
    .map((row, index) => ({ ...row, line: lines[index] ?? row.line }))
}

const readings: Readonly<Record<string, (ledger: Service) => Effect.Effect<unknown, LedgerFault>>> = {
  account: (ledger) => ledger.account,
  all: (ledger) => Stream.runCollect(ledger.all),
  unsettled: (ledger) => Stream.runCollect(ledger.unsettled),
  queue: (ledger) => Stream.runCollect(ledger.queue),
  quarantined: (ledger) => Stream.runCollect(ledger.quarantined),
  uncertain: (ledger) => Stream.runCollect(ledger.uncertain),
  counts: (ledger) => ledger.counts,
  backlog: (ledger) => ledger.backlog,
  snapshot: (ledger) => ledger.snapshot,
  heldChanges: (ledger) => Stream.runCollect(ledger.heldChanges),
  rowIssues: (ledger) => Stream.runCollect(ledger.rowIssues),
  history: (ledger) => Effect.map(Stream.runCollect(ledger.history(Option.none())), inAnyOrder),
  requests: (ledger) => ledger.requests,
  nextDue: (ledger) => ledger.nextDue(Option.none()),
  nextDelayed: (ledger) => ledger.nextDelayed
}

/** Compares what both ledgers contain. */
const compare = (after: string, reference: Service, tried: Service) =>
  Effect.forEach(
    Object.entries(readings),
    ([name, reading]) =>
      Effect.flatMap(Effect.all([reading(tried), reading(reference)]),
        ([actual, expected]) => same(`${name} after ${after}`, actual, expected)),
    { discard: true }
  )

const shadowed = (reference: Service, tried: Service): Service => {
  /** An operation that writes: also what the ledgers contain afterwards is compared. */
  const writes = <A, E, R>(what: string, operation: (ledger: Service) => Effect.Effect<A, E, R>): Effect.Effect<A, E | LedgerFault, R> =>
    Effect.flatMap(Effect.exit(both(what, operation(reference), operation(tried))), (exit) =>
      Effect.andThen(compare(what, reference, tried), exit))
  const reads = <A, E>(what: string, operation: (ledger: Service) => Effect.Effect<A, E>): Effect.Effect<A, E> =>
    both(what, operation(reference), operation(tried))
  const lists = <A>(what: string, stream: (ledger: Service) => Stream.Stream<A, LedgerFault>): Stream.Stream<A, LedgerFault> =>
    Stream.fromIterableEffect(reads(what, (ledger) => Stream.runCollect(stream(ledger))))
  const writesSend = (what: string, send: Send, operation: (ledger: Service) => Effect.Effect<void, LedgerFault>) =>
    writes(`${what} ${send.productId} ${send.value}`, operation)
  /** The rows are read once. */
  const withRows = <A, E, R, Failure>(
    { rows, ...input }: SnapshotInput<E, R>,
    policy: SnapshotPolicy,
    use: (input: SnapshotInput<E, never>) => Effect.Effect<A, E | Failure>
  ): Effect.Effect<A, E | Failure, R> =>
    Effect.gen(function*() {
      const read: Array<Array<SnapshotRow>> = []
      const exit = yield* Effect.exit(Stream.runForEachArray(rows, (some) => Effect.sync(() => read.push([...some]))))
      const again: Stream.Stream<SnapshotRow, E> = Stream.concat(Stream.fromIterable(withoutFalseEnd(read.flat(), policy)),
        Stream.drain(Stream.fromEffect(exit)))
      return yield* use({ ...input, rows: again })
    })
  return {
    path: tried.path,
    account: reads("account", (ledger) => ledger.account),
    bind: (account) => writes("bind", (ledger) => ledger.bind(account)),
    adopt: (account) => writes("adopt", (ledger) => ledger.adopt(account)),
    check: reads("check", (ledger) => ledger.check),
    lost: Effect.raceFirst(reference.lost, tried.lost),
    applySnapshot: <E, R>(input: SnapshotInput<E, R>, policy: SnapshotPolicy) =>
      withRows<Applied, E, R, LedgerFault | SnapshotHeld | SourceError>(input, policy, (read) =>
        writes("applySnapshot", (ledger) => ledger.applySnapshot(read, policy))),
    previewSnapshot: <E, R>(input: SnapshotInput<E, R>, policy: SnapshotPolicy) =>
      withRows<Previewed, E, R, LedgerFault | SourceError>(input, policy, (read) =>
        writes("previewSnapshot", (ledger) => ledger.previewSnapshot(read, policy))),
    snapshot: reads("snapshot", (ledger) => ledger.snapshot),
    heldChanges: lists("heldChanges", (ledger) => ledger.heldChanges),
    confirmHeld: (number) => writes("confirmHeld", (ledger) => ledger.confirmHeld(number)),
    counts: reads("counts", (ledger) => ledger.counts),
    unsettled: lists("unsettled", (ledger) => ledger.unsettled),
    queue: lists("queue", (ledger) => ledger.queue),
    quarantined: lists("quarantined", (ledger) => ledger.quarantined),
    uncertain: lists("uncertain", (ledger) => ledger.uncertain),
    rowIssues: lists("rowIssues", (ledger) => ledger.rowIssues),
    all: lists("all", (ledger) => ledger.all),
    backlog: reads("backlog", (ledger) => ledger.backlog),
    take: (selection) => writes(`take ${selection._tag}`, (ledger) => ledger.take(selection)),
    confirm: (send) => writesSend("confirm", send, (ledger) => ledger.confirm(send)),
    fail: (send, failed) => writesSend(`fail as ${failed.state}`, send, (ledger) => ledger.fail(send, failed)),
    retryNow: writes("retryNow", (ledger) => ledger.retryNow),
    nextDue: (maxAttempts) => reads("nextDue", (ledger) => ledger.nextDue(maxAttempts)),
    nextDelayed: reads("nextDelayed", (ledger) => ledger.nextDelayed),
    release: (products) => writes("release", (ledger) => Effect.map(ledger.release(products), (released) => released.toSorted())),
    clockChanged: (millis) => writes(`clockChanged ${millis}`, (ledger) => ledger.clockChanged(millis)),
    observe: (observed, startedAt, resend) => writes("observe", (ledger) => ledger.observe(observed, startedAt, resend)),
    countRequest: (request) => reference.countRequest(tried.countRequest(request)),
    requests: reads("requests", (ledger) => ledger.requests),
    history: (product) =>
      Stream.fromIterableEffect(reads("history", (ledger) => Effect.map(Stream.runCollect(ledger.history(product)), inAnyOrder)))
  }
}

type SnapshotRow = Stream.Success<SnapshotInput<never, never>["rows"]>
type Applied = Effect.Success<ReturnType<Service["applySnapshot"]>>
type Previewed = Effect.Success<ReturnType<Service["previewSnapshot"]>>

/** What separates the places of the two ledgers. */
const separator = "\n"

/** Opens two ledgers as one. The white-box operations are those of the tried ledger. */
export const shadow = (reference: Kind, tried: Kind): Kind => ({
  fresh: Effect.map(Effect.all([reference.fresh, tried.fresh]), (places) => places.join(separator)),
  layer: (places: string, access: Access, options: LedgerOptions): Layer.Layer<Ledger, LedgerFault | LedgerInUse> => {
    const [first = "", second = ""] = places.split(separator)
    return Layer.effect(
      Ledger,
      Effect.gen(function*() {
        const one = Context.get(yield* Layer.build(reference.layer(first, access, options)), Ledger)
        const other = Context.get(yield* Layer.build(tried.layer(second, access, options)), Ledger)
        yield* compare("opening", one, other)
        return shadowed(one, other)
      })
    )
  },
  whiteBox: tried.whiteBox
})
