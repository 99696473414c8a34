/**
 * The slots that this process holds. Each has a lease, which the process renews. If a process dies, its slots become free when their
 * leases end.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { MonotonicMillis } from "../../Compat.ts"
import { monotonicNow } from "../../Compat.ts"
import type { Claim, SqlSlots } from "./SqlSlots.ts"

/** A slot that this process holds. @since 0.1.0 @category models */
export interface HeldSlot {
  readonly claim: Claim
  /** The moment before the last successful renewal. */
  renewedAt: MonotonicMillis
}

/** @since 0.1.0 @category models */
export class Leases {
  private readonly held = new Set<HeldSlot>()
  private readonly withRequest = new Set<HeldSlot>()

  private readonly slots: SqlSlots
  /** A request may be sent this long after a renewal. The service then counts it at least one window before the lease ends. */
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

  /** Marks the slot as used by a request. */
  markSent(slot: HeldSlot): void {
    this.withRequest.add(slot)
  }

  /** Removes a slot that is released or whose request has ended. */
  remove(slot: HeldSlot): void {
    this.held.delete(slot)
    this.withRequest.delete(slot)
  }

  /** Whether the lease is valid. It may have ended if the process or the database was suspended. */
  isCurrent(slot: HeldSlot, at: MonotonicMillis): boolean {
    return at <= slot.renewedAt + this.graceMillis
  }

  /** The slots with a request in flight. */
  get inUse(): ReadonlyArray<Claim> {
    return [...this.withRequest].map(({ claim }) => claim)
  }

  /** The number of this process's requests in flight. */
  get sent(): number {
    return this.withRequest.size
  }

  /** When to renew the leases next. */
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
    const generations = new Map(renewed.map(({ slot, turn }) => [slot, turn]))
    for (const slot of due) {
      slot.renewedAt = generations.get(slot.claim.slot) === slot.claim.turn ? before : Number.NEGATIVE_INFINITY
      if (slot.renewedAt < before) {
        // The lease ended while the process was suspended. A request that was about to use the slot gets another one.
        this.held.delete(slot)
      }
    }
  })
}
