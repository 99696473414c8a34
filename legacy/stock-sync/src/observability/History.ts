/** Samples of the last hour for the charts: products that wait, and requests. Pure. */
import * as Duration from "effect/Duration"

export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Products that wait. */
  readonly backlog: number
  /** Stock requests since the start, with any outcome. */
  readonly sends: number
  /** All requests since the start. */
  readonly requests: number
}

export type History = ReadonlyArray<Point>

/** The length of the history. */
export const span: Duration.Duration = Duration.hours(1)

const minute = Duration.toMillis("1 minute")

/** Adds a point and drops those that are too old. After the clock was set back, also drops points in the future. */
export const add = (history: History, point: Point): History => [
  ...history.filter(({ at }) => at < point.at && at >= point.at - Duration.toMillis(span)),
  point
]

/** The number of requests since a time, as far as the history reaches. */
export const requestsSince = (history: History, from: number): number =>
  (history.at(-1)?.requests ?? 0) - (history.find(({ at }) => at >= from)?.requests ?? 0)

export interface Rate {
  readonly at: number
  readonly perMinute: number
}

/** Stock requests in the minute before each point but the first. */
export const rates = (history: History): ReadonlyArray<Rate> =>
  history.flatMap((point, index) => {
    if (index === 0) return []
    const from = history.find(({ at }) => at >= point.at - minute && at < point.at) ?? history[index - 1]
    return from === undefined
      ? []
      : [{ at: point.at, perMinute: (point.sends - from.sends) * minute / Math.max(minute, point.at - from.at) }]
  })

export interface Step {
  /** The end of the step. */
  readonly at: number
  readonly backlog: number
  readonly sends: number
}

/**
 * The hour in steps of five minutes that end at the last point, the latest first: products that waited at the end of each, and stock requests
 * within it. Steps without a point are left out.
 */
export const steps = (history: History, length: Duration.Duration = Duration.minutes(5)): ReadonlyArray<Step> => {
  const last = history.at(-1)
  if (last === undefined) return []
  const millis = Duration.toMillis(length)
  const count = Math.ceil(Duration.toMillis(span) / millis)
  return Array.from({ length: count }, (_, index) => last.at - index * millis).flatMap((at): ReadonlyArray<Step> => {
    const end = history.findLast((point) => point.at <= at && point.at > at - millis)
    if (end === undefined) return []
    const before = history.findLast((point) => point.at <= at - millis) ?? history[0]
    return [{ at, backlog: end.backlog, sends: end.sends - (before?.sends ?? 0) }]
  })
}
