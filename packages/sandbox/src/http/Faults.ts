/** Stores the active faults and selects those that hit a call. `Admission` and `FaultyResponse` apply them. */
import { NotFound, type ValidationError } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AccountsRepo } from "../access/AccountsRepo.ts"
import type { Caller } from "../access/Keys.ts"
import { KeysRepo } from "../access/KeysRepo.ts"
import * as Generator from "../Generator.ts"
import { invalidField } from "../Validation.ts"
import type { ActiveFault, Fault, Latency, Outcome, Pause, ResponseFault } from "./Fault.ts"
import { FaultId, maxMillis } from "./Fault.ts"
import * as Glob from "./Glob.ts"

/** A call of the interface, before it is admitted. */
export interface Call {
  readonly method: string
  /** Without the base path and the query. */
  readonly path: string
  /** The owner of its key; undefined without a valid key. Runs only for faults with a `key` or an `account`. */
  readonly caller: () => Caller | undefined
}

/** The faults that hit one call. */
export interface Hit {
  readonly delay: Pause | undefined
  readonly outcome: ResponseFault | undefined
  /** The fault of the outcome; undefined if it is that of a gateway. */
  readonly outcomeId?: FaultId | undefined
  /** The ids of these faults, in the order they were added. */
  readonly ids: ReadonlyArray<FaultId>
}

interface Matcher {
  readonly id: FaultId
  readonly fault: Fault
  readonly matches: (call: Call) => boolean
  /** Whether it hits the nth matching call, apart from its rate. */
  readonly isDue: (nth: number) => boolean
  /** Draws the rate and the latencies. */
  readonly random: Generator.Generator
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
    matches: (call) => {
      if ((method !== "*" && method !== call.method) || !matchesPath(call.path).matches) {
        return false
      }
      if (key === undefined && account === undefined) {
        return true
      }
      const caller = call.caller()
      return caller !== undefined && (key === undefined || key === caller.keyId) &&
        (account === undefined || account === caller.accountId || account === caller.account.username)
    },
    isDue: (nth) => nth >= first && (nth - first) % step === 0,
    random: Generator.make(`${seed} ${id}`),
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

/** The result for a call that no fault hits. */
export const noFault: Hit = { delay: undefined, outcome: undefined, ids: [] }

export const isUnaffected = ({ delay, outcome }: Hit): boolean => delay === undefined && outcome === undefined

const isDrawn = ({ fault: { rate }, random }: Matcher): boolean => rate === undefined || random.next() < rate

/** The 99th percentile of the standard normal distribution. */
const z99 = 2.326_347_874_040_841

/** A value of the standard normal distribution, by the method of Box and Muller. */
const drawNormal = ({ next }: Generator.Generator): number => {
  const first = next()
  // The logarithm of 0 is infinite, and `next` is below 1.
  return Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * next())
}

const drawExact = (latency: Exclude<Latency, number>, random: Generator.Generator): number => {
  switch (latency.distribution) {
    case "uniform":
      return latency.min + random.next() * (latency.max - latency.min)
    case "normal":
      return Math.max(0, latency.mean + drawNormal(random) * latency.deviation)
    case "logNormal":
      return latency.median * (latency.p99 / latency.median) ** (drawNormal(random) / z99)
  }
}

/** A duration in milliseconds. A drawn one is whole, because some clocks support no others. */
export const drawMillis = (latency: Latency, random: Generator.Generator): number =>
  typeof latency === "number" ? latency : Math.min(Math.round(drawExact(latency, random)), maxMillis)

const unknown = (id: FaultId) =>
  new NotFound({
    message:
      `no active fault has the id "${id}": a fault ends when its times are used up or its time is over, and GET /sandbox/faults lists the others`,
    details: { resource: "fault", id }
  })

