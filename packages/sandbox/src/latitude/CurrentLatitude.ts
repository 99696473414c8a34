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
import { Sql } from "../storage/Sql.js"

/** @since 0.1.0 @category services */
export class CurrentLatitude extends Context.Tag("@plaza/sandbox/CurrentLatitude")<CurrentLatitude, {
  readonly value: Latitude.Latitude
  /** Whether it is {@link Latitude.defaults}, for which nothing has to be looked at. */
  readonly isDefault: boolean
  /**
   * Every prefix that keys have had in this sandbox, earlier starts on its data file included: a client that holds such a key
   * goes on when the prefix changes.
   */
  readonly keyPrefixes: ReadonlySet<string>
  /** Counts a request of the interface, and says whether something in front of the service answers it. */
  readonly isGatewayRequest: () => boolean
  /** Applies a change; see {@link Latitude.apply}. */
  readonly change: (change: Latitude.Change | number) => Effect.Effect<Latitude.Latitude>
  /** Back to the latitude that the sandbox was started with. */
  readonly reset: Effect.Effect<void>
}>() {}

const isDefault = Schema.equivalence(Latitude.Latitude)

/**
 * Starts with a latitude and the prefixes that keys have had before. `record` is run with all prefixes when there is
 * another one, and after a reset.
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
    })
  }
}

const key = "keyPrefixes"

const Prefixes = Schema.parseJson(Schema.Array(Schema.String))
const readPrefixes = Schema.decodeSync(Prefixes)

/** @since 0.1.0 @category layers */
export const layer = (initial: Latitude.Latitude): Layer.Layer<CurrentLatitude, never, Sql> =>
  Layer.effect(
    CurrentLatitude,
    Effect.gen(function*() {
      const sql = yield* Sql
      const row = yield* sql.first<{ readonly value: string }>`SELECT value FROM meta WHERE key = ${key}`
      const before = row === undefined ? [] : readPrefixes(row.value)
      const record = (keyPrefixes: ReadonlyArray<string>) =>
        // A sandbox of the default prefix alone has nothing to remember.
        keyPrefixes.every((known) => known === Latitude.defaults.keyPrefix)
          ? Effect.void
          : Effect.asVoid(sql`INSERT INTO meta ${sql.insert({ key, value: JSON.stringify(keyPrefixes) })}
              ON CONFLICT (key) DO UPDATE SET value = excluded.value`)
      const made = make(initial, before, record)
      if (made.keyPrefixes.size > before.length) {
        yield* record([...made.keyPrefixes])
      }
      return made
    })
  )
