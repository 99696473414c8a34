/** A frozen clock: the time, and responses that are the same byte for byte for the same seed and the same requests. */
import { FileSystem, type HttpMethod } from "@effect/platform"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { DateTime, Duration, Effect, FastCheck as fc, type Layer, Option, Redacted, Schema, TestClock } from "effect"
import { call, control, field, layerInProcess, layerSocket, messageOf, type Request, type Transport } from "./support.ts"

/** What the calls of a run have returned so far. Later calls use it. */
interface Memory {
  cursor: string
  postId: string
  mediaId: string
  key: string | undefined
}

const Created = Schema.Struct({ id: Schema.String })
const Upload = Schema.Struct({ mediaId: Schema.String })
const Listed = Schema.Struct({ next_cursor: Schema.String })
const Key = Schema.Struct({ apiKey: Schema.String })
const isKnown = <A>(schema: Schema.Schema<A>, json: unknown) => Schema.decodeUnknownOption(schema)(json)

const remember = (memory: Memory, json: unknown) => {
  memory.postId = Option.match(isKnown(Created, json), { onNone: () => memory.postId, onSome: ({ id }) => id })
  memory.mediaId = Option.match(isKnown(Upload, json), { onNone: () => memory.mediaId, onSome: ({ mediaId }) => mediaId })
  memory.cursor = Option.match(isKnown(Listed, json), { onNone: () => memory.cursor, onSome: ({ next_cursor }) => next_cursor })
  memory.key = Option.match(isKnown(Key, json), { onNone: () => memory.key, onSome: ({ apiKey }) => apiKey })
}

interface Step {
  readonly to: "interface" | "control"
  readonly method: HttpMethod.HttpMethod
  readonly path: (memory: Memory) => string
  readonly body?: (memory: Memory) => Request
}

const text = fc.string({ maxLength: 12 })
const toInterface = (method: HttpMethod.HttpMethod, path: (memory: Memory) => string, body?: (memory: Memory) => Request): Step => ({
  to: "interface",
  method,
  path,
  ...(body === undefined ? {} : { body })
})
const toControl = (method: HttpMethod.HttpMethod, path: string, json?: unknown): Step => ({
  to: "control",
  method,
  path: () => path,
  ...(json === undefined ? {} : { body: () => ({ json }) })
})

const form = (content: string): FormData => {
  const form = new FormData()
  form.append("file", new Blob([content], { type: "text/plain" }), "a.txt")
  return form
}

