/**
 * Runs a program of the model against the sandbox in simulated time, and records the client's results, its requests and the
 * sandbox's state.
 */
import { HttpClient, HttpClientRequest } from "@effect/platform"
import { Chat, type ClientError, Media, Plaza, Posts, Profiles, Store, Stories } from "@plaza-legacy/client"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId } from "@plaza-legacy/domain"
import { type Commit, type Latitude, type RequestRecord, Sandbox, type StateSnapshot } from "@plaza-legacy/sandbox"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Clock, Duration, Effect, Exit, Fiber, FiberRef, Layer, Logger, LogLevel, Random, type Redacted, Schedule } from "effect"
import type { Call, OtherCall, PlannedFault, Program, Write } from "./ModelProgram.ts"
import { texts, timeoutMillis } from "./ModelProgram.ts"

// Of the sandbox's seed, whatever its number.
const post = PostId.make("9007199254741010")
const posts = [post, PostId.make("9007199254741011")]
const people = ["1003", "1005"].map((id) => ProfileId.make(id))
const products = ["MUG-BLUE-250", "MUG-WHITE-350"].map((id) => ProductId.make(id))
const orders = ["500001", "#1029"].map((id) => OrderId.make(id))
const conversation = ConversationId.make("conv_301")
export const media = MediaId.make("media-000001")
export const carrier = "Post"

const of = <A>(all: ReadonlyArray<A>, index: number): A => {
  const found = all[index]
  if (found === undefined) {
    throw new Error(`there is no target ${index}`)
  }
  return found
}

export const targets = {
  like: (index: number) => of(posts, index),
  follow: (index: number) => of(people, index),
  stock: (index: number) => of(products, index),
  ship: (index: number) => of(orders, index)
}

/** What tells the trace of one call from those of all others. */
export const mark = (number: number): string => `call${number}end`

export const stockOf = (number: number): number => 1_000 + number

export const textOf = (write: Extract<Write, { kind: "post" }>, number: number): string => texts[write.text]?.[1] ?? mark(number)

const failureOf = (write: Write, number: number): Effect.Effect<unknown, ClientError.Failure, Plaza.Services> => {
  switch (write.kind) {
    case "post":
      return Effect.flatMap(Posts, ({ create }) => create({ text: textOf(write, number), ...(write.media ? { mediaIds: [media] } : {}) }))
    case "comment":
      return Effect.flatMap(Posts, ({ comment }) => comment(post, mark(number)))
    case "message":
      return Effect.flatMap(Chat, ({ send }) => send(conversation, mark(number)))
    case "story":
      return Effect.flatMap(Stories, ({ create }) => create({ mark: mark(number) }))
    case "upload":
      return Effect.flatMap(Media, ({ upload }) => upload({ content: new TextEncoder().encode(mark(number)), fileName: mark(number) }))
    case "like":
      return Effect.flatMap(Posts, ({ like }) => like(targets.like(write.target)))
    case "follow":
      return Effect.flatMap(Profiles, ({ follow }) => follow(targets.follow(write.target)))
    case "stock":
      return Effect.flatMap(Store, ({ setStock }) => setStock(targets.stock(write.target), stockOf(number)))
    case "ship":
      return Effect.flatMap(Store, ({ ship }) => ship(targets.ship(write.target), { carrier, trackingNumber: mark(number) }))
  }
}

/** One request as the client saw it: a status, a connection that broke, or a wait that it gave up. */
interface Sent {
  readonly method: string
  readonly at: number
  ended: number | "broken" | "given up"
}

type Claim =
  | { readonly _tag: "Success"; readonly value: unknown }
  | { readonly _tag: "Failure"; readonly failure: ClientError.Failure }
  | { readonly _tag: "Interrupted" }

export interface Observed {
  readonly number: number
  readonly write: Write
  /** Its place among the beginnings and ends of all calls. */
  readonly startedAs: number
  readonly endedAs: number
  /** When it began and ended, in milliseconds. */
  readonly from: number
  readonly to: number
  readonly claim: Claim
  readonly sent: ReadonlyArray<Sent>
}

export interface Observation {
  readonly latitude: Latitude.Latitude
  /** Attempts that a call may make. */
  readonly attempts: number
  /** What the service has really done, as it was sent. */
  readonly commits: ReadonlyArray<Commit>
  readonly calls: ReadonlyArray<Observed>
  readonly before: StateSnapshot
  readonly after: StateSnapshot
  readonly requests: ReadonlyArray<typeof RequestRecord.Type>
}

const current = FiberRef.unsafeMake<Array<Sent>>([])

/** Notes every request with the call that it is sent for. */
const noting = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (effect, request) =>
    Effect.gen(function*() {
      const sent: Sent = { method: request.method, at: yield* Clock.currentTimeMillis, ended: "given up" }
      const noted = yield* FiberRef.get(current)
      noted.push(sent)
      return yield* effect.pipe(
        Effect.tapBoth({
          onFailure: () =>
            Effect.sync(() => {
              sent.ended = "broken"
            }),
          onSuccess: ({ status }) =>
            Effect.sync(() => {
              sent.ended = status
            })
        })
      )
    }))

