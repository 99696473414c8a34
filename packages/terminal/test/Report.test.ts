/**
 * Every failure has one sentence, one JSON object and one status.
 */
import { SystemError } from "@effect/platform/Error"
import { it } from "@effect/vitest"
import * as Failures from "@plaza/client/Failures"
import * as Errors from "@plaza/domain/Errors"
import { Cause, Config, ConfigProvider, DateTime, Duration, Effect, FiberId, Option } from "effect"
import { describe, expect } from "vitest"
import { Problem, Report, Streams, type Table } from "../src/index.js"

const pipe: Table.Medium = { isTerminal: false, colour: false, columns: () => 80 }
const message = "words of the service"
const configError = (config: Config.Config<unknown>, entries: ReadonlyArray<readonly [string, string]>) =>
  config.pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(entries), { pathDelim: "_" })), Effect.flip)

describe("a report", () => {
  it.each([
    ["VALIDATION_ERROR", 2], ["INVALID_JSON", 2], ["INVALID_API_KEY", 4], ["INSUFFICIENT_SCOPE", 4], ["DEVELOPER_ACCESS_REVOKED", 4],
    ["PROFILE_INCOMPLETE", 4], ["CHAT_NOT_ALLOWED", 4], ["CHAT_BLOCKED", 4], ["STORE_BLOCKED", 4], ["USER_UNAVAILABLE", 4],
    ["FORBIDDEN", 4], ["NOT_FOUND", 3], ["CONFLICT", 5], ["PAYLOAD_TOO_LARGE", 2], ["RATE_LIMITED", 6], ["INTERNAL_ERROR", 7]
  ] as const)("of %s ends with %i and repeats what the service said", (code, exitCode) => {
    const error = Errors.fromCode(code, { message })
    const report = Report.ofFailure(error)
    expect(report).toMatchObject({ tag: error._tag, code, status: error.status, message, exitCode })
    expect(Report.toText("plaza", report, pipe)).toMatch(new RegExp(`^plaza: [^\n]+: ${message} \\(${error.status} ${code}\\)\n  [^\n]+\\.\n$`))
  })

  it("tells the field, the request and the wait that the service named", () => {
    const report = Report.ofFailure(Errors.fromCode("RATE_LIMITED", { message, details: { field: "limit" }, requestId: "r1", retryAfter: Duration.seconds(7) }))
    expect(report.details).toEqual({ field: "limit", requestId: "r1", retryAfterSeconds: 7 })
    expect(Report.toText("plaza", report, pipe)).toContain("(429 RATE_LIMITED, field: limit, requestId: r1, retryAfterSeconds: 7)\n  The service asks to wait 7 seconds.\n")
  })

  it("of an error that the document doesn't list goes by its status", () => {
    const report = Report.ofFailure(new Errors.UnrecognizedError({ status: 502, category: "ServiceFault", message, details: { body: "<html>" } }))
    expect(report).toMatchObject({ tag: "UnrecognizedError", code: null, status: 502, exitCode: 7, details: { body: "<html>" } })
    expect(report.sentence).not.toContain("<html>")
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
    [new Failures.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, message, body: "" }), 8, { operation: "createPost", status: 200, body: "" }],
    [
      new Failures.OutcomeUnknown({ attempts: 1, operation: "createPost", message, cause: new Failures.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message }) }),
      8,
      { operation: "createPost" }
    ]
  ] as const)("of the client's %s has its status and its facts", (failure, exitCode, details) => {
    expect(Report.ofFailure(failure)).toMatchObject({ tag: failure._tag, message, exitCode, details })
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
    const file = (reason: "NotFound" | "PermissionDenied" | "Busy") => Report.ofFailure(new SystemError({ module: "FileSystem", method: "open", reason, pathOrDescriptor: "a/b.png" }))
    expect(file("NotFound")).toMatchObject({ exitCode: 2, message: "there is no file a/b.png: check the path" })
    expect(file("PermissionDenied")).toMatchObject({ exitCode: 2, message: "a/b.png can't be opened: this user may not" })
    expect(file("Busy")).toMatchObject({ exitCode: 1 })
  })

  it("keeps the tag and the status of what it explains, and adds to its facts", () => {
    const cause = Errors.fromCode("CONFLICT", { message, details: { orderId: "1" } })
    const report = Report.ofFailure(new Problem.Explained({ cause, advice: "Nothing was posted.", details: { mediaIds: ["m1"] } }))
    expect(report).toMatchObject({ tag: "Conflict", code: "CONFLICT", exitCode: 5, details: { orderId: "1", mediaIds: ["m1"] } })
    expect(report.advice[0]).toBe("Nothing was posted.")
  })

  it("as JSON is one line of the agreed shape", () => {
    const text = Report.toJson(Report.ofFailure(new Problem.UsageError({ message: "no\u009b" })))
    expect(text).toBe(`{"error":{"tag":"UsageError","code":null,"status":null,"message":"no\\u009b","details":{}}}\n`)
  })

  it("does not let the service's words move the cursor", () => {
    const text = Report.toText("plaza", Report.ofFailure(Errors.fromCode("CONFLICT", { message: "a\u001b[2J\nb", details: { x: "\u009b1A" } })), pipe)
    expect(text.split("\n").slice(0, 1)).toEqual(["plaza: this doesn't go with the present state: a␛[2J b (409 CONFLICT, x: \ufffd1A)"])
  })

  it("is broken between words on a terminal, and only there", () => {
    const report = Report.ofFailure(new Problem.Explained({ cause: new Problem.UsageError({ message: "one two three four five" }), advice: "Six seven eight nine." }))
    expect(Report.toText("plaza", report, { ...pipe, isTerminal: true, columns: () => 18 })).toBe("plaza: one two\n  three four five\n  Six seven eight\n  nine.\n")
    expect(Report.toText("plaza", report, pipe)).toBe("plaza: one two three four five\n  Six seven eight nine.\n")
  })

  it("of a defect asks for a report, of an interruption has the signal's status, and of a reader that left there is none", () => {
    expect(Option.getOrThrow(Report.ofCause(Cause.die(new Error("boom")), "SIGINT"))).toMatchObject({ tag: "Defect", exitCode: 1, sentence: "a fault in this program: boom" })
    expect(Option.getOrThrow(Report.ofCause(Cause.interrupt(FiberId.none), "SIGINT")).exitCode).toBe(130)
    expect(Option.getOrThrow(Report.ofCause(Cause.interrupt(FiberId.none), "SIGTERM")).exitCode).toBe(143)
    expect(Report.ofCause(Cause.fail(new Streams.OutputClosed()), "SIGINT")).toEqual(Option.none())
  })
})
