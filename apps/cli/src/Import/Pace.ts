/** Formats the pace of an import and the estimated time left. Rows are sent in bursts, one per window. */

export interface Allowance {
  readonly limit: number
  readonly windowMillis: number
}

/** How long a time is, with no more of it than counts: `45 s`, `12 min`, `1 h 23 min`. */
export const span = (millis: number): string => {
  const seconds = Math.ceil(millis / 1_000)
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The time that so many rows still take: as the rows until now did, and no less than the allowance lets go. */
export const left = (rows: number, done: number, elapsedMillis: number, { limit, windowMillis }: Allowance): number => {
  const allowed = Math.max(0, Math.ceil((rows + done) / limit) - 1) * windowMillis - elapsedMillis
  const asUntilNow = done === 0 ? 0 : elapsedMillis / done * rows
  // Before the first window is over, all went in its burst.
  return Math.max(0, allowed, elapsedMillis > windowMillis ? asUntilNow : 0)
}

/** What stands behind a bar. */
export const words = (rows: number, done: number, failed: number, elapsedMillis: number, allowance: Allowance): string => {
  const perMinute = done / Math.max(elapsedMillis, allowance.windowMillis) * 60_000
  const still = left(rows - done, done, elapsedMillis, allowance)
  return [
    `${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} a minute`,
    ...(rows > done && still > 0 ? [`${span(still)} left`] : []),
    ...(failed > 0 ? [`${failed} failed`] : [])
  ].join(" · ")
}
