/** `once`: the worker, run until nothing is due. Succeeds only if the service confirmed every row of the source. */
import { Explained } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import { Progress } from "@plaza/cli-kit/Progress"
import { Plaza, Settings as ClientSettings } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as LedgerSettings from "../config/LedgerSettings.js"
import { type Counts, Ledger, type SnapshotPolicy } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"
import * as Open from "../source/Open.js"
import * as Engine from "../sync/Engine.js"
import { layer as layerState, Standing, type Told as StampedEvent } from "../sync/WorkerState.js"
import { name, version } from "../version.js"
import * as Account from "./Account.js"
import * as Format from "./Format.js"

export interface Options extends Open.SourceOptions {
  readonly ledger: string
  readonly ledgerSettings: LedgerSettings.LedgerSettings
  readonly policy: SnapshotPolicy
  readonly concurrency: number
  readonly retryRefusedAfter: Duration.Duration
  readonly stopWithin: Duration.Duration
}

/** Nothing is due any longer, and rows of the source are not confirmed. */
export class Incomplete extends Data.TaggedError("Incomplete")<{
  readonly message: string
  /** Whether a later run can succeed without a correction. */
  readonly retryable: boolean
}> {}

/** Several products in a row failed by a fault of the service or the network. */
export class ServiceUnavailable extends Data.TaggedError("ServiceUnavailable")<{
  readonly message: string
}> {}

// No product is sent again that is settled, so nothing of it matters.
const noReassertion = { share: 0, after: Duration.hours(1) }

export const run = (options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    // Before the ledger is opened, and with it created: a missing variable leaves no file behind.
    const settings = yield* ClientSettings.config
    const client = Layer.provide(Plaza.layerConfigFor(`${name}/${version}`), NodeClient.layer)
    const ledger = OpenLedger.layer(options.ledger, LedgerSettings.forClient(options.ledgerSettings, settings))
    yield* Effect.gen(function*() {
      const result = yield* withProgress(Engine.once({
        ...options,
        account: Account.of(settings),
        reassert: { ...noReassertion, ...settings }
      })).pipe(
        // With JSON, standard error holds one object and nothing else.
        Effect.onInterrupt(() => output.json ? Effect.void : output.note("stopped: the next run goes on from here"))
      )
      const opened = yield* Ledger
      const { sends } = yield* (yield* Standing).state
      // A source that is refused, with nothing waiting from an earlier one, needs no figures.
      const isNews = result.source !== undefined && (Either.isRight(result.source) || Object.values(sends).some(({ count }) => count > 0))
      if (isNews) yield* show(opened, result)
      return yield* ending(result, yield* opened.counts)
    }).pipe(Effect.provide(Layer.mergeAll(client, ledger, Open.layerWaiting(options), layerState)))
  }).pipe(Effect.scoped)

const show = (ledger: Ledger["Type"], { ended, source, unchanged }: Engine.Result) =>
  Effect.gen(function*() {
    const output = yield* Output
    const counts = yield* ledger.counts
    const issues = yield* Format.collect(ledger.rowIssues, output.json)
    const quarantined = yield* Format.collect(ledger.quarantined, output.json)
    // A request that was cut off is as doubtful as one without a response.
    const doubtful = counts.doubtful + counts.sending
    const confirmed = counts.settled - unchanged
    const complete = source !== undefined && Either.isRight(source) &&
      counts.rejectedRows + counts.quarantined + doubtful + counts.pending === 0
    const numbers = {
      confirmed,
      unchanged,
      rejectedRows: counts.rejectedRows,
      negativeRows: counts.negativeRows,
      quarantined: counts.quarantined,
      doubtful,
      pending: counts.pending
    }
    yield* output.one(
      {
        ...numbers,
        complete,
        missing: counts.missing,
        rowIssues: issues.map(Format.issueJson),
        quarantinedProducts: quarantined.map(Format.entryJson),
        stopped: ended._tag === "Idle"
          ? null
          : { reason: ended.state.reason, tag: ended.state.failure._tag, message: ended.state.failure.message }
      },
      [
        ["confirmed", confirmed],
        ["unchanged", unchanged],
        ["rows rejected", counts.rejectedRows],
        ...(counts.negativeRows > 0 ? [["negative, taken as 0", counts.negativeRows] as const] : []),
        ["quarantined", counts.quarantined],
        ["doubtful", doubtful],
        ["pending", counts.pending]
      ]
    )
    if (output.json) return
    yield* Format.issueTable(issues, (yield* ledger.snapshot).unit)
    yield* Format.quarantineTable(quarantined)
  })

const ending = ({ ended, source }: Engine.Result, counts: Counts) =>
  Effect.gen(function*() {
    const left = counts.pending + counts.doubtful + counts.sending
    const rest = source === undefined
      ? "nothing was read or sent"
      : `${Format.count(left, "product")} ${left === 1 ? "is" : "are"} not confirmed`
    if (ended._tag === "Open") {
      const { failure, reason } = ended.state
      if (reason === "ServiceFault") {
        return yield* new ServiceUnavailable({
          message: `the service failed several times in a row, the last time with: ${failure.message}; ${rest}: run it again later`
        })
      }
      return yield* new Explained({
        cause: failure,
        explanation: `The run has ended, and ${rest}.${reason === "Refused" ? " Run it again when that is corrected." : ""}`
      })
    }
    if (source !== undefined && Either.isLeft(source)) return yield* source.left
    if (left > 0) return yield* new Incomplete({ message: `${rest}: run it again later`, retryable: true })
    const rejected = counts.rejectedRows + counts.quarantined
    if (rejected === 0) return
    const what = [
      ...(counts.rejectedRows > 0 ? [`${Format.count(counts.rejectedRows, "row")} of the source rejected`] : []),
      ...(counts.quarantined > 0 ? [`${Format.count(counts.quarantined, "product")} refused by the service`] : [])
    ]
    return yield* new Incomplete({ message: `${what.join(", ")}: correct what is listed, and run it again`, retryable: false })
  })

/** Shows a bar beside an effect, and removes it at the end. */
const withProgress = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const standing = yield* Standing
    // Before the first event.
    const events = yield* standing.subscribe
    yield* Effect.forkScoped(progress(events))
    return yield* effect
  }))

/** A bar over what waits once the source was read; it moves with each product that is done with. */
const progress = (events: Queue.Dequeue<StampedEvent>) =>
  Effect.gen(function*() {
    const { bar } = yield* Progress
    const ledger = yield* Ledger
    const isRead = (tag: string) => tag === "SourceTaken" || tag === "SourceHeld" || tag === "SourceFailed"
    yield* Effect.repeat(Queue.take(events), { until: ({ _tag }) => isRead(_tag) })
    const { waiting } = yield* ledger.backlog
    const total = Object.values(waiting).reduce((sum, each) => sum + each, 0)
    if (total === 0) return
    const shown = yield* bar({ label: "Sending", total })
    const done = new Set<string>()
    return yield* Effect.forever(Effect.flatMap(Queue.take(events), (event) =>
      Effect.suspend(() => {
        if (event._tag !== "Sent" || (event.outcome !== "confirmed" && event.outcome !== "quarantined") || done.has(event.productId))
          return Effect.void
        done.add(event.productId)
        return shown.tick()
      })))
  }).pipe(Effect.scoped)
