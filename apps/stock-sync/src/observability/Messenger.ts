/**
 * Sends what {@link Notices} decides to a chat that accepts Slack's format: `{ "text": "..." }`. Deliveries never delay or fail the program, and
 * a stop does not wait for them.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Metric from "effect/Metric"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Backoff from "../sync/Backoff.ts"
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
const longestPause = Duration.days(1)

/** Whether the same request may have another outcome later. */
const isRetryable = ({ status }: Post.NotDelivered): boolean => status === undefined || status === 408 || status === 429 || status >= 500

/**
 * Looks for problems until the scope closes. `lists`: the command that lists everything. `find`: the problems of now; undefined if they are not
 * known.
 */
export const run = <R>(
  { url }: NotifySettings,
  lists: string,
  find: Effect.Effect<ReadonlyArray<Notices.Problem> | undefined, never, R>
): Effect.Effect<void, never, HttpClient.HttpClient | R | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const scope = yield* Effect.scope
    let state = Notices.initial
    let isBusy = false
    let failing = false

    const attempts = (text: string, number: number): Effect.Effect<void, Post.NotDelivered> =>
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
            yield* attempts(text, number + 1)
          }))
      )

    const deliver = (message: Notices.Message) =>
      attempts(message.text, 1).pipe(
        Effect.matchEffect({
          onSuccess: () => {
            const level = failing ? "Info" : "Debug"
            failing = false
            return Effect.andThen(Metric.update(Metrics.messages("delivered"), 1), log(level, "notify.delivered", {}))
          },
          onFailure: ({ reason, retryAfter = Notices.retriesAfter }) =>
            Effect.gen(function*() {
              const pause = Duration.min(longestPause, Duration.max(retryAfter, Notices.retriesAfter))
              state = Notices.undelivered(state, message, (yield* MonotonicClock.now) + Duration.toMillis(pause))
              yield* Metric.update(Metrics.messages("failed"), 1)
              yield* log("Error", "notify.failed", { reason })
            })
        }),
        Effect.ensuring(Effect.sync(() => {
          isBusy = false
        }))
      )

    const turn = Effect.gen(function*() {
      const problems = yield* find
      if (problems === undefined) return
      const next = Notices.step(state, problems, yield* MonotonicClock.now, { isBusy, lists })
      state = next.state
      if (next.message === undefined) return
      isBusy = true
      yield* Effect.forkIn(deliver(next.message), scope)
    })
    yield* Effect.forkScoped(Effect.forever(
      Effect.andThen(Effect.catchDefect(turn, (defect) => Effect.logError("notify.defect", defect)), Effect.sleep(interval))
    ))
  })
