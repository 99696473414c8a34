/**
 * Follows what a running loop tells: a line in the log where it is worth one, and the counters. Sends are lines only for who debugs.
 * Knows nothing of where lines go.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import * as Show from "../Show.js"
import { type AccountState, after, type LedgerState, Standing, type State, type Told } from "../Standing.js"
import * as Measures from "./Measures.js"
import * as Words from "./Words.js"

/** @since 0.1.0 @category models */
export interface Line {
  readonly level: LogLevel.LogLevel
  readonly message: string
  readonly facts: Readonly<Record<string, string | number>>
}

const line = (level: LogLevel.LogLevel, message: string, facts: Line["facts"] = {}): Line => ({ level, message, facts })

const ended: Readonly<Record<AccountState["_tag"], string>> = {
  Starting: "sending",
  Running: "sending",
  Paused: "the account is no longer refused, sending goes on",
  Quota: "requests are allowed again, sending goes on",
  Trouble: "the service answers again, sending goes on"
}

const account = (now: AccountState, before: AccountState): Line => {
  // The same again, with another time to ask at.
  const news = now._tag !== before._tag
  switch (now._tag) {
    case "Starting":
      return line(LogLevel.Debug, "asking the service whose key it is")
    case "Running":
      return line(news ? LogLevel.Info : LogLevel.Debug, ended[before._tag])
    case "Paused":
      return line(news ? LogLevel.Error : LogLevel.Debug, `the account is paused: ${Words.told(now.failure)}`, { nextProbe: Words.iso(now.nextProbe) })
    case "Quota":
      return line(news ? LogLevel.Warning : LogLevel.Debug, `no request is allowed for now: ${Words.told(now.failure)}`, { until: Words.iso(now.until) })
    case "Trouble":
      return line(news ? LogLevel.Warning : LogLevel.Debug, `the service is in trouble: ${Words.told(now.failure)}`, { nextTry: Words.iso(now.nextTry) })
  }
}

const ledger = (now: LedgerState, before: LedgerState): Line => {
  switch (now._tag) {
    case "Opening":
      return line(LogLevel.Debug, "opening the ledger")
    case "Open":
      return line(LogLevel.Info, before._tag === "Failing" ? "the ledger is open again" : "the ledger is open", { ledger: now.ledger.path })
    case "Failing":
      return line(LogLevel.Error, now.failure.message, { nextTry: Words.iso(now.nextTry) })
  }
}

/**
 * What is to be said of something that happened, and how loudly. Pure.
 *
 * @since 0.1.0
 * @category lines
 */
export const lineOf = (told: Told, before: State): Line => {
  switch (told._tag) {
    case "Bound":
      return line(LogLevel.Info, "the key is known", { account: told.owner.id, address: told.owner.baseUrl })
    case "AccountIs":
      return account(told.account, before.account)
    case "LedgerIs":
      return ledger(told.ledger, before.ledger)
    case "SourceUnchanged":
      return before.source.failing === undefined ? line(LogLevel.Debug, "the source is unchanged") : line(LogLevel.Info, "the source can be read again, and is unchanged")
    case "SourceTaken": {
      const { changed, damage, goneSpared } = told.received
      const facts = { rows: told.rows, changed, zeroed: damage.zeroed, dropped: damage.dropped }
      return goneSpared ? line(LogLevel.Warning, `a snapshot is taken, but ${Show.goneSpared}`, facts) : line(LogLevel.Info, "a snapshot is taken", facts)
    }
    case "SourceHeld":
      return line(before.source.held === undefined ? LogLevel.Error : LogLevel.Debug, Words.held(told.held), { rows: told.rows })
    case "SourceFailed":
      return line(before.source.failing?.failure.message === told.failure.message ? LogLevel.Debug : LogLevel.Error, told.failure.message, { tag: told.failure.tag })
    case "Sent":
      return told.outcome === "quarantined" && told.failure !== undefined
        ? line(LogLevel.Warning, `a product is quarantined: ${Words.told(told.failure)}`, { product: told.productId, stock: told.value })
        : line(LogLevel.Debug, `a product is ${told.outcome}`, { product: told.productId, stock: told.value, urgency: told.urgency })
    case "Reconciled":
      return line(told.differing > 0 ? LogLevel.Info : LogLevel.Debug, "the store was read", { products: told.products, differing: told.differing })
    case "ReconcilingFailed":
      return line(LogLevel.Warning, `the store can't be read: ${Words.told(told.failure)}`)
    case "Stopping":
      return line(LogLevel.Info, "stopping")
  }
}

const count = (told: Told): Effect.Effect<void> => {
  if (told._tag === "LedgerIs") return told.ledger._tag === "Failing" ? Metric.increment(Measures.ledgerFaults) : Effect.void
  if (told._tag !== "Sent") return Effect.void
  const sent = Metric.increment(Metric.tagged(Measures.sends, "outcome", told.outcome))
  return told.outcome === "confirmed" && told.urgency !== "assertion"
    ? Effect.zipRight(sent, Metric.update(Metric.tagged(Measures.timeToShelf, "urgency", told.urgency), Math.max(0, told.at - told.since) / 1_000))
    : sent
}

/**
 * Writes from now on until the scope closes.
 *
 * @since 0.1.0
 * @category running
 */
export const keep: Effect.Effect<void, never, Standing | Scope.Scope> = Effect.gen(function*() {
  const standing = yield* Standing
  const happenings = yield* standing.subscribe
  let state = yield* standing.state
  const write = (told: Told) =>
    Effect.suspend(() => {
      const { facts, level, message } = lineOf(told, state)
      state = after(state, told)
      return Effect.zipRight(count(told), Effect.annotateLogs(Effect.logWithLevel(level, message), facts))
    })
  const rest = Effect.flatMap(Queue.takeAll(happenings), (left) => Effect.forEach(left, write, { discard: true }))
  // What was told last, as that it stops, is written too.
  yield* Effect.addFinalizer(() => rest)
  yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(happenings), write)))
})