const observe = ({ at, leavesAfter, write }: Call, number: number, nextEvent: () => number) =>
  Effect.gen(function*() {
    yield* Effect.sleep(Duration.millis(at))
    const sent: Array<Sent> = []
    const startedAs = nextEvent()
    const from = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.fork(Effect.locally(failureOf(write, number), current, sent))
    if (leavesAfter !== null) {
      yield* Effect.fork(Effect.delay(Fiber.interruptFork(fiber), Duration.millis(leavesAfter)))
    }
    const exit = yield* Fiber.await(fiber)
    const endedAs = nextEvent()
    const claim: Claim = Exit.isSuccess(exit)
      ? { _tag: "Success", value: exit.value }
      : Exit.isInterrupted(exit)
      ? { _tag: "Interrupted" }
      : { _tag: "Failure", failure: yield* Effect.flip(exit) }
    return { number, write, startedAs, endedAs, from, to: yield* Clock.currentTimeMillis, claim, sent }
  })

/** By this query the log tells the requests of another client from those of the one under test. */
export const othersQuery = "by=another"

/** Sends a write of another client, whatever becomes of it. */
const sendOther = ({ at, write }: OtherCall, apiKey: Redacted.Redacted) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    yield* Effect.sleep(Duration.millis(at))
    const [path, body] = write.kind === "post"
      ? ["/posts", { text: texts[write.text]?.[1] }]
      : [`/store/orders/${encodeURIComponent(targets.ship(write.target))}/ship`, { carrier, trackingNumber: "another's" }]
    const request = HttpClientRequest.post(`${baseUrl}${path}?${othersQuery}`).pipe(
      HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.bodyUnsafeJson(body)
    )
    yield* Effect.ignore(
      Effect.timeout(Effect.flatMap(HttpClient.HttpClient, ({ execute }) => Effect.scoped(execute(request))), "1 minute")
    )
  })

const add = ({ retryAtSeconds, ...fault }: PlannedFault) =>
  Effect.gen(function*() {
    const { addFault } = yield* Sandbox.Sandbox
    const now = yield* Clock.currentTimeMillis
    const date = retryAtSeconds === undefined
      ? {}
      : { retryAfter: new Date(Math.max(0, now + retryAtSeconds * 1_000)).toUTCString() }
    yield* addFault({ ...fault, ...date })
  })

const retries = {
  "as shipped": { attempts: 5, options: {} },
  "once, at once": { attempts: 2, options: { retry: Schedule.recurs(1) } },
  none: { attempts: 1, options: { retry: Schedule.stop } }
}

/** The client of a program, over whatever answers. */
const client = ({ maxWaitSeconds, rateLimit, retries: kind }: Program) =>
  Layer.unwrapEffect(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) =>
    Layer.orDie(Plaza.layer({
      baseUrl,
      apiKey,
      rateLimit,
      timeout: Duration.millis(timeoutMillis),
      maxWait: Duration.seconds(maxWaitSeconds),
      ...retries[kind].options
    })))).pipe(
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, noting)))
    )

/** Everything a program can wait for ends long before. */
const longest = Duration.hours(12)

/** By then the service has carried out, or given up, all that it was asked for. */
const quiet = Duration.minutes(1)

/** Runs a program on the clock that is in force. */
export const runAsIs = (program: Program): Effect.Effect<Observation, never, Sandbox.Sandbox | HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.reset
    const latitude = yield* sandbox.setLatitude(program.latitude)
    const before = yield* sandbox.state
    const account = before.keys[0]?.accountId ?? ""
    const { apiKey: othersKey } = yield* Effect.orDie(sandbox.createKey(account, { name: "another client" }))
    const calls: Array<Observed> = []
    let number = 0
    let events = 0
    yield* Effect.gen(function*() {
      for (const step of program.steps) {
        yield* Effect.forEach(step.faults, add, { discard: true })
        yield* Effect.forEach(step.others, (other) => Effect.forkDaemon(sendOther(other, othersKey)), { discard: true })
        const numbered = step.calls.map((call) => observe(call, ++number, () => ++events))
        calls.push(...(yield* Effect.all(numbered, { concurrency: "unbounded" })))
        yield* Effect.sleep(Duration.millis(step.pause))
      }
    }).pipe(
      Effect.provide(client(program)),
      Effect.timeoutFail({ duration: longest, onTimeout: () => new Error("a call never ended") }),
      Effect.orDie
    )
    yield* Effect.sleep(quiet)
    return {
      latitude,
      attempts: retries[program.retries].attempts,
      calls,
      before,
      after: yield* sandbox.state,
      commits: yield* sandbox.commits,
      requests: yield* sandbox.requests
    }
  }).pipe(Effect.withRandom(Random.make(program.seed)))

/** Runs a program in simulated time. */
export const run = (program: Program) => SimulatedTime.run(Logger.withMinimumLogLevel(runAsIs(program), LogLevel.None))
