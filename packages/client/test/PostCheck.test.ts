import { describe, expect, it } from "@effect/vitest"
import { Media, Posts } from "@plaza/client"
import * as TestTime from "@plaza/client/TestTime"
import { MediaId } from "@plaza/domain"
import { type Fault, type Latitude, Sandbox } from "@plaza/sandbox"
import { between, elementOf, oneOf, textOf, unicode } from "@plaza/testing/Generators"
import { Arbitrary, Clock, type Duration, Effect, Fiber, Result } from "effect"
import { compare } from "../src/internal/delivery/PostText.ts"
import * as OnSandbox from "./support/OnSandbox.ts"
import * as PostService from "./support/PostService.ts"
import { fault, prompt } from "./support/PostService.ts"

const after: Record<string, Fault> = {
  "a 500": { kind: "status", when: "after", status: 500 },
  "a 503": { kind: "status", when: "after", status: 503 },
  "a 504": { kind: "status", when: "after", status: 504 },
  "a lost connection": { kind: "drop", when: "after" },
  "a timeout": { kind: "delay", when: "after", millis: 40_000 }
}

const late: Record<string, Fault> = {
  "a 504": { kind: "status", when: "before", status: 504 },
  "a 502": { kind: "status", when: "before", status: 502 },
  "a lost connection": { kind: "drop", when: "before" },
  "a timeout": { kind: "delay", when: "before", millis: 40_000 }
}

const sandboxText = "Fish & Chips  <today>\r\nonly, at the caf\u00e9"
// The shop has the first one; the second is uploaded.
const sandboxMedia = [MediaId.make("media-000001"), MediaId.make("media-000002")]

// What a stamp shows depends on the moment of the call within its second, where a clock is odd.
const moments = ({ clockOffsetMillis, createdAtOffsetMillis, createdAtPrecision }: Latitude.Change): ReadonlyArray<number> =>
  clockOffsetMillis === undefined && createdAtOffsetMillis === undefined && createdAtPrecision === undefined
    ? [420]
    : [0, 150, 420, 777, 999]

/** Goes to a moment of a later second. */
const toMoment = (moment: number) => Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(5_000 - now % 1_000 + moment))

/** How often the post was created, and the outcome of the call, for calls at several moments of a second. */
const creates = (latitude: Latitude.Change, fault: Fault, mediaIds: ReadonlyArray<MediaId> = []) =>
  Effect.forEach(moments(latitude), (moment) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* Effect.ignore(Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.png", content: new Uint8Array(1) })))
      yield* toMoment(moment)
      yield* sandbox.addFault({ ...fault, method: "POST", path: "/posts" })
      const result = yield* Effect.result(create({ text: sandboxText, mediaIds }))
      yield* Effect.sleep("1 minute")
      const made = (yield* sandbox.commits).filter(({ operation }) => operation === "createPost")
      return {
        made: made.length,
        result: Result.match(result, {
          onFailure: ({ _tag }) => _tag,
          onSuccess: ({ id }) => made.some(({ createdId }) => createdId === id) ? "Success" : "another post"
        })
      }
    }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude } }))))

const each = (result: "Success" | "OutcomeUnknown", latitude: Latitude.Change) => moments(latitude).map(() => ({ made: 1, result }))

/** Services whose lists identify a post. */
const findable: Record<string, Latitude.Change> = {
  "stamps whole seconds": { createdAtPrecision: "seconds" },
  "stamps a second ahead of its Date": { createdAtOffsetMillis: 1_000 },
  "has a clock ten minutes ahead, and a Date": { clockOffsetMillis: 600_000 },
  "has a clock an hour behind, and a Date": { clockOffsetMillis: -3_600_000 },
  "has a list that lags 700 ms": { listLagMillis: 700 },
  "has a list that lags five seconds": { listLagMillis: 5_000 },
  "lists the oldest first": { listOrder: "oldestFirst" },
  "lists in no order, on short pages": { listOrder: "shuffled", pages: "someEmpty" },
  "lists no media": { postMediaIdsInList: "omitted" },
  "stores LF for CRLF": { text: ["lf"] },
  "trims and collapses white space": { text: ["trimmed", "collapsed"] },
  "escapes HTML": { text: ["htmlEscaped"] },
  "composes Unicode": { text: ["nfc"] },
  "orders media its own way": { mediaOrder: "reversed" },
  "adds fields": { extraFields: true },
  "responds without a body": { createStatus: 204, createBody: "none" },
  "responds with an object of another shape": { createBody: "unexpected" }
}

