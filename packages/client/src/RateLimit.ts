/**
 * The key's allowance: at most 120 requests in any 60 seconds as the service counts them, whatever its kind of window.
 * A slot is taken before a request is sent and comes free a whole window after its answer, because the service counted
 * the request somewhere between the two. Knows nothing of requests.
 *
 * Source: interface v1, "Limits".
 *
 * @since 0.1.0
 */
import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { InvalidSettings, RateLimitWaitExceeded } from "./Failures.js"
import type { SharedAllowance } from "./RateLimit/SharedAllowance.js"
import * as Memory from "./RateLimit/Memory.js"

/** @since 0.1.0 @category models */
export interface Allowance {
  /** Requests in a window; 120 unless told. */
  readonly limit?: number
  /** 60 seconds unless told. */
  readonly window?: Duration.DurationInput
}

/**
 * A place in the allowance, for one request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Slot {
  /**
   * Runs the request. The slot counts as used from then on, until a window after the request has ended. A second request,
   * or one after the scope of the slot has closed, is a defect.
   */
  readonly use: <A, E, R>(request: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** @since 0.1.0 @category services */
export class RateLimit extends Context.Tag("@plaza/client/RateLimit")<RateLimit, {
  /**
   * Waits for a slot, in the order of asking, no longer than `patience`, and fails at once where it is known that the
   * wait will be longer. What is sent in it can be chosen when it is there. A slot that isn't used by the time its scope
   * closes goes to the next one, as does the place of a wait that is interrupted.
   */
  readonly reserve: (
    patience: Duration.Duration
  ) => Effect.Effect<Slot, RateLimitWaitExceeded, Scope.Scope>
  /**
   * Runs one request in a slot of its own: what reserving one and using it does, with less.
   */
  readonly withSlot: <A, E, R>(
    patience: Duration.Duration,
    request: Effect.Effect<A, E, R>
  ) => Effect.Effect<A, E | RateLimitWaitExceeded, R>
  /**
   * Lets no request go for a while, those that wait already included: what a 429 with `Retry-After` asks for. A shorter
   * time than one that runs already changes nothing.
   */
  readonly closeFor: (time: Duration.Duration) => Effect.Effect<void>
}>() {}

const reserved = FiberRef.unsafeMake<Slot | undefined>(undefined)

/**
 * Has the first attempt of a call go out in a slot that was reserved before the call was chosen. Attempts after it wait
 * for slots of their own.
 *
 * @since 0.1.0
 * @category combinators
 */
export const inSlot = (slot: Slot) => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(call, reserved, slot)

/**
 * Takes the slot that {@link inSlot} left for this call, if one is left.
 *
 * @since 0.1.0
 * @category combinators
 */
export const takeReserved: Effect.Effect<Slot | undefined> = Effect.flatMap(
  FiberRef.get(reserved),
  // Set only where there is something to take away: a reference that was set costs at every fork and join from then on.
  (slot) => slot === undefined ? Effect.succeed(undefined) : Effect.as(FiberRef.set(reserved, undefined), slot)
)

/**
 * An allowance that this process has for itself.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeMemory: (allowance?: Allowance) => Effect.Effect<RateLimit["Type"], never, Scope.Scope> = Memory.make

/**
 * Keeps the allowance in the memory of this process. Two processes with one key use up the allowance twice as fast.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (allowance?: Allowance): Layer.Layer<RateLimit> =>
  Layer.scoped(RateLimit, makeMemory(allowance))

/**
 * Shares one key's allowance between all processes that use the same database: a SQLite file on one machine, Postgres
 * across machines. Fails when the tables can't be made. Later on nothing is sent while the database does not answer: who
 * waits fails with {@link RateLimitWaitExceeded} when its patience ends, which then says so.
 *
 * The bookkeeping is never part of a transaction of the caller's. A call inside a transaction that has written to the
 * same SQLite file would wait for itself: give the allowance a file of its own.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSql = (
  allowance: SharedAllowance
): Layer.Layer<RateLimit, SqlError | InvalidSettings, SqlClient> =>
  Layer.scoped(
    RateLimit,
    // Loaded here, so that nobody else needs `@effect/sql`.
    Effect.flatMap(Effect.promise(() => import("./RateLimit/Sql.js")), ({ make }) => make(allowance))
  )
