/**
 * The interface with stubs for its dependencies: a defect outside of the decision of the service.
 */
import { assert, describe, it } from "@effect/vitest"
import type { Latitude } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import { CurrentAssumptions, defaults } from "../src/Assumptions.ts"
import { Admission } from "../src/http/Admission.ts"
import { Commits } from "../src/http/Commits.ts"
import * as Envelope from "../src/http/Envelope.ts"
import { Faults, noFault } from "../src/http/Faults.ts"
import { Interface } from "../src/http/Interface.ts"
import { RequestLog } from "../src/http/RequestLog.ts"
import { CurrentLatitude } from "../src/latitude/CurrentLatitude.ts"
import { layerLatitude, layerLogs, type LogEvent } from "./support.ts"

const request = HttpServerRequest.fromWeb(new Request("http://localhost/open/v1/nothing"))

/** A router without routes. */
const noRoutes = Effect.flatMap(HttpServerRequest.HttpServerRequest,
  (request) => Effect.fail(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) })))

const stubbed = (stubs: {
  readonly take?: Faults["Service"]["take"]
  readonly latitude?: (real: CurrentLatitude["Service"]) => CurrentLatitude["Service"]
}) => {
  const latitude = Layer.effect(CurrentLatitude, Effect.map(CurrentLatitude, stubs.latitude ?? ((real) => real)))
  return Interface.layer.pipe(
    Layer.provide([
      Commits.layer,
      Layer.succeed(Admission, {
        callerOf: () => undefined,
        admit: () => Effect.die("no route admits"),
        refuse: (_state, _request, refusal) => Effect.fail(refusal)
      }),
      Layer.succeed(Faults, {
        add: () => Effect.die("no fault is added"),
        list: Effect.succeed([]),
        timesLeft: Effect.succeed(new Map()),
        unused: Effect.succeed([]),
        replace: () => Effect.die("no fault is replaced"),
        remove: () => Effect.die("no fault is removed"),
        clear: () => {},
        reset: () => {},
        take: stubs.take ?? (() => noFault)
      })
    ]),
    Layer.provideMerge(RequestLog.layer),
    Layer.provide([Layer.succeed(CurrentAssumptions, defaults), latitude]),
    Layer.provide(layerLatitude)
  )
}

const respond = Effect.gen(function*() {
  const service = yield* Interface
  const logged: Array<LogEvent> = []
  const response = yield* service.respond(noRoutes, { path: "/open/v1/nothing", query: "" }).pipe(
    Effect.provideService(HttpServerRequest.HttpServerRequest, request),
    Effect.provide(layerLogs(logged)),
    Effect.scoped
  )
  const [entry] = (yield* RequestLog).all()
  return { entry, logged, response }
})

const assertInternalError = ({ logged, response }: Effect.Success<typeof respond>, reason: string) => {
  assert.strictEqual(response.status, 500)
  assert.deepNestedInclude(Envelope.jsonOf(response), { "error.code": "INTERNAL_ERROR" })
  assert.notInclude(Envelope.textOf(response), reason)
  assert.strictEqual(response.headers["x-request-id"], "req_1")
  assert.deepStrictEqual(logged.map(({ message }) => message), ["sandbox.failed"])
  assert.include(logged[0]?.cause, reason)
}

describe("a defect", () => {
  it.effect("before the service decides is logged and has the envelope of errors", () =>
    Effect.gen(function*() {
      const result = yield* respond
      assertInternalError(result, "take failed")
      assert.deepInclude(result.entry, { status: 500, rule: "defect", delivered: "complete", deliveredStatus: 500 })
    }).pipe(Effect.provide(stubbed({
      take: () => {
        throw new Error("take failed")
      }
    }))))

  it.effect("after the service has decided is logged too, and leaves the decision in the request log", () =>
    Effect.gen(function*() {
      const result = yield* respond
      assertInternalError(result, "latitude failed")
      assert.deepInclude(result.entry, { status: 404, delivered: "replaced", deliveredStatus: 500 })
      assert.notStrictEqual(result.entry?.rule, "defect")
    }).pipe(Effect.provide(stubbed({
      latitude: (real) => ({
        ...real,
        isDefault: true,
        get value(): Latitude.Latitude {
          throw new Error("latitude failed")
        }
      })
    }))))

  it.effect("is not logged for a known failure, whose response is unchanged", () =>
    Effect.gen(function*() {
      const { entry, logged, response } = yield* respond
      assert.strictEqual(response.status, 404)
      assert.deepStrictEqual(logged, [])
      assert.deepInclude(entry, { status: 404, delivered: "complete", deliveredStatus: 404 })
    }).pipe(Effect.provide(stubbed({}))))
})
