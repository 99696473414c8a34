/**
 * Every failure has one sentence, one JSON object and one status.
 */
import { SystemError } from "@effect/platform/Error"
import { it } from "@effect/vitest"
import { ClientError as Failures } from "@plaza/client"
import * as Errors from "@plaza/domain/Errors"
import { Cause, Config, ConfigProvider, DateTime, Duration, Effect, FiberId, Option } from "effect"
import { describe, expect } from "vitest"
import { CliError, Report, Streams, type Table } from "../src/index.js"

const pipe: Table.Medium = { isTerminal: false, colour: false, columns: () => 80 }
const message = "words of the service"
const configError = (config: Config.Config<unknown>, entries: ReadonlyArray<readonly [string, string]>) =>
  config.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(entries), { pathDelim: "_" })), Effect.flip)

/** A report as a person reads it, without the program's name and the space at the beginning of a line. */
const linesOf = (error: unknown, now?: number): ReadonlyArray<string> =>
  Report.toText("plaza", Report.ofFailure(error, now), pipe).trimEnd().replace("plaza: ", "").split("\n").map((line) => line.trim())

// From the domain's own list, so that a new code needs advice here.
const exitCodes: Readonly<Record<Errors.ErrorCode, number>> = {
  VALIDATION_ERROR: 2,
  INVALID_JSON: 2,
  INVALID_API_KEY: 4,
  INSUFFICIENT_SCOPE: 4,
  DEVELOPER_ACCESS_REVOKED: 4,
  PROFILE_INCOMPLETE: 4,
  CHAT_NOT_ALLOWED: 4,
  CHAT_BLOCKED: 4,
  STORE_BLOCKED: 4,
  USER_UNAVAILABLE: 4,
  FORBIDDEN: 4,
  NOT_FOUND: 3,
  CONFLICT: 5,
  PAYLOAD_TOO_LARGE: 2,
  RATE_LIMITED: 6,
  INTERNAL_ERROR: 7
}
const isCode = (code: string): code is Errors.ErrorCode => code in Errors.byCode
const codes = Object.keys(Errors.byCode).filter(isCode)

