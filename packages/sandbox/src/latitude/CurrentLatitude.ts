/** The current latitude, which can change while the sandbox runs. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Latitude from "../Latitude.ts"
import { MetaRepo } from "../storage/MetaRepo.ts"

const key = "keyPrefixes"

const Prefixes = Schema.fromJsonString(Schema.Array(Schema.String))
const decodePrefixes = Schema.decodeSync(Prefixes)
const encodePrefixes = Schema.encodeSync(Prefixes)

const make = (initial: Latitude.Latitude, seed: number | undefined, meta: MetaRepo["Service"]) => {
  const stored = meta.find(key)
  // A data file without stored prefixes has keys with the default, and a new one has no keys yet.
  const keyPrefixes = new Set(stored !== undefined ? decodePrefixes(stored) : meta.isEmpty() ? [] : [Latitude.defaults.keyPrefix])
  let current = initial
  let isDefault = false
  /** The last seed that a latitude was drawn from. */
  let drawnFrom = seed
  let requests = 0
  /** Stores the prefixes of keys, unless only the default was used. */
  const store = (): void => {
    if (![...keyPrefixes].every((known) => known === Latitude.defaults.keyPrefix)) {
      meta.set(key, encodePrefixes([...keyPrefixes]))
    }
  }
  const set = (next: Latitude.Latitude): Latitude.Latitude => {
    current = next
    requests = 0
    isDefault = Equal.equals(next, Latitude.defaults)
    const known = keyPrefixes.size
    keyPrefixes.add(next.keyPrefix)
    if (keyPrefixes.size > known) {
      store()
    }
    return next
  }
  set(initial)
  return {
    get value(): Latitude.Latitude {
      return current
    },
    /** Whether it equals {@link Latitude.defaults}. */
    get isDefault(): boolean {
      return isDefault
    },
    /**
     * Every prefix that keys have had in this sandbox, earlier starts on its data file included: a key stays valid when the
     * prefix changes.
     */
    keyPrefixes: keyPrefixes as ReadonlySet<string>,
    /** Counts a request, and returns whether a gateway in front of the service responds to it. */
    isGatewayRequest: (): boolean => current.gatewayStatus !== null && ++requests % current.gatewayStatusEvery === 0,
    /** Applies a change; see {@link Latitude.apply}. */
    change: (change: Latitude.Change | number): Latitude.Latitude => {
      drawnFrom = (typeof change === "number" ? change : change.seed) ?? drawnFrom
      return set(Latitude.apply(current, change))
    },
    /** The seed that draws the current latitude; undefined if none was used, or if fields were set since. */
    get seed(): number | undefined {
      return drawnFrom !== undefined && Equal.equals(current, Latitude.fromSeed(drawnFrom)) ? drawnFrom : undefined
    },
    /** The latitude that the sandbox was started with. */
    start: initial,
    /** Restores the latitude that the sandbox was started with. */
    reset: (): void => {
      drawnFrom = seed
      set(initial)
      store()
    },
    /** Stores the prefixes of keys again, after a snapshot replaced them. */
    store
  }
}

export class CurrentLatitude extends Context.Service<CurrentLatitude, ReturnType<typeof make>>()("@plaza/sandbox/CurrentLatitude") {
  /** Creates the current latitude from the initial one, its seed, and the stored prefixes of keys. */
  static readonly layer = (initial: Latitude.Latitude, seed?: number) =>
    Layer.effect(CurrentLatitude, Effect.map(MetaRepo, (meta) => make(initial, seed, meta)))
}
