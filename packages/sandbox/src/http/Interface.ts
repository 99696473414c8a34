/**
 * The interface: the steps that every response passes through. From the inside out: the envelope of failures, the record of commits,
 * the latitude, faults, and the request log. {@link layerMiddleware} runs the inner ones around a handler, {@link Interface} the outer
 * ones around the router.
 */
import type { DocumentedError } from "@plaza/domain/Errors"
import { NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerError from "effect/http/HttpServerError"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import type { Caller } from "../access/Keys.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import { AdmissionMiddleware, basePath, CurrentCaller, documented, type Operation, operations, RequestBody } from "../InterfaceApi.ts"
import { defaults as simplest, type Latitude } from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { Admission, pause } from "./Admission.ts"
import { Commits, type Write } from "./Commits.ts"
import { CurrentRequest, NotHandled, type RequestState } from "./CurrentRequest.ts"
import * as Envelope from "./Envelope.ts"
import * as Failures from "./Failures.ts"
import type { ResponseFault } from "./Fault.ts"
import { Faults, type Hit, isUnaffected, noFault } from "./Faults.ts"
import type { ConnectionReset } from "./FaultyResponse.ts"
import * as FaultyResponse from "./FaultyResponse.ts"
import * as NearMiss from "./NearMiss.ts"
import { type Entry, RequestLog } from "./RequestLog.ts"
import * as Messages from "./RequestMessages.ts"
import { hasBody, targetOf } from "./RequestReader.ts"
import * as Responses from "./Responses.ts"
import * as Rule from "./Rule.ts"

type Response = HttpServerResponse.HttpServerResponse

/** The service's own response, before faults. */
type Decision = Effect.Effect<Response, never, HttpServerRequest | Scope.Scope>

/** The router, without the steps around it. */
export type App = Effect.Effect<Response, unknown, HttpServerRequest | Scope.Scope>

/** The id of the resource in the body of a response. */
const idOf = (body: unknown): string | null => {
  const id = Predicate.isObject(body) ? Predicate.hasProperty(body, "id") ? body.id : Reflect.get(body, "mediaId") : undefined
  return typeof id === "string" ? id : null
}

/** The payload of a commit and its size if known. For an upload, the description of the file. */
const payloadOf = (body: RequestState["body"]): Pick<Write, "payload" | "payloadBytes"> => {
  switch (body?.kind) {
    case "file": {
      const { contentType, name, sha256, size } = body.file
      return { payload: { name, contentType, size, sha256 } }
    }
    case "json":
      return { payload: body.value, payloadBytes: body.bytes }
    case "none":
    case undefined:
      return { payload: null }
  }
}

const writeOf = ({ body, entry, isLate }: RequestState, { action, name }: Operation, { accountId }: Caller, response: Response): Write => ({
  requestId: entry.id,
  operation: name,
  accountId,
  params: entry.params,
  createdId: action === "create" || action === "upload" ? idOf(Envelope.jsonOf(response)) : null,
  isLate,
  ...payloadOf(body)
})

/** Records the decision about a request, and forms the response. */
const makeDecisions = Effect.gen(function*() {
  // Without undocumented fields, errors have only a code and a message.
  const { undocumented } = yield* CurrentAssumptions
  const commits = yield* Commits
  const latitude = yield* CurrentLatitude
  const log = yield* RequestLog

  /** The response in the form of the latitude; without undocumented fields if these are off. */
  const shapeSuccess = (operation: Operation, response: Response): Response => {
    if (latitude.isDefault && undocumented) {
      return Envelope.encoded(response)
    }
    const value = Envelope.jsonOf(response)
    return Responses.success(latitude.value, operation, undocumented || value === undefined ? value : documented(operation, value))
  }

  return {
    succeed: (state: RequestState, operation: Operation, caller: Caller, response: Response): Effect.Effect<Response> =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const shaped = shapeSuccess(operation, response)
        log.noteDecision(state.entry, Rule.done(operation))
        state.entry.status = shaped.status
        if (operation.method !== "GET") {
          commits.add(writeOf(state, operation, caller, response), now)
        }
        return shaped
      }),

    fail: (state: RequestState, cause: Cause.Cause<unknown>): Effect.Effect<Response> => {
      const { caller, entry, operation } = state
      const [failure] = cause.reasons.flatMap((reason) => Cause.isFailReason(reason) ? [reason.error] : [])
      if (failure instanceof NotHandled || HttpServerError.isHttpServerError(failure)) {
        state.failure = failure
        return Effect.succeed(HttpServerResponse.empty())
      }
      return Effect.flatMap(
        Failures.fromCause(cause, entry.operation ?? "none"),
        ({ by, error }) => {
          log.noteDecision(
            entry,
            by === "defect"
              ? Rule.defect
              : by === "refusal" && caller !== undefined && operation !== undefined
              ? Rule.ofOperation(operation, error)
              : Rule.ofAdmission(error)
          )
          entry.status = error.status
          const response = Envelope.failure(error, undocumented)
          return latitude.isDefault
            ? Effect.succeed(response)
            : Effect.map(Clock.currentTimeMillis, (now) => Responses.failure(latitude.value, response, { now, hasOwnBody: false }))
        }
      )
    }
  }
})

