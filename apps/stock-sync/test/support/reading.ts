/**
 * Rows as tests write them.
 */
import { Effect, type Fiber, Option, Stream } from "effect"
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