describe("a report", () => {
  it.each(codes)("of %s has a line for what happened, one for why and one for what to do", (code) => {
    const error = Errors.fromCode(code, { message, requestId: "req_7" })
    const report = Report.ofFailure(error)
    expect(report).toMatchObject({ tag: error._tag, code, status: error.status, message, exitCode: exitCodes[code] })
    expect(JSON.parse(Report.toJson(report))).toEqual({
      error: { tag: error._tag, code, status: error.status, message, details: { requestId: "req_7" } }
    })
    const [what, why, advice, ...rest] = linesOf(error)
    expect(what).toMatch(/^[a-z][^.]+$/)
    expect(why).toBe(`${error.status} ${code}: ${message} (requestId: req_7)`)
    expect(advice).toMatch(/^[A-Z].+\.$/)
    expect(rest).toEqual([])
  })

  it("of each code has its own advice", () => {
    const advice = codes.map((code) => linesOf(Errors.fromCode(code, { message })).at(-1))
    // Nothing is known but that a fault may pass, and a limit without `Retry-After` too.
    const later = codes.filter((code) => code === "RATE_LIMITED" || code === "INTERNAL_ERROR")
    expect(new Set(advice).size).toBe(codes.length - later.length + 1)
  })

  it.each([
    ["PROFILE_INCOMPLETE", {}, "Add a profile photo and a cover in the web app, then run this again."],
    [
      "INSUFFICIENT_SCOPE",
      { details: { scope: "posts:write" } },
      "Make a key with the scope posts:write in the web app under Settings, then Developers, and use it here."
    ],
    [
      "INSUFFICIENT_SCOPE",
      { message: "the key needs stories:write for http://x/y" },
      "Make a key with the scope stories:write in the web app under Settings, then Developers, and use it here."
    ],
    [
      "INSUFFICIENT_SCOPE",
      { message: "see https://host/scopes" },
      "Make a key with that scope in the web app under Settings, then Developers, and use it here."
    ],
    ["RATE_LIMITED", { retryAfter: Duration.seconds(90) }, "Run this again after 1970-01-01T00:01:30.000Z, in 90 seconds."],
    [
      "RATE_LIMITED",
      { retryAfter: Duration.millis(8.64e15) },
      "Run this again after +275760-09-13T00:00:00.000Z, in 8640000000000 seconds."
    ],
    ["INTERNAL_ERROR", { retryAfter: Duration.seconds(5) }, "Run this again after 1970-01-01T00:00:05.000Z, in 5 seconds."]
  ] as const)("of %s with %j says what to do about just that", (code, fields, advice) => {
    expect(linesOf(Errors.fromCode(code, { message, ...fields }), 0).at(-1)).toBe(advice)
    expect(linesOf(Errors.fromCode(code, { message, ...fields, retryAfter: Duration.millis(8.64e15) }), 1)).toHaveLength(3)
  })

  it("tells the field, the request and the wait that the service named", () => {
    const report = Report.ofFailure(
      Errors.fromCode("RATE_LIMITED", { message, details: { field: "limit" }, requestId: "r1", retryAfter: Duration.seconds(7) })
    )
    expect(report.details).toEqual({ field: "limit", requestId: "r1", retryAfterSeconds: 7 })
    expect(Report.toText("plaza", report, pipe)).toContain(
      "(field: limit, requestId: r1, retryAfterSeconds: 7)\n  Run this again after 7 seconds.\n"
    )
  })

  it("of a code that the document doesn't list goes by its status", () => {
    const error = new Errors.UnrecognizedError({ status: 403, code: "TOO_YOUNG", category: "Forbidden", message, requestId: "r1" })
    expect(Report.ofFailure(error)).toMatchObject({ tag: "UnrecognizedError", code: "TOO_YOUNG", status: 403, exitCode: 4 })
    expect(linesOf(error)).toEqual([
      "this account may not do that",
      "403 TOO_YOUNG: words of the service (requestId: r1)",
      "Check the id, the key's scopes and the account in the web app."
    ])
  })

  it.each([
    [502, "ServiceFault", 7, "the service can't be reached behind what answers for it"],
    [404, "NotFound", 3, "what answers is not the service"],
    [302, "InvalidRequest", 2, "what answers is not the service"],
    [407, "InvalidRequest", 2, "what answers is not the service"],
    [413, "TooLarge", 2, "it is too large for something on the way to the service"],
    [429, "RateLimited", 6, "something on the way to the service lets no more requests through"]
  ] as const)("of a proxy's page with %i says that it is one, by its title and without its code", (status, category, exitCode, what) => {
    const body = `<html><head><title>\n${status} Gateway\n</title></head>`
    const error = new Errors.UnrecognizedError({ status, category, message, details: { body } })
    expect(Report.ofFailure(error)).toMatchObject({ tag: "UnrecognizedError", code: null, status, exitCode, details: { body } })
    const [first, why, advice, ...rest] = linesOf(error)
    expect([first, why, rest]).toEqual([what, `${status}: ${message} (its page says "${status} Gateway")`, []])
    expect(advice).toMatch(/^[A-Z].+\.$/)
  })

  it("is not flooded by what a service or a proxy writes", () => {
    const flood = Errors.fromCode("CONFLICT", { message, details: { note: "x".repeat(100_000) } })
    expect(linesOf(flood)[1]?.length).toBeLessThan(300)
  })

  it.each([
    [new Failures.InvalidInput({ field: "text", message }), 2, { field: "text" }],
    [new Failures.InvalidSettings({ setting: "baseUrl", message }), 2, { setting: "baseUrl" }],
    [new Failures.ConnectionFailed({ attempts: 1, reason: "ECONNREFUSED", message }), 7, { reason: "ECONNREFUSED" }],
    [new Failures.AttemptTimeout({ attempts: 1, timeout: Duration.seconds(30), message }), 7, { timeoutSeconds: 30 }],
    [new Failures.RateLimitWaitExceeded({ retryAt: DateTime.unsafeMake(0), message }), 6, { retryAt: "1970-01-01T00:00:00.000Z" }],
    [new Failures.CursorRepeated({ operation: "listPosts", message }), 1, { operation: "listPosts" }],
    [
      new Failures.CursorRejected({ operation: "listPosts", message, cause: Errors.fromCode("VALIDATION_ERROR", { message }) }),
      1,
      { operation: "listPosts" }
    ],
    [new Failures.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, message, body: "" }), 8, {
      operation: "createPost",
      status: 200,
      body: ""
    }],
    [
      new Failures.OutcomeUnknown({
        attempts: 1,
        operation: "createPost",
        message,
        cause: new Failures.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message })
      }),
      8,
      { operation: "createPost" }
    ]
  ] as const)("of the client's %s has its status and its facts", (failure, exitCode, details) => {
    expect(Report.ofFailure(failure)).toMatchObject({ tag: failure._tag, message, exitCode, details })
  })

  const lost = new Failures.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message })
  const unknown = (operation: string) => new Failures.OutcomeUnknown({ attempts: 1, operation, message, cause: lost })
  it.each([
    ["ENOTFOUND", /name of the host/],
    ["EAI_AGAIN", /name of the host/],
    ["ECONNREFUSED", /Nothing listens there/],
    ["ENETUNREACH", /network/],
    ["UND_ERR_CONNECT_TIMEOUT", /Nothing answers there/],
    ["ETIMEDOUT", /Nothing answers there/],
    ["CERT_HAS_EXPIRED", /has expired/],
    ["CERT_NOT_YET_VALID", /isn't valid yet/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /another host/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /doesn't trust/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /doesn't trust/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", /doesn't speak TLS/],
    ["EPERM", /base address/]
  ] as const)("of a connection that failed by %s says what to look at", (reason, advice) => {
    const lines = linesOf(new Failures.ConnectionFailed({ attempts: 4, reason, message }))
    expect(lines).toEqual(["the service can't be reached, and nothing was done", message, expect.stringMatching(advice)])
  })

  it.each([
    [lost, "the connection to the service broke"],
    [new Failures.AttemptTimeout({ attempts: 1, timeout: Duration.seconds(30), message }), "the service doesn't answer in time"],
    [
      new Failures.RateLimitWaitExceeded({ retryAt: DateTime.unsafeMake(0), message }),
      "the key has used up its requests, or the account its quota for the day"
    ],
    [new Failures.CursorRepeated({ operation: "listPosts", message }), "the list goes round and never ends"],
    [
      new Failures.CursorRejected({ operation: "listPosts", message, cause: Errors.fromCode("VALIDATION_ERROR", { message }) }),
      "the list can't be read on"
    ],
    [unknown("createPost"), "nobody knows whether it happened"],
    [
      new Failures.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, message, body: "" }),
      "the service agreed, but its answer can't be read"
    ]
  ] as const)("of the client's %s has three lines", (failure, what) => {
    expect(linesOf(failure)).toEqual([what, message, expect.stringMatching(/^[A-Z].+\.$/)])
  })

  it.each([
    ["createPost", /plaza posts list/],
    ["shipOrder", /a conflict then says/],
    ["createComment", /web app whether the comment/],
    ["sendMessage", /web app whether the message/],
    ["createStory", /web app whether the story/],
    ["setStock", /^Run this again/],
    ["uploadMedia", /^Run this again/],
    ["request", /web app whether it happened/]
  ] as const)("of a %s of which nobody knows says how to look", (operation, advice) => {
    expect(linesOf(unknown(operation))[2]).toMatch(advice)
  })

  it("of an unknown outcome keeps what the service's support can find it by", () => {
    const cause = Errors.fromCode("INTERNAL_ERROR", { message: "boom", requestId: "req_9" })
    const failure = new Failures.OutcomeUnknown({ attempts: 1, operation: "createComment", message: "may have happened (boom)", cause })
    expect(linesOf(failure)[1]).toBe("may have happened (boom) (500 INTERNAL_ERROR, requestId: req_9)")
  })

  it("of a success that can't be read warns of doing it again, unless it was a reading", () => {
    const unreadable = (operation: string) =>
      new Failures.UnreadableSuccess({ attempts: 1, operation, status: 200, message, body: "<html>" })
    expect(linesOf(unreadable("createPost"))[2]).toMatch(/^Don't run this again/)
    expect(linesOf(unreadable("getMe"))[2]).toMatch(/^Check that the base address/)
  })

  it.effect("of a missing or wrong variable names it", () =>
    Effect.gen(function*() {
      const key = Config.nested(Config.redacted("API_KEY"), "PLAZA")
      expect(Report.ofFailure(yield* configError(key, []))).toMatchObject({
        exitCode: 2,
        message: "PLAZA_API_KEY is not set: set this environment variable and run this again"
      })
      const wrong = Report.ofFailure(yield* configError(Config.all([Config.number("A_B"), Config.number("C")]), [["A_B", "x"]]))
      expect(wrong).toMatchObject({ exitCode: 2, details: { variable: "A_B" } })
      expect(wrong.message).toMatch(/^A_B can't be used: /)
    }))

  it("of a file that isn't there or isn't allowed names its path", () => {
    const file = (reason: "NotFound" | "PermissionDenied" | "Busy") =>
      Report.ofFailure(new SystemError({ module: "FileSystem", method: "open", reason, pathOrDescriptor: "a/b.png" }))
    expect(file("NotFound")).toMatchObject({ exitCode: 2, message: "there is no file a/b.png: check the path" })
    expect(file("PermissionDenied")).toMatchObject({ exitCode: 2, message: "a/b.png can't be opened: this user may not" })
    expect(file("Busy")).toMatchObject({ exitCode: 1 })
  })

  it("keeps the tag and the status of what it explains, and adds to its facts", () => {
    const cause = Errors.fromCode("CONFLICT", { message, details: { orderId: "1" } })
    const report = Report.ofFailure(new CliError.Explained({ cause, advice: "Nothing was posted.", details: { mediaIds: ["m1"] } }))
    expect(report).toMatchObject({ tag: "Conflict", code: "CONFLICT", exitCode: 5, details: { orderId: "1", mediaIds: ["m1"] } })
    expect(report.advice[0]).toBe("Nothing was posted.")
  })

  it("as JSON is one line of the agreed shape", () => {
    const text = Report.toJson(Report.ofFailure(new CliError.UsageError({ message: "no\u009b" })))
    expect(text).toBe(`{"error":{"tag":"UsageError","code":null,"status":null,"message":"no\\u009b","details":{}}}\n`)
  })

  it("does not let the service's words move the cursor", () => {
    const text = Report.toText("plaza",
      Report.ofFailure(Errors.fromCode("CONFLICT", { message: "a\u001b[2J\nb", details: { x: "\u009b1A" } })), pipe)
    expect(text.split("\n").slice(0, 2)).toEqual(["plaza: this doesn't go with the present state", "  409 CONFLICT: a␛[2J b (x: \ufffd1A)"])
  })

  it("is broken between words on a terminal, and only there", () => {
    const report = Report.ofFailure(
      new CliError.Explained({ cause: new CliError.UsageError({ message: "one two three four five" }), advice: "Six seven eight nine." })
    )
    expect(Report.toText("plaza", report, { ...pipe, isTerminal: true, columns: () => 18 })).toBe(
      "plaza: one two\n  three four five\n  Six seven eight\n  nine.\n"
    )
    expect(Report.toText("plaza", report, pipe)).toBe("plaza: one two three four five\n  Six seven eight nine.\n")
  })

  it("of a defect asks for a report, of an interruption has the signal's status, and of a reader that left there is none", () => {
    expect(Option.getOrThrow(Report.ofCause(Cause.die(new Error("boom")), "SIGINT"))).toMatchObject({
      tag: "Defect",
      exitCode: 1,
      sentence: "a fault in this program: boom"
    })
    expect(Option.getOrThrow(Report.ofCause(Cause.interrupt(FiberId.none), "SIGINT")).exitCode).toBe(130)
    expect(Option.getOrThrow(Report.ofCause(Cause.interrupt(FiberId.none), "SIGTERM")).exitCode).toBe(143)
    expect(Report.ofCause(Cause.fail(new Streams.OutputClosed()), "SIGINT")).toEqual(Option.none())
  })
})
