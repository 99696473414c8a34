/**
 * The interface with stubs for its dependencies: a defect outside of the decision of the service.
 */
import { assert, describe, it } from "@effect/vitest"
import { Latitude } from "@plaza-legacy/sandbox"
import { Cause, Effect, Layer, Logger, LogLevel, Option, Stream } from "effect"
import { CurrentAssumptions, defaults } from "../src/Assumptions.ts"
import { Admission } from "../src/http/Admission.ts"
import * as Commits from "../src/http/Commits.ts"
import * as Envelope from "../src/http/Envelope.ts"
import { Faults, noFault } from "../src/http/Faults.ts"
import * as InterfaceApp from "../src/http/InterfaceApp.ts"
import * as RequestLog from "../src/http/RequestLog.ts"
import * as Router from "../src/http/Router.ts"
import { ServerRequest } from "../src/http/ServerRequest.ts"
import * as CurrentLatitude from "../src/latitude/CurrentLatitude.ts"

const request = () =>
  new ServerRequest({
    method: "GET",
    url: "/open/v1/nothing",
    headers: {},
    remoteAddress: Option.none(),
    hasBody: false,
    read: () => Effect.succeed(Option.some(new Uint8Array(0))),
    stream: Stream.empty
  })

const noRoutes = Router.make([])

const latitude = CurrentLatitude.make(Latitude.defaults)

const stubbed = (stubs: { readonly take?: Faults["Type"]["take"]; readonly latitude?: CurrentLatitude.CurrentLatitude["Type"] }) =>
  Layer.effect(InterfaceApp.InterfaceApp, InterfaceApp.make(() => noRoutes, new Map())).pipe(
    Layer.provide([
      Commits.layer,
      Layer.succeed(Admission, {
        callerOf: () => Effect.succeed(undefined),
        admit: () => Effect.dieMessage("no route admits"),
        refuse: (_, refusal) => Effect.fail(refusal)
      }),
      Layer.succeed(Faults, {
        add: () => Effect.dieMessage("no fault is added"),
        list: Effect.succeed([]),
        replace: () => Effect.dieMessage("no fault is replaced"),
        remove: () => Effect.dieMessage("no fault is removed"),
        clear: Effect.void,
        reset: Effect.void,
        take: stubs.take ?? (() => noFault)
      })
    ]),
    Layer.provideMerge(RequestLog.layer),
    Layer.provide([
      Layer.succeed(CurrentAssumptions, defaults),
      Layer.succeed(CurrentLatitude.CurrentLatitude, stubs.latitude ?? latitude)
    ])
  )

const respond = Effect.gen(function*() {
  const service = yield* InterfaceApp.InterfaceApp
  const logged: Array<string> = []
  const logger = Logger.make(({ cause, message }) => {
    logged.push(`${String(message)}: ${Cause.pretty(cause)}`)
  })
  const response = yield* service.respond(request(), "/open/v1/nothing", "").pipe(
    Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
    Logger.withMinimumLogLevel(LogLevel.All)
  )
  const [entry] = yield* (yield* RequestLog.RequestLog).all
  return { entry, logged, response }
})

const assertInternalError = ({ logged, response }: Effect.Effect.Success<typeof respond>, reason: string) => {
  assert.strictEqual(response.status, 500)
  assert.deepNestedInclude(Envelope.jsonOf(response), { "error.code": "INTERNAL_ERROR" })
  assert.notInclude(Envelope.textOf(response), reason)
  assert.strictEqual(response.headers["x-request-id"], "req_1")
  assert.strictEqual(logged.length, 1)
  assert.match(logged[0] ?? "", new RegExp(`^sandbox\\.failed: .*${reason}`))
}

describe("a defect", () => {
  it.effect("before the service decides is logged and has the envelope of errors", () =>
    Effect.gen(function*() {
      const result = yield* respond
      assertInternalError(result, "take failed")
      assert.deepInclude(result.entry, { status: 500, rule: "defect", delivered: "complete", deliveredStatus: 500 })
    }).pipe(Effect.provide(stubbed({ take: () => Effect.dieMessage("take failed") }))))

  it.effect("after the service has decided is logged too, and leaves the decision in the request log", () =>
    Effect.gen(function*() {
      const result = yield* respond
      assertInternalError(result, "latitude failed")
      assert.deepInclude(result.entry, { status: 404, delivered: "replaced", deliveredStatus: 500 })
      assert.notStrictEqual(result.entry?.rule, "defect")
    }).pipe(Effect.provide(stubbed({
      latitude: {
        ...latitude,
        isDefault: true,
        get value(): Latitude.Latitude {
          throw new Error("latitude failed")
        }
      }
    }))))

  it.effect("is not logged for a known failure, whose response is unchanged", () =>
    Effect.gen(function*() {
      const { entry, logged, response } = yield* respond
      assert.strictEqual(response.status, 404)
      assert.deepStrictEqual(logged, [])
      assert.deepInclude(entry, { status: 404, delivered: "complete", deliveredStatus: 404 })
    }).pipe(Effect.provide(stubbed({}))))
})

describe("a request", () => {
  it.effect("has no body as a form: an upload is streamed", () =>
    Effect.gen(function*() {
      const cause = yield* Effect.flip(Effect.sandbox(request().multipart))
      assert.match(Cause.pretty(cause), /an upload is read by/)
    }))
})
