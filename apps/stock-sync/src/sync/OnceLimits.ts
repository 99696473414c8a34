/** Limits after which a run that ends when nothing is due stops waiting: `once` has to end, even if the service does not recover. */
import { FailureScope } from "@plaza/client"
import type { CircuitBreaker } from "@plaza/client"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountBreaker } from "./AccountBreaker.ts"

type OpenState = Extract<CircuitBreaker.State, { readonly _tag: "Open" }>

/** Why a run ended by itself. */
export type Ended =
  | { readonly _tag: "Idle" }
  /** The circuit breaker stays open. */
  | { readonly _tag: "Open"; readonly state: OpenState }

/** The longest wait for a slot. A longer one is that of a quota. */
export const maxSlotWait: Duration.Duration = Duration.minutes(5)

/** Requests for one product without success. */
export const maxAttempts = 5

/** Half-open permits in a row without success. */
const maxHalfOpenFailures = { Refused: 3, ServiceFault: 5 }

const pollInterval = Duration.seconds(1)

const staysOpen = (state: OpenState): Effect.Effect<boolean> =>
  state.reason === "RateLimited"
    ? Effect.map(DateTime.now, (now) => Duration.isGreaterThan(DateTime.distance(now, state.retryAt), maxSlotWait))
    : Effect.succeed(
      state.halfOpenFailures >= maxHalfOpenFailures[state.reason] ||
        (state.reason === "Refused" && FailureScope.isAccountRefusal(state.failure))
    )

/** Some if the circuit breaker is open for longer than a run of `once` waits. */
export const breakerLimit: Effect.Effect<Option.Option<Ended>, never, AccountBreaker> = Effect.gen(function*() {
  const { state } = yield* AccountBreaker
  const current = yield* state
  return current._tag === "Open" && (yield* staysOpen(current)) ? Option.some({ _tag: "Open", state: current }) : Option.none()
})

/** Waits until the circuit breaker exceeds its limit. Polls, because requests in flight may open it at any time. */
export const awaitBreakerLimit: Effect.Effect<Ended, never, AccountBreaker> = Effect.flatMap(breakerLimit, Option.match({
  onNone: () => Effect.andThen(Effect.sleep(pollInterval), awaitBreakerLimit),
  onSome: Effect.succeed
}))
