/**
 * The rows of the document's error table as classes, and their form in a body.
 */
import { describe, expect, it } from "@effect/vitest"
import { between, jsonFields, text } from "@plaza/testing/Generators"
import { Duration, Effect, Exit, Schema } from "effect"
import { byCode, categoryOf, type ErrorCode, fromCode, UnrecognizedError } from "../src/Errors.ts"
import { errorResponse } from "../src/PlazaApi.ts"

// Status, code, category: the table of the document with the general meaning of each status.
const table = [
  [400, "VALIDATION_ERROR", "ValidationError", "InvalidRequest"],
  [400, "INVALID_JSON", "InvalidJson", "InvalidRequest"],
  [401, "INVALID_API_KEY", "InvalidApiKey", "Unauthenticated"],
  [403, "INSUFFICIENT_SCOPE", "InsufficientScope", "Forbidden"],
  [403, "DEVELOPER_ACCESS_REVOKED", "DeveloperAccessRevoked", "Forbidden"],
  [403, "PROFILE_INCOMPLETE", "ProfileIncomplete", "Forbidden"],
  [403, "CHAT_NOT_ALLOWED", "ChatNotAllowed", "Forbidden"],
  [403, "CHAT_BLOCKED", "ChatBlocked", "Forbidden"],
  [403, "STORE_BLOCKED", "StoreBlocked", "Forbidden"],
  [403, "USER_UNAVAILABLE", "UserUnavailable", "Forbidden"],
  [403, "FORBIDDEN", "Forbidden", "Forbidden"],
  [404, "NOT_FOUND", "NotFound", "NotFound"],
  [409, "CONFLICT", "Conflict", "Conflict"],
  [413, "PAYLOAD_TOO_LARGE", "PayloadTooLarge", "TooLarge"],
  [429, "RATE_LIMITED", "RateLimited", "RateLimited"],
  [500, "INTERNAL_ERROR", "InternalError", "ServiceFault"]
] as const

const extra = jsonFields(Schema.String.check(Schema.isPattern(/^(?!code$|message$)/)))

it("there is a class for each code of the document and for no other", () => {
  expect(Object.keys(byCode).sort()).toEqual(table.map(([, code]) => code).sort())
})

describe.each(table)("%i %s", (status, code, tag, category) => {
  const schema = errorResponse<ErrorCode>(code)
  const decode = Schema.decodeUnknownSync(schema)
  const encode = Schema.encodeSync(schema)

  it(`is ${tag} of the category ${category}`, () => {
    const error = fromCode(code, { message: "no" })
    expect(error).toBeInstanceOf(byCode[code])
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ _tag: tag, name: tag, status, code, category, message: "no", details: {} })
    expect(String(error)).toBe(`${tag}: no`)
  })

  it.prop("decodes and encodes to the same envelope, and keeps every extra field in its details", [text, extra], ([message, extra]) => {
    const envelope = { error: { ...extra, code, message } }
    const error = decode(envelope)
    expect(error.details).toEqual(extra)
    expect(encode(error)).toEqual(envelope)
  })

  it.prop("encodes and decodes to the same error with the same details", [text, extra], ([message, details]) => {
    const error = fromCode(code, { message, details })
    const decoded = decode(JSON.parse(JSON.stringify(encode(error))))
    expect(decoded).toBeInstanceOf(byCode[code])
    expect(decoded).toEqual(error)
  })

  it.prop("has no detail that replaces its code or message on the wire", [text], ([message]) => {
    const error = fromCode(code, { message, details: { code: "OTHER", message: "other" } })
    expect(encode(error)).toEqual({ error: { code, message } })
  })

  it("isn't decoded from another code", () => {
    for (const [, other] of table) {
      const read = Schema.decodeUnknownOption(schema)({ error: { code: other, message: "" } })
      expect(read._tag).toBe(other === code ? "Some" : "None")
    }
  })

  it.effect("can be raised, and caught by its tag", () =>
    Effect.gen(function*() {
      const error = fromCode(code, { message: "no", requestId: "r1", retryAfter: Duration.seconds(3) })
      const raised = Effect.gen(function*() {
        return yield* error
      })
      expect(yield* Effect.flip(raised)).toMatchObject({ _tag: tag, requestId: "r1", retryAfter: Duration.seconds(3) })
      expect(yield* Effect.exit(raised)).toEqual(Exit.fail(error))
      expect(yield* Effect.catchTag(raised, tag, (caught) => Effect.succeed(caught.code))).toBe(code)
    }))
})

describe("an error that the document doesn't list", () => {
  it.prop("has its status and the category of that status", [between(100, 999)], ([status]) => {
    const error = new UnrecognizedError({ status, category: categoryOf(status), message: "?" })
    expect(error).toMatchObject({ _tag: "UnrecognizedError", status, category: categoryOf(status), details: {} })
    expect("code" in error).toBe(false)
  })
})

describe("the category of a status", () => {
  it.each([
    [301, "InvalidRequest"],
    [400, "InvalidRequest"],
    [401, "Unauthenticated"],
    [402, "InvalidRequest"],
    [403, "Forbidden"],
    [404, "NotFound"],
    [408, "InvalidRequest"],
    [409, "Conflict"],
    [410, "InvalidRequest"],
    [413, "TooLarge"],
    [418, "InvalidRequest"],
    [422, "InvalidRequest"],
    [429, "RateLimited"],
    [499, "InvalidRequest"],
    [500, "ServiceFault"],
    [502, "ServiceFault"],
    [503, "ServiceFault"],
    [504, "ServiceFault"],
    [520, "ServiceFault"],
    [599, "ServiceFault"]
  ] as const)("%i is %s", (status, category) => {
    expect(categoryOf(status)).toBe(category)
  })
})
