/**
 * From any answer that isn't a success to an error, whatever came.
 */
import { it } from "@effect/vitest"
import { FastCheck } from "effect"
import { describe, expect } from "vitest"
import { categoryOf } from "../src/Category.ts"
import { type ErrorResponse, toError } from "../src/ErrorResponse.ts"
import { byCode } from "../src/Errors.ts"

const answer = (status: number, body: string, more: Partial<ErrorResponse> = {}): ErrorResponse => ({
  status,
  body,
  headers: {},
  receivedAt: Date.UTC(2026, 9, 1),
  ...more
})
const envelope = (error: unknown) => JSON.stringify({ error })

const statuses = [301, 400, 401, 403, 404, 409, 413, 418, 429, 500, 502, 503, 520]
const html = "<!doctype html><html><title>502 Bad Gateway</title>"
const foreign: ReadonlyArray<readonly [what: string, body: string]> = [
  ["HTML", html],
  ["nothing", ""],
  ["white space", " \r\n"],
  ["JSON that was cut short", `{"error":{"code":"NOT_FOUND","message":"The resource do`],
  ["an array", `[{"error":{"code":"NOT_FOUND","message":""}}]`],
  ["null", "null"],
  ["a number", "404"],
  ["a text", `"NOT_FOUND"`],
  ["an object without error", "{}"],
  ["an error that is a text", envelope("NOT_FOUND")],
  ["an error that is null", envelope(null)],
  ["an error that is a list", envelope(["NOT_FOUND"])],
  ["an error without code", envelope({ message: "no" })],
  ["a code that is a number", envelope({ code: 404, message: "no" })],
  ["a code that is null", envelope({ code: null, message: "no" })],
  ["a message that is a number", envelope({ code: "NOT_FOUND", message: 7 })],
  ["a code that only its prototype has", `{"error":{"__proto__":{"code":"NOT_FOUND","message":"no"}}}`],
  ["JSON that is nested without end", "[".repeat(100_000)],
  ["an envelope that nests without end", `{"error":`.repeat(50_000)]
]

it("an error has no details that JSON.stringify can't print", () => {
  const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
  const body = `{"error":{"code":"VALIDATION_ERROR","message":"no","field":"text","near":${nested(100)},"far":${nested(200_000)}}}`
  const { details } = toError(answer(400, body))
  expect(Object.keys(details)).toEqual(["field", "near"])
  expect(JSON.stringify(details)).toBe(`{"field":"text","near":${nested(100)}}`)
})

describe("a documented code under its own status", () => {
  it.each(Object.entries(byCode))("%s becomes its class, with all details", (code, errorClass) => {
    const { status } = new errorClass({ message: "" })
    const error = toError(answer(status, envelope({ code, message: "no", field: "limit", more: { deep: [1] } }), {
      headers: { "x-request-id": "r1", "retry-after": "7" }
    }))
    expect(error).toBeInstanceOf(errorClass)
    expect(error).toMatchObject({ status, code, message: "no", details: { field: "limit", more: { deep: [1] } }, requestId: "r1" })
    expect(error.retryAfter).toMatchObject({ value: { millis: 7_000 } })
  })

  it.each(Object.entries(byCode))("%s with any other status is an UnrecognizedError with the category of that status",
    (code, errorClass) => {
      const own = new errorClass({ message: "" }).status
      for (const status of statuses.filter((status) => status !== own)) {
        expect(toError(answer(status, envelope({ code, message: "no" })))).toMatchObject({
          _tag: "UnrecognizedError",
          status,
          code,
          category: categoryOf(status),
          message: "no"
        })
      }
    })

  it.each(Object.entries(byCode))("%s is an UnrecognizedError at an endpoint that doesn't list it", (code, errorClass) => {
    const { status } = new errorClass({ message: "" })
    const sent = answer(status, envelope({ code, message: "no" }))
    expect(toError({ ...sent, listed: new Set([code]) })).toBeInstanceOf(errorClass)
    expect(toError({ ...sent, listed: new Set() })).toMatchObject({ _tag: "UnrecognizedError", status, code, category: categoryOf(status) })
  })

  it.each([undefined, null, ""])("is recognised with the message %j, and has a message of its own", (message) => {
    expect(toError(answer(404, envelope({ code: "NOT_FOUND", message })))).toMatchObject({
      _tag: "NotFound",
      message: "status 404, code NOT_FOUND"
    })
  })

  it("keeps details that have the names of its own fields", () => {
    const error = toError(
      answer(404, envelope({ code: "NOT_FOUND", message: "no", status: 5, _tag: "x", details: { a: 1 }, category: "y" }))
    )
    expect(error).toMatchObject({
      _tag: "NotFound",
      status: 404,
      category: "NotFound",
      details: { status: 5, _tag: "x", details: { a: 1 }, category: "y" }
    })
  })
})