const lists = fc.constantFrom("/me/posts", "/store/products", "/store/orders", "/conversations", "/conversations/conv_301/messages")
const when = fc.constantFrom("before", "after")
const rate = fc.constantFrom(0.3, 0.7)
const fault = fc.oneof(
  fc.record({ kind: fc.constant("status"), when, status: fc.constantFrom(429, 500, 503), rate }),
  fc.record({ kind: fc.constant("drop"), when, rate, times: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant("garbage"), body: text, every: fc.integer({ min: 2, max: 4 }) }),
  fc.record({
    kind: fc.constant("delay"),
    when,
    millis: fc.constantFrom({ distribution: "uniform", min: 0, max: 3 }, { distribution: "logNormal", median: 1, p99: 4 }),
    rate
  }),
  fc.record({
    kind: fc.constant("sequence"),
    outcomes: fc.constant([{ kind: "status", when: "after", status: 500 }, { kind: "pass" }, { kind: "drop", when: "before" }])
  })
)

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.constant(toInterface("GET", () => "/me")),
  fc.tuple(lists, fc.integer({ min: 1, max: 7 })).map(([path, limit]) => toInterface("GET", () => `${path}?limit=${limit}`)),
  lists.map((path) => toInterface("GET", ({ cursor }) => `${path}?cursor=${encodeURIComponent(cursor)}`)),
  text.map((text) => toInterface("POST", () => "/posts", () => ({ json: { text } }))),
  text.map((text) => toInterface("POST", () => "/posts", ({ mediaId }) => ({ json: { text, mediaIds: [mediaId] } }))),
  text.map((text) => toInterface("POST", ({ postId }) => `/posts/${encodeURIComponent(postId)}/comments`, () => ({ json: { text } }))),
  fc.constant(toInterface("POST", ({ postId }) => `/posts/${encodeURIComponent(postId)}/like`)),
  text.map((content) => toInterface("POST", () => "/media", () => ({ form: form(content) }))),
  fc.nat({ max: 9 }).map((stock) => toInterface("PATCH", () => "/store/products/0042/stock", () => ({ json: { stock } }))),
  fc.constant(toInterface("POST", () => "/store/orders/500001/ship", () => ({ json: { carrier: "Post", trackingNumber: "1" } }))),
  text.map((text) => toInterface("POST", () => "/conversations/conv_301/messages", () => ({ json: { text } }))),
  text.map((text) => toInterface("POST", () => "/stories", () => ({ json: { text } }))),
  fc.constant(toInterface("GET", () => "/me", ({ key = "none" }) => ({ key }))),
  fc.constant(toInterface("POST", () => "/post")),
  fault.map((fault) => toControl("POST", "/faults", fault)),
  fc.constant(toControl("POST", "/accounts/1001/keys", {})),
  fc.constant(toControl("POST", "/accounts", {})),
  fc.integer({ min: 1, max: 100_000 }).map((millis) => toControl("POST", "/clock", { millis })),
  // A late commit comes after a time of the caller's clock.
  fc.integer({ min: 1, max: 1_000 }).map((seed) => toControl("POST", "/latitude", { seed, lateCommitMillis: 0 })),
  fc.constant(toControl("POST", "/reset"))
)

const send = ({ body, method, path, to }: Step, memory: Memory) =>
  (to === "interface" ? call : control)(method, path(memory), body?.(memory)).pipe(
    Effect.tap(({ json }) => Effect.sync(() => remember(memory, json))),
    Effect.map(({ headers, status, text }) => ({ status, headers, text })),
    // A closed connection has no response.
    Effect.orElseSucceed(() => "closed")
  )

const inspections = ["/state", "/requests", "/commits", "/faults", "/clock", "/latitude"]

type Services = Sandbox.Sandbox | Transport

/** Everything that a fresh sandbox returns for these requests. */
const run = (steps: ReadonlyArray<Step>, sandbox: Layer.Layer<Services, unknown>) =>
  Effect.gen(function*() {
    const memory: Memory = { cursor: "", postId: "9007199254740993", mediaId: "media-000001", key: undefined }
    return {
      apiKey: Redacted.value((yield* Sandbox.Sandbox).apiKey),
      responses: yield* Effect.forEach(steps, (step) => send(step, memory)),
      state: yield* Effect.forEach(inspections, (path) => Effect.map(control("GET", path), ({ text }) => text))
    }
  }).pipe(Effect.provide(sandbox), Effect.runPromise)

