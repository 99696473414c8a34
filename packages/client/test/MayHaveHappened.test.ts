import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Chat, type ClientError, FailureScope, Media, Plaza, Posts, Profiles, Store, Stories, TestTime } from "@plaza/client"
import { ConversationId, OrderId, PostId, ProductId, ProfileId } from "@plaza/domain"
import { isWrite, names } from "@plaza/domain/Operations"
import { type Fault, Latitude, Sandbox } from "@plaza/sandbox"
import * as Generate from "@plaza/testing/Generators"
import { Arbitrary, Cause, Duration, Effect, Equal, Exit, Fiber, FileSystem, Layer, Option, Result, Schedule, Schema, Stream } from "effect"
import { systemError } from "effect/PlatformError"
import * as Fake from "./support/FakeService.ts"
import * as OnSandbox from "./support/OnSandbox.ts"

const getMe = Effect.flatMap(Profiles, ({ me }) => me)
const setStock = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 3))
const ship = Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("o"), { carrier: "C", trackingNumber: "T" }))
const follow = Effect.flatMap(Profiles, ({ follow }) => follow(ProfileId.make("u")))
const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("x")))
const comment = Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("x"), "hello"))
const create = Effect.flatMap(Posts, ({ create }) => create({ text: "hello" }))
const upload = Effect.flatMap(Media, ({ upload }) => upload({ content: new Uint8Array([1]), fileName: "a.png" }))
const open = (delivery: "Read" | "Repeatable" | "Once") =>
  Plaza.request({ method: "POST", path: "/notes", delivery, response: Schema.Unknown })

type Operation = Effect.Effect<unknown, ClientError.Failure, Plaza.Services>

const repeatable: Readonly<Record<string, Operation>> = { setStock, like, follow, upload, "a repeatable request": open("Repeatable") }
const others: Readonly<Record<string, Operation>> = { ship, comment, "a request that is sent once": open("Once") }
const writes = { ...repeatable, ...others, create }
const reads: Readonly<Record<string, Operation>> = { getMe, "a request that reads": open("Read") }

/** The failure of a call against scripted responses. */
const failureOf = (operation: Operation, replies: ReadonlyArray<Fake.Reply>, options: Partial<Plaza.Options> = {}) =>
  TestTime.advancing(Effect.flip(Effect.provide(operation, Fake.scripted(replies, options).layer)))

/** Whether a call that fails with these responses may have happened. */
const verdict = (operation: Operation, replies: ReadonlyArray<Fake.Reply>, options: Partial<Plaza.Options> = {}) =>
  Effect.map(failureOf(operation, replies, options), FailureScope.mayHaveHappened)

const ambiguous: Readonly<Record<string, Fake.Reply>> = {
  "a 500": Fake.refusal(500, "INTERNAL_ERROR"),
  "a 503 of a proxy": { status: 503, body: "<html>busy</html>" },
  "a 503 with a wait": Fake.refusal(503, "BUSY", {}, { "retry-after": "2" }),
  "a lost connection": Fake.lost,
  "no response in time": "hang"
}

const refusals: ReadonlyArray<readonly [status: number, code: string]> = [
  [400, "VALIDATION_ERROR"],
  [401, "INVALID_API_KEY"],
  [403, "STORE_BLOCKED"],
  [404, "NOT_FOUND"],
  [409, "CONFLICT"],
  [413, "PAYLOAD_TOO_LARGE"],
  [403, "BRAND_NEW"],
  [422, "BRAND_NEW"]
]

/** Bodies that are not the document's envelope. */
const foreign: Readonly<Record<string, string | undefined>> = {
  "no body": undefined,
  "a page": "<html><title>Forbidden</title></html>",
  "a text": "forbidden",
  "other JSON": `{"message":"Forbidden"}`,
  "an error that is a text": `{"error":"forbidden","message":"no"}`,
  "a numeric code": `{"error":{"code":404,"message":"no","status":"NOT_FOUND"}}`,
  "an envelope without a code": `{"error":{"message":"no"}}`,
  "an envelope without a message": `{"error":{"code":"NOT_FOUND"}}`,
  "an envelope whose message is null": `{"error":{"code":"NOT_FOUND","message":null}}`,
  "half an envelope": `{"error":{"code":"NOT_FO`,
  "null": "null",
  "a list of errors": `[{"error":{"code":"NOT_FOUND","message":"no"}}]`
}

