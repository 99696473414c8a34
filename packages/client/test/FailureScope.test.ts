import { describe, expect, it } from "@effect/vitest"
import { categoryOf, type ErrorCode } from "@plaza/domain/Errors"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import * as ClientError from "../src/ClientError.ts"
import * as FailureScope from "../src/FailureScope.ts"
import { codes, inconclusive, limited, local, refusal, unknown, unrecognized, waitExceeded } from "./support/Failing.ts"

type Tag = FailureScope.FailureScope["_tag"]

const scopes: Readonly<Record<ErrorCode, Tag>> = {
  VALIDATION_ERROR: "Item",
  INVALID_JSON: "Refusal",
  INVALID_API_KEY: "Refusal",
  INSUFFICIENT_SCOPE: "Refusal",
  DEVELOPER_ACCESS_REVOKED: "Refusal",
  PROFILE_INCOMPLETE: "Refusal",
  CHAT_NOT_ALLOWED: "Refusal",
  CHAT_BLOCKED: "Refusal",
  STORE_BLOCKED: "Refusal",
  USER_UNAVAILABLE: "Refusal",
  FORBIDDEN: "Refusal",
  NOT_FOUND: "Item",
  CONFLICT: "Refusal",
  PAYLOAD_TOO_LARGE: "Refusal",
  RATE_LIMITED: "RateLimit",
  INTERNAL_ERROR: "Service"
}

const localScopes: Readonly<Record<keyof typeof local, Tag>> = {
  InvalidInput: "Item",
  ConnectionFailed: "Service",
  ConnectionLost: "Service",
  AttemptTimeout: "Service",
  UnreadableSuccess: "Service",
  RateLimitWaitExceeded: "RateLimit",
  ClientClosed: "Service",
  CursorRepeated: "Item",
  CursorRejected: "Item",
  UnreadableItem: "Item"
}

const statuses: ReadonlyArray<readonly [status: number, scope: Tag]> = [
  [301, "Refusal"],
  [302, "Refusal"],
  [308, "Refusal"],
  [400, "Refusal"],
  [401, "Refusal"],
  [402, "Refusal"],
  [403, "Refusal"],
  // Without the code of the document it may as well be a wrong base address.
  [404, "Refusal"],
  [405, "Refusal"],
  [408, "Service"],
  [409, "Refusal"],
  [413, "Refusal"],
  [418, "Refusal"],
  [429, "RateLimit"],
  [500, "Service"],
  [502, "Service"],
  [503, "Service"],
  [504, "Service"],
  [520, "Service"]
]

const documented = codes.map((code) => [code, refusal(code), scopes[code]] as const)
const undocumented = statuses.flatMap(([status, scope]) => [
  [`${status} with a new code`, unrecognized(status, "BRAND_NEW"), scope] as const,
  [`${status} without a code`, unrecognized(status), scope] as const
])
// The names of a record that lists every one.
const others = (Object.keys(local) as ReadonlyArray<keyof typeof local>).map((tag) => [tag, local[tag], localScopes[tag]] as const)
const all: ReadonlyArray<readonly [name: string, failure: ClientError.Failure, scope: Tag]> = [...documented, ...undocumented, ...others]

describe("the scope of a failure", () => {
  it.each(all)("%s", (_, failure, scope) => {
    expect(FailureScope.of(failure)._tag).toBe(scope)
  })

  it.each(all)("%s, as the cause of an unknown outcome, is the same", (_, failure) => {
    expect(FailureScope.of(unknown(failure))).toEqual(FailureScope.of(failure))
  })

  it("of an unknown outcome after an inconclusive search is Service", () => {
    expect(FailureScope.of(unknown(inconclusive))._tag).toBe("Service")
    expect(FailureScope.of(inconclusive)._tag).toBe("Service")
  })

  it("has the code of a refusal, or its status if it has no code", () => {
    expect(FailureScope.of(refusal("STORE_BLOCKED"))).toEqual({ _tag: "Refusal", code: "STORE_BLOCKED" })
    expect(FailureScope.of(unrecognized(403, "BRAND_NEW"))).toEqual({ _tag: "Refusal", code: "BRAND_NEW" })
    expect(FailureScope.of(unrecognized(302))).toEqual({ _tag: "Refusal", code: "302" })
    // An endpoint that does not list the code.
    expect(FailureScope.of(unrecognized(409, "CONFLICT"))).toEqual(FailureScope.of(refusal("CONFLICT")))
  })
})