/**
 * Runs the checks of `Admission` before every operation, and forms the response of its handler. A started handler runs to its end,
 * even if the caller closes the connection.
 */
export const layerMiddleware = Layer.effect(
  AdmissionMiddleware,
  Effect.gen(function*() {
    const { undocumented } = yield* CurrentAssumptions
    const admission = yield* Admission
    const decisions = yield* makeDecisions
    return (handler, { endpoint }) =>
      Effect.gen(function*() {
        const request = yield* HttpServerRequest
        const state = yield* CurrentRequest
        const operation = operations.get(endpoint.identifier)
        if (state === undefined || operation === undefined) {
          return yield* Effect.die(new Error(`"${endpoint.identifier}" is no operation of the interface`))
        }
        const { params } = yield* HttpRouter.RouteContext
        const handled = operation.isAssumed && !undocumented ?
          admission.refuse(state, request, state.unknownRoute()) :
          Effect.flatMap(admission.admit(state, request, operation, params), ({ body, caller }) =>
            handler.pipe(
              Effect.provideService(CurrentCaller, caller),
              Effect.provideService(RequestBody, body),
              Effect.flatMap((response) => decisions.succeed(state, operation, caller, response))
            ))
        return yield* Effect.catchCause(handled, (cause) => decisions.fail(state, cause))
      }).pipe(Effect.uninterruptible)
  })
)

/** The response of a gateway in front of the service; see `gatewayStatus` of the latitude. */
const gatewayFault = ({ gatewayStatus, gatewayStatusWhen }: Latitude): ResponseFault => ({
  kind: "status",
  when: gatewayStatusWhen,
  status: gatewayStatus ?? 307,
  body: "",
  ...(gatewayStatus === 408 ? {} : { location: "/elsewhere" })
})

/** Shared by all requests that no fault hits. */
const noFaults: Messages.Original["faults"] = []