/** Services whose lists don't identify a post. */
const doubtful: Record<string, Latitude.Change> = {
  "lists no texts": { postTextInList: "omitted" },
  "lists neither text nor media": { postTextInList: "null", postMediaIdsInList: "null" },
  "lists no moments": { postCreatedAtInList: "omitted" },
  "lists no texts, and has no Date": { postTextInList: "omitted", dateHeader: "absent" },
  "cuts texts": { storedTextLength: 10, ellipsis: true },
  "escapes HTML and cuts within an escape": { text: ["htmlEscaped"], storedTextLength: 8 },
  "has no Date": { dateHeader: "absent" },
  "stamps ten seconds behind its Date": { createdAtOffsetMillis: -10_000 },
  "stamps an hour behind its Date": { createdAtOffsetMillis: -3_600_000 },
  "stamps a day behind its Date": { createdAtOffsetMillis: -86_400_000 },
  "stamps ten minutes ahead of its Date": { createdAtOffsetMillis: 600_000 },
  "has another clock, and no Date": { clockOffsetMillis: -600_000, dateHeader: "absent" }
}

/** Services whose stamps are about as far before their Date as the check permits. */
const barelyFindable: Record<string, Latitude.Change> = {
  "stamps a second behind its Date": { createdAtOffsetMillis: -1_000 },
  "stamps two seconds behind its Date": { createdAtOffsetMillis: -2_000 },
  "stamps three seconds behind its Date": { createdAtOffsetMillis: -3_000 },
  "stamps whole seconds two seconds behind its Date": { createdAtPrecision: "seconds", createdAtOffsetMillis: -2_000 }
}

describe("a post that was created before its response was lost is not created again", () => {
  for (const [service, latitude] of Object.entries(findable)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and is found, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, sandboxMedia), (results) => expect(results).toEqual(each("Success", latitude))))
    }
  }

  for (const [service, latitude] of Object.entries(barelyFindable)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and is found or left open, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, sandboxMedia), (results) => {
          for (const { made, result } of results) {
            expect([made, result]).toEqual([1, result === "Success" ? "Success" : "OutcomeUnknown"])
          }
        }))
    }
  }

  for (const [service, latitude] of Object.entries(doubtful)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and its outcome is unknown, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, sandboxMedia), (results) => expect(results).toEqual(each("OutcomeUnknown", latitude))))
    }
  }
})

describe("a post that is created after its caller gave up is not created again", () => {
  for (const lateCommitMillis of [300, 3_000]) {
    for (const [failure, fault] of Object.entries(late)) {
      it.effect(`${lateCommitMillis} ms after ${failure}`, () =>
        Effect.map(creates({ lateCommitMillis }, fault), (results) => expect(results).toEqual(each("Success", { lateCommitMillis }))))
    }
  }
})

const text = "read https://example.org/a/long/path now"
const shortened = (text: string) => text.replace(/https:\S+/, "https://sho.rt/x")
const media = [MediaId.make("m1"), MediaId.make("m2")]

interface NewPost {
  readonly text?: string
  readonly mediaIds?: ReadonlyArray<MediaId>
}

/** Creates a post as call `number`. Returns the tag of its failure, or whose post it returns. */
const create = (service: PostService.PostService, number: number, post: NewPost = { text }) =>
  Effect.flatMap(Posts, ({ create }) => Effect.result(create(post))).pipe(
    Effect.provideService(PostService.CurrentCall, number),
    Effect.map(Result.match({
      onFailure: ({ _tag }): string => _tag,
      onSuccess: ({ id }) => service.commits.some((commit) => commit.id === id && commit.call === number) ? "own post" : "another post"
    }))
  )

