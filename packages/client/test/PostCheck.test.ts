import { describe, expect, it } from "@effect/vitest"
import { Posts } from "@plaza/client"
import { resemblance } from "@plaza/client/PostText"
import { MediaId } from "@plaza/domain"
import { type Fault, type Latitude, Sandbox } from "@plaza/sandbox"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Duration, Effect, Either, FastCheck as fc } from "effect"
import * as OnSandbox from "./support/OnSandbox.js"

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
const media = MediaId.make("media-000001")

// A stamp in whole seconds depends on the moment of the call within its second.
const moments = [0, 150, 420, 777, 999]

/** How often the post was made, and what the call ended in, for calls at several moments of a second. */
const creates = (latitude: Latitude.Change, fault: Fault, mediaIds: ReadonlyArray<MediaId> = []) =>
  Effect.forEach(moments, (moment) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { create } = yield* Posts
      yield* Effect.sleep(Duration.millis(5_000 + moment))
      yield* sandbox.addFault({ ...fault, method: "POST", path: "/posts" })
      const result = yield* Effect.either(create({ text, mediaIds }))
      yield* Effect.sleep("1 minute")
      const made = (yield* sandbox.commits).filter(({ operation }) => operation === "createPost")
      return {
        made: made.length,
        result: Either.match(result, {
          onLeft: ({ _tag }) => _tag,
          onRight: ({ id }) => made.some(({ createdId }) => createdId === id) ? "Success" : "another post"
        })
      }
    }).pipe(SimulatedTime.run, Effect.provide(OnSandbox.inProcess({ sandbox: { latitude } }))))

const always = (result: "Success" | "OutcomeUnknown") => moments.map(() => ({ made: 1, result }))

/** Services whose lists show enough of a post to find it again. */
const findable: Record<string, Latitude.Change> = {
  "stamps whole seconds": { createdAtPrecision: "seconds", dateHeader: "present" },
  "stamps 150 ms behind its Date": { createdAtOffsetMillis: -150, dateHeader: "present" },
  "stamps a second behind its Date": { createdAtOffsetMillis: -1_000, dateHeader: "present" },
  "stamps a second ahead of its Date": { createdAtOffsetMillis: 1_000, dateHeader: "present" },
  "has a clock ten minutes ahead, and a Date": { clockOffsetMillis: 600_000, dateHeader: "present" },
  "has a clock an hour behind, and a Date": { clockOffsetMillis: -3_600_000, dateHeader: "present" },
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

/** Services whose lists leave a doubt. */
const doubtful: Record<string, Latitude.Change> = {
  "lists no texts": { postTextInList: "omitted" },
  "lists neither text nor media": { postTextInList: "null", postMediaIdsInList: "null" },
  "lists no moments": { postCreatedAtInList: "omitted" },
  "cuts texts": { storedTextLength: 10, ellipsis: true },
  "escapes HTML and cuts within an escape": { text: ["htmlEscaped"], storedTextLength: 8 },
  "has another clock, and no Date": { clockOffsetMillis: -600_000, dateHeader: "absent" }
}

describe("a post that was made before its response was lost is not made again", () => {
  for (const [service, latitude] of Object.entries(findable)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and is found, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, [media]), (results) => expect(results).toEqual(always("Success"))))
    }
  }

  for (const [service, latitude] of Object.entries(doubtful)) {
    for (const [failure, fault] of Object.entries(after)) {
      it.effect(`and its outcome is unknown, by a service that ${service}, after ${failure}`, () =>
        Effect.map(creates(latitude, fault, [media]), (results) => expect(results).toEqual(always("OutcomeUnknown"))))
    }
  }
})

describe("a post that is made after its caller was given up is not made again", () => {
  for (const lateCommitMillis of [300, 3_000]) {
    for (const [failure, fault] of Object.entries(late)) {
      it.effect(`${lateCommitMillis} ms after ${failure}`, () =>
        Effect.map(creates({ lateCommitMillis }, fault), (results) => expect(results).toEqual(always("Success"))))
    }
  }
})

describe("a post of another call is not claimed", () => {
  it.effect("whose text the service cuts to one's own", () =>
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
    (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;").replaceAll("'", "&#39;")
  ]
  const anyText = fc.oneof(
    fc.fullUnicodeString({ maxLength: 40 }),
    fc.stringOf(fc.constantFrom("a", "B", "1", " ", "\r\n", "&", "<", "'", "\u00e9", "e\u0301", "\ud83c\udf89", "amp;", "&#39;"), { maxLength: 20 })
  )

  it.prop("are the same however a service changes them", [anyText, fc.subarray([...changed.keys()])], ([text, which]) => {
    const stored = which.reduce((text, index) => changed[index]?.(text) ?? text, text)
    expect(resemblance({ text, mediaIds: [] }, { text: stored })).toBe("same")
  })

  it.prop("are never taken for different ones when they are cut too", [anyText, fc.subarray([...changed.keys()]), fc.nat(30), fc.constantFrom("", "\u2026", "...")], ([text, which, length, ending]) => {
    const stored = which.reduce((text, index) => changed[index]?.(text) ?? text, text)
    expect(resemblance({ text, mediaIds: [] }, { text: Array.from(stored).slice(0, length).join("") + ending })).not.toBe("different")
  })

  it("may be the same where most of their words are", () => {
    for (const [sent, listed] of [["<b>Big sale</b>", "Big sale"], ["Big sale", "Big sale (via Bot)"], ["Big sale \ud83c\udf89 today", "Big sale :tada: today"], ["a bad word here", "a **** word here"]] as const) {
      expect(resemblance({ text: sent }, { text: listed })).not.toBe("different")
    }
  })

  it("are different where their letters are", () => {
    for (const other of ["good evening", "good mornings", "ood morning"]) {
      expect(resemblance({ text: "good morning", mediaIds: [] }, { text: other })).toBe("different")
    }
  })
})
