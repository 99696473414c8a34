/**
 * A circuit breaker for programs that send many items with one key: opens when failures of distinct items show that the next
 * one would fail too, and tries one item at a time until one is accepted. One item that fails again and again never opens it.
 *
 * Source: interface v1, "Authentication", "Retry rules" and "Limits".
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Queue from "effect/Queue"
import * as Random from "effect/Random"
import type { Failure } from "./ClientError.js"
import * as FailureScope from "./FailureScope.js"
import { now as monotonicNow } from "./internal/MonotonicTime.js"

/**
 * Why no item is sent.
 *
 * - `Refused`: the service refuses distinct items with the same code, or the account as a whole.
 * - `RateLimited`: the rate or a quota is used up.
 * - `ServiceFault`: the service or the network fails for distinct items in a row.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason = "Refused" | "RateLimited" | "ServiceFault"

/** @since 0.1.0 @category models */
export type State =
  | { readonly _tag: "Closed"; readonly since: number }
  | {
    readonly _tag: "Open"
    readonly reason: Reason
    /** The last failure. */
    readonly failure: Failure
    /** Milliseconds since the epoch. */
    readonly since: number
    /** When the next item is tried, in milliseconds since the epoch. */
    readonly retryAt: number
    /** Items tried since it opened, all without success. */
    readonly trials: number
  }

/**
 * Leave to send one item.
 *
 * @since 0.1.0
 * @category models
 */
export interface Permit<Item> {
  /** The breaker is open, and the outcome of this item decides whether it closes. The caller sends nothing beside it. */
  readonly halfOpen: boolean
  /** Items that failed since the breaker opened, and those that opened it: another one tells more. Changes with the breaker. */
  readonly tried: ReadonlySet<Item>
}

/** @since 0.1.0 @category models */
export interface Options<R = never> {
  /** Asks for something that the account as a whole may always do, such as `GET /me`. */
  readonly probe: Effect.Effect<unknown, Failure, R>
  /** Runs after each change of state. */
  readonly onState?: (state: State) => Effect.Effect<void>
}

/** @since 0.1.0 @category models */
export interface CircuitBreaker<Item> {
  readonly state: Effect.Effect<State>
  /**
   * Waits until an item may be sent. For one caller at a time. Where items are in flight when it returns a half-open permit, the
   * caller waits for them and acquires again: what came of them may have changed the state.
   */
  readonly acquire: Effect.Effect<Permit<Item>>
  /** Takes the outcome of an item: undefined for success. Returns whether the breaker closed by it. */
  readonly record: (permit: Permit<Item>, item: Item, failure: Failure | undefined) => Effect.Effect<boolean>
  /** No item was left to use a half-open permit: forgets the items that were tried, or closes if there were none. */
  readonly release: (permit: Permit<Item>) => Effect.Effect<void>
  /** Takes a failure of the probe. Returns whether it tells that no item can be sent; then the breaker is open. */
  readonly recordProbe: (failure: Failure) => Effect.Effect<boolean>
}

// More than one bad moment, and few enough that a service in trouble is left alone.
const serviceThreshold = 5
const refusalThreshold = 3
/**
 * Trials that follow at once after a refusal of several items: another one may well be accepted. Where half of all items are refused for
 * reasons of their own, as many refusals in a row hardly ever occur.
 */
const immediateTrials = 10
const backoff = {
  ServiceFault: { first: 1_000, longest: 60_000 },
  Refused: { first: 15_000, longest: 300_000 }
}
/** A minute divided by the documented rate, for a 429 that asks for no time at all. */
const shortestRateLimit = 500
/** How long the result of a probe is good for. */
const probeEvery = 15_000

interface Open {
  readonly reason: Reason
  readonly failure: Failure
  readonly since: number
  /** By the monotonic clock. */
  readonly until: number
  readonly trials: number
}

/** What a change of state needs. It is read first, so that nothing comes between reading the state and writing it. */
interface Moment {
  /** Milliseconds since the epoch. */
  readonly wall: number
  /** By the monotonic clock. */
  readonly now: number
  /** From 0 to 1. */
  readonly random: number
}

const moment: Effect.Effect<Moment> = Effect.all({ wall: Clock.currentTimeMillis, now: monotonicNow, random: Random.next })

/** Twice as long each time, with jitter, so that those who failed together do not come back together. */
const delayOf = ({ random }: Moment, reason: keyof typeof backoff, times: number): number => {
  const { first, longest } = backoff[reason]
  return Math.min(longest, first * 2 ** times) * (0.75 + random / 4)
}

