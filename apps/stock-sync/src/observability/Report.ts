/**
 * What happened to a store since some time, as far as its ledger knows: requests, products, snapshots and outages, and first of all whether the
 * store is in sync now. Pure, except {@link read}.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { accountKinds, type Kind, sourceKinds } from "../ledger/Events.ts"
import type { Account, HistoryEntry, Ledger, LedgerEvent } from "../ledger/Ledger.ts"
import type { Commands } from "../ledger/LedgerCommands.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import type { SnapshotStatus } from "../ledger/Snapshot.ts"
import type { AccountState } from "../sync/SyncStatus.ts"
import * as Conditions from "./Conditions.ts"
import { age, type LedgerSample } from "./Status.ts"
import { sampleLedger } from "./StatusSampler.ts"
import * as StatusText from "./StatusText.ts"

/** How long sold-out changes took from their snapshot to their confirmation. */
export interface SoldOutTimes {
  readonly count: number
  readonly median: Duration.Duration
  /** 95 of 100 took no longer. */
  readonly most: Duration.Duration
  readonly longest: Duration.Duration
  readonly longestProduct: string
}

/** Requests that ended with this code. */
export interface FailureCount {
  readonly code: string
  readonly requests: number
  readonly products: number
  /** The last message. */
  readonly message: string
  readonly lastAt: DateTime.Utc
}

/** A time in which nothing was sent, or the source could not be used. */
export interface Outage {
  readonly kind: "paused" | "quota" | "unavailable" | "source"
  readonly code: string
  readonly detail: string
  readonly from: DateTime.Utc
  /** Undefined: the ledger knows no end. */
  readonly to: DateTime.Utc | undefined
}

export interface Requests {
  readonly total: number
  readonly confirmed: number
  readonly failures: ReadonlyArray<FailureCount>
  /** The rate window with the most requests that ended within it. */
  readonly busiest: { readonly from: DateTime.Utc; readonly requests: number } | undefined
  readonly lastAt: DateTime.Utc | undefined
}

/** Distinct products. */
export interface Products {
  readonly sent: number
  readonly confirmed: number
  /** The service refused them at least once. */
  readonly refused: number
  /** Confirmed with no stock; before, they had some, or it was not known. */
  readonly soldOut: number
  /** Confirmed with stock, having had none. */
  readonly backInStock: number
}

export interface Snapshots {
  /** With changes. A source that did not change is not counted. */
  readonly accepted: number
  readonly held: number
  /** By a person. */
  readonly reverted: number
  /** Failures to read the source, and refused contents; one that lasts counts once. */
  readonly failed: number
}

export interface Report {
  readonly now: DateTime.Utc
  readonly since: DateTime.Utc
  /** From when on the ledger has all requests and all events; `since` if it has them all. */
  readonly completeFrom: { readonly requests: DateTime.Utc; readonly events: DateTime.Utc }
  readonly account: Account | undefined
  readonly sample: LedgerSample
  readonly snapshot: SnapshotStatus
  readonly products: Products
  readonly requests: Requests
  readonly soldOut: SoldOutTimes | undefined
  readonly snapshots: Snapshots
  /** The latest first. */
  readonly outages: ReadonlyArray<Outage>
}

/** The window in which the busiest time is looked for: that of the interface's rate limit. */
export const window = Duration.minutes(1)

