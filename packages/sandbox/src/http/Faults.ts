/**
 * The active faults, and which of them hit a call. `FaultyAdmission` and `FaultyResponse` apply them.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { ActiveFault, Delay, Fault, ResponseFault } from "./Fault.js"
import { FaultId } from "./Fault.js"
import * as Glob from "./Glob.js"

/**
 * The faults that hit one call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hit {
  readonly delay: Delay | undefined
  readonly outcome: ResponseFault | undefined
  /** The ids of these faults, in the order they were added. */
  readonly ids: ReadonlyArray<FaultId>
}

/** @since 0.1.0 @category services */
export class Faults extends Context.Tag("@plaza/sandbox/Faults")<Faults, {
  readonly add: (fault: Fault) => Effect.Effect<FaultId>
  /** The faults that may still hit a call. */
  readonly list: Effect.Effect<ReadonlyArray<ActiveFault>>
  readonly clear: Effect.Effect<void>
  /** Selects the faults that hit a call, and counts the hit. */
  readonly take: (method: string, path: string) => Effect.Effect<Hit>
}>() {}

interface Matcher {
  readonly id: FaultId
  readonly fault: Fault
  readonly matches: (method: string, path: string) => boolean
  /** The seeded generator of a fault with a rate. */
  readonly chance: Option.Option<{ readonly rate: number; readonly random: Random.Random }>
  hits: number
  /** Infinity if unlimited. */
  remaining: number
}

const makeMatcher = (id: FaultId, fault: Fault, seed: number): Matcher => {
  const { method = "*", path = "*", rate, times } = fault
  const matchesPath = Glob.make(path)
  return {
    id,
    fault,
    matches: (actualMethod, actualPath) => (method === "*" || method === actualMethod) && matchesPath(actualPath).matches,
    chance: rate === undefined ? Option.none() : Option.some({ rate, random: Random.make(`${seed} ${id}`) }),
    hits: 0,
    remaining: times ?? (rate === undefined ? 1 : Number.POSITIVE_INFINITY)
  }
}

/**
 * The result for a call that no fault hits.
 *
 * @since 0.1.0
 * @category constructors
 */
export const noFault: Effect.Effect<Hit> = Effect.succeed({ delay: undefined, outcome: undefined, ids: [] })

/** @since 0.1.0 @category checks */
export const isUnaffected = ({ delay, outcome }: Hit): boolean => delay === undefined && outcome === undefined

const isDrawn = ({ chance }: Matcher): Effect.Effect<boolean> =>
  Option.match(chance, {
    onNone: () => Effect.succeed(true),
    onSome: ({ random, rate }) => Effect.map(random.next, (drawn) => drawn < rate)
  })

/** @since 0.1.0 @category constructors */
export const make = (seed: number): Effect.Effect<Faults["Type"]> =>
  Effect.sync(() => {
    let matchers: ReadonlyArray<Matcher> = []
    let added = 0
    return {
      add: (fault) =>
        Effect.sync(() => {
          const matcher = makeMatcher(FaultId.make(`fault_${++added}`), fault, seed)
          matchers = [...matchers, matcher]
          return matcher.id
        }),
      list: Effect.sync(() =>
        matchers.map(({ fault, hits, id, remaining }) => ({
          id,
          fault,
          hits,
          remaining: Number.isFinite(remaining) ? remaining : null
        }))
      ),
      clear: Effect.sync(() => {
        matchers = []
        added = 0
      }),
      take: (method, path) =>
        matchers.length === 0 ? noFault : Effect.gen(function*() {
          let delay: Delay | undefined
          let outcome: ResponseFault | undefined
          const ids: Array<FaultId> = []
          for (const matcher of matchers) {
            const { fault } = matcher
            const earlier = fault.kind === "delay" ? delay : outcome
            if (earlier !== undefined || !matcher.matches(method, path) || !(yield* isDrawn(matcher))) {
              continue
            }
            if (fault.kind === "delay") {
              delay = fault
            } else {
              outcome = fault
            }
            matcher.hits++
            matcher.remaining--
            ids.push(matcher.id)
          }
          matchers = matchers.filter(({ remaining }) => remaining > 0)
          return { delay, outcome, ids }
        })
    }
  })