const madeBy = ({ commits }: PostService.PostService, number: number) => commits.filter(({ call }) => call === number).length

type Test<A> = (service: PostService.PostService) => Effect.Effect<A, never, Posts>

/** Runs a test at twenty moments of a second, each with a new service and a new client. Returns how often it has each result. */
const trials = (variant: Partial<PostService.Variant>, test: Test<string>, options?: Parameters<PostService.PostService["layer"]>[0]) =>
  Effect.gen(function*() {
    const counts: Record<string, number> = {}
    for (let moment = 0; moment < 1_000; moment += 50) {
      yield* toMoment(moment)
      const service = yield* PostService.make(variant)
      const result = yield* Effect.provide(test(service), service.layer(options))
      counts[result] = (counts[result] ?? 0) + 1
    }
    return counts
  }).pipe(TestTime.advancing)

/** A call whose attempt ends like this, and how many posts it created. */
const call = (service: PostService.PostService, handling: PostService.Handling, post?: NewPost) =>
  Effect.gen(function*() {
    service.onCreate(handling)
    const result = yield* create(service, 9, post)
    yield* Effect.sleep("1 minute")
    return `${result}, ${madeBy(service, 9)} created`
  })

const failed = fault(503, "now")
const lost = fault("drop", "now")
const nothing = fault(503, "never")

/** An earlier post of the client, then a call a minute later. */
const afterAnother = (handling: PostService.Handling, post?: NewPost): Test<string> => (service) =>
  Effect.andThen(Effect.andThen(create(service, 1, { text: "an earlier post" }), Effect.sleep("1 minute")), call(service, handling, post))

const found = { "own post, 1 created": 20 }
const unknown = { "OutcomeUnknown, 1 created": 20 }
const again = { "own post, 1 created": 20 }

