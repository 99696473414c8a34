/** A note for the person who waits: without it, a command that waits for the rate limit looks as if it hung. */
import { Output } from "@plaza/cli-kit/Output"
import { RateLimit } from "@plaza/client"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

const interval = Duration.seconds(1)
/** How often in a row the command must be found waiting: a short wait needs no note. */
const enough = 3

const usedUp = "the key has no free request at the moment"

/** Why the command waits; undefined if it does not. */
const reasonOf = ({ free, pausedOperations, pausedUntil, waiting }: RateLimit.Status): string | undefined => {
  if (waiting === 0) return undefined
  // With a free slot, the command waits for its operation. If several are paused, it is unknown which of them is its own.
  const until = pausedUntil ?? (free > 0 && pausedOperations.length === 1 ? pausedOperations[0]?.until : undefined)
  return until === undefined ? usedUp : `the service accepts no such request before ${DateTime.formatIso(until)}`
}

/** A service may name a new time again and again. */
const betweenNotes = Duration.seconds(30)

const watch = Effect.gen(function*() {
  const output = yield* Output
  const { status } = yield* RateLimit.RateLimit
  let noted: string | undefined
  while (true) {
    let reason: string | undefined
    for (let times = 0; times < enough; times = reason === undefined ? 0 : times + 1) {
      reason = reasonOf(yield* Effect.delay(status, interval))
    }
    // Further notes only correct the time.
    if (noted === undefined || (reason !== usedUp && reason !== noted)) {
      yield* output.note(`Waiting for the rate limit: ${reason}.`)
      noted = reason
    }
    yield* Effect.sleep(betweenNotes)
  }
})

/** Runs a command, and prints a note if it waits for some seconds. With `--json` and `--quiet` it prints none. */
export const during = <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output | RateLimit.RateLimit> =>
  Effect.gen(function*() {
    const { json } = yield* Output
    if (json) return yield* command
    const watching = yield* Effect.forkChild(watch)
    return yield* Effect.ensuring(command, Fiber.interrupt(watching))
  })
