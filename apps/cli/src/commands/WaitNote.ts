/** A note for the person who waits: without it, a command that waits for the rate limit looks as if it hung. */
import { Output } from "@plaza/cli-kit/Output"
import { RateLimit } from "@plaza/client"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"

/** How often to look. A shorter wait needs no note. */
const interval = Duration.seconds(3)

const textOf = (pausedUntil: DateTime.Utc | undefined): string =>
  pausedUntil === undefined
    ? "Waiting for the rate limit: the key has no free request at the moment."
    : `Waiting for the rate limit: no request of the key is sent before ${DateTime.formatIso(pausedUntil)}.`

const watch = Effect.gen(function*() {
  const output = yield* Output
  const { status } = yield* RateLimit.RateLimit
  const { pausedUntil } = yield* Effect.repeat(Effect.delay(status, interval), { until: ({ waiting }) => waiting > 0 })
  yield* output.note(textOf(pausedUntil))
})

/** Runs a command, and prints one note if it waits for some seconds. With `--json` and `--quiet` it prints none. */
export const during = <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output | RateLimit.RateLimit> =>
  Effect.gen(function*() {
    const { json, quiet } = yield* Output
    if (json || quiet) return yield* command
    const watching = yield* Effect.fork(watch)
    return yield* Effect.ensuring(command, Fiber.interrupt(watching))
  })