// Without 408, which is as ambiguous as a 5xx.
const gatewayStatuses = [400, 401, 403, 404, 405, 407, 409, 413, 421, 425, 451, 499]

describe("a refusal after an ambiguous failure", () => {
  for (const [name, failure] of Object.entries(ambiguous)) {
    it.effect(`of a repeatable write may have happened, and is still that refusal (${name})`, () =>
      Effect.gen(function*() {
        for (const operation of Object.values(repeatable)) {
          for (const [status, code] of refusals) {
            const refusal = yield* failureOf(operation, [failure, Fake.refusal(status, code)])
            expect(refusal).toMatchObject({ status, code })
            expect([status, code, FailureScope.mayHaveHappened(refusal)]).toEqual([status, code, true])
          }
        }
      }))

    it.effect(`of any write may have happened, whatever follows (${name})`, () =>
      Effect.gen(function*() {
        const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "1" })
        const long = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "5000" })
        for (const operation of Object.values(writes)) {
          for (
            const next of [[Fake.refused], [Fake.refused, Fake.refusal(404, "NOT_FOUND")], [limited, Fake.refusal(404, "NOT_FOUND")], [
              long
            ]]
          ) {
            expect(yield* verdict(operation, [failure, ...next])).toBe(true)
          }
        }
      }))
  }

  it.effect("keeps this knowledge in a span, when it is thrown again, and in a cause", () =>
    Effect.gen(function*() {
      const failing = Effect.provide(setStock, Fake.scripted([Fake.lost, Fake.refusal(404, "NOT_FOUND")]).layer).pipe(
        Effect.withSpan("inner"),
        Effect.catch((failure) => Effect.fail(failure)),
        Effect.catchCause(Effect.failCause),
        Effect.withSpan("outer")
      )
      const exit = yield* TestTime.advancing(Effect.exit(failing))
      const failure = Exit.match(exit, { onSuccess: Option.none, onFailure: Cause.findErrorOption })
      expect(Option.map(failure, FailureScope.mayHaveHappened)).toEqual(Option.some(true))
    }))

  it.effect("equals the refusal after a failed connection, and has the same JSON as the refusal of a first attempt", () =>
    Effect.gen(function*() {
      const notFound = Fake.refusal(404, "NOT_FOUND")
      const first = yield* failureOf(setStock, [notFound])
      const later = yield* failureOf(setStock, [Fake.lost, notFound])
      expect(Object.keys(later)).toEqual(Object.keys(first))
      expect(Equal.equals(later, yield* failureOf(setStock, [Fake.refused, notFound]))).toBe(true)
      expect(JSON.stringify(later)).toBe(JSON.stringify(first).replace(`"attempts":1`, `"attempts":2`))
    }))
})

describe("a refusal that nothing ambiguous precedes", () => {
  it.effect("did not happen", () =>
    Effect.gen(function*() {
      const limited = Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "1" })
      for (const operation of Object.values(writes)) {
        for (const [status, code] of refusals) {
          const refusal = Fake.refusal(status, code)
          for (const before of [[], [Fake.refused], [limited], [Fake.refused, limited, Fake.refused]]) {
            expect([status, code, before.length, yield* verdict(operation, [...before, refusal])]).toEqual([
              status,
              code,
              before.length,
              false
            ])
          }
        }
        expect(yield* verdict(operation, [Fake.refused])).toBe(false)
        expect(yield* verdict(operation, [Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "5000" })])).toBe(false)
      }
    }))
})

