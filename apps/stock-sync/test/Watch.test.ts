/**
 * When a file is opened again, in virtual time.
 */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Queue, Ref, Stream, TestClock } from "effect"
import * as Watch from "../src/Source/Watch.js"

const poll = Duration.minutes(1)

/** Of a version before the stroke: which file has the name. */
const replaced = (before: string, after: string) => before.split("/")[0] !== after.split("/")[0]

/** A file that is in the version a test gives it, word of what happens near it, and how often it was worth opening. */
const watched = Effect.gen(function*() {
  const version = yield* Ref.make(Option.some("first/one"))
  const heard = yield* Queue.unbounded<void>()
  const looks = yield* Ref.make(0)
  yield* Effect.forkScoped(
    Stream.runForEach(
      Watch.changes({ version: Ref.get(version), signals: Stream.fromQueue(heard), poll, replaced }),
      () => Ref.update(looks, (count) => count + 1)
    )
  )
  // The first look at the version, which nothing is compared to.
  yield* TestClock.adjust(0)
  return {
    becomes: (next: string | undefined) => Ref.set(version, Option.fromNullable(next)),
    signal: Effect.zipRight(Queue.offer(heard, undefined), TestClock.adjust(0)),
    looks: Ref.get(looks)
  }
})

describe("a file", () => {
  it.scoped("is opened again once it has come to rest after a change", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* becomes("first/two")
      yield* signal
      yield* TestClock.adjust("999 millis")
      expect(yield* looks).toBe(0)
      yield* TestClock.adjust("1 millis")
      expect(yield* looks).toBe(1)
    }))

  it.scoped("is left alone for as long as it is being written", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      for (let written = 0; written < 20; written++) {
        yield* becomes(`first/half ${written}`)
        yield* signal
        yield* TestClock.adjust("900 millis")
      }
      expect(yield* looks).toBe(0)
      yield* TestClock.adjust("2 seconds")
      expect(yield* looks).toBe(1)
    }))

  it.scoped("is opened every ten seconds where another file takes its place all the time: each of them was whole when it came", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      for (let files = 0; files < 40; files++) {
        yield* becomes(`file ${files}/whole`)
        yield* signal
        yield* TestClock.adjust("900 millis")
      }
      expect(yield* looks).toBe(3)
    }))

  it.scoped("isn't opened for what happens to its neighbours", () =>
    Effect.gen(function*() {
      const { looks, signal } = yield* watched
      for (let times = 0; times < 20; times++) yield* signal
      yield* TestClock.adjust("50 seconds")
      expect(yield* looks).toBe(0)
    }))

  it.scoped("that is replaced over a moment in which there is none is opened once", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* becomes(undefined)
      yield* signal
      yield* TestClock.adjust("300 millis")
      yield* becomes("first/two")
      yield* signal
      yield* TestClock.adjust("5 seconds")
      expect(yield* looks).toBe(1)
    }))

  it.scoped("that is gone is opened, so that somebody hears of it, and opened again when it is back as it was", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* becomes(undefined)
      yield* signal
      yield* TestClock.adjust("2 seconds")
      expect(yield* looks).toBe(1)
      yield* becomes("first/one")
      yield* signal
      yield* TestClock.adjust("2 seconds")
      expect(yield* looks).toBe(2)
    }))

  it.scoped("is opened from time to time without word of a change, however busy its folder is", () =>
    Effect.gen(function*() {
      const { becomes, looks, signal } = yield* watched
      yield* TestClock.adjust("61 seconds")
      expect(yield* looks).toBe(1)
      yield* becomes("first/two")
      for (let seconds = 0; seconds < 61; seconds++) {
        yield* signal
        yield* TestClock.adjust("1 second")
      }
      // By the word of its change, and by the time.
      expect(yield* looks).toBe(3)
    }))

  it.scoped("whose folder can't be watched is opened from time to time, and watched when that can be had", () =>
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
        Watch.changes({ version: Effect.asSome(Ref.get(version)), signals, poll, replaced }),
        () => Ref.update(looks, (count) => count + 1)
      ))
      yield* TestClock.adjust("124 seconds")
      expect(yield* Ref.get(looks)).toBe(2)
      expect(tries).toBe(3)
      yield* Ref.set(version, "two")
      yield* TestClock.adjust("10 seconds")
      expect(yield* Ref.get(looks)).toBe(3)
    }))
})
