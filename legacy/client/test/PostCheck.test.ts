import { describe, expect, it } from "@effect/vitest"
import { Media, Posts } from "@plaza-legacy/client"
import { MediaId } from "@plaza-legacy/domain"
import { type Fault, type Latitude, Sandbox } from "@plaza-legacy/sandbox"
import * as SimulatedTime from "@plaza-legacy/testing/SimulatedTime"
import { Duration, Effect, Either, FastCheck as fc, Fiber } from "effect"
import { compare } from "../src/internal/delivery/PostText.ts"
import * as OnSandbox from "./support/OnSandbox.ts"

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

const text = "Fish & Chips  <today>\r\nonly, at the caf\u00e9"
// The shop has the first one; the second is uploaded.
const media = [MediaId.make("media-000001"), MediaId.make("media-000002")]

// What a stamp shows depends on the moment of the call within its second, where a clock is odd.
const moments = ({ clockOffsetMillis, createdAtOffsetMillis, createdAtPrecision }: Latitude.Change): ReadonlyArray<number> =>
  clockOffsetMillis === undefined && createdAtOffsetMillis === undefined && createdAtPrecision === undefined
    ? [420]
    : [0, 150, 420, 777, 999]

/** How often the post was created, and the outcome of the call, for calls at several moments of a second. */
const creates = (
  latitude: Latitude.Change,
  fault: Fault,
  mediaIds: ReadonlyArray<MediaId> = [],
  earlier: ReadonlyArray<string> = []
) =>
  Effect.forEach(moments(latitude), (moment) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* Effect.ignore(Effect.flatMap(Media, ({ upload }) => upload({ fileName: "a.png", content: new Uint8Array(1) })))
      yield* Effect.forEach(earlier, (text) => create({ text }))
      yield* Effect.sleep(Duration.millis(5_000 + moment))
      yield* sandbox.addFault({ ...fault, method: "POST", path: "/posts" })
      const result = yield* Effect.either(create({ text, mediaIds }))
      yield* Effect.sleep("1 minute")
      const made = (yield* sandbox.commits).filter(({ operation }) => operation === "createPost").slice(earlier.length)
      return {
        made: made.length,
        result: Either.match(result, {
          onLeft: ({ _tag }) => _tag,
          onRight: ({ id }) => made.some(({ createdId }) => createdId === id) ? "Success" : "another post"
        })
      }
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude } }))))

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
  "stamps three seconds behind its Date": { createdAtOffsetMillis: -3_000 },
  "stamps ten minutes ahead of its Date": { createdAtOffsetMillis: 600_000 },
  "has another clock, and no Date": { clockOffsetMillis: -600_000, dateHeader: "absent" }
}

/** Services whose stamps lie about as far before their Date as that one can be told. */
const barelyFindable: Record<string, Latitude.Change> = {
  "stamps 150 ms behind its Date": { createdAtOffsetMillis: -150 },
  "stamps a second behind its Date": { createdAtOffsetMillis: -1_000 },
  "stamps whole seconds a second behind its Date": { createdAtPrecision: "seconds", createdAtOffsetMillis: -1_000 }
}

describe("a post that was created before its response was lost is not created again", () => {
  for (const [service, latitude] of Object.entries(findable)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and is found, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, media), (results) => expect(results).toEqual(each("Success", latitude))))
    }
  }

  for (const [service, latitude] of Object.entries(barelyFindable)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and is found or left open, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, media), (results) => {
          for (const { made, result } of results) {
            expect([made, result]).toEqual([1, result === "Success" ? "Success" : "OutcomeUnknown"])
          }
        }))
    }
  }

  for (const [service, latitude] of Object.entries(doubtful)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and its outcome is unknown, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, media), (results) => expect(results).toEqual(each("OutcomeUnknown", latitude))))
    }
  }
})

