import { describe, expect, it } from "@effect/vitest"
import { Posts, Profiles } from "@plaza/client"
import { type ErrorCode, PostId } from "@plaza/domain"
import { byCode } from "@plaza/domain/Errors"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect } from "effect"
import * as OnSandbox from "./support/OnSandbox.ts"
import { codes, provoke, world } from "./support/Provoked.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)

const answer = (code: ErrorCode) =>
  Effect.gen(function*() {
    const failure = yield* Effect.flip(provoke[code])
    expect(failure).toBeInstanceOf(byCode[code])
    const { category, status } = new byCode[code]({ message: "" })
    expect(failure).toMatchObject({ code, status, category })
    expect(failure.message).not.toBe("")
    expect(failure).toHaveProperty("requestId")
  })

describe("every row of the error table is produced by the sandbox and becomes its tagged error", () => {
  for (const code of codes) {
    it.effect(`${code}, in process`, () => Effect.provide(answer(code), OnSandbox.inProcess(world)))
    OnSandbox.itOnSockets(code, answer(code), world)
  }
})

it.effect("a refusal keeps its details: the invalid field, and the time to wait", () =>
  Effect.gen(function*() {
    expect(yield* Effect.flip(provoke.VALIDATION_ERROR)).toMatchObject({ details: { field: "stock" } })
    const limited = yield* Effect.flip(provoke.RATE_LIMITED)
    expect("retryAfter" in limited && limited.retryAfter !== undefined && Duration.toSeconds(limited.retryAfter)).toBe(60)
  }).pipe(Effect.provide(OnSandbox.inProcess(world))))

describe("a response that the document doesn't describe is an UnrecognizedError with the category of its status", () => {
  const categories = {
    400: "InvalidRequest",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    418: "InvalidRequest",
    500: "ServiceFault",
    502: "ServiceFault",
    520: "ServiceFault"
  } as const
  const unknownCode = JSON.stringify({ error: { code: "BRAND_NEW", message: "later", hint: 7 } })
  const faults = {
    "an unknown code": { kind: "status", when: "before", body: unknownCode, contentType: "application/json" },
    "an HTML body": { kind: "status", when: "before", body: "<html><h1>Bad gateway</h1></html>", contentType: "text/html" },
    "an empty body": { kind: "status", when: "before", body: "" },
    "a body cut short": { kind: "cut", when: "before", body: unknownCode }
  } as const

  const check = (status: keyof typeof categories, fault: (typeof faults)[keyof typeof faults]) =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ ...fault, status })
      const failure = yield* Effect.flip(me)
      expect(failure).toMatchObject({ _tag: "UnrecognizedError", status, category: categories[status] })
      if (fault === faults["an unknown code"]) {
        expect(failure).toMatchObject({ code: "BRAND_NEW", message: "later", details: { hint: 7 } })
      }
      if (fault === faults["a body cut short"]) {
        expect(failure).toMatchObject({
          message: `the response with status ${status} ended before its body was complete`,
          details: { isIncomplete: true }
        })
      }
      if (fault === faults["an HTML body"]) {
        expect(failure).toMatchObject({ details: { body: "<html><h1>Bad gateway</h1></html>" } })
      }
    })

  for (const status of [400, 403, 404, 409, 418, 500, 502, 520] as const) {
    for (const [name, fault] of Object.entries(faults)) {
      it.effect(`${status} with ${name}, in process`, () => Effect.provide(check(status, fault), OnSandbox.inProcess(world)))
      OnSandbox.itOnSockets(`${status} with ${name}`, check(status, fault), world)
    }
  }
})

it.effect("a documented code that the contract doesn't list for the endpoint is an UnrecognizedError with that code", () =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault({ kind: "status", when: "before", status: 403, code: "CHAT_BLOCKED" })
    const like = Effect.flatMap(Posts, ({ like }) => like(PostId.make("1")))
    expect(yield* Effect.flip(like)).toMatchObject({
      _tag: "UnrecognizedError",
      code: "CHAT_BLOCKED",
      category: "Forbidden"
    })
  }).pipe(Effect.provide(OnSandbox.inProcess(world))))