interface Refused {
  readonly closed: boolean
  /** Whether the failure may be the account's, so that the account has to be asked. */
  readonly probe: boolean
}

/** The state without the effects around it. A change returns whether the breaker closed by it. */
class Circuit<Item> {
  open: Open | undefined
  readonly tried = new Set<Item>()
  /** Items that failed by the service's fault, with no other response between them. */
  private readonly faults = new Set<Item>()
  /** Items that were refused since the last success, by code. */
  private readonly refusals = new Map<string, Set<Item>>()
  /** When a probe last showed that the account is not refused. */
  private probedAt = Number.NEGATIVE_INFINITY
  /** Until when a rate limit lets nothing go, by the monotonic clock: it holds whatever else opens the breaker. */
  private limitedUntil = Number.NEGATIVE_INFINITY
  private closedSince: number

  constructor(closedSince: number) {
    this.closedSince = closedSince
  }

  stateAt({ now, wall }: Omit<Moment, "random">): State {
    if (this.open === undefined) return { _tag: "Closed", since: this.closedSince }
    const { failure, reason, since, trials, until } = this.open
    return { _tag: "Open", reason, failure, since, trials, retryAt: Math.ceil(wall + Math.max(0, until - now)) }
  }

  close(at: Moment): boolean {
    this.open = undefined
    this.tried.clear()
    this.faults.clear()
    this.refusals.clear()
    this.closedSince = at.wall
    return true
  }

  private openFor(at: Moment, reason: Reason, failure: Failure, millis: number, trials: number): boolean {
    const since = this.open?.reason === reason ? this.open.since : at.wall
    this.open = { reason, failure, since, until: Math.max(at.now + millis, this.limitedUntil), trials }
    return false
  }

  private get trialsOfRefusal(): number {
    return this.open?.reason === "Refused" ? this.open.trials + 1 : 0
  }

  private refuse(at: Moment, failure: Failure): boolean {
    const trials = this.trialsOfRefusal
    const millis = FailureScope.isAccountRefusal(failure)
      ? delayOf(at, "Refused", trials)
      : trials < immediateTrials
      ? 0
      : delayOf(at, "Refused", trials - immediateTrials)
    return this.openFor(at, "Refused", failure, millis, trials)
  }

  /** While items are refused, a service that can't be reached does not show whether that has ended. */
  private faulty(at: Moment, failure: Failure, trials: number): boolean {
    return this.open?.reason === "Refused"
      ? this.openFor(at, "Refused", this.open.failure, delayOf(at, "Refused", trials), trials)
      : this.openFor(at, "ServiceFault", failure, delayOf(at, "ServiceFault", trials), trials)
  }

  limited(at: Moment, failure: Failure, wait: number): boolean {
    const millis = Math.max(shortestRateLimit, wait)
    // A shorter wait than the one that runs changes nothing.
    if (this.limitedUntil >= at.now + millis) return false
    this.limitedUntil = at.now + millis
    return this.openFor(at, "RateLimited", failure, millis, 0)
  }

  /** The trial that an outcome decides. What was in flight when the breaker opened is older than what opened it. */
  private trialOf(at: Moment, permit: Permit<Item>): Open | undefined {
    return permit.halfOpen && this.open?.reason !== "RateLimited" && at.now >= this.limitedUntil ? this.open : undefined
  }

  accepted(at: Moment, permit: Permit<Item>): boolean {
    if (this.trialOf(at, permit) !== undefined) return this.close(at)
    this.faults.clear()
    this.refusals.clear()
    // It was in flight when the breaker opened: a hint, no proof.
    if (this.open !== undefined) this.open = { ...this.open, until: Math.max(at.now, this.limitedUntil) }
    return false
  }

  itemFailed(at: Moment, permit: Permit<Item>, item: Item, failure: Failure): boolean {
    if (this.open !== undefined) this.tried.add(item)
    // It was not sent.
    if (failure._tag === "InvalidInput") return false
    this.faults.clear()
    // The service works; whether it still refuses the others is for another item to show.
    return this.trialOf(at, permit)?.reason === "ServiceFault" && this.close(at)
  }