describe("a 4xx without the envelope of the document", () => {
  for (const [name, body] of Object.entries(foreign)) {
    it.effect(`may have happened (${name})`, () =>
      Effect.gen(function*() {
        for (const operation of Object.values(writes)) {
          for (const status of [401, 404, 409, 499]) {
            expect([status, yield* verdict(operation, [{ status, ...(body === undefined ? {} : { body }) }])]).toEqual([status, true])
          }
        }
      }))

    it.effect(`may have happened, whatever follows a 429 of the same form (${name})`, () =>
      Effect.gen(function*() {
        const limited: Fake.Reply = { status: 429, headers: { "retry-after": "1" }, ...(body === undefined ? {} : { body }) }
        for (const operation of Object.values(writes)) {
          for (const next of [Fake.refusal(404, "NOT_FOUND"), Fake.refused]) {
            expect(yield* verdict(operation, [limited, next])).toBe(true)
          }
        }
      }))
  }

  it.effect("is not sent again with any retry schedule, and has its status", () =>
    Effect.gen(function*() {
      for (const operation of Object.values(writes)) {
        for (const status of gatewayStatuses) {
          for (const retry of [Schedule.recurs(0), Schedule.recurs(2)]) {
            const { calls, layer } = Fake.scripted([{ status, body: "<html>" }], { retry })
            const failure = yield* TestTime.advancing(Effect.flip(Effect.provide(operation, layer)))
            expect([failure, FailureScope.mayHaveHappened(failure), calls.length]).toMatchObject([
              { _tag: "UnrecognizedError", status },
              true,
              1
            ])
          }
        }
      }
    }))

  it.effect("may have happened if its body breaks off or never ends", () =>
    Effect.gen(function*() {
      const body = `{"error":{"code":"NOT_FOUND","mess`
      for (const operation of Object.values(writes)) {
        expect(yield* verdict(operation, [{ cut: 404, body }])).toBe(true)
        expect(yield* verdict(operation, [{ stalled: 404, body }])).toBe(true)
      }
    }))

  it.effect("has the same class, status and code as before, and the rules of its status", () =>
    Effect.gen(function*() {
      const failure = yield* failureOf(setStock, [{ status: 404, body: foreign["an envelope without a message"] ?? "" }])
      expect(failure).toMatchObject({ _tag: "NotFound", status: 404, code: "NOT_FOUND", message: "status 404, code NOT_FOUND" })
      expect(FailureScope.of(failure)._tag).toBe("Item")
    }))
})

describe("a 429 without the envelope of the document", () => {
  const pages = Object.entries(foreign).map(([name, body]) => [name, body === undefined ? {} : { body }] as const)
  const page = (body: { readonly body?: string }, wait?: string): Fake.Reply => ({
    status: 429,
    ...(wait === undefined ? {} : { headers: { "retry-after": wait } }),
    ...body
  })
  const callsOf = (operation: Operation, replies: ReadonlyArray<Fake.Reply>) => {
    const { calls, layer } = Fake.scripted(replies)
    return Effect.map(TestTime.advancing(Effect.result(Effect.provide(operation, layer))), (result) => ({
      result,
      requests: calls.map(({ method, path }) => `${method} ${path}`)
    }))
  }
  const ok = Fake.json({ id: "1", text: "hello" })

  it.effect("ends a write that is sent once, which may have happened", () =>
    Effect.gen(function*() {
      const sentOnce = {
        comment,
        message: Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("c"), "hello")),
        story: Effect.flatMap(Stories, ({ create }) => create({ text: "hello" })),
        request: open("Once")
      }
      for (const [name, operation] of Object.entries(sentOnce)) {
        for (const [form, body] of pages) {
          for (const wait of [undefined, "1", "4000"]) {
            const { requests, result } = yield* callsOf(operation, [page(body, wait), ok])
            expect([name, form, requests.length]).toEqual([name, form, 1])
            const failure = Result.getOrThrow(Result.flip(result))
            expect(failure).toMatchObject({ status: 429, category: "RateLimited" })
            expect(FailureScope.mayHaveHappened(failure)).toBe(true)
          }
          // Only the last response may have happened.
          expect((yield* callsOf(operation, [Fake.refused, page(body, "1"), ok])).requests.length).toBe(2)
        }
      }
    }))

  it.effect("is waited out by a read and by a write that can be repeated", () =>
    Effect.gen(function*() {
      for (const operation of [getMe, setStock, follow, like, open("Read"), open("Repeatable")]) {
        for (const [, body] of pages) {
          const { requests, result } = yield* callsOf(operation, [page(body, "1"), page(body, "1"), ok])
          expect([requests.length, Result.isSuccess(result)]).toEqual([3, true])
        }
      }
    }))

  it.effect("is ambiguous for a shipment, whose conflict then shows that the order is shipped", () =>
    Effect.gen(function*() {
      for (const [, body] of pages) {
        const { requests, result } = yield* callsOf(ship, [page(body, "1"), Fake.refusal(409, "CONFLICT")])
        expect(requests.length).toBe(2)
        expect(Result.flip(result)).toMatchObject({ success: { _tag: "OutcomeUnknown", likely: "done" } })
        expect(Result.flip((yield* callsOf(ship, [page(body, "4000")])).result)).toMatchObject({
          success: { _tag: "OutcomeUnknown", cause: { status: 429 } }
        })
      }
    }))

  it.effect("of a new post leads to a search before the next attempt", () =>
    Effect.gen(function*() {
      for (const [, body] of pages) {
        const { requests } = yield* callsOf(create, [page(body, "1"), Fake.json({ data: [], next_cursor: null })])
        expect(requests.slice(0, 2)).toEqual(["POST /posts", "GET /me/posts"])
      }
    }))
})

