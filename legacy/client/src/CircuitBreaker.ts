/**
 * A circuit breaker for programs that send many items with one key. It opens when failures of distinct items show that the next item
 * would fail too. Half-open, it permits one item at a time until the service accepts one. Repeated failures of one item don't open it.
 *
 * Source: interface v1, "Authentication", "Retry rules" and "Limits".
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type { Failure } from "./ClientError.ts"
import * as FailureScope from "./FailureScope.ts"
import { doubled, monotonicNow, sleepUntil } from "./internal/Compat.ts"
import type { MonotonicMillis } from "./internal/Compat.ts"

/**
 * Why the breaker is open.
 *
 * - `Refused`: the service refused three distinct items with the same code and accepted none in between, or it refuses the account.
 * - `RateLimited`: the rate limit or a quota is exhausted.
 * - `ServiceFault`: the service or the network failed for five distinct items in a row.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason = "Refused" | "RateLimited" | "ServiceFault"

/**
 * The state of a breaker. It is half-open when it is `Open` and `retryAt` has passed; after a rate limit it closes then.
 *
 * @since 0.1.0
 * @category models
 */
export type State =
  | { readonly _tag: "Closed"; readonly since: DateTime.Utc }
  | {
    readonly _tag: "Open"
    readonly reason: Reason
    /** The last failure. */
    readonly failure: Failure
    readonly since: DateTime.Utc
    /** When the breaker permits the next item, by the wall clock. */
    readonly retryAt: DateTime.Utc
    /** The number of half-open permits that ended without success since the breaker opened. */
    readonly halfOpenFailures: number
  }

/**
 * Permission to send one item.
 *
 * @since 0.1.0
 * @category models
 */
export interface Permit<Item> {
  /** True while half-open. Send no other item until you have recorded this one. */
  readonly halfOpen: boolean
  /** Items that failed since the breaker opened. Prefer an item that is not in this set. */
  readonly tried: ReadonlySet<Item>
}

/**
 * Options of a breaker.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<R = never> {
  /** A request that succeeds unless the service refuses the account or has a fault, such as `GET /me`. */
  readonly probe: Effect.Effect<unknown, Failure, R>
  /** Runs after each change of state, before the operation that caused it returns (default: nothing). */
  readonly onState?: (state: State) => Effect.Effect<void>
}

/**
 * A circuit breaker. `Item` identifies an item, by value for strings and numbers and by reference for objects.
 *
 * @since 0.1.0
 * @category models
 */
export interface CircuitBreaker<Item> {
  /** The current state. */
  readonly state: Effect.Effect<State>
  /**
   * Waits until an item may be sent. Only one fiber may wait at a time. If the permit is half-open and items are in flight, wait for
   * them, record them and acquire again.
   */
  readonly acquire: Effect.Effect<Permit<Item>>
  /** Records the outcome of an item: its failure, or undefined for success. Returns whether the outcome closed the breaker. */
  readonly record: (permit: Permit<Item>, item: Item, failure: Failure | undefined) => Effect.Effect<boolean>
  /** Releases a half-open permit without an item. Clears `tried`, or closes the breaker if `tried` is empty. */
  readonly release: (permit: Permit<Item>) => Effect.Effect<void>
  /**
   * Records a failure of the probe request, if the program sent it itself. Opens the breaker and returns true if the failure shows
   * that the service accepts no item.
   */
  readonly recordProbe: (failure: Failure) => Effect.Effect<boolean>
}

// High enough to rule out a coincidence, low enough to spare a service with a fault.
const serviceThreshold = 5
const refusalThreshold = 3
/**
 * The number of half-open permits without a delay after several items were refused. Even if half of the items are invalid, ten
 * refusals in a row are unlikely (1 in 1,024).
 */
const immediatePermits = 10
/** The first and the longest delay. */
const backoff = {
  ServiceFault: [Duration.seconds(1), Duration.minutes(1)],
  Refused: [Duration.seconds(15), Duration.minutes(5)]
} as const
/** The documented window divided by the documented limit. */
const shortestRateLimit = Duration.millis(500)
/** How long the result of a probe is valid, in milliseconds. */
const probeInterval = Duration.toMillis("15 seconds")