const make = Effect.fnUntraced(function*(seed: number) {
  const accounts = yield* AccountsRepo
  const keys = yield* KeysRepo
  let matchers: ReadonlyArray<Matcher> = []
  /** Those whose time ended before they hit a call. */
  let missed: ReadonlyArray<Matcher> = []
  let added = 0
  const expireAt = (now: number): void => {
    const ended = matchers.filter(({ endsAt }) => endsAt <= now)
    if (ended.length > 0) {
      matchers = matchers.filter(({ endsAt }) => endsAt > now)
      missed = [...missed, ...ended.filter(({ hits }) => hits === 0)]
    }
  }
  /** Forgets faults whose time has ended. Returns the time. */
  const expire = Effect.map(Clock.currentTimeMillis, (now) => {
    expireAt(now)
    return now
  })
  /** Refuses a target that no call can have. */
  const checked = ({ account, key }: Fault): Effect.Effect<void, ValidationError> =>
    account !== undefined && (accounts.find(account) ?? accounts.findByUsername(account)) === undefined
      ? Effect.fail(invalidField("account", "must be the id or the username of an existing account: create it first"))
      : key !== undefined && keys.find(key) === undefined
      ? Effect.fail(invalidField("key", "must be the id of an existing key, such as k1: create it first"))
      : Effect.void
  const find = (id: FaultId): Effect.Effect<readonly [matcher: Matcher, now: number], NotFound> =>
    Effect.flatMap(expire, (now) => {
      const matcher = matchers.find((known) => known.id === id)
      return matcher === undefined ? Effect.fail(unknown(id)) : Effect.succeed([matcher, now])
    })
  return {
    /** Fails if no call can match. */
    add: (fault: Fault): Effect.Effect<FaultId, ValidationError> =>
      Effect.map(Effect.andThen(checked(fault), Clock.currentTimeMillis), (now) => {
        const matcher = makeMatcher(FaultId.make(`fault_${++added}`), fault, seed, now)
        matchers = [...matchers, matcher]
        return matcher.id
      }),
    /** The faults that may still hit a call. */
    list: Effect.map(expire, (): ReadonlyArray<ActiveFault> => matchers.map(toActive)),
    /** The remaining time of each active fault with an end, in milliseconds by the sandbox's clock. */
    timesLeft: Effect.map(expire,
      (now): ReadonlyMap<FaultId, number> =>
        new Map(matchers.flatMap(({ endsAt, id }) => Number.isFinite(endsAt) ? [[id, endsAt - now]] : []))),
    /** The faults that have hit no call: active ones, and those whose time is over. */
    unused: Effect.map(expire, (): ReadonlyArray<ActiveFault> => [...missed, ...matchers.filter(({ hits }) => hits === 0)].map(toActive)),
    /** Replaces an active fault, in its place and under its id. Its counters, its generator and its time start again. */
    replace: (id: FaultId, fault: Fault): Effect.Effect<ActiveFault, NotFound | ValidationError> =>
      Effect.map(Effect.tap(find(id), checked(fault)), ([earlier, now]) => {
        const matcher = makeMatcher(id, fault, seed, now)
        matchers = matchers.map((known) => known === earlier ? matcher : known)
        return toActive(matcher)
      }),
    /** Removes an active fault. */
    remove: (id: FaultId): Effect.Effect<void, NotFound> =>
      Effect.map(find(id), ([earlier]) => {
        matchers = matchers.filter((known) => known !== earlier)
      }),
    /** Removes all faults. Ids are not reused, because the log still names them. */
    clear: (): void => {
      matchers = []
      missed = []
    },
    /** Removes all faults, and numbers new ones from 1 again. */
    reset: (): void => {
      matchers = []
      missed = []
      added = 0
    },
    /** Selects the faults that hit a call at a time in milliseconds since 1970, and counts the hit. */
    take: (call: Call, now: number): Hit => {
      if (matchers.length === 0) {
        return noFault
      }
      let delay: Pause | undefined
      let response: ResponseFault | undefined
      let outcomeId: FaultId | undefined
      const ids: Array<FaultId> = []
      expireAt(now)
      for (const matcher of matchers) {
        if (!matcher.matches(call) || !matcher.isDue(++matcher.calls)) {
          continue
        }
        const outcome = outcomeOf(matcher)
        const earlier = outcome.kind === "delay" ? delay : response
        if (earlier !== undefined || !isDrawn(matcher)) {
          continue
        }
        if (outcome.kind === "delay") {
          delay = { when: outcome.when, millis: drawMillis(outcome.millis, matcher.random) }
        } else if (outcome.kind !== "pass") {
          response = outcome
          outcomeId = matcher.id
        }
        matcher.hits++
        matcher.remaining--
        if (outcome.kind !== "pass") {
          ids.push(matcher.id)
        }
      }
      matchers = matchers.filter(({ remaining }) => remaining > 0)
      return { delay, outcome: response, outcomeId, ids }
    }
  }
})

export class Faults extends Context.Service<Faults, Effect.Success<ReturnType<typeof make>>>()("@plaza/sandbox/Faults") {
  static readonly layer = (seed: number) => Layer.effect(Faults, make(seed))
}
