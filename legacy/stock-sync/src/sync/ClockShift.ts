/** Detects that the wall clock was set, by comparison with the monotonic clock, and shifts the times of the ledger. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import { Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import * as MonotonicClock from "./MonotonicClock.ts"

// A synchronised clock drifts by less.
const minShift = 1_000

const lead = Effect.zipWith(Clock.currentTimeMillis, MonotonicClock.now, (wall, monotonic) => wall - monotonic)

/** Corrects times in the future. Returns an effect that corrects the ledger for a change of the clock since its last run. */
export const make: Effect.Effect<Effect.Effect<void, LedgerFault>, LedgerFault, Ledger> = Effect.gen(function*() {
  const ledger = yield* Ledger
  yield* ledger.clockChanged(0)
  const last = yield* Ref.make(yield* lead)
  return Effect.gen(function*() {
    const now = yield* lead
    const shift = now - (yield* Ref.getAndSet(last, now))
    if (Math.abs(shift) > minShift) yield* ledger.clockChanged(Math.round(shift))
  })
})
