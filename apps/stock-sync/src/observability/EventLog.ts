/**
 * Writes a log line for each event of a running worker that is worth one, and counts. A line is the event's name and fields; sends are lines
 * at debug only.
 */
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Show from "../commands/Format.js"
import { type AccountState, after, type Failure, type LedgerState, Standing, type State, type Told } from "../sync/WorkerState.js"
import * as Measures from "./Metrics.js"
import * as Words from "./Texts.js"

export interface Line {
  readonly level: LogLevel.LogLevel
  /** Such as `snapshot.accepted`. */
  readonly event: string
  readonly fields: Readonly<Record<string, string | number>>
}

export interface Before extends State {
  /** The failure of the last reconciliation; absent after one that succeeded. */
  readonly reconciliation?: Failure | undefined
}

const line = (level: LogLevel.LogLevel, event: string, fields: Line["fields"] = {}): Line => ({ level, event, fields })

/** `error` names the kind of the failure, `detail` is for people. */
const failed = ({ code, message, tag }: Failure) => ({ error: code ?? tag, detail: message })

const isRepeated = (now: Failure, before: Failure | undefined): boolean =>
  before !== undefined && now.tag === before.tag && now.code === before.code && now.message === before.message

/** An error at first, and a detail while it repeats. */
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
        ...failed(now.failure),
        nextProbe: Words.iso(now.nextProbe)
      })
    case "Quota":
      return line(levelOf(LogLevel.Warning, before._tag === now._tag), "account.quota", {
        ...failed(now.failure),
        until: Words.iso(now.until)
      })
    case "Trouble":
      return line(levelOf(LogLevel.Warning, before._tag === now._tag), "account.trouble", {
        ...failed(now.failure),
        nextTry: Words.iso(now.nextTry)
      })
  }
}

const ledger = (now: LedgerState, before: LedgerState): Line => {
  switch (now._tag) {
    case "Opening":
      return line(LogLevel.Debug, "ledger.opening")
    case "Open":
      return line(LogLevel.Info, before._tag === "Failing" ? "ledger.reopened" : "ledger.opened", { ledger: now.ledger.path })
    case "Failing":
      return line(levelOf(LogLevel.Error, before._tag === "Failing" && isRepeated(now.failure, before.failure)), "ledger.failed", {
        ...failed(now.failure),
        nextTry: Words.iso(now.nextTry)
      })
  }
}

/** The line of an event. Pure. */
export const lineOf = (told: Told, before: Before): Line => {
  switch (told._tag) {
    case "Bound":
      return line(levelOf(LogLevel.Info, before.owner !== undefined), "account.known", {
        account: told.owner.id ?? "unknown",
        address: told.owner.baseUrl
      })
    case "AccountIs":
      return account(told.account, before.account)
    case "LedgerIs":
      return ledger(told.ledger, before.ledger)
    case "SourceUnchanged":
      return before.source.failing === undefined ? line(LogLevel.Debug, "source.unchanged") : line(LogLevel.Info, "source.recovered")
    case "SourceTaken": {
      const { changed, figures, goneSpared, negative, rejected } = told.received
      const fields = { rows: told.rows, changed, rejected, negative, soldOut: figures.soldOut, missing: figures.missing }
      return goneSpared
        ? line(LogLevel.Warning, "snapshot.accepted", { ...fields, detail: Show.goneSpared })
        : line(LogLevel.Info, "snapshot.accepted", fields)
    }
    case "SourceHeld": {
      const { figures: { catalogue, fell, missing, rose, soldOut }, number } = told.held
      return line(levelOf(LogLevel.Error, before.source.held?.number === number), "snapshot.held", {
        snapshot: number,
        rows: told.rows,
        products: catalogue,
        soldOut,
        fell,
        rose,
        missing,
        detail: Words.held(told.held)
      })
    }
    case "SourceFailed":
      return line(levelOf(LogLevel.Error, isRepeated(told.failure, before.source.failing?.failure)), "source.failed", failed(told.failure))
    case "Sent":
      return told.outcome === "quarantined" && told.failure !== undefined && !told.wasQuarantined
        ? line(LogLevel.Warning, "product.quarantined", { product: told.productId, stock: told.value, ...failed(told.failure) })
        : line(LogLevel.Debug, `product.${told.outcome}`, { product: told.productId, stock: told.value, priority: told.priority })
    case "Reconciled":
      return line(told.differing > 0 || before.reconciliation !== undefined ? LogLevel.Info : LogLevel.Debug, "reconciliation.completed", {
        products: told.products,
        differing: told.differing
      })
    case "ReconcilingFailed":
      return line(levelOf(LogLevel.Warning, isRepeated(told.failure, before.reconciliation)), "reconciliation.failed", failed(told.failure))
    case "Stopping":
      return line(LogLevel.Info, "worker.stopping")
  }
}

const reconciliation = (told: Told, before: Before): Failure | undefined =>
  told._tag === "ReconcilingFailed" ? told.failure : told._tag === "Reconciled" ? undefined : before.reconciliation

const count = (told: Told): Effect.Effect<void> => {
  if (told._tag === "LedgerIs") return told.ledger._tag === "Failing" ? Metric.increment(Measures.ledgerFaults) : Effect.void
  if (told._tag === "Reconciled") return Metric.set(Measures.drift, told.differing)
  if (told._tag !== "Sent") return Effect.void
  const sent = Effect.zipRight(
    Metric.increment(Metric.tagged(Measures.sends, "outcome", told.outcome)),
    told.failure?.tag === "StockMismatch" ? Metric.increment(Measures.mismatches) : Effect.void
  )
  return told.outcome === "confirmed" && told.priority !== "assertion"
    ? Effect.zipRight(sent,
      Metric.update(Metric.tagged(Measures.timeToShelf, "priority", told.priority), Math.max(0, told.at - told.since) / 1_000))
    : sent
}

/** Writes until the scope closes, the last events included. */
export const keep: Effect.Effect<void, never, Standing | Scope.Scope> = Effect.gen(function*() {
  const standing = yield* Standing
  const events = yield* standing.subscribe
  let before: Before = yield* standing.state
  const write = (told: Told) =>
    Effect.suspend(() => {
      const { event, fields, level } = lineOf(told, before)
      before = { ...after(before, told), reconciliation: reconciliation(told, before) }
      return Effect.zipRight(count(told), Effect.annotateLogs(Effect.logWithLevel(level, event), fields))
    })
  const rest = Effect.flatMap(Queue.takeAll(events), (left) => Effect.forEach(left, write, { discard: true }))
  yield* Effect.addFinalizer(() => rest)
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(events), write)))
})