describe("a service with several clocks", () => {
  for (const apart of [20, 60, 300, 1_000, -20, -60, -300, -1_000]) {
    it.effect(`whose servers are ${apart} ms apart: a post is found`, () =>
      Effect.map(trials({ servers: [0, apart] }, afterAnother(failed)), (results) => expect(results).toEqual(found)))

    it.effect(`whose servers are ${apart} ms apart: a post with a shortened link is not created again`, () =>
      Effect.map(trials({ servers: [0, apart], rewrite: shortened }, afterAnother(failed)), (results) => expect(results).toEqual(unknown)))
  }

  for (const by of [60_000, -60_000, -50]) {
    const steps = [{ at: 30_000, by }]

    it.effect(`whose clock has stepped by ${by} ms since the last post: a post is found`, () =>
      Effect.map(trials({ steps }, afterAnother(failed)), (results) => expect(results).toEqual(found)))

    it.effect(`whose clock has stepped by ${by} ms since the last post: a post with a shortened link is not created again`, () =>
      Effect.map(trials({ steps, rewrite: shortened }, afterAnother(failed)), (results) => expect(results).toEqual(unknown)))
  }

  for (const by of [60_000, -60_000, 3_600_000]) {
    for (const [failure, handling] of [["a 503", failed], ["a lost connection", lost]] as const) {
      for (const earlier of [true, false]) {
        it.effect(`whose clock steps by ${by} ms after ${failure}${earlier ? ", after an earlier post" : ""}: a post is not created again`, () =>
          Effect.map(
            trials({ steps: [{ at: earlier ? 60_500 : 500, by }] }, earlier ? afterAnother(handling) : (service) =>
              call(service, handling)),
            (results) => expect(results).toEqual(unknown)
          ))
      }
    }
  }

  it.effect("whose clock steps after a lost connection, and another client's post: a post is not created again", () =>
    Effect.map(
      trials({ steps: [{ at: 500, by: 60_000 }] },
        (service) => Effect.andThen(Effect.forkDetach(Effect.delay(service.add("something else"), 700)), call(service, lost))),
      (results) => expect(results).toEqual(unknown)
    ))

  it.effect("whose servers are a second apart and stamp before their Date: a post is not created again", () =>
    Effect.map(trials({ servers: [0, -1_000], stampOffset: -1_400 }, afterAnother(failed)), (results) =>
      expect(Object.keys(results).filter((result) => !result.endsWith(", 1 created"))).toEqual([])))

  it.effect("that is behind and steps after a 503, and another client's post: a post is not created again", () =>
    Effect.map(
      trials({ steps: [{ at: 500, by: 60_000 }], stampOffset: -9_000 },
        (service) => Effect.andThen(Effect.forkDetach(Effect.delay(service.add("something else"), 700)), call(service, failed))),
      (results) => expect(results).toEqual(unknown)
    ))

  it.effect("whose clock steps back: a post of an earlier call with unknown outcome is not returned", () =>
    Effect.map(
      trials({ steps: [{ at: 1, by: -60_000 }], listLag: 2_000 }, (service) =>
        Effect.gen(function*() {
          const begin = yield* Clock.currentTimeMillis
          service.onCreate(failed)
          const first = yield* create(service, 1)
          yield* Effect.sleep(begin + 60_000 - (yield* Clock.currentTimeMillis))
          return `${first}, ${yield* call(service, failed)}`
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, OutcomeUnknown, 1 created": 20 })
    ))

  it.effect("and a proxy with a wrong one: a post is not created again", () =>
    Effect.map(trials({ servers: [-600_000, 0] }, (service) => call(service, failed)), (results) => expect(results).toEqual(unknown)))

  it.effect("and a list that shows posts of the future: an equal post of another client is not returned", () =>
    Effect.map(
      trials({ stampOffset: 3_600_000 }, (service) =>
        Effect.gen(function*() {
          yield* service.add(text)
          yield* Effect.sleep("50 minutes")
          yield* service.add("something else")
          yield* Effect.sleep("10 minutes")
          return yield* call(service, nothing)
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })
    ))

  for (const [precision, stampUnit] of [["minutes", 60_000], ["hours", 3_600_000], ["days", 86_400_000]] as const) {
    it.effect(`that stamps whole ${precision}: a post is not created again`, () =>
      Effect.map(
        trials({ stampUnit }, (service) =>
          Effect.gen(function*() {
            const now = PostService.epoch + (yield* Clock.currentTimeMillis)
            // Ten seconds before the next stamp, which another post has.
            yield* Effect.sleep(2 * stampUnit - now % stampUnit - 10_000)
            yield* Effect.forkDetach(Effect.delay(service.add("something else"), "11 seconds"))
            return yield* call(service, failed)
          })),
        (results) => expect(results).toEqual(unknown)
      ))
  }
})

describe("a service with another clock for createdAt", () => {
  const posts: ReadonlyArray<readonly [string, Partial<PostService.Variant>, NewPost]> = [
    ["a post", {}, { text }],
    ["a post with a shortened link", { rewrite: shortened }, { text }],
    ["a post that is only a link", { rewrite: shortened }, { text: "https://example.org/a" }],
    ["a post with renamed media", { media: "renamed" }, { text, mediaIds: media }],
    ["a post of renamed media", { media: "renamed" }, { mediaIds: media }]
  ]
  for (
    const [ahead, stampOffset] of [["an hour ahead", 3_600_000], ["an hour behind", -3_600_000], ["ten seconds behind", -10_000]] as const
  ) {
    for (const [name, variant, post] of posts) {
      it.effect(`${ahead}: ${name} is not created again`, () =>
        Effect.map(trials({ stampOffset, ...variant }, (service) => call(service, failed, post)), (results) =>
          expect(results).toEqual(unknown)))

      it.effect(`${ahead}: ${name} is not created again after an earlier one`, () =>
        Effect.map(trials({ stampOffset, ...variant }, afterAnother(failed, post)), (results) => expect(results).toEqual(unknown)))
    }
  }

  it.effect("twelve seconds behind, after a slow response that didn't show it: a post is not created again", () =>
    Effect.map(
      trials({ stampOffset: -12_000 }, (service) =>
        Effect.gen(function*() {
          service.onCreate({ ...prompt, before: 10_000, head: 10_000 }, fault(403, "never"))
          yield* create(service, 1, { text: "an earlier post" })
          yield* create(service, 2, { text: "a refused post" })
          return yield* call(service, failed)
        })),
      (results) => expect(results).toEqual(unknown)
    ))

  it.effect("ten minutes ahead, as an own post showed: an equal post of another client is not returned", () =>
    Effect.map(
      trials({ stampOffset: 600_000 }, (service) =>
        Effect.gen(function*() {
          yield* create(service, 1, { text: "an earlier post" })
          yield* Effect.sleep("20 minutes")
          yield* service.add(text)
          yield* Effect.sleep("10 minutes")
          return yield* call(service, nothing)
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })
    ))
})

describe("an equal post of another client", () => {
  /** A call that creates nothing at first, after the post of another client. */
  const behind = (age: Duration.Input, handling: PostService.Handling = nothing): Test<string> => (service) =>
    Effect.gen(function*() {
      yield* service.add(text)
      yield* Effect.sleep(age)
      return yield* call(service, handling)
    })

  it.effect("of a second before the call can be returned", () =>
    Effect.map(trials({}, behind("1 second")), (results) => expect(results).toEqual({ "another post, 0 created": 20 })))

  for (const age of [3_500, 9_000]) {
    for (const body of [0, 5_000, 10_000]) {
      for (const [failure, handling] of [["a 503", nothing], ["a lost connection", fault("drop", "never")]] as const) {
        it.effect(`of ${age} ms before the call is not returned after ${failure}, if the list takes ${body} ms`, () =>
          Effect.map(
            trials({}, (service) => {
              service.onList(...Array.from({ length: 4 }, () => ({ ...prompt, body })))
              return behind(age, handling)(service)
            }),
            (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })
          ))
      }
    }
  }

  it.effect("is another post after an own post whose createdAt followed Date", () =>
    Effect.map(
      trials({}, (service) => Effect.andThen(create(service, 1, { text: "an earlier post" }), behind("10 seconds")(service))),
      (results) => expect(results).toEqual(again)
    ))

  it.effect("is another post if a listed post is newer by more than the call takes", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          yield* service.add(text)
          yield* Effect.sleep("1 minute")
          yield* service.add("something else")
          return yield* call(service, nothing)
        })),
      (results) => expect(results).toEqual(again)
    ))

  it.effect("leaves the outcome unknown if the listed post is newer by less than that", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          yield* service.add(text)
          yield* Effect.sleep("15 seconds")
          yield* service.add("something else")
          return yield* call(service, nothing)
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })
    ))

  it.effect("is another post after 30 hours", () =>
    Effect.map(trials({}, behind("30 hours", fault("drop", "never"))), (results) => expect(results).toEqual(again)))

  for (
    const [service, variant] of [
      ["no Date", { date: "absent" }],
      ["no createdAt", { omitted: ["createdAt"] }],
      ["a placeholder as createdAt", { stampUnit: Number.MAX_SAFE_INTEGER }]
    ] satisfies ReadonlyArray<readonly [string, Partial<PostService.Variant>]>
  ) {
    it.effect(`leaves the outcome unknown at any age, by a service with ${service}`, () =>
      Effect.map(trials(variant, behind("30 hours")), (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })))
  }

  it.effect("and the own post: then the outcome is unknown", () =>
    Effect.map(
      trials({ listLag: 3_000 }, (service) =>
        Effect.andThen(
          Effect.forkDetach(Effect.delay(service.add(text), "2 seconds")),
          Effect.andThen(Effect.sleep("1 second"), call(service, failed))
        )),
      (results) => expect(results).toEqual(unknown)
    ))
})

