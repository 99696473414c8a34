/**
 * Logs the events of a running worker as an event name and fields, and updates the counters. A failure is logged when it begins; while it
 * repeats, and for each request, the level is debug.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import * as Format from "../commands/Format.ts"
import { mismatchTag } from "../ledger/Entry.ts"
import { type AccountState, type Failure, type LedgerState, reduce, type StampedEvent, type State, SyncStatus } from "../sync/SyncStatus.ts"
import * as Metrics from "./Metrics.ts"
import * as StatusText from "./StatusText.ts"

interface Line {
  readonly level: LogLevel.LogLevel
  /** Such as `snapshot.accepted`. */
  readonly event: string
  readonly fields: Readonly<Record<string, string | number>>
}

interface Before extends State {
  /** The failure of the last reconciliation; undefined if it succeeded. */
  readonly reconciliation?: Failure | undefined
}

const line = (level: LogLevel.LogLevel, event: string, fields: Line["fields"] = {}): Line => ({ level, event, fields })

/** `error` is a code or tag, `detail` a message. */
const failureFields = ({ code, message, tag }: Failure) => ({ error: code ?? tag, detail: message })

const isRepeated = (now: Failure, before: Failure | undefined): boolean =>
  before !== undefined && now.tag === before.tag && now.code === before.code && now.message === before.message

const levelOf = (first: LogLevel.LogLevel, repeated: boolean): LogLevel.LogLevel => repeated ? LogLevel.Debug : first

const account = (now: AccountState, before: AccountState): Line => {
  switch (now._tag) {
    case "Starting":
      return line(LogLevel.Debug, "account.starting")
    case "Running":
      return line(levelOf(LogLevel.Info, before._tag === "Running"), "account.running",
        before._tag === "Starting" ? {} : { after: before._tag.toLowerCase() })
    case "Paused":
      return line(levelOf(LogLevel.Error, before._tag === now._tag && before.failure.code === now.failure.code), "account.paused", {
        ...failureFields(now.failure),
        nextProbe: StatusText.iso(now.nextProbe)
      })
    case "Quota":
      return line(levelOf(LogLevel.Warning, before._tag === now._tag), "account.quota", {
        ...failureFields(now.failure),
        until: StatusText.iso(now.until)
      })
    case "Trouble":
      return line(levelOf(LogLevel.Warning, before._tag === now._tag), "account.trouble", {
        ...failureFields(now.failure),
        nextTry: StatusText.iso(now.nextTry)
      })
  }
}

const ledger = (now: LedgerState, before: LedgerState): Line => {
  switch (now._tag) {
    case "Opening":
      return line(LogLevel.Debug, "ledger.opening")
    case "Open":
      return line(LogLevel.Info, before._tag === "Failing" ? "ledger.reopened" : "ledger.opened", { ledger: now.path })
    case "Failing":
      return line(levelOf(LogLevel.Error, before._tag === "Failing" && isRepeated(now.failure, before.failure)), "ledger.failed", {
        ...failureFields(now.failure),
        nextTry: StatusText.iso(now.nextTry)
      })
  }
}

