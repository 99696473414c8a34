/** Sources without an end. */
import { expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Option, Stream, TestClock } from "effect"
import * as LimitedSource from "../src/source/LimitedSource.ts"
import type { Snapshot, Source } from "../src/source/Source.ts"

const sourceOf = (rows: Snapshot["rows"]): Source["Type"] => ({
  name: "stock.csv",
  open: () => Effect.succeedSome({ version: Option.none(), unit: "row", excluded: new Set(), rows }),
  changes: Stream.empty
})
const row = { _tag: "Rejected", line: 1, productId: undefined, reason: "it is a test" } as const
const read = (source: Source["Type"]) =>
  Effect.scoped(Effect.flatMap(source.open(Option.none()), (snapshot) => Stream.runCount(Option.getOrThrow(snapshot).rows)))

it.effect("a snapshot has its largest number of rows, and no more", () =>
  Effect.gen(function*() {
    const endless = Stream.forever(Stream.make(row))
    const limited = (rows: Snapshot["rows"]) => read(LimitedSource.withRows(sourceOf(rows), 1_000))
    expect(yield* limited(Stream.take(endless, 1_000))).toBe(1_000)
    expect(yield* Effect.flip(limited(endless))).toMatchObject({
      _tag: "SourceError",
      message: "stock.csv: it has more than 1,000 rows, which is more likely a mistake than a shop; no row of it was used"
    })
  }))

it.effect("a snapshot is read to its end within the time, or not at all", () =>
  Effect.gen(function*() {
    const trickle = Stream.repeatEffect(Effect.delay(Effect.succeed(row), "1 minute"))
    const limited = (rows: Snapshot["rows"]) => Effect.fork(Effect.exit(read(LimitedSource.withTime(sourceOf(rows), Duration.minutes(15)))))
    const ended = yield* limited(Stream.take(trickle, 14))
    const endless = yield* limited(trickle)
    yield* TestClock.adjust("14 minutes")
    expect(yield* Fiber.join(ended)).toEqual(yield* Effect.exit(Effect.succeed(14)))
    expect(Option.isNone(yield* Fiber.poll(endless))).toBe(true)
    yield* TestClock.adjust("1 minute")
    expect(yield* Effect.flip(Effect.flatten(Fiber.join(endless)))).toMatchObject({
      _tag: "SourceUnreachable",
      message: "stock.csv: its last row has not come within 15m; no row of it was used"
    })
  }))
