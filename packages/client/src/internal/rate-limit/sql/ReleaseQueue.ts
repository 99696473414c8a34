/**
 * Reports to the database after the fact: responses, released slots, pauses. A report runs beside its call and is
 * repeated until the database can be reached.
 *
 * @since 0.1.0
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { at, elapsed } from "../../MonotonicTime.js"
import type { Claim, SqlSlots } from "./SqlSlots.js"

interface Answer {
  readonly claim: Claim
  readonly at: number
  readonly wallAt: number
}

/** @since 0.1.0 @category models */
export interface Reports {
  /** The request in a slot has ended, just now. */
  readonly answered: (claim: Claim) => Effect.Effect<void>
  /** Nothing was sent from a slot. */
  readonly gaveBack: (claim: Claim) => Effect.Effect<void>
  /** Tries a statement until it succeeds, or there is nothing left to tell. */
  readonly tell: (statement: Effect.Effect<void, SqlError>) => Effect.Effect<void>
  /** Waits until the database knows everything. */
  readonly allTold: Effect.Effect<void>
}

/** @since 0.1.0 @category models */
export interface ReportsOptions {
  readonly slots: SqlSlots
  readonly leaseMillis: number
  readonly windowMillis: number
  /** Receives the moment from which a slot is free, once the database knows it. */
  readonly onFree: (moment: number) => void
}

// SQLite turns away whoever comes while another process writes, which takes a fraction of a millisecond.
const backOff = Schedule.exponential("5 millis").pipe(
  Schedule.either(Schedule.spaced("1 second")),
  Schedule.jittered,
  Schedule.modifyDelay((_, delay) => Duration.millis(Math.ceil(Duration.toMillis(delay))))
)

/** @since 0.1.0 @category constructors */
export const make = ({
  leaseMillis,
  onFree,
  slots,
  windowMillis
}: ReportsOptions): Effect.Effect<Reports, never, Scope.Scope> =>
  Effect.map(FiberSet.make(), (background) => {
    const whileItMatters = Schedule.intersect(
      backOff,
      Schedule.whileOutput(elapsed, Duration.lessThan(Duration.millis(leaseMillis)))
    )

    const tell = (
      statement: Effect.Effect<void, SqlError>,
      then: () => void = () => undefined,
      last: Effect.Effect<void> = Effect.void
    ): Effect.Effect<void> =>
      statement.pipe(
        Effect.retry(whileItMatters),
        Effect.zipRight(Effect.sync(then)),
        // By now the lease is over, and with it what there was to tell.
        Effect.ignore,
        Effect.zipRight(last),
        Effect.interruptible,
        FiberSet.run(background),
        Effect.asVoid
      )

    // Answers that come while the database is told of others are told together.
    let untold: Array<Answer> = []
    let telling = false
    const tellAnswers: Effect.Effect<void> = Effect.suspend(() => {
      if (telling || untold.length === 0) {
        return Effect.void
      }
      const answers = untold
      untold = []
      telling = true
      const endedAt = answers.reduce((last, { wallAt }) => Math.max(last, wallAt), 0)
      const done = Effect.suspend(() => {
        telling = false
        return tellAnswers
      })
      return tell(slots.answered(answers.map(({ claim }) => claim), endedAt), () => {
        onFree(answers.reduce((last, { at }) => Math.max(last, at), 0) + windowMillis + 1)
      }, done)
    })

    return {
      answered: (claim) =>
        at((now) =>
          Effect.flatMap(Clock.currentTimeMillis, (wallAt) => {
            untold.push({ claim, at: now, wallAt })
            return tellAnswers
          })),
      gaveBack: (claim) => tell(slots.giveBack(claim), () => onFree(Number.NEGATIVE_INFINITY)),
      tell,
      allTold: FiberSet.awaitEmpty(background)
    }
  })
