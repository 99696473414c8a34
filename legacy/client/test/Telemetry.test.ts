import { describe, expect, it } from "@effect/vitest"
import { type Plaza, Posts, Profiles } from "@plaza-legacy/client"
import { PostId } from "@plaza-legacy/domain"
import { Effect, Either, Logger, LogLevel, Metric, Option } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as Traced from "./support/Traced.ts"
import * as Virtual from "./support/Virtual.ts"

const traced = <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.map(Traced.run(program), ({ spans }) => spans)

const likeTwice = (delivery: Partial<Plaza.Options> = {}) => {
  const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "7" })
  const script = Fake.scripted([limited, { status: 204 }], delivery)
  const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("secret-post-of-someone")))
  return { ...script, run: Virtual.run(Effect.provide(like, script.layer)) }
}

const counts = Effect.map(Metric.snapshot, (pairs) => {
  const counts: Record<string, number> = {}
  pairs.forEach(({ metricKey: { name }, metricState }) => {
    // A name has a count for each value of its labels.
    if (name.startsWith("plaza_client_") && "count" in metricState) counts[name] = (counts[name] ?? 0) + Number(metricState.count)
  })
  return counts
})

/** What an effect adds to the counts of the metrics. Other tests of this process count as well. */
const countedDuring = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.gen(function*() {
    const before = yield* counts
    yield* effect
    const after = yield* counts
    return Object.fromEntries(
      Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)] as const).filter(([, count]) => count !== 0)
    )
  })

describe("a call is observable", () => {
  it.effect("as a span of the operation with a child span for each attempt, without ids in their names", () =>
    Effect.gen(function*() {
      const spans = yield* traced(likeTwice().run)
      expect(spans.map(({ name }) => name)).toEqual(["plaza.likePost", "plaza.attempt", "plaza.attempt"])
      const [operation, first, second] = spans
      expect(Object.fromEntries(operation?.attributes ?? [])).toMatchObject({
        "plaza.area": "posts",
        "plaza.operation": "likePost",
        "plaza.delivery": "Repeatable"
      })
      for (const attempt of [first, second]) {
        expect(Option.getOrNull(attempt?.parent ?? Option.none())?.spanId).toBe(operation?.spanId)
      }
      expect(Object.fromEntries(first?.attributes ?? [])).toMatchObject({
        "plaza.attempt": 1,
        "plaza.wait_ms": 0,
        "http.request.method": "POST",
        "http.response.status_code": 429
      })
      // Both spans belong to one attempt of the delivery rules: a refusal for the rate is no failed attempt.
      expect(Object.fromEntries(second?.attributes ?? [])).toMatchObject({
        "plaza.attempt": 1,
        "plaza.wait_ms": 7_000,
        "http.response.status_code": 204
      })
    }))

  it.effect("by the service only with the option propagateTrace", () =>
    Effect.gen(function*() {
      const silent = likeTwice()
      yield* silent.run
      const propagating = likeTwice({ propagateTrace: true })
      const spans = yield* traced(propagating.run)
      expect(silent.calls.map(({ headers }) => headers["traceparent"])).toEqual([undefined, undefined])
      expect(propagating.calls.map(({ headers }) => headers["traceparent"])).toEqual(
        spans.slice(1).map(({ spanId, traceId }) => `00-${traceId}-${spanId}-01`)
      )
    }))

  it.effect("in metrics: requests, retries, 429s and waits", () =>
    Effect.gen(function*() {
      expect(yield* countedDuring(likeTwice().run)).toEqual({
        plaza_client_requests: 2,
        plaza_client_retries: 1,
        plaza_client_rate_limited: 1,
        plaza_client_rate_pauses: 1,
        plaza_client_rate_wait_seconds: 1
      })
    }))

  it.effect("in metrics that count no wait for the microseconds that a free slot takes", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.json({ id: "1" })])
      const me = Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer)
      expect(yield* countedDuring(Virtual.withSlowReadings(me))).toEqual({ plaza_client_requests: 1 })
    }))

  it.effect("in logs, with no body and no id", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.logfmtLogger, (line) => {
        lines.push(line)
      })
      yield* likeTwice().run.pipe(
        Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
        Logger.withMinimumLogLevel(LogLevel.All)
      )
      expect(lines.join("\n")).not.toContain("secret-post-of-someone")
      expect(lines.map((line) => line.slice(line.indexOf("level=")).replace(/fiber=\S+ /, ""))).toEqual([
        "level=INFO message=rate_limit.key_paused seconds=7",
        "level=INFO message=rate_limit.waiting seconds=7"
      ])
    }))

  it.effect("without spans if tracing is off", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.json({ id: "1" })])
      const me = Effect.provide(Effect.flatMap(Profiles, ({ me }) => me), layer)
      const spans = yield* traced(Effect.withTracerEnabled(me, false))
      expect(spans).toHaveLength(0)
      expect(Either.isRight(yield* Effect.either(me))).toBe(true)
    }))
})
