/** Sources without an end. */
import { expect, it } from "@effect/vitest"
import { Clock, Duration, Effect, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as LimitedSource from "../src/source/LimitedSource.ts"
import { failIfSilent, type Snapshot, type Source } from "../src/source/Source.ts"
import { advance } from "./support/advance.ts"
import { poll } from "./support/reading.ts"
import { settable } from "./support/wallClock.ts"

const sourceOf = (rows: Snapshot["rows"]): Source["Service"] => ({
  name: "stock.csv",
  open: () => Effect.succeedSome({ version: Option.none(), unit: "row", excluded: new Set(), rows }),
  changes: Stream.empty
})
const row = { _tag: "Rejected", line: 1, productId: undefined, reason: "it is a test" } as const
const read = (source: Source["Service"]) =>
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
    const trickle = Stream.fromEffectRepeat(Effect.delay(Effect.succeed(row), "1 minute"))
    const limited = (rows: Snapshot["rows"]) =>
      Effect.forkChild(Effect.exit(read(LimitedSource.withTime(sourceOf(rows), Duration.minutes(15)))))
    const ended = yield* limited(Stream.take(trickle, 14))
    const endless = yield* limited(trickle)
    yield* TestClock.adjust("14 minutes")
    expect(yield* Fiber.join(ended)).toEqual(yield* Effect.exit(Effect.succeed(14)))
    expect(Option.isNone(yield* poll(endless))).toBe(true)
    yield* TestClock.adjust("1 minute")
    expect(yield* Effect.flip(Effect.flatten(Fiber.join(endless)))).toMatchObject({
      _tag: "SourceUnreachable",
      message: "stock.csv: its last row has not come within 15m; no row of it was used"
    })
  }))

it.effect("the time between two reads of a snapshot does not count", () =>
  Effect.gen(function*() {
    const trickle = Stream.fromEffectRepeat(Effect.delay(Effect.succeed(row), "7 minutes"))
    const slowly = (rows: Snapshot["rows"]) =>
      Effect.forkChild(Effect.exit(read({
        ...sourceOf(rows),
        open: (accepted) =>
          Effect.map(LimitedSource.withTime(sourceOf(rows), Duration.minutes(15)).open(accepted),
            Option.map((snapshot) => ({ ...snapshot, rows: Stream.tap(snapshot.rows, () => Effect.sleep("1 hour")) })))
      })))
    const ended = yield* slowly(Stream.take(trickle, 2))
    const endless = yield* slowly(trickle)
    yield* TestClock.adjust("1 day")
    expect(yield* Fiber.join(ended)).toEqual(yield* Effect.exit(Effect.succeed(2)))
    expect(yield* Effect.flip(Effect.flatten(Fiber.join(endless)))).toMatchObject({ _tag: "SourceUnreachable" })
  }))

it.effect("a source is silent by the time that passes, not by the clock of the machine", () =>
  Effect.gen(function*() {
    const clock = yield* settable
    const pause = (duration: Duration.Input) => Stream.fromEffect(Effect.as(Effect.sleep(duration), row))
    const read = (...pauses: ReadonlyArray<Duration.Input>) =>
      Stream.mergeAll(pauses.map(pause), { concurrency: 1 }).pipe(
        failIfSilent("stock.csv", Duration.seconds(30)),
        Stream.runCount,
        Effect.result,
        Effect.provideService(Clock.Clock, clock),
        Effect.forkChild
      )
    const trickle = yield* read("20 seconds", "20 seconds", "20 seconds")
    const silent = yield* read("20 seconds", "40 seconds")
    yield* advance("10 seconds")
    clock.shift(3_600_000)
    yield* advance("20 seconds")
    clock.shift(-7_200_000)
    yield* advance("30 seconds")
    expect(yield* poll(trickle)).toMatchObject({ value: { value: { _tag: "Success", success: 3 } } })
    expect(yield* poll(silent)).toMatchObject({
      value: {
        value: {
          _tag: "Failure",
          failure: { _tag: "SourceUnreachable", message: "stock.csv: no response for 30s; no row of it was used" }
        }
      }
    })
  }))
