/**
 * What `plaza verify` learns of a service, and that it sends little and changes only what it may. In process and in virtual time.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Settings, TestTime } from "@plaza/client"
import { type Latitude, Sandbox } from "@plaza/sandbox"
import { DateTime, Duration, Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import * as Findings from "../src/verify/Findings.ts"
import * as Plan from "../src/verify/Plan.ts"
import type { Report } from "../src/verify/Report.ts"
import * as Run from "../src/verify/Run.ts"
import { addPosts, contradicted, drawn, firstPost, objects, statusOf, stoppedBy, verify } from "./support/Verifying.ts"
import * as WrongService from "./support/WrongService.ts"

const sandbox = (latitude: Latitude.Change = {}) => Sandbox.layerHttpClient({ latitude })

const runs = Number(process.env["PLAZA_VERIFY_RUNS"] ?? 12)

const writesToAll = Effect.map(firstPost, (post) => ({ ...objects, post }))

const requests = Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests)

/** The codes that a run can meet. */
const observableCodes = ["VALIDATION_ERROR", "INVALID_JSON", "INVALID_API_KEY", "NOT_FOUND", "CONFLICT"]

// Collapsed white space has no line ends.
const canonical = (text: Latitude.Latitude["text"]) => text.filter((form) => form !== "lf" || !text.includes("collapsed"))

/** Fields that are learnt from every service of the sandbox. */
const always = (set: Latitude.Latitude): ReadonlyArray<keyof Latitude.Latitude> => {
  const hasCreated = set.createStatus !== 204 && set.createBody === "resource"
  const hasUpdated = set.updateStatus !== 204 && set.updateBody === "resource"
  return [
    "profileId",
    "username",
    "postTextInList",
    "postMediaIdsInList",
    "postCreatedAtInList",
    "dateHeader",
    "requestId",
    "contentType",
    "json",
    "cursorForm",
    "extraFields",
    "extraErrorFields",
    "keyPrefix",
    ...(set.postCreatedAtInList === "present" ? ["listOrder", "createdAtPrecision"] as const : []),
    ...(set.idForm === "plain" ? [] : ["idForm"] as const),
    ...(set.pages === "full" ? ["lastCursor"] as const : []),
    ...(set.gatewayStatus !== null ? [] : [
      "createStatus",
      "updateStatus",
      "confirmStatus",
      ...(set.createStatus === 204 ? [] : ["createBody"] as const),
      ...(set.updateStatus === 204 ? [] : ["updateBody"] as const),
      ...(set.confirmStatus === 204 ? [] : ["confirmBody"] as const),
      ...(hasCreated ? ["commentText", "messageText"] as const : []),
      ...(hasUpdated ? ["stock", "carrier", "trackingNumber"] as const : []),
      ...(hasCreated && (set.commentText === "present" || set.messageText === "present") && (set.storedTextLength ?? 500) >= 500
        ? ["text"] as const
        : [])
    ] as const)
  ]
}

const expectLearnt = ({ learnt: { assumptions, latitude: learnt } }: Report, set: Latitude.Latitude) => {
  const { clockOffsetMillis, newCodes, text, ...exact } = learnt
  assert.deepStrictEqual(exact, Object.fromEntries(Object.keys(exact).map((name) => [name, set[name as keyof Latitude.Latitude]])))
  assert.deepStrictEqual(text ?? canonical(set.text), canonical(set.text))
  const codes = set.newCodes.filter((code) => observableCodes.includes(code))
  // A write is not repeated, so a gateway can hide its code.
  if (set.gatewayStatus === null) assert.sameMembers([...newCodes ?? []], codes)
  else assert.includeMembers(codes, [...newCodes ?? []])
  // `Date` has whole seconds.
  if (clockOffsetMillis !== undefined) assert.isAtMost(Math.abs(clockOffsetMillis - set.clockOffsetMillis), 1_000)
  assert.deepStrictEqual(always(set).filter((name) => learnt[name] === undefined), [])
  if (assumptions.defaultPageSize !== undefined) assert.strictEqual(assumptions.defaultPageSize, set.defaultPageSize ?? 20)
  if (set.pages === "full" || set.pages === "someEmpty" && learnt.pages === undefined) {
    assert.strictEqual(assumptions.defaultPageSize, set.defaultPageSize ?? 20)
  }
}