describe("the rate limit after an ambiguous failure", () => {
  it.effect("is the failure of a write that can be repeated, with its wait, and may have happened", () =>
    Effect.gen(function*() {
      for (const [name, failure] of Object.entries(ambiguous)) {
        for (const operation of Object.values(repeatable)) {
          for (const body of [{ body: JSON.stringify({ error: { code: "RATE_LIMITED", message: "slow" } }) }, { body: "<html>" }]) {
            const limited = { status: 429, headers: { "retry-after": "80000" }, ...body }
            const last = yield* failureOf(operation, [failure, limited])
            expect([name, last]).toMatchObject([name, {
              status: 429,
              category: "RateLimited",
              retryAfter: Duration.seconds(80_000)
            }])
            expect(FailureScope.mayHaveHappened(last)).toBe(true)
          }
        }
      }
    }))

  it.effect("is that failure too if the pause of another call is too long for it", () =>
    Effect.gen(function*() {
      const answers: Array<Fake.Reply> = [Fake.refusal(429, "RATE_LIMITED", {}, { "retry-after": "50" })]
      const layer = Fake.layerPlaza(({ method }) =>
        Effect.suspend(() => method === "GET" ? Effect.succeed(answers[0] ?? "hang") : Effect.as(Effect.sleep("2 seconds"), Fake.lost))
      )
      const last = yield* Effect.gen(function*() {
        const call = yield* Effect.forkChild(Effect.flip(Plaza.withMaxWait("10 seconds")(setStock)))
        yield* Effect.sleep("1 second")
        yield* Effect.ignore(Plaza.withMaxWait("1 second")(getMe))
        return yield* Fiber.join(call)
      }).pipe(Effect.provide(layer), TestTime.advancing)
      expect(last).toMatchObject({ _tag: "RateLimitWaitExceeded" })
      expect(FailureScope.mayHaveHappened(last)).toBe(true)
    }))
})

describe("a read", () => {
  it.effect("changes nothing, whatever it fails with", () =>
    Effect.gen(function*() {
      const failing: ReadonlyArray<ReadonlyArray<Fake.Reply>> = [
        ...Object.values(ambiguous).map((reply) => [reply]),
        ...Object.values(foreign).map((body): ReadonlyArray<Fake.Reply> => [{ status: 403, ...(body === undefined ? {} : { body }) }]),
        [Fake.lost, Fake.refusal(404, "NOT_FOUND")],
        [{ status: 302 }],
        [{ status: 408 }],
        [{ status: 200, body: "<html>" }],
        [Fake.refused]
      ]
      for (const operation of Object.values(reads)) {
        for (const replies of failing) {
          expect(yield* verdict(operation, replies)).toBe(false)
        }
      }
    }))
})

