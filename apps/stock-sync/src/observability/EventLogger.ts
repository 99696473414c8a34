/**
 * Logs the events of a running worker as an event name and fields, and counts them. A failure is logged when it begins; while it repeats, and
 * for each request, the level is debug.
 */
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import type { Failure, SyncStatus } from "../sync/SyncStatus.ts"
import * as Metrics from "./Metrics.ts"
import { type Change, observe } from "./Status.ts"
import * as StatusText from "./StatusText.ts"

export type Fields = Readonly<Record<string, string | number>>

interface Line {
  /** Unless the change is repeated. */
  readonly level: LogLevel.Severity
  /** Such as `snapshot.accepted`. */
  readonly event: string
  readonly fields: Fields
}

const line = (level: LogLevel.Severity, event: string, fields: Fields = {}): Line => ({ level, event, fields })

/** `error` is a code or tag, `detail` a message. */
const failureFields = ({ code, message, tag }: Failure) => ({ error: code ?? tag, detail: message })

const lineOf = ({ before, event, isRepeated }: Change): Line => {
  switch (event._tag) {
    case "AccountBound":
      return line("Info", "account.known", { account: event.owner.id ?? "unknown", address: event.owner.baseUrl })
    case "AccountChanged": {
      const { account } = event
      switch (account._tag) {
        case "Starting":
          return line("Debug", "account.starting")
        case "Running":
          return line("Info", "account.running", before.account._tag === "Starting" ? {} : { after: before.account._tag.toLowerCase() })
        case "Paused":
          return line("Error", "account.paused", { ...failureFields(account.failure), nextProbe: DateTime.formatIso(account.nextProbe) })
        case "Quota":
          return line("Warn", "account.quota", { ...failureFields(account.failure), until: DateTime.formatIso(account.until) })
        case "Trouble":
          return line("Warn", "account.trouble", { ...failureFields(account.failure), nextTry: DateTime.formatIso(account.nextTry) })
      }
    }
    case "LedgerChanged": {
      const { ledger } = event
      switch (ledger._tag) {
        case "Opening":
          return line("Debug", "ledger.opening")
        case "Open":
          return line("Info", before.ledger._tag === "Failing" ? "ledger.reopened" : "ledger.opened", { ledger: ledger.path })
        case "Failing":
          return line("Error", "ledger.failed", { ...failureFields(ledger.failure), nextTry: DateTime.formatIso(ledger.nextTry) })
      }
    }
    case "SourceUnchanged":
      return line("Info", isRepeated ? "source.unchanged" : "source.recovered")
    case "SnapshotAccepted": {
      const { changed, figures: { missing, soldOut }, missingKept, negative, rejected } = event.result
      const fields = { rows: event.rows, changed, rejected, negative, soldOut, missing }
      return missingKept
        ? line("Warn", "snapshot.accepted", { ...fields, detail: StatusText.missingKept })
        : line("Info", "snapshot.accepted", fields)
    }
    case "SnapshotHeld": {
      const { figures: { catalogue: products, fell, missing, reverted, rose, soldOut }, number: snapshot } = event.held
      return line("Error", "snapshot.held", {
        snapshot,
        rows: event.rows,
        products,
        soldOut,
        fell,
        rose,
        missing,
        reverted,
        detail: StatusText.held(event.held)
      })
    }
    case "SourceFailed":
      return line("Error", "source.failed", failureFields(event.failure))
    case "Sent": {
      const { failure, outcome, priority, productId: product, value: stock } = event
      return line("Warn", `product.${outcome}`,
        failure === undefined || isRepeated ? { product, stock, priority } : { product, stock, ...failureFields(failure) })
    }
    case "Reconciled":
      return line("Info", "reconciliation.completed", { products: event.products, differing: event.differing })
    case "ReconciliationFailed":
      return line("Warn", "reconciliation.failed", failureFields(event.failure))
    case "Stopping":
      return line("Info", "worker.stopping")
  }
}

/** Logs an event name with fields. Most events have a level that is not logged, and annotations cost more than the rest of the event. */
export const log = (level: LogLevel.Severity, event: string, fields: Fields): Effect.Effect<void> =>
  Effect.flatMap(LogLevel.isEnabled(level), (isEnabled) =>
    isEnabled ? Effect.annotateLogs(Effect.logWithLevel(level)(event), fields) : Effect.void)

/** Logs and counts a change. A program that works for many accounts logs their events at other levels. */
export const write = (
  change: Change,
  levelOf: (level: LogLevel.Severity, event: Change["event"]) => LogLevel.Severity = (level) => level
): Effect.Effect<void> => {
  const { event, fields, level } = lineOf(change)
  return Effect.andThen(Metrics.count(change), log(levelOf(change.isRepeated ? "Debug" : level, change.event), event, fields))
}

export const layer: Layer.Layer<never, never, SyncStatus> = Layer.effectDiscard(observe((change) => write(change)))