const percentile = (sorted: ReadonlyArray<number>, share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0

const timesOf = (waits: ReadonlyArray<{ readonly productId: string; readonly millis: number }>): SoldOutTimes | undefined => {
  const sorted = waits.toSorted((one, other) => one.millis - other.millis)
  const millis = sorted.map((each) => each.millis)
  const longest = sorted.at(-1)
  return longest === undefined ? undefined : {
    count: sorted.length,
    median: Duration.millis(percentile(millis, 0.5)),
    most: Duration.millis(percentile(millis, 0.95)),
    longest: Duration.millis(longest.millis),
    longestProduct: longest.productId
  }
}

/** Adds up past requests, the latest first. */
export const tally = () => {
  const products = {
    sent: new Set<string>(),
    confirmed: new Set<string>(),
    refused: new Set<string>(),
    soldOut: new Set<string>(),
    backInStock: new Set<string>()
  }
  const failures = new Map<string, { requests: number; products: Set<string>; message: string; lastAt: DateTime.Utc }>()
  const waits: Array<{ readonly productId: string; readonly millis: number }> = []
  const ended: Array<number> = []
  /** When requests that were confirmed left. */
  const accepted: Array<number> = []

  const fail = (code: string, { endedAt, message, productId }: HistoryEntry) => {
    const counted = failures.get(code) ?? { requests: 0, products: new Set<string>(), message: message ?? "", lastAt: endedAt }
    counted.requests++
    counted.products.add(productId)
    failures.set(code, counted)
  }
  const confirm = ({ endedAt, productId, reason, sentAt, since }: HistoryEntry) => {
    products.confirmed.add(productId)
    accepted.push(DateTime.toEpochMillis(sentAt))
    if (reason === "soldOut") {
      products.soldOut.add(productId)
      waits.push({ productId, millis: Duration.toMillis(age(since, endedAt)) })
    }
    if (reason === "backInStock") products.backInStock.add(productId)
  }

  const busiest = (): Requests["busiest"] => {
    const sorted = ended.toSorted((one, other) => one - other)
    const length = Duration.toMillis(window)
    let first = 0
    let most = { from: 0, requests: 0 }
    for (const [index, at] of sorted.entries()) {
      while (at - (sorted[first] ?? at) >= length) first++
      const requests = index - first + 1
      if (requests > most.requests) most = { from: sorted[first] ?? at, requests }
    }
    return most.requests === 0 ? undefined : { from: DateTime.makeUnsafe(most.from), requests: most.requests }
  }

  return {
    add: (entry: HistoryEntry): void => {
      products.sent.add(entry.productId)
      ended.push(DateTime.toEpochMillis(entry.endedAt))
      if (entry.outcome === "confirmed") return confirm(entry)
      if (entry.outcome === "quarantined") products.refused.add(entry.productId)
      fail(entry.code ?? entry.outcome, entry)
    },
    result: () => ({
      accepted: accepted.toSorted((one, other) => one - other),
      products: {
        sent: products.sent.size,
        confirmed: products.confirmed.size,
        refused: products.refused.size,
        soldOut: products.soldOut.size,
        backInStock: products.backInStock.size
      },
      soldOut: timesOf(waits),
      requests: {
        total: ended.length,
        confirmed: accepted.length,
        failures: Array.from(failures, ([code, { products, ...counted }]) => ({ code, ...counted, products: products.size }))
          .toSorted((one, other) => other.requests - one.requests || (one.code < other.code ? -1 : 1)),
        busiest: busiest(),
        lastAt: ended[0] === undefined ? undefined : DateTime.makeUnsafe(ended[0])
      }
    })
  }
}

const outageKinds: Partial<Readonly<Record<Kind, Outage["kind"]>>> = {
  accountPaused: "paused",
  accountQuota: "quota",
  accountTrouble: "unavailable",
  sourceFailed: "source"
}

/**
 * The outages of events, the latest first. Each ends with the next state of the account or the source; one of the account also with the first
 * request after its beginning that was confirmed, because a process that was killed leaves no end. `accepted`: when those requests left, the
 * earliest first.
 */
export const outagesOf = (events: ReadonlyArray<LedgerEvent>, accepted: ReadonlyArray<number>): ReadonlyArray<Outage> =>
  events.flatMap((event, index): ReadonlyArray<Outage> => {
    const kind = outageKinds[event.kind]
    if (kind === undefined) return []
    const isOfAccount = accountKinds.includes(event.kind)
    const states = isOfAccount ? accountKinds : sourceKinds
    const next = events.slice(index + 1).find((later) => states.includes(later.kind))?.at
    const from = DateTime.toEpochMillis(event.at)
    const sent = isOfAccount ? accepted.find((at) => at > from) : undefined
    const ends = [...next === undefined ? [] : [DateTime.toEpochMillis(next)], ...sent === undefined ? [] : [sent]]
    return [{
      kind,
      code: event.code ?? "",
      detail: event.detail ?? "",
      from: event.at,
      to: ends.length === 0 ? undefined : DateTime.makeUnsafe(Math.min(...ends))
    }]
  }).toReversed()

export const snapshotsOf = (events: ReadonlyArray<LedgerEvent>): Snapshots => {
  const count = (kind: Kind) => events.filter((event) => event.kind === kind).length
  return {
    accepted: count("snapshotAccepted"),
    held: count("snapshotHeld"),
    reverted: count("snapshotReverted"),
    failed: count("sourceFailed")
  }
}

const since = (from: DateTime.Utc, kept: DateTime.Utc | undefined): DateTime.Utc =>
  kept === undefined || DateTime.isLessThan(kept, from) ? from : kept

/** Reads what happened since a time. It works beside a running worker. */
export const read = (
  ledger: Ledger["Service"],
  from: DateTime.Utc
): Effect.Effect<Report, LedgerFault> =>
  Effect.gen(function*() {
    const now = yield* DateTime.now
    const totals = tally()
    yield* ledger.history(Option.none()).pipe(
      Stream.takeWhile(({ endedAt }) => DateTime.isGreaterThanOrEqualTo(endedAt, from)),
      Stream.runForEach((entry) => Effect.sync(() => totals.add(entry)))
    )
    const events = yield* ledger.events
    const kept = yield* ledger.kept
    const { accepted, ...counted } = totals.result()
    return {
      now,
      since: from,
      completeFrom: { requests: since(from, kept.requests), events: since(from, kept.events) },
      account: Option.getOrUndefined(yield* ledger.account),
      sample: yield* sampleLedger(ledger, now),
      snapshot: yield* ledger.snapshot,
      ...counted,
      snapshots: snapshotsOf(events.filter(({ at }) => DateTime.isGreaterThanOrEqualTo(at, from))),
      outages: outagesOf(events, accepted).filter(({ to }) => to === undefined || DateTime.isGreaterThanOrEqualTo(to, from))
    }
  })

const failure = ({ code, detail }: Outage): string => StatusText.failure({ code, tag: code, message: detail })

/** The state of an account that an outage without an end left. Its next attempt is not known. */
const accountOf = ({ code, detail, from, kind }: Outage): AccountState | undefined => {
  const reason = { at: from, about: "account", productId: undefined, tag: code, code, message: detail } as const
  switch (kind) {
    case "paused":
      return { _tag: "Paused", since: from, failure: reason, nextProbe: from }
    case "unavailable":
      return { _tag: "Trouble", since: from, failure: reason, nextTry: from }
    case "quota":
      return { _tag: "Quota", since: from, failure: reason, until: from }
    case "source":
      return undefined
  }
}

/** What keeps a store from being in sync as a whole. */
export type Condition = Conditions.StateText & { readonly subject: string; readonly lead: string | undefined }

/**
 * What keeps the store from being in sync as a whole now, with what helps: the first is the most important. `recorded`: what is known beside
 * the ledger, instead of the outages that last.
 */
export const conditions = (
  { outages, snapshot: { held } }: Pick<Report, "outages" | "snapshot">,
  commands: Commands,
  recorded: ReadonlyArray<Condition> | undefined
): ReadonlyArray<Condition> => {
  const lasting = outages.filter(({ to }) => to === undefined)
  const described = lasting.flatMap((outage) => {
    const account = accountOf(outage)
    if (account !== undefined) {
      const { action, label, lead, tone } = Conditions.account(account)
      return [{ subject: "Account", action, label, lead, tone, description: [`${failure(outage)}. Since `, outage.from, "."] }]
    }
    return [{
      subject: "Source",
      tone: "bad" as const,
      label: "Unreadable",
      lead: "The source can't be read",
      description: [`${StatusText.capitalized(outage.detail)}. Since `, outage.from, "."],
      action: [Conditions.sourceRemedy]
    }]
  })
  return [
    ...recorded ?? described,
    ...Option.match(held, { onNone: () => [], onSome: (held) => [{ subject: "Source", ...Conditions.heldCondition(held, commands) }] })
  ]
}
