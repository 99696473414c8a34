/**
 * An allowance that several processes share through a database: when this process asks it for slots. One fiber asks for
 * all who wait.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import * as Closing from "../delivery/Closing.js"
import type { ClientClosed, InvalidSettings, RateLimitWaitExceeded } from "../../ClientError.js"
import { at, now } from "../MonotonicTime.js"
import type { RateLimit, WaitOptions } from "../../RateLimit.js"
import type { Forecast, Granted } from "./WaitQueue.js"
import { Line, waitExceeded } from "./WaitQueue.js"
import { Pace } from "./Pace.js"
import { Pauses } from "./Pauses.js"
import { checked } from "./SharedAllowance.js"
import type { SharedAllowance } from "./SharedAllowance.js"
import { Leases } from "./sql/Leases.js"
import type { Held } from "./sql/Leases.js"
import { Outage } from "./sql/DbBackoff.js"
import { Outlook } from "./sql/AvailabilityCache.js"
import * as Reports from "./sql/ReleaseQueue.js"
import * as Slots from "./sql/SqlSlots.js"
import * as Taking from "./Acquire.js"

// A process that waits renews its entry when it looks; one that is this late was stopped or killed.
const goneAfter = 2_000

// For how long the end of a process waits until the database knows which slots were answered.
const farewell = Duration.seconds(2)

/** @since 0.1.0 @category constructors */
export const make = (
  allowance: SharedAllowance
): Effect.Effect<RateLimit["Type"], SqlError | InvalidSettings, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function*() {
    const { leaseMillis, limit, name, windowMillis } = yield* checked(allowance)
    const slots = yield* Slots.make({ name, process: crypto.randomUUID(), limit, windowMillis, leaseMillis })
    const leases = new Leases(slots, leaseMillis - windowMillis)
    const outlook = new Outlook(limit, windowMillis)
    const outage = new Outage()
    const pace = new Pace(limit, windowMillis)
    const pauses = new Pauses()

    // When requests of this process were answered, those of the last window.
    const answeredAt: Array<number> = []
    const recent = (now: number): number => {
      while ((answeredAt[0] ?? now) < now - windowMillis) {
        answeredAt.shift()
      }
      return answeredAt.length
    }

    // When the fiber that asks goes on, and what makes it do so earlier.
    let wakeAt = Number.POSITIVE_INFINITY
    const wake = Effect.unsafeMakeLatch(false)

    const reports = yield* Reports.make({
      slots,
      leaseMillis,
      windowMillis,
      onFree: (moment) => {
        outlook.askFrom(moment)
        if (line.length > 0 && outlook.askAgainAt < wakeAt) {
          wake.unsafeOpen()
        }
      }
    })

    const giveBack = (slot: Held): Effect.Effect<void> =>
      Effect.suspend(() => {
        leases.remove(slot)
        pace.giveBack()
        return reports.gaveBack(slot.claim)
      })

    // The others may stand nearer to their turn when one goes; and one that is the last to go has nothing to wait for.
    const line = new Line<Held>({ left: Effect.sync(() => wake.unsafeOpen()), giveBack })

    const forecastAt = (now: number): Forecast => ({
      earliest: (before) => Math.max(outlook.earliest(now, before, leases.sent), pace.earliest(before)),
      lost: (before, deadline) => outlook.lost(before, deadline, leases.sent)
    })

    /** Hands out what was claimed, in the order of asking. */
    const handOut = (claims: ReadonlyArray<Slots.Claim>, claimedAt: number, at: number): Effect.Effect<void> =>
      Effect.forEach(claims, (claim) => {
        const slot = leases.add(claim, claimedAt)
        pace.take(at)
        return !outlook.isClosed(at) && line.serve(slot) ? Effect.void : giveBack(slot)
      }, { discard: true })

    // Until when other processes know that this one waits.
    let enlistedUntil = Number.NEGATIVE_INFINITY

    const enlist = (at: number): Effect.Effect<void, SqlError> =>
      Effect.suspend(() => {
        if (enlistedUntil >= outlook.askAgainAt + goneAfter / 2) {
          return Effect.void
        }
        const millis = Math.ceil(Math.max(0, outlook.askAgainAt - at) + goneAfter)
        enlistedUntil = at + millis
        return slots.enlist(millis)
      })

    const leave: Effect.Effect<void> = Effect.suspend(() => {
      enlistedUntil = Number.NEGATIVE_INFINITY
      return reports.tell(slots.delist)
    })

    /** Takes in what other processes paused. */
    const learnPauses = ({ operations }: Slots.Look, at: number): void => {
      for (const { millis, operation } of operations) {
        const wasOpen = pauses.until(operation, at) === undefined
        pauses.add(operation, at + millis)
        if (wasOpen) {
          line.recall(operation)
        }
      }
    }

    const ask: Effect.Effect<void, SqlError> = Effect.gen(function*() {
      const before = yield* now
      const claims = yield* slots.claim(Math.min(line.length, limit, pace.free(before)))
      if ((claims[0]?.paused ?? 0) > pauses.count(before)) {
        learnPauses(yield* slots.look, yield* now)
      }
      yield* handOut(claims, before, yield* now)
      if (line.length === 0) {
        outlook.forget()
        return
      }
      const seen = yield* slots.look
      const at = yield* now
      learnPauses(seen, at)
      outlook.learn(seen, at, yield* Random.nextIntBetween(0, outlook.spread + 1))
      if (outlook.askAgainAt < pace.earliest(0)) {
        outlook.notBefore(pace.earliest(0))
      }
      if (seen.slots < limit) {
        yield* slots.seed
        outlook.askFrom(at)
      }
      yield* enlist(at)
    })

    // Later than the leases need it only where the database doesn't answer.
    let renewAfter = Number.NEGATIVE_INFINITY
    const renewAt = () => Math.max(leases.renewAt, renewAfter)

    /** Does something with the database, and gives the moment from which on to try again where it did not answer. */
    const tried = (statements: Effect.Effect<void, SqlError>): Effect.Effect<number | undefined> =>
      Effect.matchEffect(statements, {
        onFailure: (error) => outage.failed(error),
        onSuccess: () => {
          outage.ended()
          return Effect.succeed(undefined)
        }
      })

    /** One turn of the fiber that asks for all; leaves `wakeAt` behind. */
    const turn: Effect.Effect<void> = Effect.gen(function*() {
      if (line.length > 0 && (yield* now) >= Math.max(outlook.askAgainAt, pace.earliest(0))) {
        const again = yield* tried(ask)
        if (again !== undefined) {
          outlook.notBefore(again)
        }
      }
      if ((yield* now) >= renewAt()) {
        renewAfter = (yield* tried(leases.renew)) ?? Number.NEGATIVE_INFINITY
      }
      const at = yield* now
      line.sweep(at, forecastAt(at), outage.why)
      if (line.length === 0 && Number.isFinite(enlistedUntil)) {
        yield* leave
      }
      wakeAt = Math.min(
        renewAt(),
        line.nextSweep,
        line.length === 0 ? Number.POSITIVE_INFINITY : Math.max(outlook.askAgainAt, pace.earliest(0))
      )
    })

    const rest: Effect.Effect<void> = at((now) =>
      Number.isFinite(wakeAt)
        ? Effect.raceFirst(wake.await, Effect.sleep(Duration.millis(Math.max(0, Math.ceil(wakeAt - now)))))
        : wake.await)

    const take = (
      deadline: number,
      options: WaitOptions,
      restore: Taking.Restore
    ): Effect.Effect<Granted<Held>, RateLimitWaitExceeded | ClientClosed> =>
      at((now) => {
        const forecast = forecastAt(now)
        const goesAt = forecast.earliest(line.before(options))
        if (now < outlook.askAgainAt && goesAt > deadline) {
          return waitExceeded(now, goesAt, outage.why)
        }
        const waiter = line.join(now, deadline, options, forecast)
        if (now >= outlook.askAgainAt || line.nextSweep < wakeAt) {
          wake.unsafeOpen()
        }
        return Effect.zipRight(pauses.reportWait(now, goesAt), line.wait(waiter, restore))
      })

    /** The slot, or another one where that one's lease may have run out. */
    const stillHeld = (slot: Held, restore: Taking.Restore): Effect.Effect<Held, ClientClosed> =>
      at((now) =>
        leases.mayBeSpent(slot, now)
          ? Effect.succeed(slot)
          : closing.isClosed
          ? Closing.closed()
          : Effect.zipRight(giveBack(slot), take(Number.POSITIVE_INFINITY, {}, restore)).pipe(
            // There is no deadline that could pass, and no operation that could be paused.
            Effect.catchTag("RateLimitWaitExceeded", Effect.die),
            Effect.map(Option.getOrThrow)
          ))

    // In the opposite order of this: first nobody asks any more, then the database is told what is left to tell.
    yield* Effect.addFinalizer(() =>
      Effect.all([
        reports.allTold,
        Effect.suspend(() => Effect.ignore(slots.giveBackAllBut(leases.inUse))),
        Effect.suspend(() => Number.isFinite(enlistedUntil) ? Effect.ignore(slots.delist) : Effect.void)
      ], { discard: true }).pipe(Effect.interruptible, Effect.timeout(farewell), Effect.ignore)
    )
    yield* Effect.suspend(() => {
      wake.unsafeClose()
      return Effect.zipRight(turn, rest)
    }).pipe(Effect.forever, Effect.interruptible, Effect.forkScoped)

    // Added last, and so run first: nobody waits for what ends.
    const closing = yield* Closing.make
    closing.onClose(() => line.close())

    // The first try is waited for, so that no other process goes on after this returns.
    const tellOthers = (close: Effect.Effect<void, SqlError>) => Effect.asVoid(Effect.orElse(close, () => reports.tell(close)))

    return {
      ...Taking.from<Held>({
        windowMillis,
        pace,
        pauses,
        closing,
        take,
        send: (slot, restore) =>
          Effect.map(stillHeld(slot, restore), (current) => {
            leases.spend(current)
            return current
          }),
        answered: (slot) =>
          Effect.suspend(() => {
            leases.remove(slot)
            return at((now) => {
              recent(now)
              answeredAt.push(now)
              return reports.answered(slot.claim)
            })
          }),
        refused: (slot) =>
          Effect.suspend(() => {
            leases.remove(slot)
            return reports.gaveBack(slot.claim)
          }),
        giveBack,
        recent,
        pausedUntil: () => outlook.pausedUntil,
        pauseKey: (now, millis) =>
          Effect.suspend(() => {
            outlook.closeUntil(now + millis)
            line.sweep(now, forecastAt(now))
            wake.unsafeOpen()
            return tellOthers(slots.closeFor(Math.ceil(millis)))
          }),
        pauseOperation: (operation, millis) =>
          Effect.suspend(() => {
            line.recall(operation)
            return tellOthers(slots.closeFor(Math.ceil(millis), operation))
          })
      }),
      // The database knows what other processes sent.
      occupy: () => Effect.void,
      status: Effect.gen(function*() {
        const seen = yield* Effect.option(slots.look)
        const at = yield* now
        const wallNow = yield* DateTime.now
        Option.map(seen, (seen) => {
          learnPauses(seen, at)
          outlook.closeUntil(at + seen.closedFor)
        })
        const isPaused = outlook.isClosed(at)
        return {
          free: isPaused ? 0 : Option.match(seen, { onNone: () => 0, onSome: ({ free }) => free }),
          inFlight: Option.match(seen, {
            onNone: () => leases.sent,
            onSome: ({ busy }) => busy.filter(({ state }) => state !== "cooling").length
          }),
          waiting: line.length,
          pausedUntil: isPaused
            ? DateTime.add(wallNow, { millis: Math.ceil(outlook.pausedUntil - at) })
            : undefined,
          pausedOperations: yield* pauses.list(at)
        }
      })
    }
  })