describe("an upload whose source fails", () => {
  const notFound = Fake.refusal(404, "NOT_FOUND")

  it.effect("after an earlier attempt may have happened", () =>
    Effect.gen(function*() {
      let runs = 0
      const content = Stream.suspend(() => Stream.make(new Uint8Array([runs++])))
      const changing = Effect.flatMap(Media, ({ upload }) => upload({ content, fileName: "a.png" }))
      const failure = yield* failureOf(changing, [Fake.lost, notFound])
      expect(failure).toMatchObject({ _tag: "InvalidInput", field: "content" })
      expect(FailureScope.mayHaveHappened(failure)).toBe(true)
      // The next call has a failure of its own.
      const wrong = Effect.flatMap(Media, ({ upload }) => upload({ content: Stream.make(new Uint8Array([1])), size: 3, fileName: "a.png" }))
      expect(yield* verdict(wrong, [notFound])).toBe(false)
    }))

  it.live("by its file may have happened after an earlier attempt only", () =>
    Effect.gen(function*() {
      const gone = () => systemError({ _tag: "NotFound", module: "FileSystem", method: "open", pathOrDescriptor: "a.png" })
      const failing = (failsFrom: number) => {
        let opened = 0
        return Effect.gen(function*() {
          const fs = yield* FileSystem.FileSystem
          const { uploadFile } = yield* Media
          const path = yield* fs.makeTempFileScoped()
          const open: typeof fs.open = (path, options) =>
            Effect.suspend(() => ++opened < failsFrom ? fs.open(path, options) : Effect.fail(gone()))
          return yield* Effect.flip(Effect.provideService(uploadFile(path), FileSystem.FileSystem, { ...fs, open }))
        }).pipe(Effect.scoped)
      }
      const outcome = (failsFrom: number) =>
        Effect.provide(failing(failsFrom), Layer.merge(NodeFileSystem.layer, Fake.scripted([Fake.lost, notFound]).layer))
      expect(FailureScope.mayHaveHappened(yield* outcome(1))).toBe(false)
      expect(FailureScope.mayHaveHappened(yield* outcome(2))).toBe(true)
    }))
})

/** What a service, or what stands in front of it, may do with one request. */
type Step = Extract<typeof Fault.Type, { readonly kind: "sequence" }>["outcomes"][number]

const html = "<html>no</html>"

const steps: ReadonlyArray<Step> = [
  { kind: "drop", when: "before" },
  { kind: "drop", when: "after" },
  { kind: "status", when: "before", status: 500 },
  { kind: "status", when: "after", status: 503 },
  { kind: "status", when: "after", status: 503, retryAfter: "2" },
  { kind: "status", when: "after", status: 504, body: html },
  { kind: "status", when: "before", status: 404 },
  { kind: "status", when: "before", status: 403, code: "BRAND_NEW" },
  { kind: "status", when: "before", status: 409 },
  { kind: "status", when: "after", status: 403, body: html },
  { kind: "status", when: "after", status: 404, body: "" },
  { kind: "status", when: "after", status: 499, body: `{"message":"closed"}` },
  { kind: "status", when: "after", status: 413, body: `{"error":"too large"}` },
  { kind: "status", when: "after", status: 400, body: `{"error":{"code":"BAD"}}` },
  { kind: "status", when: "after", status: 429, body: html, retryAfter: "1" },
  { kind: "status", when: "before", status: 429, body: html, retryAfter: "1" },
  { kind: "status", when: "after", status: 429, body: "" },
  { kind: "status", when: "after", status: 429, body: html, retryAfter: "4000" },
  { kind: "status", when: "before", status: 429, retryAfter: "1" },
  { kind: "status", when: "before", status: 429, retryAfter: "4000" },
  { kind: "status", when: "after", status: 302, body: "" },
  { kind: "delay", when: "before", millis: 120_000 },
  { kind: "delay", when: "after", millis: 120_000 },
  { kind: "cut", when: "after", status: 403 },
  { kind: "slow", when: "after", millis: 120_000, status: 404 },
  { kind: "garbage", body: html },
  { kind: "pass" }
]

const retries = { "the default": undefined, "two": Schedule.recurs(2), none: Schedule.recurs(0) }

interface Script {
  readonly operation: keyof typeof operations
  readonly latitude: number
  readonly steps: ReadonlyArray<Step>
  readonly retry: keyof typeof retries
  readonly perCall: boolean
}

const text = "by this call"

