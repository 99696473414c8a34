/**
 * An allowance that several processes share through a database: who waits in this process, when the database is asked,
 * and what happens to slots when requests end or processes do. One fiber asks for all who wait. Knows nothing of the
 * statements behind it, nor of requests.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FiberId from "effect/FiberId"
import * as FiberSet from "effect/FiberSet"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { RateLimitWaitExceeded } from "../Failures.js"
import type { InvalidSettings } from "../Failures.js"
import type { RateLimit, Slot } from "../RateLimit.js"
import { checked } from "./SharedAllowance.js"
import type { SharedAllowance } from "./SharedAllowance.js"
import * as SqlSlots from "./SqlSlots.js"
import type { Claim, Look } from "./SqlSlots.js"

/** A slot that this process has. */
interface Held {
  readonly claim: Claim
  /** The last moment at which the lease was known to run its whole length. */
  renewedAt: number
}

interface Waiter {
  readonly deadline: number
  readonly place: Deferred.Deferred<void, RateLimitWaitExceeded>
  granted: Held | undefined
}

type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

// Slots in flight elsewhere are looked at this often, or four times a window where that is more.
const longestPoll = 1_000

// A process that waits renews its entry when it looks; one that is this late was stopped or killed.
const goneAfter = 2_000

// Being turned away for moments is how SQLite works; a database that is away for longer is worth telling of.
const outage = 5_000

// For how long the end of a process waits until the database knows which slots were answered.
const farewell = Duration.seconds(2)

const wholeMillis = (_: unknown, delay: Duration.Duration) => Duration.millis(Math.ceil(Duration.toMillis(delay)))

// SQLite turns away whoever comes while another process writes, which takes a fraction of a millisecond.
const backOff = Schedule.exponential("5 millis").pipe(
  Schedule.either(Schedule.spaced("1 second")),
  Schedule.jittered,
  Schedule.modifyDelay(wholeMillis)
)

// Moments in here are milliseconds of the monotonic clock; the database tells how long things take, not when they are.
const now: Effect.Effect<number> = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos / 1_000n) / 1_000)