describe("a post of another text", () => {
  it.effect("that was created before is no match", () =>
    Effect.map(
      trials({}, (service) => Effect.andThen(service.add("something else"), call(service, nothing))),
      (results) => expect(results).toEqual(again)
    ))

  it.effect("that may be this one with a changed text leaves the outcome unknown", () =>
    Effect.map(
      trials({}, (service) => Effect.andThen(service.add("read https://sho.rt/y now"), call(service, nothing))),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })
    ))

  it.effect("to which the service truncates the text of this call leaves both outcomes unknown", () =>
    Effect.map(
      trials({ rewrite: (text) => text.slice(0, 10) }, (service) =>
        Effect.gen(function*() {
          service.onCreate(nothing, failed)
          const results = yield* Effect.all([
            create(service, 1, { text: "0123456789" }),
            Effect.delay(create(service, 2, { text: "0123456789ABC" }), "10 millis")
          ], { concurrency: 2 })
          return `${results.join(", ")}, ${service.commits.length} created`
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, OutcomeUnknown, 1 created": 20 })
    ))
})

describe("an interrupted call", () => {
  /** Starts call 1, interrupts it, and makes an equal call after a pause. */
  const interrupted = (handling: PostService.Handling, after: Duration.Input, pause: Duration.Input): Test<string> => (service) =>
    Effect.gen(function*() {
      service.onCreate(handling)
      const first = yield* Effect.forkChild(create(service, 1))
      yield* Effect.sleep(after)
      yield* Fiber.interrupt(first)
      yield* Effect.sleep(pause)
      return yield* call(service, failed)
    })

  for (
    const [name, handling, after] of [
      ["waited for a retry after a refused connection", fault("refuse", "never"), 100],
      ["waited for a slot after a 429", fault(429, "never"), 500],
      ["waited for its connection", fault("connecting", "never"), 500]
    ] as const
  ) {
    it.effect(`that ${name} leaves no trace: an equal post is found`, () =>
      Effect.map(trials({}, interrupted(handling, after, 0)), (results) => expect(results).toEqual(found)))
  }

  it.effect("that waited for a slot leaves no trace: an equal post is found", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          yield* create(service, 1, { text: "an earlier post" })
          const waiting = yield* Effect.forkChild(create(service, 2))
          yield* Effect.sleep("1 second")
          yield* Fiber.interrupt(waiting)
          return yield* call(service, failed)
        }), { rateLimit: 1, maxWait: "1 hour" }),
      (results) => expect(results).toEqual(found)
    ))

  it.effect("that waited for the response leaves the outcome of an equal call unknown", () =>
    Effect.map(
      trials({}, interrupted({ ...prompt, head: 5_000 }, 1_000, 0)),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 1 created": 20 })
    ))

  it.effect("whose post appears later leaves the outcome of an equal call unknown", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          service.onCreate(fault("hang", { late: 8_000 }), nothing)
          const first = yield* Effect.forkChild(create(service, 1))
          yield* Effect.sleep("1 second")
          yield* Fiber.interrupt(first)
          return `${yield* create(service, 2)}, ${madeBy(service, 1)} created`
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 1 created": 20 })
    ))

  it.effect("leaves no trace after the settle time: an equal post is found", () =>
    Effect.map(trials({}, interrupted({ ...prompt, head: 5_000 }, 1_000, "1 minute")), (results) => expect(results).toEqual(found)))
})

