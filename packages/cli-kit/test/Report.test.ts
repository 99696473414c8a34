/**
 * The presentation of every failure: text for people, JSON for programs.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Failures from "@plaza/client/ClientError"
import * as Errors from "@plaza/domain/Errors"
import { Cause, Config, ConfigProvider, DateTime, Duration, Effect, Option, PlatformError } from "effect"
import * as CliError from "../src/CliError.ts"
import * as Report from "../src/Report.ts"
import * as Streams from "../src/Streams.ts"
import type * as Table from "../src/Table.ts"

const pipe: Table.Medium = { isTerminal: false, colour: false, columns: () => 80 }
const message = "words of the service"
const configError = (config: Config.Config<unknown>, variables: Readonly<Record<string, string>>) =>
  Effect.flip(config.parse(ConfigProvider.fromEnvRecord(variables)))

/** The lines of a report, without the name of the program and indentation. */
const linesOf = (error: unknown, now?: number): ReadonlyArray<string> =>
  Report.toText("plaza", Report.ofFailure(error, now === undefined ? {} : { now }), pipe).trimEnd().replace("plaza: ", "").split("\n").map((
    line
  ) => line.trim())

const isCode = (code: string): code is Errors.ErrorCode => code in Errors.byCode
const codes = Object.keys(Errors.byCode).filter(isCode)

