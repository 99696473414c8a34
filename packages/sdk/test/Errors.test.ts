/** The errors: one class for each failure of the client, with its fields as plain values. */
import { ClientError, FailureScope } from "@plaza/client"
import { byCode, UnrecognizedError } from "@plaza/domain/Errors"
import { Cursor } from "@plaza/domain/Ids"
import * as Sdk from "@plaza/sdk"
import { DateTime, Duration } from "effect"
import * as PlatformError from "effect/PlatformError"
import { inspect } from "node:util"
import { describe, expect, it } from "vitest"
import { toFailure } from "../src/Failures.ts"

const conflict = new byCode.CONFLICT({ message: "it is shipped", requestId: "r-1", retryAfter: Duration.seconds(3), attempts: 2 })
const message = "a sentence"

/** A failure of each kind with the plain form of its fields. */
const failures: ReadonlyArray<readonly [ClientError.Failure | ClientError.Inconclusive | ClientError.InvalidSettings, object]> = [
  ...Object.entries(byCode).map(([code, Class]) => {
    const failure = new Class({ message, details: { field: "text" }, requestId: "r-1", retryAfter: Duration.seconds(3), attempts: 2 })
    const { status } = failure
    return [failure, { status, code, details: { field: "text" }, requestId: "r-1", retryAfter: 3_000, attempts: 2 }] as const
  }),
  [new UnrecognizedError({ message, status: 418, category: "InvalidRequest" }), { status: 418, details: {} }],
  [new ClientError.InvalidInput({ field: "text", message }), { field: "text" }],
  [new ClientError.InvalidSettings({ setting: "baseUrl", message }), { setting: "baseUrl" }],
  [new ClientError.ConnectionFailed({ attempts: 1, reason: "ECONNREFUSED", cause: new Error("refused"), message }), {
    attempts: 1,
    reason: "ECONNREFUSED"
  }],
  [new ClientError.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message }), { attempts: 1, reason: "ECONNRESET" }],
  [new ClientError.AttemptTimeout({ attempts: 1, timeout: Duration.seconds(2), message }), { attempts: 1, timeout: 2_000 }],
  [new ClientError.Inconclusive({ message }), {}],
  [
    new ClientError.OutcomeUnknown({ attempts: 2, operation: "shipOrder", likely: "done", cause: conflict, message }),
    { attempts: 2, operation: "shipOrder", likely: "done" }
  ],
  [
    new ClientError.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, body: "<html>", message }),
    { attempts: 1, operation: "createPost", status: 200, body: "<html>" }
  ],
  [new ClientError.RateLimitWaitExceeded({ retryAt: DateTime.makeUnsafe(5_000), message }), { retryAt: new Date(5_000), retryAfter: 0 }],
  [new ClientError.ClientClosed({ message }), {}],
  [new ClientError.CursorRepeated({ operation: "listPosts", message }), { operation: "listPosts" }],
  [new ClientError.CursorRejected({ operation: "listPosts", cause: conflict, message }), { operation: "listPosts" }],
  [
    new ClientError.UnreadableItem({
      operation: "listPosts",
      page: 2,
      position: 3,
      cursor: undefined,
      nextCursor: Cursor.make("n"),
      message
    }),
    { operation: "listPosts", page: 2, position: 3, cursor: undefined, nextCursor: "n" }
  ]
]

const classOf = (name: string): unknown => Reflect.get(Sdk, name)

describe("each failure of the client", () => {
  it("has a class, and each class a failure", () => {
    const classes = Object.entries(Sdk).filter(([, value]) => typeof value === "function" && value.prototype instanceof Sdk.PlazaError)
    expect(classes.map(([name]) => name).toSorted()).toEqual([...failures.map(([{ _tag }]) => _tag), "PlatformError"].toSorted())
  })

  for (const [failure, fields] of failures) {
    it(`${failure._tag} keeps its fields, as plain values`, () => {
      const error = toFailure(failure)
      expect(Sdk.isPlazaError(error)).toBe(true)
      if (!Sdk.isPlazaError(error)) return
      expect(error).toBeInstanceOf(classOf(failure._tag))
      expect(error).toBeInstanceOf(Error)
      expect(error).toMatchObject({ _tag: failure._tag, name: failure._tag, message, ...fields })
      // Nothing else of the client's error remains, such as a Duration or a method of Effect.
      expect(Object.keys(error).toSorted()).toEqual(
        [...new Set(["_tag", "category", "mayHaveHappened", ...Object.keys(fields)])].toSorted()
      )
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ _tag: failure._tag, message })
      expect(`${error.name}: ${error.message}`).toBe(`${failure._tag}: ${message}`)
      expect(inspect(error)).toContain(`${failure._tag}: ${message}`)
      // These two are no failures of a call.
      const isCall = failure._tag !== "InvalidSettings" && failure._tag !== "Inconclusive"
      expect(error.category).toBe(failure._tag === "InvalidSettings" ? "InvalidRequest" : ClientError.categoryOf(failure))
      expect(error.mayHaveHappened).toBe(isCall && FailureScope.mayHaveHappened(failure))
      expect(toFailure(error)).toBe(error)
    })
  }

  it("has its cause, which is an error of this package if it was one of the client", () => {
    const [unknown] = failures.filter(([{ _tag }]) => _tag === "OutcomeUnknown").map(([failure]) => toFailure(failure))
    expect(unknown).toMatchObject({ cause: { _tag: "Conflict", status: 409, retryAfter: 3_000 } })
    expect(unknown instanceof Error && unknown.cause).toBeInstanceOf(Sdk.Conflict)
    const [failed] = failures.filter(([{ _tag }]) => _tag === "ConnectionFailed").map(([failure]) => toFailure(failure))
    expect(failed instanceof Error && failed.cause).toEqual(new Error("refused"))
  })
})

it("an error of the file system has its code, its path and one sentence", () => {
  const cause = Object.assign(new Error("ENOENT: no such file or directory, stat 'a.png'"), { code: "ENOENT" })
  const failure = PlatformError.systemError({ _tag: "NotFound", module: "FileSystem", method: "stat", pathOrDescriptor: "a.png", cause })
  const error = toFailure(failure)
  expect(error).toBeInstanceOf(Sdk.PlatformError)
  expect(error).toMatchObject({ code: "ENOENT", path: "a.png", category: "InvalidRequest", mayHaveHappened: false, cause })
  expect(String(error)).toBe("PlatformError: the file a.png can't be read: ENOENT: no such file or directory, stat 'a.png'")
})

it("other values are no errors of this package, and stay as they are", () => {
  class NotFound extends Error {
    readonly _tag = "NotFoundElsewhere"
  }
  /** As applications on Effect have them. */
  class Tagged extends Error {
    readonly _tag: string
    constructor(tag: string) {
      super("of an application")
      this._tag = tag
    }
  }
  const tags = ["NotFound", "OutcomeUnknown", "isPlazaError", "toString", "constructor", "__proto__"].map((tag) => new Tagged(tag))
  for (const value of [...tags, undefined, null, 5, "NotFound", { _tag: "NotFound" }, new Error("of a callback"), new NotFound()]) {
    expect(Sdk.isPlazaError(value)).toBe(false)
    expect(toFailure(value)).toBe(value)
  }
})

it("errors of a second copy of the package count, because it may be installed twice", () => {
  const copy = Object.create({ [Symbol.for("@plaza/sdk/PlazaError")]: true }) as unknown
  expect(Sdk.isPlazaError(copy)).toBe(true)
})
