/**
 * The active faults, and which of them hit a call. `FaultyAdmission` and `FaultyResponse` apply them.
 *
 * @since 0.1.0
 */
import { NotFound } from "@plaza-legacy/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import type { Caller } from "../access/Callers.ts"
import type { ActiveFault, Fault, Outcome, Pause, ResponseFault } from "./Fault.ts"
import { FaultId } from "./Fault.ts"
import * as Glob from "./Glob.ts"
import * as Latency from "./Latency.ts"

/**
 * A call of the interface, before it is admitted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  readonly method: string
  /** Without the base path and the query. */
  readonly path: string
  /** The owner of its key; undefined without a valid key. Runs only for faults with a `key` or an `account`. */
  readonly caller: Effect.Effect<Caller | undefined>
}

/**
 * The faults that hit one call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hit {
  readonly delay: Pause | undefined
  readonly outcome: ResponseFault | undefined
  /** The ids of these faults, in the order they were added. */
  readonly ids: ReadonlyArray<FaultId>
}

/** @since 0.1.0 @category services */
export class Faults extends Context.Tag("@plaza-legacy/sandbox/Faults")<Faults, {
  readonly add: (fault: Fault) => Effect.Effect<FaultId>
  /** The faults that may still hit a call. */
  readonly list: Effect.Effect<ReadonlyArray<ActiveFault>>
  /** Replaces an active fault, in its place and under its id. Its counters, its generator and its time start again. */
  readonly replace: (id: FaultId, fault: Fault) => Effect.Effect<ActiveFault, NotFound>
  /** Removes an active fault. */
  readonly remove: (id: FaultId) => Effect.Effect<void, NotFound>
  /** Removes all faults. Their ids are not given again, since the log still names them. */
  readonly clear: Effect.Effect<void>
  /** Removes all faults, and numbers new ones from 1 again. */
  readonly reset: Effect.Effect<void>
  /** Selects the faults that hit a call, and counts the hit. */
  readonly take: (call: Call) => Effect.Effect<Hit>
}>() {}

interface Matcher {
  readonly id: FaultId
  readonly fault: Fault
  readonly matches: (call: Call) => Effect.Effect<boolean>
  /** Whether it hits the nth matching call, apart from its rate. */
  readonly isDue: (nth: number) => boolean
  /** Draws the rate and the latencies. */
  readonly random: Random.Random
  /** Matching calls so far. */
  calls: number
  hits: number
  /** Infinity if unlimited. */
  remaining: number
  /** The end of its time, in milliseconds since 1970; Infinity if unlimited. */
  readonly endsAt: number
}

const makeMatcher = (id: FaultId, fault: Fault, seed: number, now: number): Matcher => {
  const { account, every, key, lastsMillis, method = "*", path = "*", rate, times } = fault
  const matchesPath = Glob.make(path)
  const step = every ?? 1
  const first = fault.nth ?? step
  return {
    id,
    fault,
    matches: (call) =>
      (method !== "*" && method !== call.method) || !matchesPath(call.path).matches
        ? Effect.succeed(false)
        : key === undefined && account === undefined
        ? Effect.succeed(true)
        : Effect.map(call.caller, (caller) =>
          caller !== undefined && (key === undefined || key === caller.keyId) &&
          (account === undefined || account === caller.accountId || account === caller.account.username)),
    isDue: (nth) => nth >= first && (nth - first) % step === 0,
    random: Random.make(`${seed} ${id}`),
    calls: 0,
    hits: 0,
    remaining: times ?? (
      rate !== undefined || every !== undefined || lastsMillis !== undefined
        ? Number.POSITIVE_INFINITY
        : fault.kind === "sequence"
        ? fault.outcomes.length
        : 1
    ),
    endsAt: now + (lastsMillis ?? Number.POSITIVE_INFINITY)
  }
}