describe("the time of a call", () => {
  it.effect("starts with the request that may have been carried out, not with one that was refused for the rate", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          service.onCreate(fault(429, "never"), nothing)
          yield* Effect.forkDetach(Effect.delay(service.add(text), "10 seconds"))
          return `${yield* create(service, 2)}, ${madeBy(service, 2)} created`
        })),
      (results) => expect(results).toEqual({ "OutcomeUnknown, 0 created": 20 })
    ))

  it.effect("includes all attempts: a post that the list shows after the settle time is found, if the call still runs", () =>
    Effect.map(
      trials({ listLag: 7_000 }, (service) =>
        Effect.gen(function*() {
          service.onCreate(failed, nothing, nothing, nothing)
          return `${yield* create(service, 2)}, ${madeBy(service, 2)} created`
        }), { settleTime: "2 seconds" }),
      (results) => expect(results).toEqual(found)
    ))
})

describe("two equal posts of concurrent calls", () => {
  it.effect("stay two, and both are found", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          service.onCreate(failed, failed)
          const results = yield* Effect.all([create(service, 1), create(service, 2)], { concurrency: 2 })
          return `${results.join(", ")}, ${service.commits.length} created`
        })),
      (results) => expect(results).toEqual({ "own post, own post, 2 created": 20 })
    ))
})

