/**
 * Sends what {@link Notices} decides to a chat that accepts Slack's format: `{ "text": "..." }`, and stores what was announced. Deliveries
 * never delay or fail the program, and a stop does not wait for them.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Backoff from "../sync/Backoff.ts"
import { disconnect } from "../sync/Disconnect.ts"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import { log } from "./EventLogger.ts"
import * as Metrics from "./Metrics.ts"
import * as Notices from "./Notices.ts"
import * as Post from "./Post.ts"

export interface NotifySettings {
  /** Whoever knows it can write to the chat. */
  readonly url: Redacted.Redacted<URL>
}

/** How often problems are looked for. It reads the memory of the program. */
const interval = Duration.seconds(15)
const mostAttempts = 3
const backoff: Backoff.Backoff = { first: Duration.seconds(20), longest: Duration.minutes(1) }
/** A longer wait that the receiver asks for ends the attempts. */
const longestWait = Duration.minutes(10)
/** How long a message waits for what is read and stored before it. */
const longestStore = Duration.seconds(5)
/** How often what is stored is read: another process may write the messages while this one is cut off, also unnoticed. */
const readsEvery = Duration.toMillis("1 minute")

/** Whether the same request may have another outcome later. */
const isRetryable = ({ status }: Post.NotDelivered): boolean => status === undefined || status === 408 || status === 429 || status >= 500

/**
 * - `Known`: the problems of now, and the kinds of which nothing is known yet.
 * - `Unknown`: what was known stays.
 * - `Elsewhere`: another process writes the messages. It may change what is stored.
 */
export type Found =
  | { readonly _tag: "Known"; readonly problems: ReadonlyArray<Notices.Problem>; readonly unknown: ReadonlySet<Notices.Kind> }
  | { readonly _tag: "Unknown" }
  | { readonly _tag: "Elsewhere" }

/** Keeps what was announced for the next process. */
export interface Store<E, R> {
  /** What was stored last; none if nothing ever was. */
  readonly read: Effect.Effect<Option.Option<string>, E, R>
  readonly write: (text: string) => Effect.Effect<void, E, R>
}

interface Stored {
  readonly text: string | undefined
  readonly state: Notices.State
}
const nothingStored: Stored = { text: undefined, state: Notices.initial }

/** What to add to a time of the monotonic clock for that of the wall clock. */
const clockOffset = Effect.zipWith(DateTime.now, MonotonicClock.now, (wall, now) => DateTime.toEpochMillis(wall) - now)

/** Looks for problems until the scope closes. `lists`: the command that lists everything. */
export const run = <E, R, R2>(
  { url }: NotifySettings,
  lists: string,
  find: Effect.Effect<Found, never, R>,
  store: Store<E, R2>
): Effect.Effect<void, never, HttpClient.HttpClient | R | R2 | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const scope = yield* Effect.scope
    let state = Notices.initial
    /** The message that is being delivered. */
    let pending: Notices.Message | undefined
    let isStored = true
    let failing = false
    let readAt = Number.NEGATIVE_INFINITY
    /** What this process read or wrote last, and what it tried to write last: a write that failed may have been done. */
    let last = nothingStored
    let tried = nothingStored

    const inTurn = Semaphore.withPermit(yield* Semaphore.make(1))
    const bounded = <A>(use: Effect.Effect<A, E, R2>) => Effect.option(Effect.timeout(disconnect(use), longestStore))

    /** Returns whether it could be read. */
    const restore = Effect.gen(function*() {
      const read = yield* bounded(store.read)
      if (Option.isNone(read)) return false
      const now = yield* MonotonicClock.now
      const text = Option.getOrUndefined(read.value)
      const own = [last, tried].find((each) => each.text === text)
      const found = text === undefined ? Option.none() : Notices.fromText(text, now, yield* clockOffset)
      if (own === undefined && Option.isSome(found)) state = Notices.merge(state, found.value, last.state)
      last = own ?? { text, state: Option.getOrElse(found, () => Notices.initial) }
      readAt = now
      return true
    })

    /** A message that a crash cuts off is sent again, so it counts for the limit only. What can't be stored now is stored later. */
    const save = inTurn(Effect.gen(function*() {
      isStored = false
      // Otherwise what another process has stored would be lost.
      if (!(yield* restore)) return
      const durable = pending === undefined ? state : Notices.undelivered(state, pending, state.notBefore)
      const written = { text: Notices.toText(durable, yield* clockOffset), state: durable }
      tried = written
      if (Option.isNone(yield* bounded(store.write(written.text)))) return
      last = written
      isStored = true
    }))

    const attempts = (text: string, number: number): Effect.Effect<void, Post.NotDelivered, R2> =>
      Post.post(client, url, JSON.stringify({ text })).pipe(
        Effect.catchTag("NotDelivered", (failure) =>
          Effect.gen(function*() {
            const { reason, retryAfter } = failure
            const level = failing ? "Debug" : "Warn"
            failing = true
            yield* log(level, "notify.failing", { reason })
            const wait = retryAfter ?? (yield* Backoff.delay(backoff, number))
            if (!isRetryable(failure) || number >= mostAttempts || Duration.isGreaterThan(wait, longestWait)) return yield* failure
            yield* Effect.sleep(wait)
            // One that was refused for its rate has not arrived.
            const counted = failure.status === 429 ? state : Notices.attempted(state, yield* MonotonicClock.now)
            if (counted === undefined) return yield* failure
            state = counted
            yield* save
            yield* attempts(text, number + 1)
          }))
      )

    const deliver = (message: Notices.Message) =>
      Effect.andThen(save, attempts(message.text, 1)).pipe(
        Effect.matchEffect({
          onSuccess: () => {
            const level = failing ? "Info" : "Debug"
            failing = false
            return Effect.andThen(Metric.update(Metrics.messages("delivered"), 1), log(level, "notify.delivered", {}))
          },
          onFailure: ({ reason, retryAfter = Notices.retriesAfter }) =>
            Effect.gen(function*() {
              const pause = Duration.min(Notices.longestPause, Duration.max(retryAfter, Notices.retriesAfter))
              state = Notices.undelivered(state, message, (yield* MonotonicClock.now) + Duration.toMillis(pause))
              yield* Metric.update(Metrics.messages("failed"), 1)
              yield* log("Error", "notify.failed", { reason })
            })
        }),
        Effect.ensuring(Effect.sync(() => {
          pending = undefined
        })),
        Effect.andThen(save)
      )

    const turn = Effect.gen(function*() {
      const found = yield* find
      if (found._tag === "Elsewhere") {
        // What was announced while nothing could be stored: the other process goes on with it.
        if (!isStored) yield* save
        if (isStored && pending === undefined) {
          state = Notices.initial
          last = tried = nothingStored
        }
        readAt = Number.NEGATIVE_INFINITY
      }
      if (found._tag !== "Known") return
      if ((yield* MonotonicClock.now) - readAt >= readsEvery) yield* inTurn(restore)
      const { problems, unknown } = found
      const now = yield* MonotonicClock.now
      const next = Notices.step(state, problems, now, { isBusy: pending !== undefined, lists, unknown })
      state = next.state
      if (next.message === undefined) return next.hasEnded || !isStored ? yield* save : undefined
      pending = next.message
      yield* Effect.forkIn(deliver(next.message), scope)
    })
    yield* Effect.forkScoped(Effect.forever(
      Effect.andThen(Effect.catchDefect(turn, (defect) => Effect.logError("notify.defect", defect)), Effect.sleep(interval))
    ))
  })