const outcomeOf = ({ fault, hits }: Matcher): Outcome =>
  fault.kind === "sequence" ? fault.outcomes[hits % fault.outcomes.length] ?? { kind: "pass" } : fault

const toActive = ({ fault, hits, id, remaining }: Matcher): ActiveFault => ({
  id,
  fault,
  hits,
  remaining: Number.isFinite(remaining) ? remaining : null
})

/**
 * The result for a call that no fault hits.
 *
 * @since 0.1.0
 * @category constructors
 */
export const noFault: Effect.Effect<Hit> = Effect.succeed({ delay: undefined, outcome: undefined, ids: [] })

/** @since 0.1.0 @category checks */
export const isUnaffected = ({ delay, outcome }: Hit): boolean => delay === undefined && outcome === undefined

const isDrawn = ({ fault: { rate }, random }: Matcher): Effect.Effect<boolean> =>
  rate === undefined ? Effect.succeed(true) : Effect.map(random.next, (drawn) => drawn < rate)

const unknown = (id: FaultId) =>
  new NotFound({
    message:
      `no active fault has the id "${id}": a fault ends when its times are used up or its time is over, and GET /sandbox/faults lists the others`,
    details: { resource: "fault", id }
  })

/** @since 0.1.0 @category constructors */
export const make = (seed: number): Effect.Effect<Faults["Type"]> =>
  Effect.sync(() => {
    let matchers: ReadonlyArray<Matcher> = []
    let added = 0
    /** Forgets faults whose time has ended. */
    const expire = Effect.map(Clock.currentTimeMillis, (now) => {
      if (matchers.some(({ endsAt }) => endsAt <= now)) {
        matchers = matchers.filter(({ endsAt }) => endsAt > now)
      }
      return now
    })
    const find = (id: FaultId): Effect.Effect<Matcher, NotFound> =>
      Effect.flatMap(expire, () => {
        const matcher = matchers.find((known) => known.id === id)
        return matcher === undefined ? Effect.fail(unknown(id)) : Effect.succeed(matcher)
      })
    return {
      add: (fault) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const matcher = makeMatcher(FaultId.make(`fault_${++added}`), fault, seed, now)
          matchers = [...matchers, matcher]
          return matcher.id
        }),
      list: Effect.map(expire, () => matchers.map(toActive)),
      replace: (id, fault) =>
        Effect.zipWith(find(id), Clock.currentTimeMillis, (earlier, now) => {
          const matcher = makeMatcher(id, fault, seed, now)
          matchers = matchers.map((known) => known === earlier ? matcher : known)
          return toActive(matcher)
        }),
      remove: (id) =>
        Effect.map(find(id), (earlier) => {
          matchers = matchers.filter((known) => known !== earlier)
        }),
      clear: Effect.sync(() => {
        matchers = []
      }),
      reset: Effect.sync(() => {
        matchers = []
        added = 0
      }),
      take: (call) =>
        matchers.length === 0 ? noFault : Effect.gen(function*() {
          let delay: Pause | undefined
          let response: ResponseFault | undefined
          const ids: Array<FaultId> = []
          yield* expire
          for (const matcher of matchers) {
            if (!(yield* matcher.matches(call)) || !matcher.isDue(++matcher.calls)) {
              continue
            }
            const outcome = outcomeOf(matcher)
            const earlier = outcome.kind === "delay" ? delay : response
            if (earlier !== undefined || !(yield* isDrawn(matcher))) {
              continue
            }
            if (outcome.kind === "delay") {
              delay = { when: outcome.when, millis: yield* Latency.draw(outcome.millis, matcher.random) }
            } else if (outcome.kind !== "pass") {
              response = outcome
            }
            matcher.hits++
            matcher.remaining--
            if (outcome.kind !== "pass") {
              ids.push(matcher.id)
            }
          }
          matchers = matchers.filter(({ remaining }) => remaining > 0)
          return { delay, outcome: response, ids }
        })
    }
  })
