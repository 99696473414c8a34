/**
 * Reads the state of a running worker and its ledger periodically, keeps the snapshot and sets the gauges. Requests
 * are answered from the snapshot, so they cause no load on the ledger.
 */
import { Metrics as Measures } from "@plaza/client"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import type { Entry } from "../ledger/Entry.js"
import type { Backlog, Counts, HeldChange, Ledger, LedgerFault, RowIssue } from "../ledger/Ledger.js"
import type { Unit } from "../source/Source.js"
import * as MonotonicClock from "../sync/MonotonicClock.js"
import { outcomes, type State, SyncStatus } from "../sync/SyncStatus.js"
import * as Gauges from "./Gauges.js"
import * as History from "./History.js"
import * as Readiness from "./Readiness.js"

/** What the ledger said when it was last asked. */
export interface Figures {
  readonly at: number
  readonly backlog: Backlog
  readonly counts: Counts
  /** The first ones. */
  readonly quarantined: ReadonlyArray<Entry>
  /** The first ones. */
  readonly rowIssues: ReadonlyArray<RowIssue>
  /** What the positions of rows count. */
  readonly unit: Unit
  /** The first ones. */
  readonly heldChanges: ReadonlyArray<HeldChange>
}

export interface Look {
  readonly now: number
  readonly state: State
  /** Why it isn't ready; nothing if it is. */
  readonly reasons: ReadonlyArray<Readiness.Reason>
  /** Undefined until the ledger was open once. */
  readonly figures: Figures | undefined
  /** Requests in the last window, as far as it was looked at. */
  readonly rateInUse: number
  readonly history: History.History
}

export interface Options {
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  /** For how long the source may go unread; undefined where it is read once. */
  readonly sourcePatience: Duration.Duration | undefined
}

export class StatusSampler extends Context.Tag("@plaza/stock-sync/StatusSampler")<StatusSampler, {
  readonly look: Effect.Effect<Look>
}>() {}

/** How many products and rows a page lists. */
export const listed = 50

/** How many changes of a held snapshot a page lists. */
export const heldListed = 500

/** How often it looks. */
export const interval: Duration.Duration = Duration.seconds(10)

// A million products take a second or more to count, in which nothing else is done: at most a twentieth of the time is spent on it.
const share = 20

const first = <A, E>(count: number, stream: Stream.Stream<A, E>) =>
  count === 0 ? Effect.succeed([]) : Effect.map(Stream.runCollect(Stream.take(stream, listed)), Chunk.toReadonlyArray)

const readFigures = (ledger: Ledger["Type"], at: number): Effect.Effect<Figures, LedgerFault> =>
  Effect.gen(function*() {
    const counts = yield* ledger.counts
    return {
      at,
      counts,
      backlog: yield* ledger.backlog,
      quarantined: yield* first(counts.quarantined, ledger.quarantined),
      rowIssues: yield* first(counts.rejectedRows + counts.negativeRows, ledger.rowIssues),
      unit: (yield* ledger.snapshot).unit,
      heldChanges: Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.take(ledger.heldChanges, heldListed)))
    }
  })

const waitingOf = ({ backlog }: Figures): number => Object.values(backlog.waiting).reduce((sum, each) => sum + each, 0)

export const layer = (options: Options): Layer.Layer<StatusSampler, never, SyncStatus> =>
  Layer.scoped(
    StatusSampler,
    Effect.gen(function*() {
      const status = yield* SyncStatus
      const kept = yield* Ref.make<Pick<Look, "figures" | "history" | "rateInUse">>({ figures: undefined, history: [], rateInUse: 0 })

      const look = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const state = yield* status.state
        return { ...yield* Ref.get(kept), now, state, reasons: Readiness.reasons(state, now, options.sourcePatience) }
      })

      let askAgainAt = -Infinity
      const askLedger = (ledger: Ledger["Type"], now: number) =>
        Effect.gen(function*() {
          const begun = yield* MonotonicClock.now
          if (begun < askAgainAt) return undefined
          const figures = yield* readFigures(ledger, now)
          const ended = yield* MonotonicClock.now
          askAgainAt = ended + (ended - begun) * share
          return figures
        }).pipe(
          // The loop notices by itself, and says so.
          Effect.catchTag("LedgerFault", () => Effect.succeed(undefined))
        )

      const tellReleased = (before: Figures | undefined, after: Figures) => {
        const fewer = (before?.counts.quarantined ?? 0) - after.counts.quarantined
        return fewer > 0
          ? Effect.annotateLogs(Effect.logInfo("products.released"), { products: fewer, quarantined: after.counts.quarantined })
          : Effect.void
      }

      const sample = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        const before = yield* Ref.get(kept)
        const { ledger, sends } = yield* status.state
        const asked = ledger._tag === "Open" ? yield* askLedger(ledger.ledger, now) : undefined
        const figures = asked ?? before.figures
        const requests = (yield* Metric.value(Measures.requests)).count
        const history = figures === undefined ? before.history : History.add(before.history, {
          at: now,
          backlog: waitingOf(figures),
          sends: outcomes.reduce((sum, outcome) => sum + sends[outcome].count, 0),
          requests
        })
        const rateInUse = History.requestsSince(history, now - Duration.toMillis(options.rateWindow))
        yield* Ref.set(kept, { figures, history, rateInUse })
        yield* Gauges.update(yield* look, options)
        if (asked !== undefined) yield* tellReleased(before.figures, asked)
      })

      yield* Gauges.announce
      // As a ledger that is closed in the middle of an answer: the next look is another one.
      const looked = Effect.catchAllDefect(sample, (defect) => Effect.logError("monitor.failed", Cause.die(defect)))
      // What is held is wanted on the page at once, not with the next interval.
      const events = yield* status.subscribe
      const news = yield* Queue.sliding<void>(1)
      yield* Effect.forkScoped(Effect.forever(Effect.flatMap(Queue.take(events), ({ _tag }) =>
        _tag === "SourceHeld" || _tag === "SourceTaken" ? Queue.offer(news, undefined) : Effect.void)))
      yield* Effect.forkScoped(Effect.forever(Effect.zipRight(looked, Effect.timeoutOption(Queue.take(news), interval))))
      return { look }
    })
  )