describe("a list of many posts", () => {
  it.effect("is read to its end only as far as posts can be new", () =>
    Effect.map(
      trials({}, (service) =>
        Effect.gen(function*() {
          for (let index = 0; index < 1_500; index++) {
            yield* service.add(`post ${index} of another client`)
            yield* Effect.sleep("4 minutes")
          }
          return yield* call(service, failed)
        })),
      (results) => expect(results).toEqual(found)
    ))

  it.effect("may show a post twice", () =>
    Effect.map(trials({ order: "repeated" }, afterAnother(failed)), (results) => expect(results).toEqual(found)))

  it.effect("in no order is read to its end", () =>
    Effect.map(
      trials({ order: "mixed" }, (service) =>
        Effect.gen(function*() {
          for (let index = 0; index < 150; index++) {
            yield* service.add(`post ${index} of another client`)
            yield* Effect.sleep("1 hour")
          }
          return yield* call(service, failed)
        })),
      (results) => expect(results).toEqual(found)
    ))

  it.effect("beyond ten pages, in no order, leaves the outcome unknown", () =>
    Effect.map(
      trials({ order: "oldestFirst" }, (service) =>
        Effect.gen(function*() {
          for (let index = 0; index < 1_100; index++) {
            yield* service.add(`post ${index} of another client`)
          }
          return yield* call(service, failed)
        })),
      (results) => expect(results).toEqual(unknown)
    ))
})

