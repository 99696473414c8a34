/**
 * Rows as tests write them.
 */
import { Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { expect } from "vitest"

export const good = (line: number, productId: string, stock: number) => ({ _tag: "Valid", line, productId, stock })
export const bad = (line: number, productId: string | undefined, reason: string) => ({
  _tag: "Rejected",
  line,
  productId,
  reason: containing(reason)
})
// The matcher is typed as anything at all; here it stands for a text.
export const containing = (text: string): unknown => expect.stringContaining(text)

export const all = <Row, E, R>(rows: Stream.Stream<Row, E, R>) => Stream.runCollect(rows)

/** The exit of a fiber; none while it runs. */
export const poll = <A, E>(fiber: Fiber.Fiber<A, E>) => Effect.sync(() => Option.fromUndefinedOr(fiber.pollUnsafe()))

/** Lets the waiting between attempts pass. */
export const hurried = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    while (Option.isNone(yield* poll(fiber))) {
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  })
