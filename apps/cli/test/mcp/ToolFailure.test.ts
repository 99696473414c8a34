/** What a failed tool reports, by the failure and the delivery class. */
import { describe, expect, it } from "@effect/vitest"
import { ClientError, Plaza, Store } from "@plaza/client"
import * as ErrorResponse from "@plaza/domain/ErrorResponse"
import { ProductId } from "@plaza/domain/Ids"
import { Cause, DateTime, Duration, Effect, Layer, Option, Redacted, Schedule } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import * as ToolFailure from "../../src/mcp/ToolFailure.ts"
import * as Tools from "../../src/mcp/Tools.ts"

const tools = Tools.offered(Tools.writes, Option.some({ open: () => Effect.die(new Error("no tool is called here")) }))

const reported = (name: string, cause: Cause.Cause<unknown>) => {
  const tool = tools.find((tool) => tool.name === name)
  if (tool === undefined) throw new Error(`no tool ${name}`)
  return ToolFailure.ofCause(cause, tool)
}

const service = (status: number, code: string, headers: Readonly<Record<string, string>> = {}, attempts = 1) =>
  ErrorResponse.toError({ status, headers, body: JSON.stringify({ error: { code, message: "no" } }), receivedAt: 0, attempts })

const foreign = (status: number) => ErrorResponse.toError({ status, headers: {}, body: "<html>", receivedAt: 0, attempts: 1 })

const limited = (wait: string) =>
  ErrorResponse.toError({ status: 429, headers: { "retry-after": wait }, body: "<html>", receivedAt: 0, attempts: 1 })

const timeout = new ClientError.AttemptTimeout({ attempts: 5, timeout: Duration.seconds(30), message: "no response" })
const unknown = (likely?: "done") =>
  new ClientError.OutcomeUnknown({
    attempts: 1,
    operation: "any",
    message: "unknown",
    cause: service(500, "INTERNAL_ERROR"),
    ...(likely === undefined ? {} : { likely })
  })
const unreadable = new ClientError.UnreadableSuccess({ attempts: 1, operation: "any", status: 200, message: "no JSON", body: "<html>" })
const refused = (attempts: number) => new ClientError.ConnectionFailed({ attempts, reason: "ECONNREFUSED", message: "no connection" })
const wait = new ClientError.RateLimitWaitExceeded({ retryAt: DateTime.makeUnsafe(60_000), message: "later" })