/** The log line of an event. */
export const lineOf = (event: StampedEvent, before: Before): Line => {
  switch (event._tag) {
    case "AccountBound":
      return line(levelOf(LogLevel.Info, before.owner !== undefined), "account.known", {
        account: event.owner.id ?? "unknown",
        address: event.owner.baseUrl
      })
    case "AccountChanged":
      return account(event.account, before.account)
    case "LedgerChanged":
      return ledger(event.ledger, before.ledger)
    case "SourceUnchanged":
      return before.source.failing === undefined ? line(LogLevel.Debug, "source.unchanged") : line(LogLevel.Info, "source.recovered")
    case "SnapshotAccepted": {
      const { changed, figures, missingKept, negative, rejected } = event.result
      const fields = { rows: event.rows, changed, rejected, negative, soldOut: figures.soldOut, missing: figures.missing }
      return missingKept
        ? line(LogLevel.Warning, "snapshot.accepted", { ...fields, detail: Format.missingKept })
        : line(LogLevel.Info, "snapshot.accepted", fields)
    }
    case "SnapshotHeld": {
      const { figures: { catalogue, fell, missing, rose, soldOut }, number } = event.held
      return line(levelOf(LogLevel.Error, before.source.held?.number === number), "snapshot.held", {
        snapshot: number,
        rows: event.rows,
        products: catalogue,
        soldOut,
        fell,
        rose,
        missing,
        detail: StatusText.held(event.held)
      })
    }
    case "SourceFailed":
      return line(levelOf(LogLevel.Error, isRepeated(event.failure, before.source.failing?.failure)), "source.failed",
        failureFields(event.failure))
    case "Sent":
      if (event.outcome === "uncertain" && event.failure !== undefined && !event.wasUncertain) {
        return line(LogLevel.Warning, "product.uncertain", {
          product: event.productId,
          stock: event.value,
          ...failureFields(event.failure)
        })
      }
      return event.outcome === "quarantined" && event.failure !== undefined && !event.wasQuarantined
        ? line(LogLevel.Warning, "product.quarantined", { product: event.productId, stock: event.value, ...failureFields(event.failure) })
        : line(LogLevel.Debug, `product.${event.outcome}`, { product: event.productId, stock: event.value, priority: event.priority })
    case "Reconciled":
      return line(event.differing > 0 || before.reconciliation !== undefined ? LogLevel.Info : LogLevel.Debug, "reconciliation.completed", {
        products: event.products,
        differing: event.differing
      })
    case "ReconciliationFailed":
      return line(levelOf(LogLevel.Warning, isRepeated(event.failure, before.reconciliation)), "reconciliation.failed",
        failureFields(event.failure))
    case "Stopping":
      return line(LogLevel.Info, "worker.stopping")
  }
}

const reconciliation = (event: StampedEvent, before: Before): Failure | undefined =>
  event._tag === "ReconciliationFailed" ? event.failure : event._tag === "Reconciled" ? undefined : before.reconciliation

const count = (event: StampedEvent): Effect.Effect<void> => {
  if (event._tag === "LedgerChanged") return event.ledger._tag === "Failing" ? Metric.increment(Metrics.ledgerFaults) : Effect.void
  if (event._tag !== "Sent") return Effect.void
  const sent = Effect.zipRight(
    Metric.increment(Metric.tagged(Metrics.sends, "outcome", event.outcome)),
    event.failure?.tag === mismatchTag ? Metric.increment(Metrics.mismatches) : Effect.void
  )
  return event.outcome === "confirmed" && event.priority !== "assertion"
    ? Effect.zipRight(sent,
      Metric.update(Metric.tagged(Metrics.timeToShelf, "priority", event.priority),
        Math.max(0, DateTime.distance(event.since, event.at)) / 1_000))
    : sent
}

/** Most events of a fleet have a level that is not logged, and the annotations of a line cost more than the rest of the event. */
const log = (level: LogLevel.LogLevel, event: string, fields: Line["fields"]): Effect.Effect<void> =>
  Effect.flatMap(FiberRef.get(FiberRef.currentMinimumLogLevel), (minimum) =>
    LogLevel.lessThan(level, minimum) ? Effect.void : Effect.annotateLogs(Effect.logWithLevel(level, event), fields))

/** Logs events that follow a state, and counts them. A program that works for many accounts logs their events at other levels. */
export const writer = (
  first: State,
  levelOf: (level: LogLevel.LogLevel, event: StampedEvent) => LogLevel.LogLevel = (level) => level
): (event: StampedEvent) => Effect.Effect<void> => {
  let before: Before = first
  return (event) =>
    Effect.suspend(() => {
      const { event: name, fields, level } = lineOf(event, before)
      before = { ...reduce(before, event), reconciliation: reconciliation(event, before) }
      return Effect.zipRight(count(event), log(levelOf(level, event), name, fields))
    })
}

/** Logs until the scope closes, including the events that are queued by then. */
export const layer: Layer.Layer<never, never, SyncStatus> = Layer.scopedDiscard(Effect.gen(function*() {
  const status = yield* SyncStatus
  const events = yield* status.subscribe
  const write = writer(yield* status.state)
  yield* Effect.addFinalizer(() => Effect.flatMap(Queue.takeAll(events), Effect.forEach(write, { discard: true })))
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(events), write)))
}))