/** @since 0.1.0 @category constructors */
export const make = (
  allowance: SharedAllowance
): Effect.Effect<RateLimit["Type"], SqlError | InvalidSettings, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function*() {
    const { leaseMillis, limit, name, windowMillis } = yield* checked(allowance)
    const slots = yield* SqlSlots.make({
      name,
      process: crypto.randomUUID(),
      limit,
      windowMillis,
      leaseMillis
    })

    const poll = Math.min(longestPoll, windowMillis / 4)
    // Processes that wait for the same moment come a little apart, so that none is always the first.
    const spread = Math.ceil(Math.min(100, Math.max(5, windowMillis / 500)))
    // From sending on, a request has all of the lease but a window to be counted by the service.
    const graceMillis = leaseMillis - windowMillis
    const renewEvery = graceMillis / 3

    // In the order of asking.
    const waiters = new Set<Waiter>()
    const held = new Set<Held>()
    const inUse = new Set<Held>()
    const wake = Effect.unsafeMakeLatch(false)
    let wakeAt = Number.POSITIVE_INFINITY

    // What is known of the database: when slots come free, and until when it is of no use to ask it again.
    let cooling: ReadonlyArray<number> = []
    let closedUntil = Number.NEGATIVE_INFINITY
    let askAgainAt = Number.NEGATIVE_INFINITY
    let enlistedUntil = Number.NEGATIVE_INFINITY
    let failures = 0
    let failingSince = 0
    let toldOutage = false
    let trouble: string | undefined

    /** The earliest moment at which someone with so many others before it can go, as far as it is known. */
    const earliest = (at: number, before: number): number =>
      Math.max(at, closedUntil, cooling[Math.min(before, cooling.length - 1)] ?? at)

    const waitExceeded = (at: number, goesAt: number): Effect.Effect<never, RateLimitWaitExceeded> =>
      Effect.flatMap(DateTime.now, (wallNow) => {
        const retryAt = DateTime.add(wallNow, { millis: Math.ceil(goesAt - at) })
        const why = trouble === undefined
          ? "the key's allowance is used up for now"
          : `the database that holds the key's allowance does not answer (${trouble})`
        return new RateLimitWaitExceeded({ retryAt, message: `${why}; come back at ${DateTime.formatIso(retryAt)}` })
      })

    // Outlives the call that it belongs to, and tells the database as soon as it can be reached.
    const background = yield* FiberSet.make()
    const tell = (
      statement: Effect.Effect<void, SqlError>,
      then: () => void = () => undefined,
      last: Effect.Effect<void> = Effect.void
    ): Effect.Effect<void> =>
      statement.pipe(
        Effect.retry(Schedule.intersect(
          backOff,
          Schedule.elapsed.pipe(Schedule.whileOutput(Duration.lessThan(Duration.millis(leaseMillis))))
        )),
        Effect.zipRight(Effect.sync(then)),
        // By now the lease is over, and with it what there was to tell.
        Effect.ignore,
        Effect.zipRight(last),
        Effect.interruptible,
        FiberSet.run(background),
        Effect.asVoid
      )

    const askFrom = (moment: number) => {
      askAgainAt = Math.min(askAgainAt, moment)
      if (waiters.size > 0 && askAgainAt < wakeAt) {
        wake.unsafeOpen()
      }
    }

    const giveBack = (slot: Held): Effect.Effect<void> =>
      Effect.suspend(() => {
        held.delete(slot)
        return tell(slots.giveBack(slot.claim), () => askFrom(Number.NEGATIVE_INFINITY))
      })

    /** Hands out what was claimed, in the order of asking. */
    const handOut = (claims: ReadonlyArray<Claim>, claimedAt: number, at: number): Effect.Effect<void> =>
      Effect.forEach(claims, (claim) => {
        const slot: Held = { claim, renewedAt: claimedAt }
        held.add(slot)
        const [waiter] = waiters
        if (waiter === undefined || at < closedUntil) {
          return giveBack(slot)
        }
        waiters.delete(waiter)
        waiter.granted = slot
        Deferred.unsafeDone(waiter.place, Effect.void)
        return Effect.void
      }, { discard: true })

    /** Takes in what the database said, and decides when to ask it again. */
    const learn = (seen: Look, at: number, jitter: number): void => {
      closedUntil = Math.max(closedUntil, at + seen.closedFor)
      cooling = seen.free > 0
        ? []
        : seen.busy.flatMap(({ state, wait }) => state === "cooling" ? [at + wait] : []).sort((a, b) => a - b)
      const apart = seen.others > 0 ? jitter : 0
      const nextFree = seen.busy.reduce((least, { wait }) => Math.min(least, wait), Number.POSITIVE_INFINITY)
      const elsewhere = seen.busy.some(({ state }) => state === "in flight elsewhere")
      askAgainAt = at < closedUntil
        ? closedUntil + apart
        // What is free was left for others who wait; what they don't want is taken a moment later.
        : seen.free > 0
        ? at + 1 + (seen.others > 0 ? spread + apart : 0)
        : at + Math.min(nextFree + apart, elsewhere ? poll : Number.POSITIVE_INFINITY)
    }

    const ask: Effect.Effect<void, SqlError> = Effect.gen(function*() {
      const before = yield* now
      const claims = yield* slots.claim(Math.min(waiters.size, limit))
      yield* handOut(claims, before, yield* now)
      if (waiters.size === 0) {
        cooling = []
        askAgainAt = Number.NEGATIVE_INFINITY
        return
      }
      const seen = yield* slots.look
      const at = yield* now
      learn(seen, at, yield* Random.nextIntBetween(0, spread + 1))
      if (seen.slots < limit) {
        yield* slots.seed
        askAgainAt = at
      }
      if (enlistedUntil < askAgainAt + goneAfter / 2) {
        const millis = Math.ceil(Math.max(0, askAgainAt - at) + goneAfter)
        enlistedUntil = at + millis
        yield* slots.enlist(millis)
      }
    })

    const renew: Effect.Effect<void, SqlError> = Effect.gen(function*() {
      const before = yield* now
      const due = [...held]
      const renewed = yield* slots.renew(due.map(({ claim }) => claim))
      const turns = new Map(renewed.map(({ slot, turn }) => [slot, turn]))
      for (const slot of due) {
        slot.renewedAt = turns.get(slot.claim.slot) === slot.claim.turn ? before : Number.NEGATIVE_INFINITY
        if (slot.renewedAt < before) {
          // Lost while the process stood still. Whoever uses it gets another one.
          held.delete(slot)
        }
      }
    })

    const leave: Effect.Effect<void> = Effect.suspend(() => {
      enlistedUntil = Number.NEGATIVE_INFINITY
      return tell(slots.delist)
    })

    let renewAfter = Number.NEGATIVE_INFINITY
    const renewAt = () => {
      let oldest = Number.POSITIVE_INFINITY
      for (const { renewedAt } of held) {
        oldest = Math.min(oldest, renewedAt)
      }
      return Math.max(oldest + renewEvery, renewAfter)
    }

    /** Sends away who can't be served in time, and tells when the next one's patience ends. */
    const sendAway = (at: number): number => {
      let next = Number.POSITIVE_INFINITY
      let before = 0
      for (const waiter of waiters) {
        const goesAt = earliest(at, before)
        if (waiter.deadline <= at || waiter.deadline < goesAt) {
          waiters.delete(waiter)
          Deferred.unsafeDone(waiter.place, waitExceeded(at, goesAt))
        } else {
          before++
          next = Math.min(next, waiter.deadline)
        }
      }
      return next
    }

    /** A statement failed: nothing is sent without a slot, and the database is asked again a little later. */
    const failed = (error: SqlError): Effect.Effect<number> =>
      Effect.gen(function*() {
        const at = yield* now
        trouble = reasonOf(error)
        const delay = Math.min(1_000, 5 * 2 ** failures++) * (0.5 + (yield* Random.next))
        if (failures === 1) {
          failingSince = at
        }
        if (!toldOutage && at >= failingSince + outage) {
          toldOutage = true
          yield* Effect.logWarning(`the database that holds the key's allowance does not answer: ${trouble}`)
        }
        return at + Math.ceil(delay)
      })

    const recovered = () => {
      failures = 0
      toldOutage = false
      trouble = undefined
    }

    /** One turn of the fiber that asks for all; leaves `wakeAt` behind. */
    const turn: Effect.Effect<void> = Effect.gen(function*() {
      if (waiters.size > 0 && (yield* now) >= askAgainAt) {
        const asked = yield* Effect.either(ask)
        if (Either.isLeft(asked)) {
          askAgainAt = yield* failed(asked.left)
        } else {
          recovered()
        }
      }
      if ((yield* now) >= renewAt()) {
        const renewed = yield* Effect.either(renew)
        if (Either.isLeft(renewed)) {
          renewAfter = yield* failed(renewed.left)
        } else {
          renewAfter = Number.NEGATIVE_INFINITY
          recovered()
        }
      }
      const at = yield* now
      const nextDeadline = sendAway(at)
      if (waiters.size === 0 && Number.isFinite(enlistedUntil)) {
        yield* leave
      }
      wakeAt = Math.min(renewAt(), nextDeadline, waiters.size === 0 ? Number.POSITIVE_INFINITY : askAgainAt)
    })

    const rest: Effect.Effect<void> = Effect.flatMap(now, (at) =>
      Number.isFinite(wakeAt)
        ? Effect.raceFirst(wake.await, Effect.sleep(Duration.millis(Math.max(0, Math.ceil(wakeAt - at)))))
        : wake.await)

    // Answers that come while the database is told of others are told together.
    let untold: Array<{ readonly claim: Claim; readonly at: number; readonly wallAt: number }> = []
    let telling = false
    const tellAnswers: Effect.Effect<void> = Effect.suspend(() => {
      if (telling || untold.length === 0) {
        return Effect.void
      }
      const answers = untold
      untold = []
      telling = true
      const endedAt = answers.reduce((last, { wallAt }) => Math.max(last, wallAt), 0)
      const done = Effect.suspend(() => {
        telling = false
        return tellAnswers
      })
      return tell(slots.answered(answers.map(({ claim }) => claim), endedAt), () => {
        askFrom(answers.reduce((last, { at }) => Math.max(last, at), 0) + windowMillis + 1)
      }, done)
    })

    const answered = (slot: Held) =>
      Effect.flatMap(Effect.all([now, Clock.currentTimeMillis]), ([at, wallAt]) => {
        held.delete(slot)
        inUse.delete(slot)
        untold.push({ claim: slot.claim, at, wallAt })
        return tellAnswers
      })

    const take = (deadline: number, at: number, restore: Restore): Effect.Effect<Held, RateLimitWaitExceeded> =>
      Effect.suspend(() => {
        const goesAt = earliest(at, waiters.size)
        if (at < askAgainAt && goesAt > deadline) {
          return waitExceeded(at, goesAt)
        }
        const waiter: Waiter = { deadline, place: Deferred.unsafeMake(FiberId.none), granted: undefined }
        waiters.add(waiter)
        if (at >= askAgainAt || deadline < wakeAt) {
          wake.unsafeOpen()
        }
        return restore(Deferred.await(waiter.place)).pipe(
          Effect.flatMap(() =>
            waiter.granted === undefined ? Effect.dieMessage("a place without a slot") : Effect.succeed(waiter.granted)
          ),
          Effect.onInterrupt(() => {
            waiters.delete(waiter)
            // The others may stand nearer to their turn now; one that is the last to go has nothing to wait for.
            wake.unsafeOpen()
            return waiter.granted === undefined ? Effect.void : giveBack(waiter.granted)
          })
        )
      })

    /** The slot, or another one where the lease may have run out while the process or the database stood still. */
    const stillHeld = (slot: Held, restore: Restore): Effect.Effect<Held> =>
      Effect.flatMap(now, (at) =>
        held.has(slot) && at <= slot.renewedAt + graceMillis
          ? Effect.succeed(slot)
          : Effect.zipRight(
            giveBack(slot),
            // There is no deadline that could pass.
            Effect.orDie(take(Number.POSITIVE_INFINITY, at, restore))
          ))

    const slotOf = (slot: Held): { readonly slot: Slot; readonly giveBackUnused: Effect.Effect<void> } => {
      let used = false
      return {
        slot: {
          use: (request) =>
            Effect.uninterruptibleMask((restore) => {
              if (used) {
                return Effect.dieMessage("a slot of the allowance serves one request")
              }
              used = true
              return Effect.flatMap(stillHeld(slot, restore), (current) => {
                inUse.add(current)
                return Effect.ensuring(restore(request), answered(current))
              })
            })
        },
        giveBackUnused: Effect.suspend(() => used ? Effect.void : giveBack(slot))
      }
    }

    // In the opposite order of this: first nobody asks any more, then the database is told what is left to tell.
    yield* Effect.addFinalizer(() =>
      Effect.all([
        Effect.ignore(FiberSet.awaitEmpty(background)),
        Effect.suspend(() => Effect.ignore(slots.giveBackAllBut([...inUse].map(({ claim }) => claim)))),
        Effect.suspend(() => Number.isFinite(enlistedUntil) ? Effect.ignore(slots.delist) : Effect.void)
      ], { discard: true }).pipe(Effect.interruptible, Effect.timeout(farewell), Effect.ignore)
    )
    yield* Effect.suspend(() => {
      wake.unsafeClose()
      return Effect.zipRight(turn, rest)
    }).pipe(Effect.forever, Effect.interruptible, Effect.forkScoped)

    return {
      reserve: (patience) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(now, (at) =>
            Effect.flatMap(take(at + Duration.toMillis(patience), at, restore), (held) => {
              const { giveBackUnused, slot } = slotOf(held)
              return Effect.as(Effect.addFinalizer(() => giveBackUnused), slot)
            }))
        ),
      closeFor: (time) =>
        Effect.flatMap(now, (at) =>
          Effect.suspend(() => {
            closedUntil = Math.max(closedUntil, at + Duration.toMillis(time))
            wake.unsafeOpen()
            const close = slots.closeFor(Math.ceil(Duration.toMillis(time)))
            // The first try is waited for, so that no other process goes on after this returns.
            return Effect.orElse(close, () => tell(close))
          }).pipe(Effect.asVoid))
    }
  })

const reasonOf = (error: SqlError): string => {
  const cause: unknown = error.cause
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}