const isWellFormed = (path: string): boolean => {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

const isRouteNotFound = (error: unknown): boolean => HttpServerError.isHttpServerError(error) && error.reason._tag === "RouteNotFound"

/** A request for the router, which also starts a query at `;` and `#`. It shares the body with the original. */
export const routable = (request: HttpServerRequest, path: string, query: string): HttpServerRequest => {
  const encoded = /[;#]/.test(path) ? path.replace(/[;#]/g, encodeURIComponent) : path
  const url = query === "" ? encoded : `${encoded}?${query}`
  return url === request.url ? request : request.modify({ url })
}

/** Why no route can match; undefined if one may. The router handles HEAD as GET, and matches an empty segment with a parameter. */
const obstacleOf = (method: string, path: string, isKnown: boolean): "malformed" | "unknown" | undefined =>
  path.includes("%") && !isWellFormed(path)
    ? "malformed"
    : !isKnown || method === "HEAD" || path.endsWith("/") || path.includes("//")
    ? "unknown"
    : undefined

/**
 * Runs the router for a path. Fails with the refusal of a path that is not well-formed or has no route. The same request may be routed
 * again, because it keeps the body that was read.
 */
export const route = (
  app: App,
  request: HttpServerRequest,
  { isKnown = true, path, query, unknown }: {
    /** Whether the path may have a route (default: true). */
    readonly isKnown?: boolean
    readonly path: string
    readonly query: string
    readonly unknown: () => NotFound
  }
): Effect.Effect<Response, unknown, HttpServerRequest | Scope.Scope> => {
  const routed = routable(request, path, query)
  return Effect.suspend(() => {
    switch (obstacleOf(request.method, path, isKnown)) {
      case "malformed":
        return Effect.fail(
          new ValidationError({ message: "the path is not well-formed percent-encoding", details: { field: "path" } })
        )
      case "unknown":
        return Effect.fail(unknown())
      case undefined:
        return app.pipe(
          Effect.provideService(HttpServerRequest, routed),
          Effect.mapError((error) => isRouteNotFound(error) ? unknown() : error)
        )
    }
  })
}

const make = Effect.gen(function*() {
  const { undocumented } = yield* CurrentAssumptions
  const admission = yield* Admission
  const decisions = yield* makeDecisions
  const faults = yield* Faults
  const latitude = yield* CurrentLatitude
  const log = yield* RequestLog
  const nearMiss = NearMiss.make([...operations.values()].filter(({ isAssumed }) => undocumented || !isAssumed), basePath)

  const hitOf = ({ headers, method }: HttpServerRequest, path: string, now: number): Hit => {
    const isGateway = latitude.isGatewayRequest()
    const hit = faults.take({ method, path, caller: () => admission.callerOf(headers) }, now)
    // An added fault takes precedence.
    return isGateway && hit.outcome === undefined ? { ...hit, outcome: gatewayFault(latitude.value) } : hit
  }

  interface Sent {
    readonly response?: Response | undefined
    readonly streamed?: Uint8Array | undefined
    readonly latitude: Latitude
  }

  /** Records the end of a request: its duration, and its messages as far as they exist. */
  const close = ({ body, bytes, entry, hit }: RequestState, request: HttpServerRequest, now: number, sent: Sent): void => {
    entry.durationMillis = now - entry.at
    log.keepMessages(entry, {
      method: request.method,
      url: targetOf(request),
      headers: request.headers,
      hasBody: hasBody(request),
      body: bytes === undefined ? undefined : Messages.copy(bytes),
      bodySize: bytes?.length ?? 0,
      upload: body?.kind === "file" ? body.file : undefined,
      response: sent.response,
      streamed: sent.streamed,
      faults: isUnaffected(hit)
        ? noFaults
        : [...(hit.delay === undefined ? [] : [{ kind: "delay", ...hit.delay }]), ...(hit.outcome === undefined ? [] : [hit.outcome])],
      latitude: sent.latitude
    })
  }

  /** The response to a defect outside of a handler. The request log keeps an earlier decision. */
  const recover = Effect.fnUntraced(function*(state: RequestState, request: HttpServerRequest, cause: Cause.Cause<unknown>) {
    const { entry } = state
    const error: DocumentedError = yield* Failures.fromDefect(cause, entry.operation ?? "none")
    if (entry.status === null) {
      log.noteDecision(entry, Rule.defect)
      entry.status = error.status
      entry.delivered = "complete"
    } else {
      entry.delivered = "replaced"
    }
    entry.deliveredStatus = error.status
    // Without the latitude, because it may have caused the failure.
    const response = Envelope.withHeader(Envelope.failure(error, undocumented), "x-request-id", entry.id)
    close(state, request, yield* Clock.currentTimeMillis, { response, latitude: simplest })
    return response
  })

  /** The service's own response, changed by the faults that hit the request. */
  const perform = Effect.fnUntraced(function*(state: RequestState, decide: Decision) {
    const own = yield* decide
    const { failure, hit } = state
    if (HttpServerError.isHttpServerError(failure)) {
      return yield* failure
    }
    const response = failure === undefined ? own : undefined
    if (isUnaffected(hit)) {
      return FaultyResponse.apply(undefined, response)
    }
    yield* pause(hit.delay, "after")
    const now = yield* Clock.currentTimeMillis
    return FaultyResponse.apply(
      hit.outcome,
      response,
      (response, hasOwnBody) => latitude.isDefault ? response : Responses.failure(latitude.value, response, { now, hasOwnBody })
    )
  })

  /** Sends the response after its faults and completes the record. */
  const deliver = Effect.fnUntraced(function*(state: RequestState, request: HttpServerRequest, decide: Decision) {
    const { entry } = state
    const { delivered, response, streamed } = yield* Effect.onError(perform(state, decide),
      (cause) =>
        Cause.hasDies(cause) ? Effect.void : Effect.map(Clock.currentTimeMillis, (now) => {
          entry.delivered = "abandoned"
          close(state, request, now, { latitude: latitude.value })
        }))
    entry.delivered = delivered
    const sent = yield* Effect.onError(response,
      () => Effect.map(Clock.currentTimeMillis, (now) => close(state, request, now, { latitude: latitude.value })))
    entry.deliveredStatus = sent.status
    const now = yield* Clock.currentTimeMillis
    const complete = Responses.withHeaders(latitude.value, sent, { now, id: entry.id })
    close(state, request, now, { response: complete, streamed, latitude: latitude.value })
    return complete
  })

  /** Opens the record of a request at a time in milliseconds since 1970. */
  const open = (method: string, path: string, query: string, now: number): Entry =>
    log.open(method, path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : path, query, now)

  /** Handles a request with the router. Fails if the caller closed the connection, or a fault closes it. */
  const respond = Effect.fnUntraced(function*(
    app: App,
    { opened, path, query }: { readonly path: string; readonly query: string; readonly opened?: Entry }
  ): Effect.fn.Return<Response, HttpServerError.HttpServerError | ConnectionReset, HttpServerRequest | Scope.Scope> {
    const request = yield* HttpServerRequest
    const context = yield* Effect.context<HttpServerRequest | Scope.Scope>()
    const now = yield* Clock.currentTimeMillis
    // A path that does not start with the base path is unknown.
    const isKnown = path.startsWith(`${basePath}/`)
    const relative = isKnown ? path.slice(basePath.length) : path
    const entry = opened ?? open(request.method, path, query, now)
    const unknownRoute = () =>
      new NotFound({ message: `there is no endpoint ${request.method} ${relative}${nearMiss(request.method, path)}` })
    const routed = route(app, request, { isKnown, path, query, unknown: unknownRoute })
    const decide: Decision = Effect.suspend(() =>
      routed.pipe(
        Effect.catchIf(
          (error) => error instanceof NotFound || error instanceof ValidationError,
          (error) => admission.refuse(state, request, error)
        ),
        Effect.catchCause((cause) => decisions.fail(state, cause)),
        Effect.provideService(CurrentRequest, state)
      )
    )
    const state: RequestState = {
      entry,
      hit: noFault,
      unknownRoute,
      isLate: false,
      commit: Effect.suspend(() => {
        state.isLate = true
        return Effect.asVoid(Effect.provideContext(decide, context))
      })
    }
    const hit = Effect.sync(() => {
      state.hit = isKnown ? hitOf(request, relative, now) : noFault
      entry.faults = state.hit.ids
    })
    return yield* Effect.catchCause(Effect.andThen(hit, deliver(state, request, decide)),
      (cause) => Cause.hasDies(cause) ? recover(state, request, cause) : Effect.failCause(cause))
  })

  return { open, respond }
})

export class Interface extends Context.Service<Interface, Effect.Success<typeof make>>()("@plaza/sandbox/Interface") {
  static readonly layer = Layer.effect(Interface, make)
}