  refused(at: Moment, permit: Permit<Item>, item: Item, code: string, failure: Failure): Refused {
    this.faults.clear()
    const trial = this.trialOf(at, permit)
    // The service works again; whether it refuses more than this item is for the next ones to show.
    const closed = trial?.reason === "ServiceFault" && this.close(at)
    if (this.open !== undefined) {
      this.tried.add(item)
      if (trial !== undefined) this.refuse(at, failure)
      return { closed: false, probe: false }
    }
    const items = this.refusals.get(code) ?? new Set<Item>()
    this.refusals.set(code, items.add(item))
    if (items.size >= refusalThreshold) {
      for (const one of items) this.tried.add(one)
      this.openFor(at, "Refused", failure, 0, 0)
      return { closed: false, probe: false }
    }
    return { closed, probe: FailureScope.isAccountRefusal(failure) && !this.isProbed(at) }
  }

  serviceFailed(at: Moment, permit: Permit<Item>, item: Item, failure: Failure): boolean {
    if (this.open !== undefined) {
      this.tried.add(item)
      const trial = this.trialOf(at, permit)
      return trial !== undefined && this.faulty(at, failure, trial.trials + 1)
    }
    if (this.faults.add(item).size < serviceThreshold) return false
    for (const one of this.faults) this.tried.add(one)
    return this.faulty(at, failure, 0)
  }

  isProbed({ now }: Moment): boolean {
    return now < this.probedAt + probeEvery
  }

  /** The probe showed that the account is not refused. */
  probed({ now }: Moment): void {
    this.probedAt = now
  }

  /** Takes a failure of the probe that shows that the account as a whole is refused, or that the service can't be reached. */
  probeFailed(at: Moment, failure: Failure): boolean {
    if (!FailureScope.isAccountRefusal(failure)) {
      return this.faulty(at, failure, this.open === undefined || this.open.reason === "RateLimited" ? 0 : this.open.trials + 1)
    }
    this.probedAt = Number.NEGATIVE_INFINITY
    return this.refuse(at, failure)
  }

  released(at: Moment, permit: Permit<Item>): boolean {
    if (this.trialOf(at, permit) === undefined) return false
    if (this.tried.size === 0) return this.close(at)
    this.tried.clear()
    return false
  }
}

/**
 * A breaker that is closed.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <Item, R = never>({ onState = () => Effect.void, probe }: Options<R>): Effect.Effect<CircuitBreaker<Item>, never, R> =>
  Effect.gen(function*() {
    const context = yield* Effect.context<R>()
    const changes = yield* Queue.sliding<void>(1)
    const circuit = new Circuit<Item>(yield* Clock.currentTimeMillis)
    const asked = Effect.provide(probe, context)

    /** Changes the state at one moment and reports it. */
    const change = <A>(to: (at: Moment) => A): Effect.Effect<A> =>
      Effect.flatMap(moment, (at) => {
        const before = circuit.open
        const result = to(at)
        return circuit.open === before
          ? Effect.succeed(result)
          : Queue.offer(changes, undefined).pipe(Effect.zipRight(onState(circuit.stateAt(at))), Effect.as(result))
      })

    const limited = (failure: Failure): Effect.Effect<boolean> =>
      Effect.flatMap(FailureScope.waitOf(failure), (wait) => change((at) => circuit.limited(at, failure, Duration.toMillis(wait))))

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

    /** Asks after one refusal that may be the account's. Any other failure of the probe is for other items to show. */
    const accountRefused: Effect.Effect<boolean> = Effect.flatMap(Effect.either(asked), (probed) =>
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
        return Effect.zipRight(Effect.timeoutOption(Queue.take(changes), Duration.millis(Math.ceil(open.until - at.now))), acquire)
      }
      if (open.reason === "RateLimited") return Effect.zipRight(change((at) => circuit.open === open && circuit.close(at)), acquire)
      if (open.reason === "ServiceFault" || circuit.isProbed(at)) return Effect.succeed({ halfOpen: true, tried })
      const probed = Effect.matchEffect(asked, {
        onSuccess: () => Effect.succeed(false),
        // A quota of the probe need not be one of the items: a trial shows it.
        onFailure: (failure) => FailureScope.of(failure)._tag === "RateLimit" ? Effect.succeed(false) : recordProbe(failure)
      }).pipe(Effect.flatMap((decisive) => decisive ? Effect.void : change((at) => circuit.probed(at))))
      // Acquired again, because what is in flight may change the state meanwhile.
      return Effect.zipRight(probed, acquire)
    })

    return {
      state: Effect.map(moment, (at) => circuit.stateAt(at)),
      acquire,
      record,
      recordProbe,
      release: (permit) => Effect.asVoid(change((at) => circuit.released(at, permit)))
    }
  })