describe("a sandbox with a frozen clock", () => {
  for (const [way, provide, numRuns] of [["in process", layerInProcess, 25], ["over a socket", layerSocket, 12]] as const) {
    it(`gives the same bytes for the same seed and requests ${way}`, () =>
      fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), fc.nat({ max: 3 }), async (steps, seed) => {
          const sandbox = () => provide({ seed, latitude: seed % 2 === 0 ? {} : { seed, lateCommitMillis: 0 }, freezeClock: true })
          assert.deepStrictEqual(await run(steps, sandbox()), await run(steps, sandbox()))
        }),
        { numRuns }
      ), 120_000)
  }

  for (const [way, provide] of [["in process", layerInProcess], ["over a socket", layerSocket]] as const) {
    it.effect(`stands still ${way} until it is advanced, and returns with a reset`, () =>
      Effect.gen(function*() {
        const { advanceClock, clock, reset } = yield* Sandbox.Sandbox
        const posted = Effect.map(call("POST", "/posts", { json: { text: "a" } }),
          (reply) => [field(reply, "createdAt"), reply.headers["date"]])
        const first = ["2026-01-01T00:00:00.000Z", "Thu, 01 Jan 2026 00:00:00 GMT"]
        assert.deepStrictEqual(yield* posted, first)
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual(yield* posted, first)
        assert.deepStrictEqual((yield* control("POST", "/clock", { json: { millis: 90_000 } })).json, {
          now: "2026-01-01T00:01:30.000Z",
          aheadMillis: 90_000,
          frozen: true
        })
        yield* advanceClock("1 day")
        assert.deepStrictEqual(yield* posted, ["2026-01-02T00:01:30.000Z", "Fri, 02 Jan 2026 00:01:30 GMT"])
        yield* reset
        assert.strictEqual(DateTime.formatIso((yield* clock).now), "2026-01-01T00:00:00.000Z")
        assert.deepStrictEqual(yield* posted, first)
      }).pipe(Effect.provide(provide({ freezeClock: true }))))
  }

  it.effect("counts the rate by that clock", () =>
    Effect.gen(function*() {
      const { advanceClock } = yield* Sandbox.Sandbox
      const status = Effect.map(call("GET", "/me"), (reply) => reply.status)
      yield* status
      yield* TestClock.adjust("2 minutes")
      const refused = yield* call("GET", "/me")
      assert.strictEqual(refused.status, 429)
      assert.include(messageOf(refused), "the clock stands still until POST /sandbox/clock advances it")
      yield* advanceClock("1 minute")
      assert.strictEqual(yield* status, 200)
    }).pipe(Effect.provide(layerInProcess({ freezeClock: true, assumptions: { requestsPerWindow: 1 } }))))

  it.effect("delays by the caller's clock", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "before", millis: 5_000 })
      const [waited] = yield* Effect.all([Effect.timed(call("GET", "/me")), TestClock.adjust("5 seconds")], { concurrency: 2 })
      assert.deepStrictEqual([Duration.toSeconds(waited[0]), waited[1].status], [5, 200])
    }).pipe(Effect.provide(layerInProcess({ freezeClock: true }))))

  it.effect("starts at another time, and continues on a data file", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const options = {
        data: `${yield* fs.makeTempDirectoryScoped()}/sandbox.db`,
        freezeClock: DateTime.unsafeMake("2030-05-06T07:08:09.010Z")
      }
      const inFile = <A, E>(effect: Effect.Effect<A, E, Sandbox.Sandbox>) => Effect.provide(effect, layerInProcess(options))
      const newest = yield* inFile(Effect.gen(function*() {
        const { advanceClock, state } = yield* Sandbox.Sandbox
        yield* advanceClock("1 hour")
        return (yield* state).posts.at(-1)?.createdAt ?? assert.fail("there is no post")
      }))
      assert.strictEqual(DateTime.formatIso(newest).slice(0, 13), "2030-05-06T01")
      const { now } = yield* inFile(Effect.flatMap(Sandbox.Sandbox, ({ clock }) => clock))
      assert.strictEqual(DateTime.formatIso(now), "2030-05-06T08:08:09.010Z")
    }).pipe(Effect.scoped, Effect.provide(NodeContext.layer)))

  it.effect("is refused at a time without a year of four digits", () =>
    Effect.gen(function*() {
      for (const time of ["1969-12-31T23:59:59.999Z", "+010000-01-01T00:00:00Z"]) {
        const error = yield* Effect.flip(Effect.provide(call("GET", "/me"), layerInProcess({ freezeClock: DateTime.unsafeMake(time) })))
        assert.match(String(error), /from 1970 to the year 9999/)
      }
    }))
})

describe("a sandbox without a frozen clock", () => {
  it.effect("creates another key each time", () =>
    Effect.gen(function*() {
      const { createKey } = yield* Sandbox.Sandbox
      const { apiKey } = yield* createKey("1001")
      return Redacted.value(apiKey)
    }).pipe(
      Effect.provide(layerInProcess()),
      Effect.replicateEffect(2),
      Effect.map(([first, second]) => assert.notStrictEqual(first, second))
    ))
})
