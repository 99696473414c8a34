/**
 * Extra request headers, as a variable holds them.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as RequestHeaders from "../src/source/http/RequestHeaders.ts"

describe("request headers", () => {
  for (
    const [text, headers] of [
      ["X-API-Key: abc", { "x-api-key": "abc" }],
      ["X-API-Key:abc;", { "x-api-key": "abc" }],
      ["X-API-Key: abc; X-Shop: 7", { "x-api-key": "abc", "x-shop": "7" }],
      ["X-API-Key: abc\r\nX-Shop: 7\n", { "x-api-key": "abc", "x-shop": "7" }],
      // No name and colon follow the semicolon.
      ["Cookie: a=b; c=d", { "cookie": "a=b; c=d" }],
      ["X-Time: 12:30\nX-Any: a; b: c", { "x-time": "12:30", "x-any": "a; b: c" }]
    ] as const
  ) {
    it(`are ${Object.keys(headers).join(" and ")} in ${JSON.stringify(text)}`, () => {
      expect(RequestHeaders.parse(text, "STOCK_SYNC_SOURCE_AUTHORIZATION")).toEqual(Result.succeed(headers))
    })
  }

  for (
    const [text, message] of [
      ["secret", "header 1 is not \"Name: value\""],
      ["X-A: b\nsecret", "header 2 is not \"Name: value\""],
      ["X-A:", "header 1 is not"],
      ["X-A: \u00e9", "header 1 is not"],
      ["Host: secret", "the header host can't be set"],
      ["Range: secret", "the header range can't be set"],
      ["Accept-Encoding: secret", "the header accept-encoding can't be set"],
      ["Authorization: secret", "STOCK_SYNC_SOURCE_AUTHORIZATION"],
      ["X-A: secret\nx-a: secret", "the header x-a is set twice"]
    ] as const
  ) {
    it(`are refused in ${JSON.stringify(text)}, without their values`, () => {
      const parsed = RequestHeaders.parse(text, "STOCK_SYNC_SOURCE_AUTHORIZATION")
      expect(Result.merge(parsed)).toContain(message)
      expect(JSON.stringify(parsed)).not.toContain("secret")
    })
  }
})