interface Open {
  readonly reason: Reason
  readonly failure: Failure
  readonly since: DateTime.Utc
  readonly until: MonotonicMillis
  readonly halfOpenFailures: number
}

/** The inputs of a transition. They are read first, so that a transition is one synchronous step. */
interface Moment {
  readonly wall: DateTime.Utc
  readonly now: MonotonicMillis
  /** From 0 to 1. */
  readonly random: number
}

const moment: Effect.Effect<Moment> = Effect.all({ wall: DateTime.now, now: monotonicNow, random: Random.next })

interface Refused {
  readonly closed: boolean
  /** Whether to run the probe, because the service may refuse the account. */
  readonly probe: boolean
}

/** The state machine of a breaker. A transition returns whether it closed the breaker. */
class Circuit<Item> {
  open: Open | undefined
  readonly tried = new Set<Item>()
  /** Items that failed with a service fault, with no other outcome in between. */
  private readonly faults = new Set<Item>()
  /** Items refused since the last success, by code. */
  private readonly refusals = new Map<string, Set<Item>>()
  /** When a probe last showed that the service accepts the account. */
  private probedAt: MonotonicMillis = Number.NEGATIVE_INFINITY
  /** The end of the rate limit. It applies in addition to every other reason to be open. */
  private limitedUntil: MonotonicMillis = Number.NEGATIVE_INFINITY
  private closedSince: DateTime.Utc

  constructor(closedSince: DateTime.Utc) {
    this.closedSince = closedSince
  }

  /** The delay after this many failures, with a jitter so that programs that failed together don't retry together. */
  private delayOf({ random }: Moment, reason: keyof typeof backoff, failures: number): Duration.Duration {
    const [first, longest] = backoff[reason]
    return Duration.times(doubled(first, longest, failures), 0.75 + random / 4)
  }

  stateAt({ now, wall }: Omit<Moment, "random">): State {
    if (this.open === undefined) return { _tag: "Closed", since: this.closedSince }
    const { failure, halfOpenFailures, reason, since, until } = this.open
    const retryAt = DateTime.add(wall, { millis: Math.ceil(Math.max(0, until - now)) })
    return { _tag: "Open", reason, failure, since, halfOpenFailures, retryAt }
  }

  close(at: Moment): boolean {
    this.open = undefined
    this.tried.clear()
    this.faults.clear()
    this.refusals.clear()
    this.closedSince = at.wall
    return true
  }

  private openFor(at: Moment, reason: Reason, failure: Failure, delay: Duration.Duration, halfOpenFailures: number): boolean {
    const since = this.open?.reason === reason ? this.open.since : at.wall
    const until = Math.max(at.now + Duration.toMillis(delay), this.limitedUntil)
    this.open = { reason, failure, since, until, halfOpenFailures }
    return false
  }

  private refuse(at: Moment, failure: Failure): boolean {
    const failures = this.open?.reason === "Refused" ? this.open.halfOpenFailures + 1 : 0
    const delay = FailureScope.isAccountRefusal(failure)
      ? this.delayOf(at, "Refused", failures)
      : failures < immediatePermits
      ? Duration.zero
      : this.delayOf(at, "Refused", failures - immediatePermits)
    return this.openFor(at, "Refused", failure, delay, failures)
  }

  /** A service fault doesn't show whether the service still refuses items, so the reason stays `Refused`. */
  private faulty(at: Moment, failure: Failure, failures: number): boolean {
    return this.open?.reason === "Refused"
      ? this.openFor(at, "Refused", this.open.failure, this.delayOf(at, "Refused", failures), failures)
      : this.openFor(at, "ServiceFault", failure, this.delayOf(at, "ServiceFault", failures), failures)
  }

  limited(at: Moment, failure: Failure, wait: Duration.Duration): boolean {
    const delay = Duration.max(shortestRateLimit, wait)
    const until = at.now + Duration.toMillis(delay)
    // A wait that ends before the current wait has no effect.
    if (this.limitedUntil >= until) return false
    this.limitedUntil = until
    const { open } = this
    if (open === undefined || open.reason === "RateLimited") return this.openFor(at, "RateLimited", failure, delay, 0)
    // The end of a rate limit doesn't show that a refusal or a fault has ended.
    this.open = { ...open, until: Math.max(open.until, until) }
    return false
  }

