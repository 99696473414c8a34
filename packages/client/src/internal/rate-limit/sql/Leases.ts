/**
 * The slots that this process holds, each on a lease that is renewed while it is held. The slots of a process that dies come
 * free when their leases end.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { MonotonicMillis } from "../../Compat.js"
import { monotonicNow } from "../../Compat.js"
import type { Claim, SqlSlots } from "./SqlSlots.js"

/** A slot that this process holds. @since 0.1.0 @category models */
export interface HeldSlot {
  readonly claim: Claim
  /** The last moment at which the lease was known to run its whole length. */
  renewedAt: MonotonicMillis
}

/** @since 0.1.0 @category models */
export class Leases {
  private readonly held = new Set<HeldSlot>()
  private readonly withRequest = new Set<HeldSlot>()

  private readonly slots: SqlSlots
  /** A request may be sent this long after a renewal: the service then counts it a window before the lease ends. */
  private readonly graceMillis: number

  constructor(slots: SqlSlots, grace: Duration.Duration) {
    this.slots = slots
    this.graceMillis = Duration.toMillis(grace)
  }

  add(claim: Claim, claimedAt: MonotonicMillis): HeldSlot {
    const slot: HeldSlot = { claim, renewedAt: claimedAt }
    this.held.add(slot)
    return slot
  }

  /** A request goes out in the slot. */
  markSent(slot: HeldSlot): void {
    this.withRequest.add(slot)
  }

  /** The slot is released, or its request has ended. */
  remove(slot: HeldSlot): void {
    this.held.delete(slot)
    this.withRequest.delete(slot)
  }

  /** False where the lease may have ended while the process or the database stood still. */
  isCurrent(slot: HeldSlot, at: MonotonicMillis): boolean {
    return at <= slot.renewedAt + this.graceMillis
  }

  /** The slots with requests in them. */
  get inUse(): ReadonlyArray<Claim> {
    return [...this.withRequest].map(({ claim }) => claim)
  }

  /** The number of slots with requests of this process in them. */
  get sent(): number {
    return this.withRequest.size
  }

  /** When the first lease has to be renewed. */
  get renewAt(): MonotonicMillis {
    let oldest = Number.POSITIVE_INFINITY
    for (const { renewedAt } of this.held) {
      oldest = Math.min(oldest, renewedAt)
    }
    return oldest + this.graceMillis / 3
  }

  readonly renew: Effect.Effect<void, SqlError> = Effect.gen(this, function*() {
    const before = yield* monotonicNow
    const due = [...this.held]
    const renewed = yield* this.slots.renew(due.map(({ claim }) => claim))
    const turns = new Map(renewed.map(({ slot, turn }) => [slot, turn]))
    for (const slot of due) {
      slot.renewedAt = turns.get(slot.claim.slot) === slot.claim.turn ? before : Number.NEGATIVE_INFINITY
      if (slot.renewedAt < before) {
        // Lost while the process stood still. A request that waits to go out in it gets another slot.
        this.held.delete(slot)
      }
    }
  })
}