describe("a post is found by the clock of an earlier one of the client", () => {
  for (
    const [service, latitude] of Object.entries<Latitude.Change>({
      "stamps whole seconds": { createdAtPrecision: "seconds" },
      "stamps ten minutes ahead of its Date": { createdAtOffsetMillis: 600_000 }
    })
  ) {
    it.effect(`by a service that ${service}`, () =>
      Effect.map(
        creates(latitude, { kind: "status", when: "after", status: 503 }, [], ["an earlier post"]),
        (results) => expect(results).toEqual(each("Success", latitude))
      ))
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

describe("a post of another call is not returned", () => {
  /** What a call of this client ends in whose first attempt did nothing, when another client made a post before. */
  const behind = (latitude: Latitude.Change, age: Duration.DurationInput, others = text) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* Effect.sleep("5 seconds")
      yield* Effect.flatMap(Posts, ({ create }) => create({ text: others })).pipe(OnSandbox.asKey(sandbox.apiKey))
      yield* Effect.sleep(age)
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "POST", path: "/posts" })
      const result = yield* Effect.either(create({ text }))
      return {
        made: (yield* sandbox.commits).filter(({ operation }) => operation === "createPost").length,
        result: Either.match(result, { onLeft: ({ _tag }) => _tag, onRight: () => "Success" })
      }
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude } })))

  for (
    const [service, latitude, age] of [
      ["has a Date", {}, "1100 millis"],
      ["stamps whole seconds", { createdAtPrecision: "seconds" }, "2100 millis"],
      ["has no Date", { dateHeader: "absent" }, "1 minute"],
      ["has no Date and is an hour ahead", { dateHeader: "absent", clockOffsetMillis: 3_600_000 }, "1 hour"],
      ["stamps two seconds ahead of its Date", { createdAtOffsetMillis: 2_000 }, "3100 millis"]
    ] satisfies ReadonlyArray<readonly [string, Latitude.Change, Duration.DurationInput]>
  ) {
    it.effect(`that another client made before, by a service that ${service}`, () =>
      Effect.map(behind(latitude, age), (end) => expect(end).toEqual({ made: 1, result: "OutcomeUnknown" })))
  }

  it.effect("that has another text and was created before", () =>
    Effect.map(behind({}, "1100 millis", "something else"), (end) => expect(end).toEqual({ made: 2, result: "Success" })))

  it.effect("that has another text and is new: then the service may have rewritten this one", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* Effect.sleep("5 seconds")
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "POST", path: "/posts" })
      const call = yield* Effect.fork(Effect.flip(create({ text: "https://shop.example/a" })))
      yield* Effect.sleep("500 millis")
      yield* Effect.flatMap(Posts, ({ create }) => create({ text: "https://sho.rt/x" })).pipe(OnSandbox.asKey(sandbox.apiKey))
      expect(yield* Fiber.join(call)).toMatchObject({ _tag: "OutcomeUnknown", cause: { _tag: "Inconclusive" } })
      expect((yield* sandbox.commits).filter(({ operation }) => operation === "createPost")).toHaveLength(1)
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("that this client created a day ago", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      const yesterday = yield* create({ text })
      yield* Effect.sleep("24 hours")
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "POST", path: "/posts" })
      const today = yield* create({ text })
      expect((yield* sandbox.commits).map(({ createdId }) => createdId)).toEqual([yesterday.id, today.id])
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess())))

  it.effect("whose text the service truncates to the text of this call", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* sandbox.addFault({ kind: "status", when: "before", status: 503, method: "POST", path: "/posts" })
      yield* sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST", path: "/posts" })
      const results = yield* Effect.all([
        Effect.either(create({ text: "0123456789" })),
        Effect.either(Effect.delay(create({ text: "0123456789ABC" }), "10 millis"))
      ], { concurrency: 2 })
      expect(results.map((result) => Either.isLeft(result) && result.left._tag)).toEqual(["OutcomeUnknown", "OutcomeUnknown"])
      expect((yield* sandbox.commits).filter(({ operation }) => operation === "createPost")).toHaveLength(1)
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude: { storedTextLength: 10 } } }))))
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
  const anyText = fc.oneof(
    fc.fullUnicodeString({ maxLength: 40 }),
    fc.stringOf(fc.constantFrom("a", "B", "1", " ", "\r\n", "&", "<", "'", "\u00e9", "e\u0301", "\ud83c\udf89", "amp;", "&#39;"), {
      maxLength: 20
    })
  )

  it.prop("are the same under all changes that services make", [anyText, fc.subarray([...changed.keys()])], ([text, which]) => {
    const stored = which.reduce((text, index) => changed[index]?.(text) ?? text, text)
    expect(compare({ text, mediaIds: [] }, { text: stored })).toBe("same")
  })

  it.prop("are never different if they are also truncated", [
    anyText,
    fc.subarray([...changed.keys()]),
    fc.nat(30),
    fc.constantFrom("", "\u2026", "...")
  ], ([text, which, length, ending]) => {
    const stored = which.reduce((text, index) => changed[index]?.(text) ?? text, text)
    expect(compare({ text, mediaIds: [] }, { text: Array.from(stored).slice(0, length).join("") + ending })).not.toBe("different")
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

  it("may be the same if most of their words are", () => {
    for (
      const [sent, listed] of [["<b>Big sale</b>", "Big sale"], ["Big sale", "Big sale (via Bot)"], [
        "Big sale \ud83c\udf89 today",
        "Big sale :tada: today"
      ], ["a bad word here", "a **** word here"]] as const
    ) {
      expect(compare({ text: sent }, { text: listed })).not.toBe("different")
    }
  })

  it("are different if their letters differ", () => {
    for (const other of ["good evening", "good mornings", "ood morning"]) {
      expect(compare({ text: "good morning", mediaIds: [] }, { text: other })).toBe("different")
    }
  })
})
