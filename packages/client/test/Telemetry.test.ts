/** Spans, metrics and logs of calls. */
import { describe, expect, it } from "@effect/vitest"
import { type Plaza, Posts, Profiles, TestTime } from "@plaza/client"
import { PostId } from "@plaza/domain"
import { Effect, Exit, Logger, Metric, Option, References } from "effect"
import * as Fake from "./support/FakeService.ts"
import * as Traced from "./support/Traced.ts"
import * as Virtual from "./support/Virtual.ts"

const traced = <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.map(Traced.run(program), ({ spans }) => spans)

const me = Effect.flatMap(Profiles, ({ me }) => me)

const likeTwice = (options: Partial<Plaza.Options> = {}) => {
  const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "7" })
  const script = Fake.scripted([limited, { status: 204 }], options)
  const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("secret-post-of-someone")))
  return { ...script, run: TestTime.advancing(Effect.provide(like, script.layer)) }
}

/** The metrics of an effect, by their names and attributes. */
const counted = <A, E>(effect: Effect.Effect<A, E>) =>
  Effect.andThen(effect, Metric.snapshot).pipe(
    Effect.map((snapshots) =>
      Object.fromEntries(
        snapshots.flatMap(({ attributes = {}, id, state }) =>
          id.startsWith("plaza_client_") && "count" in state
            ? [[[id, ...Object.entries(attributes).map(([name, value]) => `${name}=${String(value)}`)].join(" "), state.count] as const]
            : []
        )
      )
    ),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

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
      expect(Object.fromEntries(second?.attributes ?? [])).toMatchObject({
        "plaza.attempt": 2,
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

  it.effect("in metrics: requests, retries, 429s, pauses by their scope, and waits", () =>
    Effect.gen(function*() {
      expect(yield* counted(likeTwice().run)).toEqual({
        plaza_client_requests: 2,
        plaza_client_retries: 1,
        plaza_client_rate_limited: 1,
        "plaza_client_rate_pauses scope=key": 1,
        plaza_client_rate_wait_seconds: 1
      })
    }))

  it.effect("in metrics that count no wait for the microseconds that a free slot takes", () =>
    Effect.gen(function*() {
      const { layer } = Fake.scripted([Fake.json({ id: "1" })])
      expect(yield* counted(Virtual.withSlowReadings(Effect.provide(me, layer)))).toEqual({ plaza_client_requests: 1 })
    }))

  it.effect("in logs, with no body and no id", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatLogFmt, (line) => {
        lines.push(line)
      })
      yield* likeTwice().run.pipe(
        Effect.provide(Logger.layer([logger])),
        Effect.provideService(References.MinimumLogLevel, "All")
      )
      expect(lines.join("\n")).not.toContain("secret-post-of-someone")
      expect(lines.map((line) => line.slice(line.indexOf("level=")).replace(/fiber=\S+ /, ""))).toEqual([
        "level=INFO message=rate_limit.key_paused seconds=7",
        "level=DEBUG message=retry operation=likePost attempt=2 after=RateLimited",
        "level=INFO message=rate_limit.waiting seconds=7"
      ])
    }))

  it.effect("without spans if tracing is off", () =>
    Effect.gen(function*() {
      const call = Effect.provide(me, Fake.scripted([Fake.json({ id: "1" })]).layer)
      const { exit, spans } = yield* Traced.run(Effect.withTracerEnabled(call, false))
      expect(spans).toHaveLength(0)
      expect(exit).toEqual(Exit.succeed({ id: "1" }))
    }))
})
