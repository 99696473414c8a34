/**
 * The 16 rows of the document's error table as classes, and their form in a body.
 */
import { it } from "@effect/vitest"
import { Duration, Effect, Either, Exit, FastCheck, Schema } from "effect"
import { describe, expect } from "vitest"
import { categoryOf } from "../src/Category.ts"
import { byCode, type ErrorCode, fromCode, UnrecognizedError } from "../src/Errors.ts"
import { errorResponse } from "../src/ErrorSchema.ts"

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

const message = FastCheck.string({ unit: "binary" })
/** Extra fields of an envelope; `__proto__` can't be told from the prototype once it is a field. */
const details = FastCheck.dictionary(
  FastCheck.string().filter((key) => key !== "code" && key !== "message" && key !== "__proto__"),
  FastCheck.jsonValue(),
  { maxKeys: 4 }
)

const envelopes = (code: ErrorCode) =>
  FastCheck.tuple(message, details).map(([message, details]) => ({ error: { ...details, code, message } }))

it("there is a class for each of the 16 codes of the document and for no other", () => {
  expect(Object.keys(byCode).sort()).toEqual(table.map(([, code]) => code).sort())
  expect(table).toHaveLength(16)
})

describe.each(table)("%i %s", (status, code, tag, category) => {
  // One schema for all rows: the types of the classes differ only in what the table tells.
  const schema: Schema.Schema<{ readonly _tag: string }, unknown> = errorResponse(code) as never
  const decode = Schema.decodeUnknownSync(schema)
  const encode = Schema.encodeSync(schema)

  it(`is ${tag} of the category ${category}`, () => {
    const error = fromCode(code, { message: "no" })
    expect(error).toBeInstanceOf(byCode[code])
    expect(error).toMatchObject({ _tag: tag, status, code, category, message: "no", details: {} })
    expect(tag.replaceAll(/(?<!^)[A-Z]/g, "_$&").toUpperCase()).toBe(code)
  })

  it.prop("decodes and encodes to the same envelope", [envelopes(code)], ([envelope]) => {
    expect(encode(decode(envelope))).toEqual(envelope)
  })

  it.prop("encodes and decodes to the same error with the same details", [message, details], ([message, details]) => {
    const error = fromCode(code, { message, details })
    expect(decode(encode(error))).toStrictEqual(error)
  })

  it.prop("keeps every extra field in its details", [envelopes(code)], ([envelope]) => {
    const { code: _code, message: _message, ...extra } = envelope.error
    expect(decode(envelope)).toMatchObject({ details: extra })
  })

  it.prop("has no detail that replaces its code or message on the wire", [message], ([message]) => {
    const error = fromCode(code, { message, details: { code: "OTHER", message: "other" } })
    expect(encode(error)).toEqual({ error: { code, message } })
  })

  it("isn't decoded from another code", () => {
    for (const [, other] of table) {
      const read = Schema.decodeUnknownEither(schema)({ error: { code: other, message: "" } })
      expect(Either.isRight(read)).toBe(other === code)
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
    }))
})

describe("an error that the document doesn't list", () => {
  it.prop("has its status and the category of that status", [FastCheck.integer({ min: 100, max: 999 })], ([status]) => {
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
