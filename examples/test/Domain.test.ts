/** The programs of the domain's documentation. */
import { expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { post } from "../src/DecodePost.ts"
import { adviceFor } from "../src/HandleErrorResponse.ts"

it("a post without a text decodes, and unknown fields are ignored", () => {
  expect(post).toEqual({ id: "007", createdAt: DateTime.makeUnsafe("2026-10-01T12:00:00.000Z") })
})

const refusal = (status: number, code: string, headers = {}) =>
  adviceFor(Response.json({ error: { code, message: "no" } }, { status, headers }))

it.effect("an error response leads to advice by its code, else by its category", () =>
  Effect.gen(function*() {
    expect(yield* refusal(403, "PROFILE_INCOMPLETE")).toBe("add a photo and a cover to the profile")
    expect(yield* refusal(429, "NEW_QUOTA", { "retry-after": "90" })).toBe("retry after 1m 30s")
    expect(yield* refusal(404, "NOT_FOUND")).toBe("no")
  }))
