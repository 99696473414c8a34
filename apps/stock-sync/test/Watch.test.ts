/**
 * When a file is opened again, in virtual time.
 */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Queue, Ref, Stream } from "effect"
import * as File from "../src/source/File.ts"
import { advance } from "./support/advance.ts"

const poll = Duration.minutes(1)

/** A file in the version that a test sets, signals from its folder, and how often it was worth opening. */
const watched = Effect.gen(function*() {
  const version = yield* Ref.make(Option.some("one"))
  const signals = yield* Queue.unbounded<void>()
  const looks = yield* Ref.make(0)
  yield* Effect.forkScoped(
    Stream.runForEach(
      File.changes({ version: Ref.get(version), signals: Stream.fromQueue(signals), poll }),
      () => Ref.update(looks, (count) => count + 1)
    )
  )
  // The first look at the version, which nothing is compared to.
  yield* advance(0)
  return {
    becomes: (next: string | undefined) => Ref.set(version, Option.fromNullishOr(next)),
    signal: Effect.andThen(Queue.offer(signals, undefined), advance(0)),
    looks: Ref.get(looks)
  }
})

describe("a file", () => {
  it.effect("is opened again when it has changed", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* becomes("two")
      yield* signal
      expect(yield* looks).toBe(1)
      yield* signal
      expect(yield* looks).toBe(1)
    }))

  it.effect("isn't opened for what happens to its neighbours", () =>
    Effect.gen(function*() {
      const { looks, signal } = yield* watched
      for (let times = 0; times < 20; times++) yield* signal
      yield* advance("50 seconds")
      expect(yield* looks).toBe(0)
    }))

  it.effect("that is gone is opened, so that it is reported, and opened again when it is back as it was", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* becomes(undefined)
      yield* signal
      expect(yield* looks).toBe(1)
      yield* becomes("one")
      yield* signal
      expect(yield* looks).toBe(2)
    }))

  it.effect("is opened after each poll interval without a signal, however busy its folder is", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* advance("61 seconds")
      expect(yield* looks).toBe(1)
      yield* becomes("two")
      for (let seconds = 0; seconds < 61; seconds++) {
        yield* signal
        yield* advance("1 second")
      }
      // By the signal of its change, and by the poll.
      expect(yield* looks).toBe(3)
    }))

  it.effect("whose folder can't be watched is polled, and watched when that becomes possible", () =>
    Effect.gen(function*() {
      const version = yield* Ref.make("one")
      const looks = yield* Ref.make(0)
      let tries = 0
      const signals = Stream.suspend(() => {
        tries++
        if (tries === 1) return Stream.fail("no such folder")
        if (tries === 2) throw new Error("too many watchers")
        return Stream.fromEffect(Effect.sleep("5 seconds"))
      })
      yield* Effect.forkScoped(Stream.runForEach(
        File.changes({ version: Effect.asSome(Ref.get(version)), signals, poll }),
        () => Ref.update(looks, (count) => count + 1)
      ))
      yield* advance("124 seconds")
      expect(yield* Ref.get(looks)).toBe(2)
      expect(tries).toBe(3)
      yield* Ref.set(version, "two")
      yield* advance("10 seconds")
      expect(yield* Ref.get(looks)).toBe(3)
    }))
})
