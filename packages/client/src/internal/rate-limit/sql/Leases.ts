/**
 * The slots that this process has, each on a lease that is renewed while it is held, so that those of a process that
 * dies come free. Knows nothing of who waits, nor of when the database is asked.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { now } from "../../MonotonicTime.js"
import type { Claim, SqlSlots } from "./SqlSlots.js"

/** A slot that this process has. @since 0.1.0 @category models */
export interface Held {
  readonly claim: Claim
  /** The last moment at which the lease was known to run its whole length. */
  renewedAt: number
}

/** @since 0.1.0 @category models */
export class Leases {
  private readonly held = new Set<Held>()
  private readonly spent = new Set<Held>()

  private readonly slots: SqlSlots
  /** From sending on, a request has all of the lease but a window to be counted by the service. */
  private readonly graceMillis: number

  constructor(slots: SqlSlots, graceMillis: number) {
    this.slots = slots
    this.graceMillis = graceMillis
  }

  add(claim: Claim, claimedAt: number): Held {
    const slot: Held = { claim, renewedAt: claimedAt }
    this.held.add(slot)
    return slot
  }

  /** A request goes out in it. */
  spend(slot: Held): void {
    this.spent.add(slot)
  }

  /** It is given back, or its request has ended. */
  remove(slot: Held): void {
    this.held.delete(slot)
    this.spent.delete(slot)
  }

  /** False where the lease may have run out while the process or the database stood still. */
  mayBeSpent(slot: Held, at: number): boolean {
    return at <= slot.renewedAt + this.graceMillis
  }

  /** Those with requests in them. */
  get inUse(): ReadonlyArray<Claim> {
    return [...this.spent].map(({ claim }) => claim)
  }

  /** How many slots have requests of this process in them. */
  get sent(): number {
    return this.spent.size
  }

  /** When the first of them has to be renewed. */
  get renewAt(): number {
    let oldest = Number.POSITIVE_INFINITY
    for (const { renewedAt } of this.held) {
      oldest = Math.min(oldest, renewedAt)
    }
    return oldest + this.graceMillis / 3
  }

  readonly renew: Effect.Effect<void, SqlError> = Effect.gen(this, function*() {
    const before = yield* now
    const due = [...this.held]
    const renewed = yield* this.slots.renew(due.map(({ claim }) => claim))
    const turns = new Map(renewed.map(({ slot, turn }) => [slot, turn]))
    for (const slot of due) {
      slot.renewedAt = turns.get(slot.claim.slot) === slot.claim.turn ? before : Number.NEGATIVE_INFINITY
      if (slot.renewedAt < before) {
        // Lost while the process stood still. Whoever uses it gets another one.
        this.held.delete(slot)
      }
    }
  })
}