// The ids of the sandbox's seed.
const operations = {
  setStock: ["setStock", Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("MUG-BLUE-250"), 1_234))],
  like: ["likePost", Effect.flatMap(Posts, ({ like }) => like(PostId.make("9007199254741010")))],
  follow: ["followUser", Effect.flatMap(Profiles, ({ follow }) => follow(ProfileId.make("1003")))],
  upload: ["uploadMedia", upload],
  comment: ["createComment", Effect.flatMap(Posts, ({ comment }) => comment(PostId.make("9007199254741010"), text))],
  message: ["sendMessage", Effect.flatMap(Chat, ({ send }) => send(ConversationId.make("conv_301"), text))],
  story: ["createStory", Effect.flatMap(Stories, ({ create }) => create({ text }))],
  post: ["createPost", Effect.flatMap(Posts, ({ create }) => create({ text }))],
  ship: ["shipOrder", Effect.flatMap(Store, ({ ship }) => ship(OrderId.make("500001"), { carrier: "C", trackingNumber: "T" }))],
  request: [
    "setStock",
    Plaza.request({
      method: "PATCH",
      path: "/store/products/MUG-BLUE-250/stock",
      payload: { stock: 1_234 },
      delivery: "Repeatable",
      response: Schema.Unknown
    })
  ]
} as const satisfies Readonly<Record<string, readonly [operation: string, call: Operation]>>

it("random scripts run every write", () => {
  const run: ReadonlyArray<string> = Object.values(operations).map(([operation]) => operation)
  expect(names.filter((name) => isWrite(name) && !run.includes(name))).toEqual([])
})

const sentOnce: ReadonlySet<keyof typeof operations> = new Set(["comment", "message", "story"])

const script: Arbitrary.Arbitrary<Script> = Arbitrary.all({
  // The names of a record that lists every one.
  operation: Generate.elementOf(Object.keys(operations) as Array<keyof typeof operations>),
  latitude: Generate.between(0, 2 ** 31 - 1),
  steps: Generate.arrayOf(Generate.elementOf(steps), { minLength: 1, maxLength: 6 }),
  retry: Generate.anyOf(["the default", "two", "none"]),
  perCall: Generate.boolean
})

/** What the service carried out, and what the client says of it. */
const runScript = ({ latitude, operation, perCall, retry, steps }: Script) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.reset
    yield* sandbox.setLatitude(Latitude.fromSeed(latitude))
    const [name, call] = operations[operation]
    const [first = { kind: "pass" } as const, ...rest] = steps
    const method = name === "setStock" ? "PATCH" : "POST"
    yield* sandbox.addFault({ kind: "sequence", method, outcomes: [first, ...rest] })
    const schedule = retries[retry]
    const options = {
      timeout: "30 seconds",
      maxWait: "10 minutes",
      ...(schedule === undefined || perCall ? {} : { retry: schedule })
    } as const
    const calling: Operation = schedule !== undefined && perCall ? Plaza.withRetry(schedule)(call) : call
    const exit = yield* Effect.exit(calling.pipe(Effect.provide(OnSandbox.plaza(options))))
    // A service may carry out a request some time after it failed.
    yield* Effect.sleep("1 minute")
    const commits = (yield* sandbox.commits).filter((commit) => commit.operation === name)
    const failure = Exit.match(exit, { onSuccess: Option.none, onFailure: Cause.findErrorOption })
    return {
      happened: commits.length > 0,
      isRepeated: commits.length > 1 && sentOnce.has(operation),
      failure: Option.getOrUndefined(failure),
      mayHaveHappened: Option.getOrUndefined(Option.map(failure, FailureScope.mayHaveHappened))
    }
  }).pipe(TestTime.advancing)

describe("a call that failed", () => {
  it.effect("may have happened whenever the service carried it out, and happened once if it is sent once, under any script and latitude", () =>
    Effect.gen(function*() {
      const outcomes = { happened: 0, refused: 0 }
      const result = yield* Arbitrary.checkEffect(script, (drawn) =>
        Effect.map(runScript(drawn), ({ failure, happened, isRepeated, mayHaveHappened }) => {
          if (failure !== undefined) {
            outcomes[happened ? "happened" : "refused"]++
          }
          return !isRepeated && (failure === undefined || !happened || mayHaveHappened === true)
        }), { runs: 400 })
      expect(Arbitrary.formatCheckFailure(result)).toBeUndefined()
      // The script reaches both.
      expect(outcomes.happened).toBeGreaterThan(50)
      expect(outcomes.refused).toBeGreaterThan(20)
    }).pipe(Effect.provide(OnSandbox.inProcess())))
})
