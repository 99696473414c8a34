/**
 * The latitude in force, which can change while the sandbox runs.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Latitude from "../Latitude.js"

/** @since 0.1.0 @category services */
export class CurrentLatitude extends Context.Tag("@plaza/sandbox/CurrentLatitude")<CurrentLatitude, {
  readonly value: Latitude.Latitude
  /** Whether it is {@link Latitude.defaults}, for which nothing has to be looked at. */
  readonly isDefault: boolean
  /** Every prefix that keys have had in this run; a client that holds one goes on when the prefix changes. */
  readonly keyPrefixes: ReadonlySet<string>
  /** Applies a change; see {@link Latitude.apply}. */
  readonly change: (change: Latitude.Change | number) => Effect.Effect<Latitude.Latitude>
  /** Back to the latitude that the sandbox was started with. */
  readonly reset: Effect.Effect<void>
}>() {}

const isDefault = Schema.equivalence(Latitude.Latitude)

/** @since 0.1.0 @category constructors */
export const make = (initial: Latitude.Latitude): CurrentLatitude["Type"] => {
  const keyPrefixes = new Set<string>()
  let current = initial
  let same = false
  const set = (next: Latitude.Latitude) => {
    current = next
    same = isDefault(next, Latitude.defaults)
    keyPrefixes.add(next.keyPrefix)
    return next
  }
  set(initial)
  return {
    get value() {
      return current
    },
    get isDefault() {
      return same
    },
    keyPrefixes,
    change: (change) => Effect.sync(() => set(Latitude.apply(current, change))),
    reset: Effect.sync(() => {
      set(initial)
    })
  }
}

/** @since 0.1.0 @category layers */
export const layer = (initial: Latitude.Latitude): Layer.Layer<CurrentLatitude> => Layer.sync(CurrentLatitude, () => make(initial))