describe.each(statuses)("status %i", (status) => {
  const category = categoryOf(status)

  it("with an unknown code has the category of the status, the code and all details", () => {
    expect(toError(answer(status, envelope({ code: "BRAND_NEW", message: "no", hint: "x" })))).toMatchObject({
      _tag: "UnrecognizedError",
      status,
      category,
      code: "BRAND_NEW",
      message: "no",
      details: { hint: "x" }
    })
  })

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty", "", "not_found", "NotFound", " NOT_FOUND"])(
    "with the code %j is not recognised",
    (code) => {
      expect(toError(answer(status, envelope({ code, message: "no" })))).toMatchObject({
        _tag: "UnrecognizedError",
        status,
        category,
        code
      })
    }
  )

  it.each(foreign)("with %s as its body is an UnrecognizedError with that body", (_what, body) => {
    const error = toError(answer(status, body))
    expect(error).toMatchObject({ _tag: "UnrecognizedError", status, category, details: body === "" ? {} : { body: body.slice(0, 500) } })
    expect(error.message).toContain(String(status))
    expect("code" in error).toBe(false)
  })
})

describe("any response", () => {
  const anyStatus = FastCheck.integer({ min: 300, max: 999 })
  const anyBody = FastCheck.oneof(
    FastCheck.string({ unit: "binary", maxLength: 2_000 }),
    FastCheck.json(),
    FastCheck.jsonValue().map((error) => envelope(error)),
    FastCheck.record({
      code: FastCheck.oneof(FastCheck.constantFrom(...Object.keys(byCode)), FastCheck.string()),
      message: FastCheck.jsonValue()
    }).map(envelope),
    FastCheck.tuple(FastCheck.json(), FastCheck.nat()).map(([json, at]) => json.slice(0, at))
  )
  const anyHeaders = FastCheck.dictionary(FastCheck.constantFrom("retry-after", "x-request-id", "content-type"), FastCheck.string())

  it.prop("becomes an error with its status and category, and never throws", [anyStatus, anyBody, anyHeaders],
    ([status, body, headers]) => {
      const error = toError(answer(status, body, { headers }))
      expect(error).toMatchObject({ status, category: categoryOf(status) })
      expect(error.requestId).toBe(headers["x-request-id"])
      expect(error._tag === "UnrecognizedError" || byCode[error.code].prototype.constructor === error.constructor).toBe(true)
      expect(error.message).not.toBe("")
    }, { fastCheck: { numRuns: 1_000 } })

  it("pollutes no prototype if a detail is named __proto__", () => {
    const error = toError(answer(404, `{"error":{"code":"NOT_FOUND","message":"no","__proto__":{"polluted":true},"b":2}}`))
    expect(error).toMatchObject({ _tag: "NotFound", details: { b: 2 } })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
    expect((error.details as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it("keeps only the beginning of a long body", () => {
    expect(toError(answer(502, html + "x".repeat(1_000_000))).details["body"]).toHaveLength(500)
  })
})
