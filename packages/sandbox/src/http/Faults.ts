/**
 * The faults that were asked for, and which of them hit a call. `FaultyAdmission` and `FaultyResponse` carry them out.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import type { ActiveFault, Delay, Fault, Outcome } from "./Fault.js"
import { FaultId } from "./Fault.js"
import * as Glob from "./Glob.js"

/**
 * What hits one call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hit {
  readonly delay: Delay | undefined
  readonly outcome: Outcome | undefined
  /** Every fault that took part, in the order they were added. */
  readonly ids: ReadonlyArray<FaultId>
}

/** @since 0.1.0 @category services */
export class Faults extends Context.Tag("@plaza/sandbox/Faults")<Faults, {
  readonly add: (fault: Fault) => Effect.Effect<FaultId>
  /** Those that may still hit something. */
  readonly list: Effect.Effect<ReadonlyArray<ActiveFault>>
  readonly clear: Effect.Effect<void>
  /** Decides what hits a call, and counts it as hit. */
  readonly take: (method: string, path: string) => Effect.Effect<Hit>
}>() {}

interface Rule {
  readonly id: FaultId
  readonly fault: Fault
  readonly matches: (method: string, path: string) => boolean
  /** The seeded generator of a fault with a rate. */
  readonly chance: Option.Option<{ readonly rate: number; readonly random: Random.Random }>
  hits: number
  /** Infinity when there is no end. */
  remaining: number
}

const makeRule = (id: FaultId, fault: Fault, seed: number): Rule => {
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
 * What hits a call that nothing hits.
 *
 * @since 0.1.0
 * @category constructors
 */
export const noFault: Effect.Effect<Hit> = Effect.succeed({ delay: undefined, outcome: undefined, ids: [] })

/** @since 0.1.0 @category checks */
export const isUnaffected = ({ delay, outcome }: Hit): boolean => delay === undefined && outcome === undefined

const isDrawn = (rule: Rule): Effect.Effect<boolean> =>
  Option.match(rule.chance, {
    onNone: () => Effect.succeed(true),
    onSome: ({ random, rate }) => Effect.map(random.next, (drawn) => drawn < rate)
  })

/** @since 0.1.0 @category constructors */
export const make = (seed: number): Effect.Effect<Faults["Type"]> =>
  Effect.sync(() => {
    let rules: ReadonlyArray<Rule> = []
    let added = 0
    return {
      add: (fault) =>
        Effect.sync(() => {
          const rule = makeRule(FaultId.make(`fault_${++added}`), fault, seed)
          rules = [...rules, rule]
          return rule.id
        }),
      list: Effect.sync(() =>
        rules.map(({ fault, hits, id, remaining }) => ({
          id,
          fault,
          hits,
          remaining: Number.isFinite(remaining) ? remaining : null
        }))
      ),
      clear: Effect.sync(() => {
        rules = []
        added = 0
      }),
      take: (method, path) =>
        rules.length === 0 ? noFault : Effect.gen(function*() {
          let delay: Delay | undefined
          let outcome: Outcome | undefined
          const ids: Array<FaultId> = []
          for (const rule of rules) {
            const { fault } = rule
            const taken = fault.kind === "delay" ? delay : outcome
            if (taken !== undefined || !rule.matches(method, path) || !(yield* isDrawn(rule))) {
              continue
            }
            if (fault.kind === "delay") {
              delay = fault
            } else {
              outcome = fault
            }
            rule.hits++
            rule.remaining--
            ids.push(rule.id)
          }
          rules = rules.filter(({ remaining }) => remaining > 0)
          return { delay, outcome, ids }
        })
    }
  })