  /** The open state that an outcome decides. An item that was in flight when the breaker opened doesn't decide it. */
  private halfOpenOf(at: Moment, permit: Permit<Item>): Open | undefined {
    return permit.halfOpen && this.open?.reason !== "RateLimited" && at.now >= this.limitedUntil ? this.open : undefined
  }

  accepted(at: Moment, permit: Permit<Item>): boolean {
    if (this.halfOpenOf(at, permit) !== undefined) return this.close(at)
    this.faults.clear()
    this.refusals.clear()
    // The item was in flight when the breaker opened, so its success permits the next item but doesn't close the breaker.
    if (this.open !== undefined) this.open = { ...this.open, until: Math.max(at.now, this.limitedUntil) }
    return false
  }

  itemFailed(at: Moment, permit: Permit<Item>, item: Item, failure: Failure): boolean {
    if (this.open !== undefined) this.tried.add(item)
    // The item was not sent.
    if (failure._tag === "InvalidInput") return false
    this.faults.clear()
    // The service works, but it may still refuse other items.
    return this.halfOpenOf(at, permit)?.reason === "ServiceFault" && this.close(at)
  }

  refused(at: Moment, permit: Permit<Item>, item: Item, code: string, failure: Failure): Refused {
    this.faults.clear()
    const halfOpen = this.halfOpenOf(at, permit)
    // The service works again, but it may refuse other items too.
    const closed = halfOpen?.reason === "ServiceFault" && this.close(at)
    if (this.open !== undefined) {
      this.tried.add(item)
      if (halfOpen !== undefined) this.refuse(at, failure)
      return { closed: false, probe: false }
    }
    const items = this.refusals.get(code) ?? new Set<Item>()
    this.refusals.set(code, items.add(item))
    if (items.size >= refusalThreshold) {
      for (const one of items) this.tried.add(one)
      this.openFor(at, "Refused", failure, Duration.zero, 0)
      return { closed: false, probe: false }
    }
    return { closed, probe: FailureScope.isAccountRefusal(failure) && !this.isProbed(at) }
  }

  serviceFailed(at: Moment, permit: Permit<Item>, item: Item, failure: Failure): boolean {
    if (this.open !== undefined) {
      this.tried.add(item)
      const halfOpen = this.halfOpenOf(at, permit)
      return halfOpen !== undefined && this.faulty(at, failure, halfOpen.halfOpenFailures + 1)
    }
    if (this.faults.add(item).size < serviceThreshold) return false
    for (const one of this.faults) this.tried.add(one)
    return this.faulty(at, failure, 0)
  }

  isProbed({ now }: Moment): boolean {
    return now < this.probedAt + probeInterval
  }

  /** The probe showed that the service accepts the account. */
  probed({ now }: Moment): void {
    this.probedAt = now
  }

  /** Records a failure of the probe: the service refuses the account or has a fault. */
  probeFailed(at: Moment, failure: Failure): boolean {
    if (!FailureScope.isAccountRefusal(failure)) {
      const { open } = this
      return this.faulty(at, failure, open === undefined || open.reason === "RateLimited" ? 0 : open.halfOpenFailures + 1)
    }
    this.probedAt = Number.NEGATIVE_INFINITY
    return this.refuse(at, failure)
  }

  released(at: Moment, permit: Permit<Item>): boolean {
    if (this.halfOpenOf(at, permit) === undefined) return false
    if (this.tried.size === 0) return this.close(at)
    this.tried.clear()
    return false
  }
}