describe("a failed tool", () => {
  it.each<readonly [tool: string, failure: unknown, outcome: ToolFailure.Outcome, advice: RegExp]>([
    ["createPost", unknown(), "unknown", /^Do not repeat this call: the change may have been made\. Look for the post with listPosts/],
    ["sendMessage", unknown(), "unknown", /^Do not repeat this call: .*ask a person/],
    ["shipOrder", unknown("done"), "probablyDone", /^Do not repeat this call: the change is made, but perhaps/],
    ["createComment", unreadable, "probablyDone", /^Do not repeat this call: the change was probably made/],
    ["setStock", unreadable, "probablyDone", /^The change was probably made, and making it again is safe\.$/],
    ["setStock", timeout, "unknown", /^The change may have been made, and making it again is safe\. Call it again in a minute/],
    ["likePost", refused(1), "notDone", /^Nothing was changed/],
    // After an attempt that may have arrived, these are an OutcomeUnknown.
    ["likePost", refused(2), "notDone", /^Nothing was changed/],
    ["setStock", wait, "notDone", /^Nothing was changed\. Call it again at 1970-01-01T00:01:00\.000Z/],
    ["likePost", service(429, "RATE_LIMITED", { "retry-after": "7" }), "notDone", /^Nothing was changed\. .*in 7 seconds/],
    ["setStock", service(401, "INVALID_API_KEY"), "notDone", /^Nothing was changed\. Do not repeat/],
    // Attempts that were never sent, or were refused.
    ["setStock", service(401, "INVALID_API_KEY", {}, 2), "notDone", /^Nothing was changed\. Do not repeat/],
    ["sendMessage", wait, "notDone", /^Nothing was changed\. Call it again at 1970-01-01T00:01:00\.000Z/],
    ["sendMessage", service(429, "RATE_LIMITED", { "retry-after": "7" }), "notDone", /in 7 seconds, not earlier/],
    ["createPost", service(403, "PROFILE_INCOMPLETE"), "notDone", /^Nothing was changed\. Do not repeat this call: a person/],
    ["getMe", timeout, "notDone", /^Call it again in a minute/],
    ["getMe", service(500, "INTERNAL_ERROR"), "notDone", /^Call it again in a minute/],
    ["getUser", service(404, "NOT_FOUND"), "notDone", /^Check the id/],
    // These have no id.
    ["listPosts", service(404, "NOT_FOUND"), "notDone", /^Do not repeat this call: a person must check the base URL/],
    [
      "uploadMedia",
      service(404, "NOT_FOUND"),
      "notDone",
      /^Nothing was changed\. Do not repeat this call: a person must check the base URL/
    ],
    ["uploadMedia", foreign(404), "unknown", /^The change may have been made all the same\. Do not repeat this call: .*base URL/],
    ["getMe", foreign(302), "notDone", /^Do not repeat this call .*check the base URL/],
    ["getMe", foreign(403), "notDone", /^Do not repeat this call: a person must check the base URL and the proxy first\.$/],
    ["getMe", service(403, "INSUFFICIENT_SCOPE"), "notDone", /^Do not repeat this call: a person must change the key/],
    [
      "setStock",
      foreign(401),
      "unknown",
      /^The change may have been made all the same\. Do not repeat this call: .*base URL and the proxy/
    ],
    // A proxy may have passed the request on.
    [
      "sendMessage",
      foreign(418),
      "unknown",
      /^Do not repeat this call: the change may have been made\. .*ask a person.* check the base URL/
    ],
    ["createPost", foreign(403), "unknown", /^Do not repeat this call: the change may have been made\. Look for the post with listPosts/],
    [
      "sendMessage",
      foreign(403),
      "unknown",
      /^Do not repeat this call: the change may have been made\. .*in the web app first\. A person must check the base URL and the proxy first\.$/
    ],
    ["setStock", limited("90"), "unknown", /^The change may have been made, and making it again is safe\. Call it again in 90 seconds/],
    ["setStock", limited("604800"), "unknown", /Call it again in a day at the earliest\.$/],
    ["sendMessage", foreign(429), "unknown", /^Do not repeat this call: .*ask a person to check it in the web app first\.$/],
    ["setStock", foreign(404), "unknown", /^The change may have been made all the same\. Check the id/]
  ])("%s after %s reports %s", (tool, failure, outcome, advice) => {
    expect(reported(tool, Cause.fail(failure))).toMatchObject({ outcome, advice: expect.stringMatching(advice) as unknown })
  })

  it.live("reports the change of a refused write as possible after an attempt that may have been carried out", () =>
    Effect.gen(function*() {
      const responses = (statuses: ReadonlyArray<readonly [status: number, code: string]>) => {
        let requests = 0
        const client = HttpClient.make((request) =>
          Effect.sync(() => {
            const [status, code] = statuses[Math.min(requests++, statuses.length - 1)] ?? [500, "INTERNAL_ERROR"]
            return HttpClientResponse.fromWeb(request, new Response(JSON.stringify({ error: { code, message: "no" } }), { status }))
          })
        )
        const plaza = Plaza.layer({ baseUrl: "http://localhost/open/v1", apiKey: Redacted.make("k".repeat(44)), retry: Schedule.recurs(1) })
        return Layer.provide(plaza, Layer.succeed(HttpClient.HttpClient, client))
      }
      const set = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("p"), 1))
      const outcome = (...statuses: ReadonlyArray<readonly [status: number, code: string]>) =>
        Effect.map(Effect.flip(Effect.sandbox(Effect.provide(set, responses(statuses)))), (cause) => reported("setStock", cause))
      expect(yield* outcome([404, "NOT_FOUND"])).toMatchObject({ tag: "NotFound", outcome: "notDone" })
      expect(yield* outcome([503, "BUSY"], [404, "NOT_FOUND"])).toMatchObject({
        tag: "NotFound",
        outcome: "unknown",
        advice: "The change may have been made all the same. Check the id. The account may not have access to it."
      })
    }))

  it("shows nothing of a bug, after which a write may have been made", () => {
    const bug = Cause.die(new Error("internal detail"))
    expect(JSON.stringify(reported("sendMessage", bug))).not.toContain("internal detail")
    expect(reported("sendMessage", bug)).toMatchObject({ tag: "Defect", outcome: "unknown" })
    expect(reported("getMe", bug)).toMatchObject({ tag: "Defect", outcome: "notDone" })
  })
})
