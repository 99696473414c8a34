/** The progress bar of an import, with its rate and the estimated time left. Rows are sent in bursts, one per window. */
import { Progress } from "@plaza/cli-kit/Progress"
import { Settings } from "@plaza/client"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { ImportCounts } from "./ImportRun.ts"

export interface Allowance {
  readonly limit: number
  readonly window: Duration.Duration
}

/** Formats a duration: `45 s`, `12 min`, `1 h 23 min`. */
export const formatDuration = (duration: Duration.Duration): string => {
  const seconds = Math.ceil(Duration.toSeconds(duration))
  if (seconds < 90) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** The estimated time of the remaining rows: at the rate so far, and at least what the rate limit allows. */
export const remaining = (rows: number, done: number, elapsed: Duration.Duration, { limit, window }: Allowance): Duration.Duration => {
  const [elapsedMillis, windowMillis] = [Duration.toMillis(elapsed), Duration.toMillis(window)]
  const allowed = Math.max(0, Math.ceil((rows + done) / limit) - 1) * windowMillis - elapsedMillis
  const atCurrentRate = done === 0 ? 0 : elapsedMillis / done * rows
  // In the first window all rows are one burst.
  return Duration.millis(Math.max(0, allowed, elapsedMillis > windowMillis ? atCurrentRate : 0))
}

/** The text beside the progress bar. */
export const format = (rows: number, done: number, failed: number, elapsed: Duration.Duration, allowance: Allowance): string => {
  const perMinute = done / Math.max(Duration.toMinutes(elapsed), Duration.toMinutes(allowance.window))
  const timeLeft = remaining(rows - done, done, elapsed, allowance)
  return [
    `${perMinute < 10 ? perMinute.toFixed(1) : Math.round(perMinute)} per minute`,
    ...(rows > done && Duration.toMillis(timeLeft) > 0 ? [`${formatDuration(timeLeft)} left`] : []),
    ...(failed > 0 ? [`${failed} failed`] : [])
  ].join(" · ")
}

/** Shows the bar until the scope closes, and returns its update. */
export const show = Effect.fnUntraced(function*(name: string, rows: number, counts: ImportCounts) {
  const progress = yield* Progress
  const { rateLimit: limit, rateWindow: window } = yield* Settings.Settings
  const bar = yield* progress.bar({ label: `Importing ${name}`, total: rows, estimate: false })
  const startedAt = yield* Clock.currentTimeMillis
  return Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const done = counts.sent + counts.already.length + counts.unverified.length + counts.failed.length
    const text = format(rows, done, counts.failed.length, Duration.millis(now - startedAt), { limit, window })
    return Effect.andThen(bar.set(done), bar.status(text))
  })
})
