/** The rate limiters that the benchmark `allowance` compares. Each allows 120 calls a minute and is configured as in its documentation. */
import { RateLimit } from "@plaza/client"
import { Limits } from "@plaza/domain"
import { Duration, Effect, Layer, type Scope } from "effect"
import { RateLimiter } from "effect/persistence"

/** Sends a request. Returns 0 if the server accepts it, else the seconds of `Retry-After`. */
export type Call = Effect.Effect<number>

/** Runs a call when the limit allows it and returns its result. The benchmark queues a refused call again after its wait. */
export type Limiter = (call: Call) => Call

export type Make = Effect.Effect<Limiter, never, Scope.Scope>

const limit = Limits.requestsPerWindow
const window = Limits.rateWindow

const plaza: Make = Effect.map(Effect.orDie(RateLimit.makeMemory()), (limit) => (call) =>
  Effect.orDie(limit.withSlot(
    Duration.days(1),
    // As the client does: a refusal pauses all waiting calls.
    Effect.tap(call, (refused) => refused > 0 ? limit.pauseFor(Duration.seconds(refused)) : Effect.void)
  )))

const platform = (algorithm: "fixed-window" | "token-bucket"): Make =>
  Effect.map(RateLimiter.makeWithRateLimiter, (withLimiter) => (call: Call) =>
    Effect.orDie(withLimiter({ key: "one", limit, window, algorithm, onExceeded: "delay" })(call))).pipe(
      Effect.provide(Layer.provide(RateLimiter.layer, RateLimiter.layerStoreMemory))
    )

export const limiters = {
  "Plaza RateLimit": { make: plaza },
  "effect RateLimiter fixed-window": { make: platform("fixed-window") },
  "effect RateLimiter token-bucket": { make: platform("token-bucket") }
} as const
