/**
 * An allowance that several processes share through a database: when this process asks it for slots. One fiber asks for
 * all who wait. Knows nothing of the statements behind it, nor of requests.
 *
 * @since 0.1.0
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type * as Scope from "effect/Scope"
import type { InvalidSettings, RateLimitWaitExceeded } from "../Failures.js"
import type { RateLimit } from "../RateLimit.js"
import { Line, waitExceeded } from "./Line.js"
import { at, now } from "./Moment.js"
import { checked } from "./SharedAllowance.js"
import type { SharedAllowance } from "./SharedAllowance.js"
import { Leases } from "./Sql/Leases.js"
import type { Held } from "./Sql/Leases.js"
import { Outage } from "./Sql/Outage.js"
import { Outlook } from "./Sql/Outlook.js"
import * as Reports from "./Sql/Reports.js"
import * as Slots from "./Sql/Slots.js"
import * as Taking from "./Taking.js"

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
    const outlook = new Outlook(windowMillis)
    const outage = new Outage()

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
        return reports.gaveBack(slot.claim)
      })

    // The others may stand nearer to their turn when one goes; and one that is the last to go has nothing to wait for.
    const line = new Line<Held>({ left: Effect.sync(() => wake.unsafeOpen()), giveBack })

    /** Hands out what was claimed, in the order of asking. */
    const handOut = (claims: ReadonlyArray<Slots.Claim>, claimedAt: number, at: number): Effect.Effect<void> =>
      Effect.forEach(claims, (claim) => {
        const slot = leases.add(claim, claimedAt)
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

    const ask: Effect.Effect<void, SqlError> = Effect.gen(function*() {
      const before = yield* now
      const claims = yield* slots.claim(Math.min(line.length, limit))
      yield* handOut(claims, before, yield* now)
      if (line.length === 0) {
        outlook.forget()
        return
      }
      const seen = yield* slots.look
      const at = yield* now
      outlook.learn(seen, at, yield* Random.nextIntBetween(0, outlook.spread + 1))
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
      if (line.length > 0 && (yield* now) >= outlook.askAgainAt) {
        const again = yield* tried(ask)
        if (again !== undefined) {
          outlook.notBefore(again)
        }
      }
      if ((yield* now) >= renewAt()) {
        renewAfter = (yield* tried(leases.renew)) ?? Number.NEGATIVE_INFINITY
      }
      const at = yield* now
      line.sendAway(at, (before) => outlook.earliest(at, before), outage.why)
      if (line.length === 0 && Number.isFinite(enlistedUntil)) {
        yield* leave
      }
      wakeAt = Math.min(renewAt(), line.impatientAt, line.length === 0 ? Number.POSITIVE_INFINITY : outlook.askAgainAt)
    })

    const rest: Effect.Effect<void> = at((now) =>
      Number.isFinite(wakeAt)
        ? Effect.raceFirst(wake.await, Effect.sleep(Duration.millis(Math.max(0, Math.ceil(wakeAt - now)))))
        : wake.await)

    const take = (
      patience: Duration.Duration,
      restore: Taking.Restore
    ): Effect.Effect<Held, RateLimitWaitExceeded> =>
      at((now) => {
        const deadline = now + Duration.toMillis(patience)
        const goesAt = outlook.earliest(now, line.length)
        if (now < outlook.askAgainAt && goesAt > deadline) {
          return waitExceeded(now, goesAt, outage.why)
        }
        const waiter = line.join(deadline)
        if (now >= outlook.askAgainAt || deadline < wakeAt) {
          wake.unsafeOpen()
        }
        return line.wait(waiter, restore)
      })

    /** The slot, or another one where that one's lease may have run out. */
    const stillHeld = (slot: Held, restore: Taking.Restore): Effect.Effect<Held> =>
      at((now) =>
        leases.mayBeSpent(slot, now)
          ? Effect.succeed(slot)
          // There is no deadline that could pass.
          : Effect.zipRight(giveBack(slot), Effect.orDie(take(Duration.infinity, restore))))

    const spend: Taking.Source<Held>["spend"] = (slot, request, restore) =>
      Effect.flatMap(stillHeld(slot, restore), (current) => {
        leases.spend(current)
        const answered = Effect.suspend(() => {
          leases.remove(current)
          return reports.answered(current.claim)
        })
        return Effect.ensuring(restore(request), answered)
      })

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

    return {
      ...Taking.from({ take, spend, giveBack }),
      closeFor: (time) =>
        at((now) => {
          const millis = Duration.toMillis(time)
          outlook.closeUntil(now + millis)
          wake.unsafeOpen()
          const close = slots.closeFor(Math.ceil(millis))
          // The first try is waited for, so that no other process goes on after this returns.
          return Effect.asVoid(Effect.orElse(close, () => reports.tell(close)))
        })
    }
  })
