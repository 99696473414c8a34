/**
 * The virtual clock: what uses it, how it advances, and what uses the caller's clock.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Clock, DateTime, Duration, Effect, Fiber, Ref } from "effect"
import * as FileSystem from "effect/FileSystem"
import { TestClock } from "effect/testing"
import { call, control, field, layerInProcess, layerSocket, refusal } from "./support.ts"

const me = call("GET", "/me")
const createdAt = Effect.map(call("POST", "/posts", { json: { text: "a" } }), (reply) => field(reply, "createdAt"))
const advance = (by: Duration.Input) => Effect.flatMap(Sandbox.Sandbox, ({ advanceClock }) => advanceClock(by))

describe("the virtual clock", () => {
  it.effect("dates new items, ahead of the caller's clock", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1 hour")
      yield* advance("2 days")
      assert.strictEqual(yield* createdAt, "1970-01-03T01:00:00.000Z")
      yield* TestClock.adjust("1 hour")
      yield* advance("1 millis")
      assert.strictEqual(yield* createdAt, "1970-01-03T02:00:00.001Z")
      const { clock, requests } = yield* Sandbox.Sandbox
      const { aheadMillis, now } = yield* clock
      assert.strictEqual(DateTime.formatIso(now), "1970-01-03T02:00:00.001Z")
      assert.strictEqual(aheadMillis, Duration.toMillis("2 days") + 1)
      assert.deepStrictEqual((yield* requests).at(-1)?.at, now)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("is the same over a socket", () =>
    Effect.gen(function*() {
      const { requests } = yield* Sandbox.Sandbox
      yield* advance("2 days")
      assert.strictEqual(yield* createdAt, "1970-01-03T00:00:00.000Z")
      assert.deepStrictEqual((yield* control("GET", "/clock")).json, {
        now: "1970-01-03T00:00:00.000Z",
        aheadMillis: Duration.toMillis("2 days"),
        frozen: false
      })
      assert.strictEqual(DateTime.formatIso((yield* requests)[0]?.at ?? assert.fail("nothing was logged")), "1970-01-03T00:00:00.000Z")
    }).pipe(Effect.provide(layerSocket())))

  it.effect("frees the rate window without waiting", () =>
    Effect.gen(function*() {
      yield* Effect.replicateEffect(me, 2)
      const refused = yield* me
      assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [429, "60"])
      yield* advance("59 seconds")
      assert.strictEqual((yield* me).headers["retry-after"], "1")
      yield* advance("1 second")
      assert.strictEqual((yield* me).status, 200)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 2 } }))))

  it.effect("starts a new day of the quota", () =>
    Effect.gen(function*() {
      yield* advance("23 hours")
      yield* me
      assert.strictEqual((yield* me).headers["retry-after"], "3600")
      yield* advance("1 hour")
      assert.strictEqual((yield* me).status, 200)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { dailyQuota: 1 } }))))

  it.effect("does not affect the delay of a fault, which uses the caller's clock", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "before", millis: 5_000 })
      const reply = yield* Effect.forkChild(me)
      yield* TestClock.adjust("4 seconds")
      yield* advance("1 hour")
      assert.isUndefined(reply.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(reply)).status, 200)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("advances only, by whole milliseconds, up to the year 9999", () =>
    Effect.gen(function*() {
      for (const by of [0, 0.5, Duration.days(4_000_000), Duration.infinity] as const) {
        const error = yield* Effect.flip(advance(by))
        assert.deepStrictEqual([error.code, error.details["field"]], ["VALIDATION_ERROR", "millis"])
      }
      const { clock } = yield* Sandbox.Sandbox
      assert.strictEqual((yield* clock).aheadMillis, 0)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("is read and advanced over HTTP as well", () =>
    Effect.gen(function*() {
      const before = { now: "1970-01-01T00:00:00.000Z", aheadMillis: 0, frozen: false }
      assert.deepStrictEqual((yield* control("GET", "/clock")).json, before)
      const after = { now: "1970-01-01T00:01:00.000Z", aheadMillis: 60_000, frozen: false }
      assert.deepStrictEqual((yield* control("POST", "/clock", { json: { millis: 60_000 } })).json, after)
      assert.deepStrictEqual((yield* control("GET", "/clock")).json, after)
      for (const json of [{ millis: -1 }, { millis: 0 }, { millis: 1.5 }, { millis: "60000" }, {}]) {
        assert.strictEqual(refusal(yield* control("POST", "/clock", { json })), "400 VALIDATION_ERROR millis")
      }
      assert.strictEqual(refusal(yield* control("POST", "/clock", { json: { millis: 9e15 } })), "400 VALIDATION_ERROR millis")
      assert.strictEqual(refusal(yield* control("POST", "/clock", { json: { millis: 1, hours: 2 } })), "400 VALIDATION_ERROR hours")
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("returns to the caller's clock with a reset, and seeded data is in its past", () =>
    Effect.gen(function*() {
      const { clock, reset, state } = yield* Sandbox.Sandbox
      yield* TestClock.adjust("1000 days")
      const { posts } = yield* state
      yield* advance("300 days")
      yield* reset
      assert.strictEqual((yield* clock).aheadMillis, 0)
      assert.strictEqual(yield* createdAt, "1972-09-27T00:00:00.000Z")
      assert.deepStrictEqual(
        (yield* state).posts.slice(0, posts.length).map(({ createdAt }) => DateTime.toEpochMillis(createdAt)),
        posts.map(({ createdAt }) => DateTime.toEpochMillis(createdAt) + Duration.toMillis("1000 days"))
      )
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("is stored in a data file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const data = `${yield* fs.makeTempDirectoryScoped()}/sandbox.db`
      const inFile = <A, E>(effect: Effect.Effect<A, E, Sandbox.Sandbox>) => Effect.provide(effect, layerInProcess({ data }))
      yield* inFile(Effect.andThen(advance("1 day"), advance("1 day")))
      const { aheadMillis } = yield* inFile(Effect.flatMap(Sandbox.Sandbox, ({ clock }) => clock))
      assert.strictEqual(aheadMillis, Duration.toMillis("2 days"))
      yield* inFile(Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset))
      assert.strictEqual((yield* inFile(Effect.flatMap(Sandbox.Sandbox, ({ clock }) => clock))).aheadMillis, 0)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

  it.effect("overtakes no caller in process, however many requests run at once", () =>
    Effect.gen(function*() {
      const json = { stock: 3 }
      const answered = yield* Ref.make(0)
      const caller = (index: number) =>
        Effect.gen(function*() {
          yield* Effect.sleep(Duration.millis(index % 10))
          const sent = yield* Clock.currentTimeMillis
          const { status } = yield* index % 2 === 0 ? me : call("PATCH", "/store/products/0042/stock", { json })
          yield* Ref.update(answered, (count) => count + 1)
          return [status, (yield* Clock.currentTimeMillis) - sent] as const
        })
      const callers = yield* Effect.forkChild(
        Effect.all(Array.from({ length: 250 }, (_, index) => caller(index)), { concurrency: "unbounded" })
      )
      yield* TestClock.adjust("9 millis")
      yield* Effect.sleep(Duration.hours(1)).pipe(Effect.forkChild, Effect.andThen(TestClock.adjust("1 hour")))
      assert.deepStrictEqual([...new Set((yield* Fiber.join(callers)).map(String))], ["200,0"])
      assert.strictEqual(yield* Ref.get(answered), 250)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 1_000 } }))))
})
