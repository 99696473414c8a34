/**
 * `once`: one pass, and what came of it. Succeeds only if the service has confirmed every value of the source.
 *
 * @since 0.1.0
 */
import * as NodeClient from "@plaza/client/node"
import * as Plaza from "@plaza/client/Plaza"
import * as ClientSettings from "@plaza/client/Settings"
import * as Failures from "@plaza/client/Failures"
import { Output } from "@plaza/terminal/Output"
import { Explained } from "@plaza/terminal/Problem"
import { type Bar, Progress } from "@plaza/terminal/Progress"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { Ledger, type Terms } from "../Ledger.js"
import * as OpenLedger from "../Ledger/Open.js"
import * as Pass from "../Pass.js"
import * as Show from "../Show.js"
import * as Open from "../Source/Open.js"
import { name, version } from "../version.js"

/** @since 0.1.0 @category models */
export interface Options extends Open.SourceOptions {
  readonly ledger: string
  readonly terms: Terms
  readonly concurrency: number
}

/**
 * The pass is over, and values of the source are not confirmed.
 *
 * @since 0.1.0
 * @category errors
 */
export class Incomplete extends Data.TaggedError("Incomplete")<{
  readonly message: string
  /** 1 if something was set aside; 7 if the service didn't answer for something. */
  readonly exitCode: 1 | 7
}> {}

/**
 * Several sends in a row failed, whatever the product.
 *
 * @since 0.1.0
 * @category errors
 */
export class ServiceTroubled extends Data.TaggedError("ServiceTroubled")<{
  readonly message: string
  readonly exitCode: number
}> {}

/** @since 0.1.0 @category commands */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    // Before the ledger is opened, and with it made: a missing variable leaves no file behind.
    const { baseUrl } = yield* ClientSettings.config
    const client = yield* Layer.build(Layer.provide(Plaza.layerConfigFor(`${name}/${version}`), NodeClient.layer))
    const opened = yield* Layer.build(OpenLedger.layer(options.ledger))
    const watcher = yield* progress
    const result = yield* Pass.run({
      baseUrl,
      rows: Open.open(options),
      terms: options.terms,
      concurrency: options.concurrency,
      watcher
    }).pipe(
      Effect.provide(client),
      Effect.provide(opened),
      Effect.ensuring(watcher.close),
      // With JSON, standard error holds one object and nothing else.
      Effect.onInterrupt(() => output.json ? Effect.void : output.note("stopped: the next pass goes on from here"))
    )
    const asides = yield* Effect.flatMap(Ledger, Show.asides).pipe(Effect.provide(opened))
    yield* show(result, asides)
    if (result.received.goneSpared && !output.json) yield* output.note(Show.goneSpared)
    return yield* ending(result)
  }).pipe(Effect.scoped)

const show = ({ account, confirmed, counts, received, stop, unchanged }: Pass.Result, asides: ReadonlyArray<Show.Aside>) =>
  Effect.gen(function*() {
    const output = yield* Output
    // A send that nobody could wait for is as doubtful as one without an answer.
    const doubtful = counts.doubtful + counts.sending
    const numbers = { confirmed, unchanged, setAside: asides.length, doubtful, pending: counts.pending }
    yield* output.one(
      {
        account,
        ...numbers,
        complete: asides.length === 0 && doubtful === 0 && counts.pending === 0,
        goneSpared: received.goneSpared,
        setAsideRows: asides,
        stopped: Option.getOrNull(Option.map(stop, ({ failure }) => ({ tag: failure._tag, message: failure.message })))
      },
      [
        ["confirmed", numbers.confirmed],
        ["unchanged", numbers.unchanged],
        ["set aside", numbers.setAside],
        ["doubtful", numbers.doubtful],
        ["still pending", numbers.pending]
      ]
    )
    if (!output.json) yield* Show.asideTable(asides)
  })

const ending = ({ counts, stop }: Pass.Result): Effect.Effect<void, Incomplete | ServiceTroubled | Explained> => {
  const left = counts.pending + counts.doubtful + counts.sending
  const rest = `${Show.count(left, "product")} ${left === 1 ? "is" : "are"} not confirmed`
  if (Option.isSome(stop)) {
    const { failure, reach } = stop.value
    if (reach === "account") {
      return Effect.flatMap(backAt(failure), (when) =>
        Effect.fail(new Explained({ cause: failure, advice: `The pass has ended, and ${rest}. ${when}` })))
    }
    const definite = Failures.isServiceError(failure) && failure.category !== "ServiceFault"
    return Effect.fail(
      new ServiceTroubled({
        message: `several sends in a row failed, the last with: ${failure.message}; ${rest}: run it again when the service is well`,
        exitCode: definite ? Failures.exitCode(failure) : 7
      })
    )
  }
  if (counts.doubtful + counts.sending > 0 || counts.pending > 0) {
    return Effect.fail(new Incomplete({ message: `${rest}: run it again`, exitCode: 7 }))
  }
  const aside = counts.setAside + counts.quarantined
  return aside === 0 ? Effect.void : Effect.fail(
    new Incomplete({ message: `${Show.count(aside, "row")} of the source ${aside === 1 ? "is" : "are"} set aside: correct them and run it again`, exitCode: 1 })
  )
}

/** When to come back, where the failure says it. */
const backAt = (failure: Pass.Stop["failure"]): Effect.Effect<string> => {
  const at = failure._tag === "RateLimitWaitExceeded"
    ? Effect.succeedSome(DateTime.toUtc(failure.retryAt))
    : Failures.isServiceError(failure) && failure.retryAfter !== undefined
    ? Effect.map(DateTime.now, (now) => Option.some(DateTime.addDuration(now, failure.retryAfter ?? Duration.zero)))
    : Effect.succeedNone
  return Effect.map(at, Option.match({
    onNone: () => "Run it again when that is mended.",
    onSome: (when) => `Run it again after ${DateTime.formatIso(when)}.`
  }))
}

/** A bar for each round, one at a time. */
const progress = Effect.gen(function*() {
  const { bar } = yield* Progress
  let shown: { readonly bar: Bar; readonly scope: Scope.CloseableScope } | undefined
  const close = Effect.suspend(() => {
    const scope = shown?.scope
    shown = undefined
    return scope === undefined ? Effect.void : Scope.close(scope, Exit.void)
  })
  return {
    close,
    done: Effect.suspend(() => shown === undefined ? Effect.void : shown.bar.tick()),
    round: (total: number) =>
      total === 0 ? close : Effect.zipRight(
        close,
        Effect.gen(function*() {
          const scope = yield* Scope.make()
          shown = { scope, bar: yield* Scope.extend(bar({ label: "Sending", total }), scope) }
        })
      )
  }
})
