/** The note of a command that waits for the rate limit. */
import { describe, expect, it, layer } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { RateLimit } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as WaitNote from "../src/commands/WaitNote.ts"
import { run } from "./support/Plaza.ts"

/** What is written to standard error while a command waits for its second request for a minute. */
const noted = (
  settings: { readonly json: boolean; readonly quiet: boolean },
  prepare: (rateLimit: RateLimit.RateLimit["Service"]) => Effect.Effect<void> = () => Effect.void
) =>
  Effect.gen(function*() {
    const stderr: Array<string> = []
    const command = Effect.gen(function*() {
      const rateLimit = yield* RateLimit.RateLimit
      yield* prepare(rateLimit)
      yield* rateLimit.withSlot(Duration.minutes(5), Effect.void)
      yield* rateLimit.withSlot(Duration.minutes(5), Effect.void)
    })
    const running = yield* Effect.forkChild(WaitNote.during(command).pipe(
      Effect.provide(Layer.merge(
        RateLimit.layerMemory({ limit: 1, window: "1 minute" }),
        Layer.provide(Output.layer(settings), Streams.layerTest({ stdout: [], stderr }))
      ))
    ))
    yield* TestClock.adjust("2 seconds")
    const early = [...stderr]
    yield* TestClock.adjust("10 minutes")
    yield* Fiber.join(running)
    return { early, all: stderr }
  })

describe("a command that waits for the rate limit", () => {
  it.effect("says so once, after some seconds", () =>
    Effect.map(noted({ json: false, quiet: false }), (result) =>
      expect(result).toEqual({ early: [], all: ["Waiting for the rate limit: the key has no free request at the moment.\n"] })))
  it.effect("names the end of a pause", () =>
    Effect.map(noted({ json: false, quiet: false }, ({ pauseFor }) => pauseFor(Duration.seconds(40))), ({ all }) =>
      expect(all).toEqual(["Waiting for the rate limit: the service accepts no such request before 1970-01-01T00:00:40.000Z.\n"])))
  it.effect("names the end of the pause of its operation", () =>
    Effect.map(noted({ json: false, quiet: false }, ({ pauseFor, withSlot }) =>
      Effect.andThen(
        pauseFor(Duration.minutes(3), "createPost"),
        Effect.orDie(withSlot(Duration.minutes(5), Effect.void, { operation: "createPost" }))
      )), ({ all }) =>
      expect(all[0]).toBe("Waiting for the rate limit: the service accepts no such request before 1970-01-01T00:03:00.000Z.\n")))
  it.effect("is silent while it does not wait, although another operation or the key is paused", () =>
    Effect.gen(function*() {
      const stderr: Array<string> = []
      const command = Effect.gen(function*() {
        const { pauseFor } = yield* RateLimit.RateLimit
        yield* pauseFor(Duration.minutes(3), "createPost")
        yield* pauseFor(Duration.seconds(30))
        yield* Effect.sleep("1 minute")
      })
      const running = yield* Effect.forkChild(WaitNote.during(command).pipe(
        Effect.provide(Layer.merge(
          RateLimit.layerMemory(),
          Layer.provide(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout: [], stderr }))
        ))
      ))
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(running)
      expect(stderr).toEqual([])
    }))
  it.effect("does not name the pause of another operation while it waits for a slot", () =>
    Effect.map(noted({ json: false, quiet: false }, ({ pauseFor }) => pauseFor(Duration.hours(12), "createPost")), ({ all }) =>
      expect(all).toEqual(["Waiting for the rate limit: the key has no free request at the moment.\n"])))
  it.effect("names a later end when the service has moved it", () =>
    Effect.map(noted({ json: false, quiet: false }, ({ pauseFor }) =>
      Effect.andThen(
        pauseFor(Duration.seconds(20)),
        Effect.asVoid(Effect.forkDetach(Effect.delay(pauseFor(Duration.minutes(1)), "10 seconds")))
      )), ({ all }) =>
      expect(all).toEqual([
        "Waiting for the rate limit: the service accepts no such request before 1970-01-01T00:00:20.000Z.\n",
        "Waiting for the rate limit: the service accepts no such request before 1970-01-01T00:01:10.000Z.\n"
      ])))
  it.effect("is silent about short waits, however many", () =>
    Effect.gen(function*() {
      const stderr: Array<string> = []
      const request = Effect.gen(function*() {
        const { withSlot } = yield* RateLimit.RateLimit
        yield* withSlot(Duration.minutes(1), Effect.void)
        yield* withSlot(Duration.minutes(1), Effect.void)
        yield* Effect.sleep("2 seconds")
      })
      const running = yield* Effect.forkChild(WaitNote.during(Effect.repeat(request, { times: 20 })).pipe(
        Effect.provide(Layer.merge(
          RateLimit.layerMemory({ limit: 1, window: "1500 millis" }),
          Layer.provide(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout: [], stderr }))
        ))
      ))
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(running)
      expect(stderr).toEqual([])
    }))
  for (const settings of [{ json: true, quiet: false }, { json: false, quiet: true }]) {
    it.effect(`is silent with ${settings.json ? "--json" : "--quiet"}`, () =>
      Effect.map(noted(settings), (result) => expect(result).toEqual({ early: [], all: [] })))
  }
})

layer(Sandbox.layerServer({ fixtures: { generate: { posts: 150 } } }), { excludeTestServices: true })("the program", (it) => {
  it.effect("notes the wait for the second page of a list on standard error", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const env = {
        PLAZA_API_KEY: Redacted.value(apiKey),
        PLAZA_BASE_URL: baseUrl,
        PLAZA_RATE_LIMIT: "1",
        PLAZA_RATE_WINDOW: "5 seconds"
      }
      const [noted, silent] = yield* Effect.all([
        run(["posts", "list", "--all"], { env }),
        run(["posts", "list", "--all", "--quiet"], { env })
      ], { concurrency: 2 })
      expect(noted).toMatchObject({
        code: 0,
        stderr: "Waiting for the rate limit: the key has no free request at the moment.\n"
      })
      expect(silent).toMatchObject({ code: 0, stderr: "" })
      expect(noted.stdout.split("\n").length).toBeGreaterThan(150)
    }))
})
