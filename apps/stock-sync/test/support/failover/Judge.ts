/** What a run may not have done, found in the requests as the service received them and in the takeovers as the database recorded them. */
import { Array as Arr, Duration } from "effect"
import type { Arrival } from "./StrictService.ts"

/** A takeover of an account by a runner. */
export interface Takeover {
  readonly account: string
  /** The id of the runner's process. */
  readonly pid: number
  readonly at: number
}

/** The largest number of these times within a window. */
export const mostWithin = (window: Duration.Duration, times: ReadonlyArray<number>): number => {
  let first = 0
  return times.reduce((most, at, index) => {
    while (at - (times[first] ?? at) >= Duration.toMillis(window)) first++
    return Math.max(most, index - first + 1)
  }, 0)
}

/** A runner that is dead, or frozen until a time. */
export interface Loss {
  readonly pid: number
  readonly at: number
  readonly until?: number
}

/**
 * A request that has left its runner arrives within this time, whoever takes the account over meanwhile. A request that a frozen runner was
 * sending arrives after the thaw: one of an account.
 */
const longestWay = 1_000

/** The requests of an account whose runner did not own it: another one had taken it over some time before, or had sent a request already. */
export const staleOf = (
  arrivals: ReadonlyArray<Arrival>,
  takeovers: ReadonlyArray<Takeover>,
  pids: ReadonlyMap<string, number>,
  losses: ReadonlyArray<Loss> = []
): ReadonlyArray<Arrival> =>
  arrivals.filter(({ at, runner }, index) => {
    const pid = pids.get(runner)
    const own = takeovers.findLastIndex((takeover) => takeover.pid === pid && takeover.at <= at)
    const next = takeovers[own + 1]
    if (own < 0) return true
    if (next === undefined || next.at > at) return false
    const frozen = losses.find((loss) => loss.pid === pid && loss.at <= next.at && (loss.until ?? 0) > next.at)
    const isFirst = !arrivals.slice(0, index).some((other) => other.runner === runner && other.at >= (frozen?.until ?? Infinity))
    return at - (isFirst ? frozen?.until ?? next.at : next.at) > longestWay ||
      arrivals.slice(0, index).some((other) => pids.get(other.runner) === next.pid && other.at >= next.at)
  })

/** The requests that set a product of the large source to an older value than one before them. */
export const decreasing = (arrivals: ReadonlyArray<Arrival>): ReadonlyArray<Arrival> => {
  const reached = new Map<string, number>()
  return arrivals.filter(({ set }) => {
    if (set === undefined) return false
    const from = reached.get(set.product) ?? 0
    reached.set(set.product, Math.max(from, set.stock))
    return set.stock < from
  })
}

/** How long an account waited, in milliseconds: for ever if nothing came. */
export interface Wait {
  readonly account: string
  readonly at: number
  readonly millis: number
}

/** How long each account of a lost runner had no other runner; no longer than the runner was lost. */
export const takeoverWaits = ({ at, pid, until = Infinity }: Loss, takeovers: ReadonlyArray<Takeover>): ReadonlyArray<Wait> =>
  Object.entries(Arr.groupBy(takeovers, ({ account }) => account)).flatMap(([account, each]) => {
    if (each.findLast((takeover) => takeover.at <= at)?.pid !== pid) return []
    const next = each.find((takeover) => takeover.at > at && takeover.pid !== pid)
    return [{ account, at, millis: Math.min(next?.at ?? Infinity, until) - at }]
  })

/** A change of one product of an account. */
export interface Change {
  readonly product: string
  readonly stock: number
  readonly at: number
}

/** A time in which a runner was frozen or could not reach the database. */
export interface Disturbance {
  readonly pid: number
  readonly from: number
  readonly until: number
}

/**
 * How long each change of an account waited for its request, or that of a later change of the product. The time starts again when another
 * runner takes the account over, and when the disturbance of the runner that sends the request ends.
 */
export const changeWaits = (
  account: string,
  changes: ReadonlyArray<Change>,
  arrivals: ReadonlyArray<Arrival>,
  takeovers: ReadonlyArray<Takeover>,
  disturbances: ReadonlyArray<Disturbance>
): ReadonlyArray<Wait> =>
  changes.map(({ at, product }, index) => {
    const wanted = new Set(changes.slice(index).filter((change) => change.product === product).map(({ stock }) => stock))
    const served = arrivals.find(({ at: arrivedAt, set }) => arrivedAt >= at && set?.product === product && wanted.has(set.stock))?.at ??
      Infinity
    const owner = takeovers.findLast((takeover) => takeover.at <= served)
    const ends = disturbances
      .filter(({ from, pid, until }) => pid === owner?.pid && from <= served && until >= at)
      .map(({ until }) => Math.min(until, served))
    return { account, at, millis: served - Math.max(at, owner?.at ?? at, ...ends) }
  })

/** The longest of these waits, in seconds. */
export const longestSeconds = (waits: ReadonlyArray<Wait>): number => waits.reduce((most, { millis }) => Math.max(most, millis), 0) / 1_000