describe("plaza verify learns", () => {
  it.effect.prop("what the sandbox is set to, and finds no contradiction, under every latitude", { seed: Schema.Int }, ({ seed }) => {
    const latitude = drawn(seed)
    return Effect.gen(function*() {
      yield* addPosts(130)
      const { report } = yield* verify(yield* writesToAll)
      assert.deepStrictEqual(contradicted(report), [])
      expectLearnt(report, latitude)
    }).pipe(Effect.provide(sandbox(latitude)))
  }, { arbitrary: { runs }, timeout: 60_000 + runs * 10_000 })

  it.effect.prop("a file with which another sandbox behaves alike", { seed: Schema.Int }, ({ seed }) =>
    Effect.gen(function*() {
      const verified = (options: Sandbox.Options) =>
        Effect.andThen(addPosts(130), verify()).pipe(Effect.provide(Sandbox.layerHttpClient(options)))
      const fs = yield* FileSystem.FileSystem
      const assumptionsFile = `${yield* fs.makeTempDirectoryScoped({ prefix: "plaza-verify-" })}/service.json`
      const { report } = yield* verified({ latitude: { ...drawn(seed), gatewayStatus: null } })
      yield* fs.writeFileString(assumptionsFile, JSON.stringify(Findings.assumptionsFile(report.learnt)))
      const { report: again } = yield* verified({ assumptionsFile })
      assert.deepStrictEqual(again.learnt.latitude, report.learnt.latitude)
      assert.deepStrictEqual(again.learnt.assumptions, report.learnt.assumptions)
      assert.deepStrictEqual(again.rules.map(({ id, status }) => [id, status]), report.rules.map(({ id, status }) => [id, status]))
    }).pipe(Effect.scoped, Effect.provide(NodeFileSystem.layer)), {
    arbitrary: { runs: Math.ceil(runs / 2) },
    timeout: 60_000 + runs * 10_000
  })

  it.effect("the scope that an error names, and which operations the key may call", () =>
    Effect.gen(function*() {
      const { createKey } = yield* Sandbox.Sandbox
      const { apiKey } = yield* createKey("1001", { scopes: ["profile:read", "posts:read"] })
      const { report } = yield* verify(undefined, apiKey)
      assert.deepStrictEqual(report.learnt.assumptions.scopes, {
        getUser: "users:read",
        getUserByUsername: "users:read",
        listConversations: "chat:read"
      })
      assert.deepStrictEqual(report.learnt.operations, {
        getMe: "succeeded",
        getUser: "insufficientScope",
        getUserByUsername: "insufficientScope",
        listPosts: "succeeded",
        listConversations: "insufficientScope"
      })
      assert.strictEqual(statusOf(report, "auth.insufficientScope"), "confirmed")
      assert.strictEqual(statusOf(report, "endpoints.listConversations"), "notObservable")
      assert.deepStrictEqual(contradicted(report), [])
    }).pipe(Effect.provide(sandbox())))

  it.effect("the form of Retry-After", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 503, path: "/me" })
      const { report } = yield* verify()
      assert.strictEqual(report.learnt.latitude.retryAfter, "date")
    }).pipe(Effect.provide(sandbox({ retryAfter: "date", retryAfterOn503Seconds: 20 }))))

  it.effect("how a text is cut, but not the forms of one that is too short to show them", () =>
    Effect.gen(function*() {
      const { report } = yield* verify({ ...objects, product: undefined, order: undefined, user: undefined })
      const { ellipsis, storedTextLength, text } = report.learnt.latitude
      assert.deepStrictEqual({ ellipsis, storedTextLength, text }, { ellipsis: true, storedTextLength: 30, text: undefined })
    }).pipe(Effect.provide(sandbox({ storedTextLength: 30, ellipsis: true, text: ["trimmed"] }))))

  it.effect("no prefix of a key that may be a secret", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const { report } = yield* verify(undefined, Redacted.make(`${"p".repeat(13)}${Redacted.value(sandbox.apiKey).slice(-40)}`))
      assert.strictEqual(report.learnt.latitude.keyPrefix, undefined)
    }).pipe(
      Effect.provide(WrongService.sandbox(({ hasKey, status }) => hasKey && status === 401 ? { status: 200, body: "{}" } : undefined))
    ))
})

