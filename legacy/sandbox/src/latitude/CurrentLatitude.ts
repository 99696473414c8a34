/**
 * The current latitude, which can change while the sandbox runs.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Latitude from "../Latitude.ts"
import { onFirstUse } from "../OnFirstUse.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"

/** @since 0.1.0 @category services */
export class CurrentLatitude extends Context.Tag("@plaza-legacy/sandbox/CurrentLatitude")<CurrentLatitude, {
  readonly value: Latitude.Latitude
  /** Whether it equals {@link Latitude.defaults}. */
  readonly isDefault: boolean
  /**
   * Every prefix that keys have had in this sandbox, earlier starts on its data file included: a key stays valid when the
   * prefix changes.
   */
  readonly keyPrefixes: ReadonlySet<string>
  /** Counts a request, and returns whether a gateway in front of the service responds to it. */
  readonly isGatewayRequest: () => boolean
  /** Applies a change; see {@link Latitude.apply}. */
  readonly change: (change: Latitude.Change | number) => Effect.Effect<Latitude.Latitude>
  /** Restores the latitude that the sandbox was started with. */
  readonly reset: Effect.Effect<void>
  /** Stores the prefixes of keys again, after a snapshot replaced them. */
  readonly store: Effect.Effect<void>
}>() {}

const equals = onFirstUse(() => Schema.equivalence(Latitude.Latitude))

/**
 * Starts with a latitude and the prefixes of earlier keys. `record` runs with all prefixes when one is added, and after a
 * reset.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  initial: Latitude.Latitude,
  before: ReadonlyArray<string> = [],
  record: (keyPrefixes: ReadonlyArray<string>) => Effect.Effect<void> = () => Effect.void
): CurrentLatitude["Type"] => {
  const keyPrefixes = new Set(before)
  let current = initial
  let same = false
  let requests = 0
  const set = (next: Latitude.Latitude) => {
    current = next
    requests = 0
    same = next === Latitude.defaults || equals(next, Latitude.defaults)
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
    isGatewayRequest: () => current.gatewayStatus !== null && ++requests % current.gatewayStatusEvery === 0,
    change: (change) =>
      Effect.suspend(() => {
        const known = keyPrefixes.size
        const next = set(Latitude.apply(current, change))
        return Effect.as(keyPrefixes.size === known ? Effect.void : record([...keyPrefixes]), next)
      }),
    reset: Effect.suspend(() => {
      set(initial)
      return record([...keyPrefixes])
    }),
    store: Effect.suspend(() => record([...keyPrefixes]))
  }
}

const key = "keyPrefixes"

const Prefixes = Schema.parseJson(Schema.Array(Schema.String))
const decodePrefixes = onFirstUse(() => Schema.decodeSync(Prefixes))
const encodePrefixes = onFirstUse(() => Schema.encodeSync(Prefixes))

/**
 * Starts with a latitude and the prefixes of the keys that the database holds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const restore = (initial: Latitude.Latitude): Effect.Effect<CurrentLatitude["Type"], never, MetaRepo> =>
  Effect.gen(function*() {
    const meta = yield* MetaRepo
    const before = Option.match(yield* meta.find(key), { onNone: () => [], onSome: decodePrefixes })
    const record = (keyPrefixes: ReadonlyArray<string>) =>
      // Without another prefix than the default there is nothing to store.
      keyPrefixes.every((known) => known === Latitude.defaults.keyPrefix)
        ? Effect.void
        : meta.set(key, encodePrefixes(keyPrefixes))
    const made = make(initial, before, record)
    if (made.keyPrefixes.size > before.length) {
      yield* record([...made.keyPrefixes])
    }
    return made
  })
