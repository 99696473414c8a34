/** The figures of the last hour for the chart: pending products and products sent. Pure. */
import * as Duration from "effect/Duration"

export interface Point {
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Products that wait. */
  readonly backlog: number
  /** Sends since the start, whatever came of them. */
  readonly sends: number
  /** Requests since the start, of whatever kind. */
  readonly requests: number
}

export type History = ReadonlyArray<Point>

/** How far back it goes. */
export const span: Duration.Duration = Duration.hours(1)

const minute = Duration.toMillis("1 minute")

/**
 * With one point more, and without what is too old by then. A clock that was set back makes what came after it the past's future:
 * that is dropped too.
 */
export const add = (history: History, point: Point): History => [
  ...history.filter(({ at }) => at < point.at && at >= point.at - Duration.toMillis(span)),
  point
]

/** Requests since a moment, as far as it goes back. */
export const requestsSince = (history: History, from: number): number =>
  (history.at(-1)?.requests ?? 0) - (history.find(({ at }) => at >= from)?.requests ?? 0)

export interface Rate {
  readonly at: number
  readonly perMinute: number
}

/** Sends in the minute before each point. The first point has nothing before it. */
export const rates = (history: History): ReadonlyArray<Rate> =>
  history.flatMap((point, index) => {
    if (index === 0) return []
    const from = history.find(({ at }) => at >= point.at - minute && at < point.at) ?? history[index - 1]
    return from === undefined
      ? []
      : [{ at: point.at, perMinute: (point.sends - from.sends) * minute / Math.max(minute, point.at - from.at) }]
  })

export interface Step {
  /** Where it ends. */
  readonly at: number
  readonly backlog: number
  readonly sends: number
}

/**
 * The hour in steps of five minutes that end now, the latest first: what waited at the end of each, and how many were sent in it. Steps
 * without a point are left out.
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