describe("plaza verify", () => {
  it.effect("only reads without test objects", () =>
    Effect.gen(function*() {
      const { commits } = yield* Sandbox.Sandbox
      const { report } = yield* verify()
      const sent = yield* requests
      assert.deepStrictEqual([...new Set(sent.map(({ method }) => method))], ["GET"])
      assert.deepStrictEqual(yield* commits, [])
      assert.strictEqual(report.requests, sent.length)
    }).pipe(Effect.provide(sandbox())))

  for (const name of ["product", "order", "conversation", "user", "post"] as const) {
    it.effect(`changes nothing but the ${name} that it names`, () =>
      Effect.gen(function*() {
        const { commits } = yield* Sandbox.Sandbox
        const all = yield* writesToAll
        const none = { product: undefined, order: undefined, conversation: undefined, user: undefined, post: undefined, stock: 5 }
        yield* verify({ ...none, [name]: all[name] })
        const written = yield* commits
        assert.isNotEmpty(written)
        assert.deepStrictEqual([...new Set(written.map(({ params }) => params["id"]))], [all[name]])
      }).pipe(Effect.provide(sandbox())))
  }

  it.effect("sends at most 12 requests a minute, also where reads are repeated", () =>
    Effect.gen(function*() {
      yield* verify(yield* writesToAll)
      const times = (yield* requests).map(({ at }) => DateTime.toEpochMillis(at))
      assert.isAbove(times.length, 40)
      for (const time of times) assert.isAtMost(times.filter((other) => other >= time && other < time + 60_000).length, 12)
    }).pipe(Effect.provide(sandbox({ gatewayStatus: 408, gatewayStatusEvery: 2 }))))

  it("spaces requests by a tenth of the document's limit, or of a lower one of the settings", () => {
    const seconds = (rateLimit: number) => Duration.toSeconds(Run.interval({ rateLimit, rateWindow: Duration.minutes(1) }))
    assert.deepStrictEqual([120, 60, 10_000].map(seconds), [5, 10, 5])
  })

  it.effect("repeats a read twice at most, and no write", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 500, path: "/conversations", rate: 1 })
      yield* addFault({ kind: "drop", when: "before", path: "/users/1001", rate: 1 })
      yield* addFault({ kind: "status", when: "after", status: 502, method: "POST", rate: 1 })
      const { report } = yield* verify(yield* writesToAll)
      const sent = yield* requests
      const counts = sent.map(({ method, path, query }) => `${method} ${path}${query}`)
        .reduce((counts, name) => counts.set(name, (counts.get(name) ?? 0) + 1), new Map<string, number>())
      assert.strictEqual(counts.get("GET /users/1001"), 3)
      assert.strictEqual(sent.filter(({ method }) => method === "POST").length, 5)
      assert.strictEqual(report.rules.find(({ id }) => id === "endpoints.getUser")?.detail, "GET /users/1001 got no response (ECONNRESET)")
      assert.deepStrictEqual(contradicted(report), [])
    }).pipe(Effect.provide(sandbox())))

  it.effect("sends no second shipment if the outcome of the first is unknown", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "drop", when: "before", path: "/store/orders/*", times: 3 })
      const { report } = yield* verify({ ...objects, product: undefined, conversation: undefined, user: undefined })
      assert.deepStrictEqual((yield* requests).filter(({ path }) => path.startsWith("/store/orders")).length, 3)
      assert.strictEqual(statusOf(report, "states.shipAgain"), "notObservable")
    }).pipe(Effect.provide(sandbox())))

  it.effect("uses a tenth of a rate limit of one request a minute", () =>
    Effect.gen(function*() {
      const { apiKey, baseUrl } = yield* Sandbox.Sandbox
      const { observations: { sent } } = yield* TestTime.advancing(Run.run({
        settings: yield* Effect.fromResult(Settings.fromOptions({ apiKey, baseUrl, rateLimit: 1 })),
        plan: Plan.make(undefined).slice(0, 3),
        onProgress: () => Effect.void,
        onInterrupt: () => Effect.void
      }))
      assert.deepStrictEqual(sent.map(({ sentAt }) => sentAt - (sent[0]?.sentAt ?? 0)), [0, 600_000, 1_200_000])
    }).pipe(Effect.provide(sandbox())))

  it.effect("waits as long as a 503 asks for", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "status", when: "before", status: 503, retryAfter: "40", path: "/me", times: 1 })
      yield* addFault({ kind: "status", when: "before", status: 503, retryAfter: "3600", path: "/conversations", times: 1 })
      const { outcome, report } = yield* verify()
      const [first, second] = outcome.observations.sent
      assert.strictEqual((second?.sentAt ?? 0) - (first?.sentAt ?? 0), 40_000)
      assert.match(report.rules.find(({ id }) => id === "endpoints.listConversations")?.detail ?? "", /^GET \/conversations/)
    }).pipe(Effect.provide(sandbox())))

  for (
    const [what, fault, tag, requests] of [
      ["401", { kind: "status", when: "before", status: 401, code: "INVALID_API_KEY", path: "/me/posts" }, "InvalidApiKey", 7],
      ["429", { kind: "status", when: "before", status: 429, retryAfter: "2", path: "/conversations" }, "RateLimited", 16],
      [
        "revoked access",
        { kind: "status", when: "before", status: 403, code: "DEVELOPER_ACCESS_REVOKED", path: "/users/1001" },
        "DeveloperAccessRevoked",
        3
      ],
      ["a service that does not respond", { kind: "drop", when: "before", path: "/me", rate: 1 }, "ConnectionFailed", 3],
      ["a service with a fault", { kind: "status", when: "before", status: 500, path: "/me", rate: 1 }, "InternalError", 3]
    ] as const
  ) {
    it.effect(`stops on ${what}, and reports what it learnt until then`, () =>
      Effect.gen(function*() {
        const { addFault } = yield* Sandbox.Sandbox
        yield* addFault(fault)
        const verified = yield* verify(objects)
        assert.strictEqual(stoppedBy(verified), tag)
        assert.strictEqual((yield* Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests)).length, verified.report.requests)
        assert.strictEqual(verified.report.requests, requests)
        assert.strictEqual(
          verified.report.rules.find(({ id }) => id === "endpoints.setStock")?.detail,
          "the run stopped before this request"
        )
      }).pipe(Effect.provide(sandbox())))
  }

  it.effect("reports the key nowhere, even if the service echoes it", () =>
    Effect.gen(function*() {
      const { apiKey } = yield* Sandbox.Sandbox
      const verified = yield* verify(yield* writesToAll)
      const said = JSON.stringify([verified.report, verified.progress, verified.outcome])
      assert.notInclude(said, Redacted.value(apiKey))
      assert.notInclude(said, Redacted.value(apiKey).slice(-40))
      assert.include(said, "<redacted>")
    }).pipe(Effect.provide(Layer.provideMerge(
      Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey }) => {
        const key = Redacted.value(apiKey)
        return WrongService.layer(({ body, headers, path }) => ({
          headers: { ...headers, "x-echo": `Bearer ${key}` },
          body: path === "/me"
            ? JSON.stringify({ id: key, username: key, seen: key })
            : body.replace(/"(next_cursor|message|text)":"/g, `"$1":"${key}`)
        }))
      })),
      sandbox()
    ))))
})