describe("a refusal of the account", () => {
  it("is a refusal of the key, the access or the profile with any status, and any other 401", () => {
    const account: ReadonlyArray<ErrorCode> = ["INVALID_API_KEY", "DEVELOPER_ACCESS_REVOKED", "PROFILE_INCOMPLETE"]
    expect(codes.filter((code) => FailureScope.isAccountRefusal(refusal(code)))).toEqual(account)
    expect(account.filter((code) => FailureScope.isAccountRefusal(unrecognized(403, code)))).toEqual(account)
    expect(statuses.filter(([status]) => FailureScope.isAccountRefusal(unrecognized(status)))).toEqual([[401, "Refusal"]])
    expect(Object.values(local).filter(FailureScope.isAccountRefusal)).toEqual([])
    expect(FailureScope.isAccountRefusal(unknown(refusal("INVALID_API_KEY")))).toBe(true)
    expect(FailureScope.isAccountRefusal(inconclusive)).toBe(false)
  })
})

describe("the service may have carried out a call", () => {
  it("unless it was not sent or was refused", () => {
    expect(codes.filter((code) => FailureScope.mayHaveHappened(refusal(code)))).toEqual(["INTERNAL_ERROR"])
    expect(Object.values(local).filter(FailureScope.mayHaveHappened).map(({ _tag }) => _tag))
      .toEqual(["ConnectionLost", "AttemptTimeout", "UnreadableSuccess"])
    expect(FailureScope.mayHaveHappened(unknown(refusal("STORE_BLOCKED")))).toBe(true)
  })

  it("after a 5xx, and after a redirect or a 408, which the document does not show", () => {
    expect(statuses.filter(([status]) => FailureScope.mayHaveHappened(unrecognized(status, "BRAND_NEW"))).map(([status]) => status))
      .toEqual([301, 302, 308, 408, 500, 502, 503, 504, 520])
  })

  it("after any response that is not an error envelope, because a proxy may have passed the request on", () => {
    expect(statuses.filter(([status]) => !FailureScope.mayHaveHappened(unrecognized(status)))).toEqual([])
  })
})

describe("the category of a failure", () => {
  it("is that of its status for an error of the service, whatever its code", () => {
    for (const [status] of statuses) {
      expect(ClientError.categoryOf(unrecognized(status, "BRAND_NEW"))).toBe(categoryOf(status))
    }
    for (const code of codes) {
      expect(ClientError.categoryOf(refusal(code))).toBe(refusal(code).category)
    }
  })

  it("is the corresponding one for a failure of the client, and that of its cause for an unknown outcome", () => {
    expect(Object.values(local).map((failure) => [failure._tag, ClientError.categoryOf(failure)])).toEqual([
      ["InvalidInput", "InvalidRequest"],
      ["ConnectionFailed", "ServiceFault"],
      ["ConnectionLost", "ServiceFault"],
      ["AttemptTimeout", "ServiceFault"],
      ["UnreadableSuccess", "ServiceFault"],
      ["RateLimitWaitExceeded", "RateLimited"],
      ["ClientClosed", "ServiceFault"],
      ["CursorRepeated", "ServiceFault"],
      ["CursorRejected", "InvalidRequest"],
      ["UnreadableItem", "ServiceFault"]
    ])
    expect(ClientError.categoryOf(unknown(refusal("CONFLICT")))).toBe("Conflict")
    expect(ClientError.categoryOf(unknown(inconclusive))).toBe("ServiceFault")
  })
})

describe("the wait after a rate limit", () => {
  const seconds = (failure: ClientError.Failure) => Effect.map(FailureScope.waitOf(failure), Duration.toSeconds)

  it.effect("is the Retry-After, the rest of a known wait, or a minute", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(5_000)
      expect(yield* seconds(limited(43_200))).toBe(43_200)
      expect(yield* seconds(limited(0))).toBe(0)
      expect(yield* seconds(limited())).toBe(60)
      expect(yield* seconds(unrecognized(429))).toBe(60)
      expect(yield* seconds(unknown(limited(7)))).toBe(7)
      expect(yield* seconds(waitExceeded(12_000))).toBe(7)
      expect(yield* seconds(unknown(waitExceeded(12_000)))).toBe(7)
      expect(yield* seconds(waitExceeded(4_000))).toBe(0)
      // The clock was set back, or the error is not of a response.
      expect(yield* seconds(waitExceeded(30 * 86_400_000))).toBe(86_400)
      expect(yield* seconds(limited(30 * 86_400))).toBe(86_400)
    }))
})
