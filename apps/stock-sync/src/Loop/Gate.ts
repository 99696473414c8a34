/**
 * Whether anything may be sent at all: what a refusal of everything, a used up quota and failures in a row close, and how it is found
 * out that they are over. Knows nothing of the ledger nor of which product is sent.
 *
 * @since 0.1.0
 */
import { withRetry } from "@plaza/client/CallOptions"
import { isServiceError } from "@plaza/client/Failures"
import { Profiles } from "@plaza/client/Profiles"
import type { Profile } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { type AccountState, type Failure, Standing } from "../Standing.js"
import * as Verdict from "../Verdict.js"
import * as Failing from "./Failing.js"
import * as Moment from "./Moment.js"

/**
 * `open`: whatever is due. `trial`: one product with nothing beside it, to see whether the service takes it again.
 *
 * @since 0.1.0
 * @category models
 */
export type Passage = "open" | "trial"

/** @since 0.1.0 @category models */
export interface Outcome {
  readonly failure: Verdict.SendFailure
  /** The same as it is told. */
  readonly told: Failure
}

/** @since 0.1.0 @category models */
export interface Gate {
  /** Whose key it is. Asks until the service says it. */
  readonly owner: Effect.Effect<Profile>
  /** Waits until something may be sent. */
  readonly pass: Effect.Effect<Passage>
  readonly isOpen: Effect.Effect<boolean>
  /** Hears what came of a send: nothing, where it was taken. Says whether that opened the gate. */
  readonly judge: (passage: Passage, outcome: Outcome | undefined) => Effect.Effect<boolean>
  /** There is nothing that it keeps back. */
  readonly spare: Effect.Effect<void>
}

// Failures in a row that may concern every product, from which on they are taken to do so.
const patience = 5
const growths = {
  Trouble: { first: 1_000, most: 60_000 },
  Paused: { first: 15_000, most: 300_000 }
}
// What a 429 means that doesn't say for how long: the window of the rate, which is the shortest that is known.
const unknownWait = 60_000

interface Closed {
  readonly _tag: "Paused" | "Quota" | "Trouble"
  /** By the wall clock. */
  readonly since: number
  /** By the monotonic clock: when it is tried again. */
  readonly until: number
  readonly tries: number
  readonly failure: Failure
}

const stateOf = ({ _tag, failure, since }: Closed, until: number): AccountState => {
  switch (_tag) {
    case "Paused":
      return { _tag, since, failure, nextProbe: until }
    case "Quota":
      return { _tag, since, failure, until }
    case "Trouble":
      return { _tag, since, failure, nextTry: until }
  }
}

/** For how many milliseconds a refusal asks to wait, where that is all it says. */
const waitOf = (refusal: Verdict.SendFailure, now: number): number | undefined => {
  const failure = refusal._tag === "OutcomeUnknown" ? refusal.cause : refusal
  if (failure._tag === "RateLimitWaitExceeded") return DateTime.toEpochMillis(failure.retryAt) - now
  return failure._tag !== "Inconclusive" && isServiceError(failure) && failure.category === "RateLimited"
    ? failure.retryAfter === undefined ? unknownWait : Duration.toMillis(failure.retryAfter)
    : undefined
}

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Gate, never, Profiles | Standing> = Effect.gen(function*() {
  const standing = yield* Standing
  const me = withRetry(Schedule.stop)((yield* Profiles).me)
  let known: Profile | undefined
  let closed: Closed | undefined
  let failures = 0

  const open = Effect.gen(function*() {
    closed = undefined
    failures = 0
    yield* standing.tell({ _tag: "AccountIs", account: { _tag: "Running", since: yield* Clock.currentTimeMillis } })
  })

  const shut = (_tag: Closed["_tag"], failure: Failure, pause: (tries: number) => Effect.Effect<number>) =>
    Effect.gen(function*() {
      const before = closed?._tag === _tag ? closed : undefined
      const tries = (before?.tries ?? 0) + 1
      const millis = yield* pause(tries)
      const until = (yield* Moment.now) + millis
      // A shorter wait than the one that runs already changes nothing.
      if (_tag === "Quota" && before !== undefined && before.until >= until) return
      const now = yield* Clock.currentTimeMillis
      closed = { _tag, since: before?.since ?? now, until, tries, failure }
      yield* standing.tell({ _tag: "AccountIs", account: stateOf(closed, Math.ceil(now + millis)) })
    })

  const close = ({ failure, told }: Outcome): Effect.Effect<void> =>
    Effect.gen(function*() {
      const wait = waitOf(failure, yield* Clock.currentTimeMillis)
      if (wait !== undefined) return yield* shut("Quota", told, () => Effect.succeed(wait))
      if (Verdict.of(failure).reach === "account") return yield* shut("Paused", told, (tries) => Moment.pause(growths.Paused, tries))
      // While it is paused, a service that can't be reached says nothing of whether that is mended.
      return yield* closed?._tag === "Paused"
        ? shut("Paused", closed.failure, (tries) => Moment.pause(growths.Paused, tries))
        : shut("Trouble", told, (tries) => Moment.pause(growths.Trouble, tries))
    })

  const rested = Effect.suspend(() => closed === undefined ? Effect.void : Moment.sleepUntil(closed.until))

  const asked: Effect.Effect<Profile> = Effect.zipRight(rested, me).pipe(
    Effect.catchAll((failure) =>
      Effect.zipRight(Effect.flatMap(Failing.told("account", failure), (told) => close({ failure, told })), asked))
  )

  const pass: Gate["pass"] = Effect.suspend(() => {
    switch (closed?._tag) {
      case undefined:
        return Effect.succeed("open")
      case "Trouble":
        return Effect.as(rested, "trial" as const)
      case "Paused":
        return Effect.as(asked, "trial" as const)
      case "Quota": {
        const { until } = closed
        // What was in flight may have been told to wait longer.
        const over = Effect.suspend(() => closed !== undefined && closed.until > until ? Effect.void : open)
        return Effect.zipRight(Effect.zipRight(rested, over), pass)
      }
    }
  })

  return {
    owner: Effect.suspend(() =>
      known !== undefined ? Effect.succeed(known) : Effect.tap(asked, (profile) => {
        known = profile
        return open
      })
    ),
    pass,
    isOpen: Effect.sync(() => closed === undefined),
    spare: Effect.suspend(() => closed === undefined ? Effect.void : open),
    judge: (passage, outcome) =>
      Effect.gen(function*() {
        const reach = outcome === undefined ? "product" : Verdict.of(outcome.failure).reach
        // It was on its way before the gate closed; what the trial finds is newer. A wait is one all the same.
        if (passage === "open" && closed !== undefined && (closed._tag !== "Quota" || reach !== "account")) return false
        if (outcome === undefined || reach === "product") {
          failures = 0
          return closed === undefined ? false : yield* Effect.as(open, true)
        }
        failures++
        if (reach === "trouble" && closed === undefined && failures < patience) return false
        return yield* Effect.as(close(outcome), false)
      })
  }
})
