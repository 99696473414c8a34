/**
 * The rate of a key and the daily quota of an account, in virtual time.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Layer } from "effect"
import * as FileSystem from "effect/FileSystem"
import { TestClock } from "effect/testing"
import * as Arrivals from "../src/access/ArrivalsRepo.ts"
import { Db } from "../src/storage/Db.ts"
import * as Killed from "./killed.ts"
import { call, layerInProcess, refusal, type Request } from "./support.ts"

const me = (request: Request = {}) => call("GET", "/me", request)
const accepted = (count: number) =>
  Effect.map(
    Effect.replicateEffect(me(), count),
    (replies) => replies.filter(({ status }) => status === 200).length
  )

describe("the rate", () => {
  it.effect("allows 120 requests of a key in any minute, and refuses the next with the whole seconds to wait", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* accepted(60), 60)
      yield* TestClock.adjust("30500 millis")
      assert.strictEqual(yield* accepted(60), 60)
      const refused = yield* me()
      assert.strictEqual(refusal(refused), "429 RATE_LIMITED")
      assert.strictEqual(refused.headers["retry-after"], "30")
      yield* TestClock.adjust("29499 millis")
      assert.strictEqual((yield* me()).headers["retry-after"], "1")
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* accepted(61), 60)
      assert.strictEqual((yield* me()).headers["retry-after"], "31")
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("waiting for Retry-After is always enough", () =>
    Effect.gen(function*() {
      yield* accepted(60)
      yield* TestClock.adjust("1234 millis")
      yield* accepted(61)
      const wait = Number((yield* me()).headers["retry-after"])
      yield* TestClock.adjust(Duration.seconds(wait))
      assert.strictEqual((yield* me()).status, 200)
    }).pipe(Effect.provide(layerInProcess())))

  it.effect("counts every request that is not refused for the rate, failed ones included", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* call("GET", "/users/nobody")).status, 404)
      assert.strictEqual((yield* call("POST", "/posts", { text: "{" })).status, 400)
      assert.strictEqual(yield* accepted(10), 1)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 3 } }))))

  it.effect("counts neither unknown routes nor unknown keys", () =>
    Effect.gen(function*() {
      yield* call("GET", "/nowhere")
      yield* me({ key: null })
      assert.strictEqual(yield* accepted(4), 3)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 3 } }))))

  it.effect("is separate for each key", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { apiKey: key } = yield* sandbox.createKey("1001")
      assert.strictEqual(yield* accepted(3), 2)
      assert.strictEqual((yield* me({ key })).status, 200)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 2 } }))))

  it.effect("has a window of the assumed length", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* accepted(3), 2)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* accepted(3), 2)
    }).pipe(Effect.provide(layerInProcess({
      assumptions: { requestsPerWindow: 2, rateWindow: Duration.seconds(5) }
    }))))

  it.effect("starts again after a reset", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      assert.strictEqual(yield* accepted(3), 2)
      yield* sandbox.reset
      assert.strictEqual(yield* accepted(3), 2)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { requestsPerWindow: 2 } }))))
})

describe("the daily quota", () => {
  it.effect("is shared by all keys of an account, and starts again at midnight UTC", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { apiKey: key } = yield* sandbox.createKey("1001")
      yield* TestClock.adjust(Duration.hours(23))
      assert.strictEqual(yield* accepted(2), 2)
      assert.strictEqual((yield* me({ key })).status, 200)
      const refused = yield* me({ key })
      assert.strictEqual(refusal(refused), "429 RATE_LIMITED")
      assert.strictEqual(refused.headers["retry-after"], "3600")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* me({ key })).status, 200)
    }).pipe(Effect.provide(layerInProcess({ assumptions: { dailyQuota: 3 } }))))
})

describe("in a data file, the counts", () => {
  const withFile = <A, E>(use: (data: string) => Effect.Effect<A, E>) =>
    Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped()).pipe(
      Effect.flatMap((folder) => use(`${folder}/sandbox.db`)),
      Effect.scoped,
      Effect.provide(NodeServices.layer)
    )

  it.effect("are kept over a restart, for the rate and the quota", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const start = { data, assumptions: { requestsPerWindow: 4, dailyQuota: 6 } }
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(yield* Effect.provide(accepted(2), layerInProcess(start)), 2)
        yield* TestClock.adjust("30 seconds")
        const { left, refused } = yield* Effect.provide(
          Effect.all({ left: accepted(3), refused: me() }),
          layerInProcess(start)
        )
        assert.strictEqual(left, 2)
        assert.deepStrictEqual([refused.status, refused.headers["retry-after"]], [429, "30"])
        yield* TestClock.adjust("30 seconds")
        assert.strictEqual(yield* Effect.provide(accepted(3), layerInProcess(start)), 2)
        yield* TestClock.adjust("10 minutes")
        const later = yield* Effect.provide(me(), layerInProcess(start))
        assert.strictEqual(later.headers["retry-after"], String(24 * 3600 - 690))
        yield* TestClock.adjust("1 day")
        assert.strictEqual(yield* Effect.provide(accepted(3), layerInProcess(start)), 3)
      })
    ))

  it.effect("are kept when the process is killed", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const answered = yield* Killed.whileWriting(data, 20)
        const start = { data, assumptions: { dailyQuota: answered + 5 } }
        const left = yield* Effect.provide(accepted(6), layerInProcess(start))
        // The last request may be counted without its response having arrived.
        assert.isTrue(left === 5 || left === 4, `${answered} answered, ${left} left of 5`)
      })
    ))

  it.effect("are cleared by a reset", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const start = { data, assumptions: { dailyQuota: 2 } }
        yield* Effect.provide(Effect.andThen(accepted(2), Effect.flatMap(Sandbox.Sandbox, ({ reset }) => reset)), layerInProcess(start))
        assert.strictEqual(yield* Effect.provide(accepted(3), layerInProcess(start)), 2)
      })
    ))

  it.effect("take no more space than the requests that still count", () =>
    withFile((data) =>
      Effect.gen(function*() {
        const start = { data, assumptions: { requestsPerWindow: 200, dailyQuota: 1_300 } }
        const minute = Effect.tap(accepted(200), TestClock.adjust("1 minute"))
        yield* Effect.provide(Effect.replicateEffect(minute, 6), layerInProcess(start))
        const kept = yield* Effect.map(Arrivals.ArrivalsRepo, (repo) => repo.count()).pipe(
          Effect.provide(Layer.provide(Layer.fresh(Arrivals.ArrivalsRepo.layer), Db.layer(data)))
        )
        assert.isAtMost(kept, 700)
        assert.strictEqual(yield* Effect.provide(accepted(101), layerInProcess(start)), 100)
      })
    ))
})