describe("texts of one post", () => {
  const changed: ReadonlyArray<(text: string) => string> = [
    (text) => text.trim(),
    (text) => text.replaceAll(/\r\n?/g, "\n"),
    (text) => text.replaceAll(/\s+/g, " "),
    (text) => text.normalize("NFC"),
    (text) =>
      text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;")
  ]
  const parts = ["a", "B", "1", " ", "\r\n", "&", "<", "'", "\u00e9", "e\u0301", "\ud83c\udf89", "amp;", "&#39;"]
  const anyText = oneOf(
    unicode({ maxLength: 40 }),
    textOf(between(0, 0xffff), { maxLength: 20 }),
    Arbitrary.map(Arbitrary.array(elementOf(parts), { maxLength: 20 }), (parts) => parts.join(""))
  )
  const anyChanges = Arbitrary.map(
    Arbitrary.array(between(0, changed.length - 1), { maxLength: changed.length }),
    (which) => [...new Set(which)].sort((one, other) => one - other)
  )
  const changedBy = (text: string, which: ReadonlyArray<number>) => which.reduce((text, index) => changed[index]?.(text) ?? text, text)

  it.prop("are the same under all changes that keep every character", [anyText, anyChanges], ([text, which]) => {
    expect(compare({ text, mediaIds: [] }, { text: changedBy(text, which) })).toBe("same")
  })

  it.prop("are never different if they are also truncated", [anyText, anyChanges, between(0, 30), elementOf(["", "\u2026", "..."])],
    ([text, which, length, ending]) => {
      const stored = Array.from(changedBy(text, which)).slice(0, length).join("") + ending
      expect([text, stored, compare({ text, mediaIds: [] }, { text: stored })]).not.toEqual([text, stored, "different"])
    })

  it("may be the same if they contain unknown HTML entities", () => {
    for (
      const [sent, listed] of [["sch\u00f6n", "sch&ouml;n"], ["Cr\u00e8me br\u00fbl\u00e9e", "Cr&egrave;me br&ucirc;l&eacute;e"], [
        "\u00fc",
        "&amp;uuml;"
      ]] as const
    ) {
      expect(compare({ text: sent }, { text: listed })).toBe("possible")
    }
  })

  it("are compared in linear time, at any depth of escapes", () => {
    const text = `&${"amp;".repeat(100_000)}`
    expect(compare({ text }, { text })).toBe("same")
    expect(compare({ text }, { text: text.replace("&", "&amp;") })).not.toBe("different")
  })

  it("may be the same if links, names, emoji or markup are replaced", () => {
    for (
      const [sent, listed] of [
        ["look at https://example.org/a/long/path", "look at https://sho.rt/x"],
        ["look at https://example.org/a/long/path", "look at example.org/a/lo\u2026"],
        ["https://example.org/a/long/path", "https://sho.rt/x"],
        ["https://example.org/a/long/path", "An example"],
        ["shop.example/a", "https://sho.rt/x"],
        ["https://example.org/a now", "https://sho.rt/x"],
        ["thanks @anna and @ben", "thanks Anna Smith and Ben Jones"],
        ["**Sale** today", "<b>Sale</b> today"],
        ["Big sale \ud83c\udf89 today", "Big sale :tada: today"],
        ["\ud83c\udf89 sale", ":tad"],
        ["\ud83c\udf89", ":tada:"],
        ["a bad word here", "a **** word here"]
      ] as const
    ) {
      expect([sent, listed, compare({ text: sent }, { text: listed })]).toEqual([sent, listed, "possible"])
    }
  })

  it("are different if their letters differ", () => {
    for (const other of ["good evening", "good mornings", "ood morning"]) {
      expect(compare({ text: "good morning", mediaIds: [] }, { text: other })).toBe("different")
    }
  })

  it("are no match alone: media can be renamed, but not added", () => {
    const ids = (...names: ReadonlyArray<string>) => names.map((name) => MediaId.make(name))
    expect(compare({ text: "a", mediaIds: ids("1", "2") }, { text: "a", mediaIds: ids("2", "1") })).toBe("same")
    expect(compare({ text: "a", mediaIds: ids("1", "2") }, { text: "a" })).toBe("same")
    expect(compare({ text: "a", mediaIds: ids("1", "2") }, { text: "a", mediaIds: ids("x", "y") })).toBe("possible")
    expect(compare({ mediaIds: ids("1") }, { mediaIds: ids("x") })).toBe("possible")
    expect(compare({ mediaIds: ids("1") }, {})).toBe("possible")
    expect(compare({ text: "a" }, { text: "a", mediaIds: ids("x") })).toBe("different")
    expect(compare({ mediaIds: ids("1") }, { text: "a", mediaIds: ids("1") })).toBe("different")
  })
})

describe("an object that its caller changes during the call", () => {
  it.effect("is sent and searched as it was given", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "drop", when: "after", method: "POST", path: "/posts" })
      const mediaIds = [MediaId.make("media-000001")]
      const draft = { text: "The blue mugs are back.", mediaIds }
      const creating = yield* Effect.forkChild(create(draft))
      yield* Effect.sleep("1 millis")
      draft.text = "The red mugs are back."
      mediaIds.push(MediaId.make("media-000002"))
      const { id } = yield* Fiber.join(creating)
      const { posts } = yield* sandbox.state
      expect(posts.filter(({ text }) => text?.includes("mugs are back"))).toMatchObject([
        { id, text: "The blue mugs are back.", mediaIds: ["media-000001"] }
      ])
    }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess())))

  it.effect("passes no check that it would not have passed", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "delay", when: "before", millis: 5_000, method: "POST", path: "/posts" })
      const first = yield* Effect.forkChild(create({ text: "T" }))
      const draft = { text: "T" }
      const second = yield* Effect.forkChild(create(draft))
      yield* Effect.sleep("1 second")
      draft.text = ""
      yield* Fiber.join(first)
      yield* Fiber.join(second)
      const { posts } = yield* sandbox.state
      expect(posts.filter(({ text }) => text === "T")).toHaveLength(2)
      expect(posts.filter(({ text }) => text === "")).toEqual([])
    }).pipe(TestTime.advancing, Effect.provide(OnSandbox.inProcess())))
})