/**
 * Creates a closed breaker. Call `acquire` before each item and `record` after it.
 *
 * @example
 * import { CircuitBreaker, Profiles, Store } from "@plaza-legacy/client"
 * import { ProductId } from "@plaza-legacy/domain"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const { me } = yield* Profiles
 *   const { setStock } = yield* Store
 *   const breaker = yield* CircuitBreaker.make<string>({ probe: me })
 *   for (const id of ["a", "b"]) {
 *     const permit = yield* breaker.acquire
 *     const failure = yield* Effect.match(setStock(ProductId.make(id), 1), {
 *       onFailure: (error) => error,
 *       onSuccess: () => undefined
 *     })
 *     yield* breaker.record(permit, id, failure)
 *   }
 * })
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <Item, R = never>({ onState = () => Effect.void, probe }: Options<R>): Effect.Effect<CircuitBreaker<Item>, never, R> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<R>()
    const changes = yield* Queue.sliding<void>(1)
    const circuit = new Circuit<Item>(yield* DateTime.now)
    const probing = Effect.provide(probe, context)

    /** Runs a transition and reports the new state. */
    const change = <A>(to: (at: Moment) => A): Effect.Effect<A> =>
      Effect.flatMap(moment, (at) => {
        const before = circuit.open
        const result = to(at)
        return circuit.open === before
          ? Effect.succeed(result)
          : Queue.offer(changes, undefined).pipe(Effect.andThen(onState(circuit.stateAt(at))), Effect.as(result))
      })

    const limited = (failure: Failure): Effect.Effect<boolean> =>
      Effect.flatMap(FailureScope.waitOf(failure), (wait) => change((at) => circuit.limited(at, failure, wait)))

    const record: CircuitBreaker<Item>["record"] = (permit, item, failure) => {
      if (failure === undefined) return change((at) => circuit.accepted(at, permit))
      const scope = FailureScope.of(failure)
      switch (scope._tag) {
        case "RateLimit":
          return limited(failure)
        case "Item":
          return change((at) => circuit.itemFailed(at, permit, item, failure))
        case "Service":
          return change((at) => circuit.serviceFailed(at, permit, item, failure))
        case "Refusal":
          return Effect.flatMap(change((at) => circuit.refused(at, permit, item, scope.code, failure)), ({ closed, probe }) =>
            probe ? Effect.map(accountRefused, (refused) => closed && !refused) : Effect.succeed(closed))
      }
    }

    /** Runs the probe after a refusal that may concern the account. Opens only if the probe is refused too. */
    const accountRefused: Effect.Effect<boolean> = Effect.flatMap(Effect.either(probing), (probed) =>
      change((at) => {
        const refusal = Either.isLeft(probed) && FailureScope.isAccountRefusal(probed.left) ? probed.left : undefined
        if (refusal === undefined) circuit.probed(at)
        else if (circuit.open === undefined) circuit.probeFailed(at, refusal)
        return refusal !== undefined
      }))

    const recordProbe: CircuitBreaker<Item>["recordProbe"] = (failure) => {
      const scope = FailureScope.of(failure)._tag
      if (scope === "RateLimit") return Effect.as(limited(failure), true)
      return scope === "Service" || FailureScope.isAccountRefusal(failure)
        ? Effect.as(change((at) => circuit.probeFailed(at, failure)), true)
        : Effect.succeed(false)
    }

    const acquire: CircuitBreaker<Item>["acquire"] = Effect.flatMap(moment, (at) => {
      const { open, tried } = circuit
      if (open === undefined) return Effect.succeed({ halfOpen: false, tried })
      if (at.now < open.until) {
        return Effect.andThen(Effect.raceFirst(Queue.take(changes), sleepUntil(open.until)), acquire)
      }
      if (open.reason === "RateLimited") return Effect.andThen(change((at) => circuit.open === open && circuit.close(at)), acquire)
      if (open.reason === "ServiceFault" || circuit.isProbed(at)) return Effect.succeed({ halfOpen: true, tried })
      const probed = Effect.matchEffect(probing, {
        onSuccess: () => Effect.succeed(false),
        // The probe and the items may have different quotas.
        onFailure: (failure) => FailureScope.of(failure)._tag === "RateLimit" ? Effect.succeed(false) : recordProbe(failure)
      }).pipe(Effect.flatMap((decisive) => decisive ? Effect.void : change((at) => circuit.probed(at))))
      // Acquires again, because items in flight may have changed the state.
      return Effect.andThen(probed, acquire)
    })

    return {
      state: Effect.map(moment, (at) => circuit.stateAt(at)),
      acquire,
      record,
      recordProbe,
      release: (permit) => Effect.asVoid(change((at) => circuit.released(at, permit)))
    }
  })
