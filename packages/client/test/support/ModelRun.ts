/**
 * Runs a program of the model against the sandbox in simulated time, and records the client's results, its requests and the
 * sandbox's state.
 */
import { Chat, type ClientError, Media, Plaza, Posts, Profiles, Store, Stories } from "@plaza/client"
import * as TestTime from "@plaza/client/TestTime"
import { ConversationId, MediaId, OrderId, PostId, ProductId, ProfileId } from "@plaza/domain"
import { type Commit, type Latitude, type RequestRecord, Sandbox, type StateSnapshot } from "@plaza/sandbox"
import { Cause, Clock, Context, Effect, Exit, Fiber, Layer, Random, type Redacted, References, Schedule } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { TestClock } from "effect/testing"
import type { Call, OtherCall, PlannedFault, Program, Write } from "./ModelProgram.ts"
import { allowance, texts, timeoutMillis } from "./ModelProgram.ts"

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

const Current = Context.Reference<Array<Sent>>("test/Sent", { defaultValue: () => [] })

/** Notes every request with the call that it is sent for. */
const noting = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.transform(client, (effect, request) =>
    Effect.gen(function*() {
      const sent: Sent = { method: request.method, at: yield* Clock.currentTimeMillis, ended: "given up" }
      const noted = yield* Current
      noted.push(sent)
      return yield* effect.pipe(
        Effect.tap(({ status }) =>
          Effect.sync(() => {
            sent.ended = status
          })
        ),
        Effect.tapError(() =>
          Effect.sync(() => {
            sent.ended = "broken"
          })
        )
      )
    }))

const observe = ({ at, leavesAfter, write }: Call, number: number, nextEvent: () => number) =>
  Effect.gen(function*() {
    yield* Effect.sleep(at)
    const sent: Array<Sent> = []
    const startedAs = nextEvent()
    const from = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkChild(Effect.provideService(failureOf(write, number), Current, sent))
    if (leavesAfter !== null) {
      yield* Effect.forkDetach(Effect.delay(Fiber.interrupt(fiber), leavesAfter))
    }
    const exit = yield* Fiber.await(fiber)
    const endedAs = nextEvent()
    const claim: Claim = Exit.isSuccess(exit)
      ? { _tag: "Success", value: exit.value }
      : Cause.hasInterruptsOnly(exit.cause)
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
    yield* Effect.sleep(at)
    const [path, body] = write.kind === "post"
      ? ["/posts", { text: texts[write.text]?.[1] }]
      : [`/store/orders/${encodeURIComponent(targets.ship(write.target))}/ship`, { carrier, trackingNumber: "another's" }]
    const request = HttpClientRequest.post(`${baseUrl}${path}?${othersQuery}`).pipe(
      HttpClientRequest.bearerToken(apiKey),
      HttpClientRequest.bodyJsonUnsafe(body)
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
  none: { attempts: 1, options: { retry: Schedule.recurs(0) } }
}

/** The client of a program, over whatever answers. */
const client = ({ maxWaitSeconds, rateLimit, retries: kind }: Program) =>
  Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) =>
    Layer.orDie(Plaza.layer({
      baseUrl,
      apiKey,
      rateLimit,
      timeout: timeoutMillis,
      maxWait: maxWaitSeconds * 1_000,
      ...retries[kind].options
    })))).pipe(
      Layer.provide(Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, noting)))
    )

const world = Sandbox.layerHttpClient({ assumptions: { requestsPerWindow: allowance } })

/** Runs a program with a sandbox and a clock of its own. */
export const run = (program: Program): Effect.Effect<Observation> =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
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
        yield* Effect.forEach(step.others, (other) => Effect.forkDetach(sendOther(other, othersKey)), { discard: true })
        const numbered = step.calls.map((call) => observe(call, ++number, () => ++events))
        calls.push(...(yield* Effect.all(numbered, { concurrency: "unbounded" })))
        yield* Effect.sleep(step.pause)
      }
    }).pipe(
      Effect.provide(client(program)),
      // Everything that a program can wait for ends long before.
      Effect.timeoutOrElse({ duration: "12 hours", orElse: () => Effect.die(new Error("a call never ended")) })
    )
    // By then the service has carried out, or given up, all requests.
    yield* Effect.sleep("1 minute")
    return {
      latitude,
      attempts: retries[program.retries].attempts,
      calls,
      before,
      after: yield* sandbox.state,
      commits: yield* sandbox.commits,
      requests: yield* sandbox.requests
    }
  }).pipe(
    Random.withSeed(program.seed),
    Effect.provide(world),
    Effect.orDie,
    TestTime.advancing,
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.provide(TestClock.layer())
  )