describe("a report", () => {
  it("has the instructions of the program in place of the general ones", () => {
    const remediation = { key: "Run shop login.", outcomeUnknown: { createPost: "Run shop posts." } }
    const remediationOf = (error: unknown) => Report.ofFailure(error, { remediation }).remediation
    expect(remediationOf(Errors.fromCode("INVALID_API_KEY", { message }))[0]).toBe("Run shop login.")
    expect(remediationOf(Errors.fromCode("INSUFFICIENT_SCOPE", { message }))[0]).toBe("Run shop login.")
    expect(remediationOf(Errors.fromCode("NOT_FOUND", { message }))).toHaveLength(1)
    const cause = new Failures.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message })
    expect(remediationOf(new Failures.OutcomeUnknown({ attempts: 1, operation: "createPost", message, cause }))).toEqual([
      "Run shop posts."
    ])
  })

  it.each(codes)("of %s has a line for what happened, one for why and one for what to do", (code) => {
    const error = Errors.fromCode(code, { message, requestId: "req_7" })
    const report = Report.ofFailure(error)
    expect(report).toMatchObject({ tag: error._tag, code, status: error.status, message })
    expect(JSON.parse(Report.toJson(report))).toEqual({
      error: { tag: error._tag, code, status: error.status, message, details: { requestId: "req_7" } }
    })
    const [what, why, action, ...rest] = linesOf(error)
    expect(what).toMatch(/^[a-z][^.]+$/)
    expect(why).toBe(`${error.status} ${code}: ${message} (requestId: req_7)`)
    expect(action).toMatch(/^[A-Z].+\.$/)
    expect(rest).toEqual([])
  })

  it("has a distinct remediation for each code", () => {
    const actions = codes.map((code) => linesOf(Errors.fromCode(code, { message })).at(-1))
    // A fault and a limit without `Retry-After` have the same one.
    const later = codes.filter((code) => code === "RATE_LIMITED" || code === "INTERNAL_ERROR")
    expect(new Set(actions).size).toBe(codes.length - later.length + 1)
  })

  it.each([
    ["PROFILE_INCOMPLETE", {}, "Add a profile photo and a cover in the web app, then run the command again."],
    [
      "INSUFFICIENT_SCOPE",
      { details: { scope: "posts:write" } },
      "Create a key with the scope posts:write in the web app under Settings, then Developers, and use it."
    ],
    [
      "INSUFFICIENT_SCOPE",
      { message: "the key needs stories:write for http://x/y" },
      "Create a key with the scope stories:write in the web app under Settings, then Developers, and use it."
    ],
    [
      "INSUFFICIENT_SCOPE",
      { message: "see https://host/scopes" },
      "Create a key with this scope in the web app under Settings, then Developers, and use it."
    ],
    ["RATE_LIMITED", { retryAfter: Duration.seconds(90) }, "Run the command again in 90 seconds, at 1970-01-01T00:01:30.000Z."],
    [
      "RATE_LIMITED",
      { retryAfter: Duration.millis(8.64e15) },
      "Run the command again in a day at the earliest."
    ],
    ["RATE_LIMITED", { retryAfter: Duration.hours(12) }, "Run the command again in 12 hours, at 1970-01-01T12:00:00.000Z."],
    // A day by an HTTP date, which has no milliseconds.
    ["RATE_LIMITED", { retryAfter: Duration.millis(86_399_100) }, "Run the command again in a day at the earliest."],
    ["INTERNAL_ERROR", { retryAfter: Duration.seconds(5) }, "Run the command again in 5 seconds, at 1970-01-01T00:00:05.000Z."]
  ] as const)("of %s with %j has a specific remediation", (code, fields, advice) => {
    expect(linesOf(Errors.fromCode(code, { message, ...fields }), 0).at(-1)).toBe(advice)
    expect(linesOf(Errors.fromCode(code, { message, ...fields, retryAfter: Duration.millis(8.64e15) }), 1)).toHaveLength(3)
  })

  it("has the field, the request id and the wait of the response", () => {
    const report = Report.ofFailure(
      Errors.fromCode("RATE_LIMITED", { message, details: { field: "limit" }, requestId: "r1", retryAfter: Duration.seconds(7) })
    )
    expect(report.details).toEqual({ field: "limit", requestId: "r1", retryAfterSeconds: 7 })
    expect(Report.toText("plaza", report, pipe)).toContain(
      "(field: limit, requestId: r1, retryAfterSeconds: 7)\n  Run the command again in 7 seconds.\n"
    )
  })

  it("uses the status for a code that the document doesn't list", () => {
    const error = new Errors.UnrecognizedError({ status: 403, code: "TOO_YOUNG", category: "Forbidden", message, requestId: "r1" })
    expect(Report.ofFailure(error)).toMatchObject({ tag: "UnrecognizedError", code: "TOO_YOUNG", status: 403 })
    expect(linesOf(error)).toEqual([
      "the account does not have permission",
      "403 TOO_YOUNG: words of the service (requestId: r1)",
      "Check the id, the scopes of the key, and the account in the web app."
    ])
  })

  it.each([
    [200, "ServiceFault", "the response can't be read"],
    [502, "ServiceFault", "a gateway can't reach the service"],
    [404, "NotFound", "the response is not from the service"],
    [302, "InvalidRequest", "the response is not from the service"],
    [407, "InvalidRequest", "the response is not from the service"],
    [413, "TooLarge", "the request is too large for a gateway"],
    [429, "RateLimited", "a gateway limits the requests"]
  ] as const)("of a gateway's page with status %i shows its title", (status, category, what) => {
    const body = `<html><head><title>\n${status} Gateway\n</title></head>`
    const error = new Errors.UnrecognizedError({ status, category, message, details: { body } })
    expect(Report.ofFailure(error)).toMatchObject({ tag: "UnrecognizedError", code: null, status, details: { body } })
    const [first, why, action, ...rest] = linesOf(error)
    expect([first, why, rest]).toEqual([what, `${status}: ${message} (page title: "${status} Gateway")`, []])
    expect(action).toMatch(/^[A-Z].+\.$/)
  })

  it.each([[403, "Forbidden"], [429, "RateLimited"], [502, "ServiceFault"]] as const)("of a response with status %i that was cut says so",
    (status, category) => {
      const error = new Errors.UnrecognizedError({ status, category, message: "it ended early", details: { isIncomplete: true } })
      const [what, why, action = ""] = linesOf(error)
      expect([what, why]).toEqual(["the response was cut before its end", `${status}: it ended early`])
      expect(action).toMatch(/[Rr]un the command again/)
    })

  it("says of a refusal that the change may have been made, if a proxy sent it", () => {
    const doubtful = "The change may have been made all the same, by an earlier attempt or through a proxy: check it."
    const report = Report.ofFailure(new Errors.UnrecognizedError({ status: 403, category: "Forbidden", message }))
    expect(report.remediation.at(-1)).toBe(doubtful)
    expect(JSON.parse(Report.toJson(report))).toMatchObject({ error: { status: 403, details: { mayHaveHappened: true } } })
    for (const code of codes) {
      expect(JSON.stringify(Report.ofFailure(Errors.fromCode(code, { message })))).not.toMatch(/all the same|mayHaveHappened/)
    }
  })

  it("says of a rate limit that the change may have been made, and repeats it only if it was not", () => {
    const page = (retryAfter?: Duration.Duration) =>
      new Errors.UnrecognizedError({
        status: 429,
        category: "RateLimited",
        message,
        ...(retryAfter === undefined ? {} : { retryAfter })
      })
    for (
      const [retryAfter, when] of [[undefined, "later"], [Duration.seconds(90), "in 90 seconds, at 1970-01-01T00:01:30.000Z"]] as const
    ) {
      const report = Report.ofFailure(page(retryAfter), { now: 0 })
      expect(report.details).toMatchObject({ mayHaveHappened: true })
      expect(report.remediation.join(" ")).toMatch(/may have been made all the same/)
      expect(report.remediation.at(-1)).toBe(`If it was not made, run the command again ${when}.`)
    }
    expect(JSON.stringify(Report.ofFailure(Errors.fromCode("RATE_LIMITED", { message })))).not.toMatch(/all the same|mayHaveHappened/)
  })

  it("does not promise that the service is ready after a wait that was cut to a day", () => {
    for (const code of ["RATE_LIMITED", "INTERNAL_ERROR"] as const) {
      const report = Report.ofFailure(Errors.fromCode(code, { message, retryAfter: Duration.days(1) }), { now: 0 })
      expect(report.remediation).toEqual(["Run the command again in a day at the earliest."])
    }
  })

  it("of an unreadable success forbids to repeat a write only if repeating it is not safe", () => {
    const adviceOf = (operation: string) =>
      Report.ofFailure(new Failures.UnreadableSuccess({ attempts: 1, operation, status: 200, message, body: "" })).remediation.join(" ")
    for (const operation of ["setStock", "likePost", "followUser", "uploadMedia"]) {
      expect(adviceOf(operation)).toMatch(/^The change was probably made\. Run the command again[:.]/)
    }
    for (const operation of ["createPost", "shipOrder", "createComment", "sendMessage", "createStory", "POST /notes"]) {
      expect(adviceOf(operation)).toMatch(/^Don't run the command again/)
    }
  })

  it("has the fields of the service that are lists or objects, on one line and without control characters", () => {
    const details = { fields: ["text", "media\u001b[31m"], limits: { text: 100, more: [null, true] }, none: null }
    const [, why] = linesOf(Errors.fromCode("VALIDATION_ERROR", { message, details }))
    expect(why).toBe(
      `400 VALIDATION_ERROR: ${message} (fields: ["text","media\\u001b[31m"], limits: {"text":100,"more":[null,true]})`
    )
    const flood = { list: Array.from({ length: 1000 }, (_, index) => index) }
    expect(linesOf(Errors.fromCode("VALIDATION_ERROR", { message, details: flood }))[1]?.length).toBeLessThan(300)
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, "x"]))
    expect(linesOf(Errors.fromCode("VALIDATION_ERROR", { message, details: many }))[1]?.length).toBeLessThan(300)
  })

  it("shortens long texts of the service", () => {
    const flood = Errors.fromCode("CONFLICT", { message, details: { note: "x".repeat(100_000) } })
    expect(linesOf(flood)[1]?.length).toBeLessThan(300)
  })

  it.each([
    [new Failures.InvalidInput({ field: "text", message }), { field: "text" }],
    [new Failures.InvalidSettings({ setting: "baseUrl", message }), { setting: "baseUrl" }],
    [new Failures.ConnectionFailed({ attempts: 1, reason: "ECONNREFUSED", message }), { reason: "ECONNREFUSED" }],
    [new Failures.AttemptTimeout({ attempts: 1, timeout: Duration.seconds(30), message }), { timeoutSeconds: 30 }],
    [new Failures.RateLimitWaitExceeded({ retryAt: DateTime.makeUnsafe(0), message }), { retryAt: "1970-01-01T00:00:00.000Z" }],
    [new Failures.CursorRepeated({ operation: "listPosts", message }), { operation: "listPosts" }],
    [
      new Failures.CursorRejected({ operation: "listPosts", message, cause: Errors.fromCode("VALIDATION_ERROR", { message }) }),
      { operation: "listPosts" }
    ],
    [new Failures.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, message, body: "" }), {
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
      { operation: "createPost" }
    ]
  ] as const)("of the client's %s has its details", (failure, details) => {
    expect(Report.ofFailure(failure)).toMatchObject({ tag: failure._tag, message, details })
  })

  const lost = new Failures.ConnectionLost({ attempts: 1, reason: "ECONNRESET", message })
  const unknown = (operation: string) => new Failures.OutcomeUnknown({ attempts: 1, operation, message, cause: lost })
  it.each([
    ["ENOTFOUND", /host name/],
    ["EAI_AGAIN", /host name/],
    ["ECONNREFUSED", /service is running/],
    ["ENETUNREACH", /network/],
    ["UND_ERR_CONNECT_TIMEOUT", /firewall/],
    ["ETIMEDOUT", /firewall/],
    ["CERT_HAS_EXPIRED", /has expired/],
    ["CERT_NOT_YET_VALID", /not valid yet/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", /another host/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", /does not trust/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /does not trust/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", /does not speak TLS/],
    ["EPERM", /base URL/]
  ] as const)("of a connection that failed with %s has a remediation", (reason, action) => {
    const lines = linesOf(new Failures.ConnectionFailed({ attempts: 4, reason, message }))
    expect(lines).toEqual(["can't connect to the service; nothing was changed", message, expect.stringMatching(action)])
  })

  it.each([
    [lost, "the connection to the service was lost"],
    [new Failures.AttemptTimeout({ attempts: 1, timeout: Duration.seconds(30), message }), "the service did not respond in time"],
    [
      new Failures.RateLimitWaitExceeded({ retryAt: DateTime.makeUnsafe(0), message }),
      "the rate limit or a quota is used up"
    ],
    [new Failures.CursorRepeated({ operation: "listPosts", message }), "the list repeats a cursor and never ends"],
    [
      new Failures.CursorRejected({ operation: "listPosts", message, cause: Errors.fromCode("VALIDATION_ERROR", { message }) }),
      "the list can't be continued"
    ],
    [unknown("createPost"), "the outcome is unknown: the change may have been made"],
    [
      new Failures.UnreadableSuccess({ attempts: 1, operation: "createPost", status: 200, message, body: "" }),
      "the service reported success, but its response can't be read"
    ]
  ] as const)("of the client's %s has three lines", (failure, what) => {
    expect(linesOf(failure)).toEqual([what, message, expect.stringMatching(/^[A-Z].+\.$/)])
  })

  it.each([
    ["createPost", /newest posts/],
    ["shipOrder", /A conflict then means/],
    ["createComment", /web app whether the comment/],
    ["sendMessage", /web app whether the message/],
    ["createStory", /web app whether the story/],
    ["setStock", /^Run the command again/],
    ["uploadMedia", /^Run the command again/],
    ["request", /web app whether the change was made/]
  ] as const)("of a %s with an unknown outcome says how to check it", (operation, action) => {
    expect(linesOf(unknown(operation))[2]).toMatch(action)
  })

  it("of an unknown outcome has the status and the request id of the last response", () => {
    const cause = Errors.fromCode("INTERNAL_ERROR", { message: "boom", requestId: "req_9" })
    const failure = new Failures.OutcomeUnknown({ attempts: 1, operation: "createComment", message: "may have happened (boom)", cause })
    expect(linesOf(failure)[1]).toBe("may have happened (boom) (500 INTERNAL_ERROR, requestId: req_9)")
  })

  it("of an unreadable success warns against a repetition, except for a read", () => {
    const unreadable = (operation: string) =>
      new Failures.UnreadableSuccess({ attempts: 1, operation, status: 200, message, body: "<html>" })
    expect(linesOf(unreadable("createPost"))[2]).toMatch(/^Don't run the command again/)
    expect(linesOf(unreadable("getMe"))[2]).toMatch(/^Check that the base URL/)
  })

  it.effect("of a missing or invalid variable names it", () =>
    Effect.gen(function*() {
      const key = Config.nested(Config.Redacted("API_KEY"), "PLAZA")
      expect(Report.ofFailure(yield* configError(key, {}))).toMatchObject({
        message: "PLAZA_API_KEY is not set: set this environment variable"
      })
      const wrong = Report.ofFailure(yield* configError(Config.all([Config.Number("A_B"), Config.Number("C")]), { A_B: "x" }))
      expect(wrong).toMatchObject({ details: { variable: "A_B" } })
      expect(wrong.message).toMatch(/^A_B is invalid: /)
    }))

  it("of a missing or forbidden file names its path", () => {
    const file = (_tag: "NotFound" | "PermissionDenied" | "Busy") =>
      Report.ofFailure(PlatformError.systemError({ _tag, module: "FileSystem", method: "open", pathOrDescriptor: "a/b.png" }))
    expect(file("NotFound").message).toBe("a/b.png does not exist: check the path")
    expect(file("PermissionDenied").message).toBe("permission denied for a/b.png: check its owner and mode")
    expect(file("Busy").message).toBe("a/b.png: Busy")
  })

  it("keeps the tag of an explained failure and adds details", () => {
    const cause = Errors.fromCode("CONFLICT", { message, details: { orderId: "1" } })
    const report = Report.ofFailure(new CliError.Explained({ cause, explanation: "Nothing was posted.", details: { mediaIds: ["m1"] } }))
    expect(report).toMatchObject({ tag: "Conflict", code: "CONFLICT", details: { orderId: "1", mediaIds: ["m1"] } })
    expect(report.remediation[0]).toBe("Nothing was posted.")
  })

  it("is one line as JSON", () => {
    const text = Report.toJson(Report.ofFailure(new CliError.UsageError({ message: "no\u009b" })))
    expect(text).toBe(`{"error":{"tag":"UsageError","code":null,"status":null,"message":"no\\u009b","details":{}}}\n`)
  })

  it("escapes control characters of the service", () => {
    const text = Report.toText("plaza",
      Report.ofFailure(Errors.fromCode("CONFLICT", { message: "a\u001b[2J\nb", details: { x: "\u009b1A" } })), pipe)
    expect(text.split("\n").slice(0, 2)).toEqual([
      "plaza: the request conflicts with the current state",
      "  409 CONFLICT: a␛[2J b (x: \ufffd1A)"
    ])
  })

  it("is wrapped between words on a terminal only", () => {
    const report = Report.ofFailure(
      new CliError.Explained({
        cause: new CliError.UsageError({ message: "one two three four five" }),
        explanation: "Six seven eight nine."
      })
    )
    expect(Report.toText("plaza", report, { ...pipe, isTerminal: true, columns: () => 18 })).toBe(
      "plaza: one two\n  three four five\n  Six seven eight\n  nine.\n"
    )
    expect(Report.toText("plaza", report, pipe)).toBe("plaza: one two three four five\n  Six seven eight nine.\n")
  })

  it("of a defect asks for a bug report, and of a closed output there is none", () => {
    expect(Option.getOrThrow(Report.ofCause(Cause.die(new Error("boom"))))).toMatchObject({
      tag: "Defect",
      summary: "internal error: boom"
    })
    expect(Option.getOrThrow(Report.ofCause(Cause.interrupt()))).toMatchObject({ tag: "Interrupted" })
    expect(Report.ofCause(Cause.fail(new Streams.OutputClosed()))).toEqual(Option.none())
  })
})
