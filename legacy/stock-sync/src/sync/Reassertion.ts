/** Decides when confirmed stock is sent again: at the background pace, only old confirmations, and only if nothing else is due. */
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault } from "../ledger/LedgerError.ts"
import type { BackgroundPace } from "./BackgroundPace.ts"
import * as MonotonicClock from "./MonotonicClock.ts"

export class Reassertion extends Context.Tag("@plaza/stock-sync/sync/Reassertion")<Reassertion, {
  /** Stock confirmed before this time may be sent again now; none: not now. */
  readonly confirmedBefore: Effect.Effect<Option.Option<DateTime.Utc>>
  /** The wait for the next reassertion; none if one is possible now, or none ever is. */
  readonly delay: Effect.Effect<Option.Option<Duration.Duration>>
  /** When the oldest confirmed stock may be sent again; none if it never is. */
  readonly nextAt: Effect.Effect<Option.Option<DateTime.Utc>, LedgerFault, Ledger>
  /** Counts a reassertion that is sent now. */
  readonly record: Effect.Effect<void>
}>() {}

/** Confirmed stock is sent again once its confirmation is older than this. */
export const make = (after: Duration.Duration, pace: BackgroundPace["Type"]): Reassertion["Type"] => {
  const remaining = Effect.zipWith(pace.nextAt, MonotonicClock.now, (nextAt, now) => nextAt - now)
  return {
    confirmedBefore: Effect.flatMap(remaining,
      (millis) => millis > 0 ? Effect.succeedNone : Effect.map(DateTime.now, (now) => Option.some(DateTime.subtractDuration(now, after)))),
    nextAt: Effect.gen(function*() {
      const wait = Math.max(0, yield* remaining)
      if (!Number.isFinite(wait)) return Option.none()
      const ledger = yield* Ledger
      const { oldestConfirmation } = yield* ledger.backlog
      const paced = DateTime.add(yield* DateTime.now, { millis: Math.ceil(wait) })
      return Option.map(oldestConfirmation, (at) => DateTime.max(paced, DateTime.addDuration(at, after)))
    }),
    delay: Effect.map(remaining,
      (millis) => millis > 0 && Number.isFinite(millis) ? Option.some(Duration.millis(Math.ceil(millis))) : Option.none()),
    record: pace.record
  }
}

/** Never sends confirmed stock again. */
export const disabled: Reassertion["Type"] = {
  confirmedBefore: Effect.succeedNone,
  delay: Effect.succeedNone,
  nextAt: Effect.succeedNone,
  record: Effect.void
}
