/**
 * The interface: its operations on the platform's router, wrapped by the steps that every response passes through. From the
 * inside out: the envelope of failures, the record of commits, the latitude, faults, and the request log.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Caller } from "../access/Callers.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import { defaults as simplest, type Latitude } from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import * as Responses from "../latitude/Responses.ts"
import { Admission, assumedOperations, documentedOperations } from "./Admission.ts"
import { Commits, type Write } from "./Commits.ts"
import * as Envelope from "./Envelope.ts"
import { Exchange, type NotHandled } from "./Exchange.ts"
import * as Failures from "./Failures.ts"
import type { ResponseFault } from "./Fault.ts"
import { Faults, type Hit, isUnaffected, noFault } from "./Faults.ts"
import { pause } from "./FaultyAdmission.ts"
import type { ConnectionReset } from "./FaultyResponse.ts"
import * as FaultyResponse from "./FaultyResponse.ts"
import * as NearMiss from "./NearMiss.ts"
import type { Operation } from "./Operation.ts"
import { RequestLog } from "./RequestLog.ts"
import * as Messages from "./RequestMessages.ts"
import * as Router from "./Router.ts"
import * as Rule from "./Rule.ts"
import { basePath } from "./ServedApi.ts"
import type { Handlers, ServerRequest } from "./ServerRequest.ts"

/** @since 0.1.0 @category services */
export class InterfaceApp extends Context.Tag("@plaza-legacy/sandbox/InterfaceApp")<InterfaceApp, {
  /** Opens the record of a request in the log. */
  readonly open: (request: ServerRequest, path: string, query: string) => Effect.Effect<Opened>
  /** Opens the record of a request, and handles it. */
  readonly respond: (request: ServerRequest, path: string, query: string) => Opened["response"]
}>() {}

/**
 * A request whose record is open.
 *
 * @since 0.1.0
 * @category models
 */
export interface Opened {
  /** The id of the record. */
  readonly id: string
  /** Handles the request. Fails if the caller closed the connection, or a fault closes it. */
  readonly response: Effect.Effect<HttpServerResponse, RequestError | ConnectionReset>
}

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

/** The id of the resource in the body of a response. */
const idOf = (body: unknown): string | null => {
  const id = Predicate.isReadonlyRecord(body) ? body["id"] ?? body["mediaId"] : undefined
  return typeof id === "string" ? id : null
}

/** The body as a commit has it, with its size if it is known; of an upload the description of the file. */
const payloadOf = ({ bytes, file, received }: Exchange): Pick<Write, "payload" | "payloadBytes"> =>
  file !== undefined
    ? { payload: { name: file.name, contentType: file.contentType, size: file.size, sha256: file.sha256 } }
    // A body that the operation ignores is no payload.
    : Option.isSome(received)
    ? { payload: received.value, payloadBytes: bytes?.length }
    : { payload: null }

const writeOf = (exchange: Exchange, { action, name }: Operation, { accountId }: Caller): Write => ({
  requestId: exchange.entry.id,
  operation: name,
  accountId,
  params: exchange.entry.params,
  createdId: action === "create" || action === "upload" ? idOf(exchange.result) : null,
  isLate: exchange.isLate,
  ...payloadOf(exchange)
})

/**
 * The interface with the endpoints of a sandbox.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (app: () => Router.App, handlers: Handlers) =>
  Effect.gen(function*() {
    // Without undocumented fields, errors have only a code and a message.
    const { undocumented } = yield* CurrentAssumptions
    const admission = yield* Admission
    const commits = yield* Commits
    const faults = yield* Faults
    const latitude = yield* CurrentLatitude
    const log = yield* RequestLog
    const nearMiss = NearMiss.make(undocumented ? [...documentedOperations, ...assumedOperations] : documentedOperations, basePath)

    const route = (exchange: Exchange): Effect.Effect<HttpServerResponse, unknown> =>
      Effect.catchIf(
        Router.run(app(), exchange, exchange.path, () =>
          // Only a path outside of the base path has no URL; see `exchange`.
          nearMiss(exchange.method, exchange.url === "" ? exchange.path : basePath + exchange.path)),
        (error) => error instanceof Router.Unroutable,
        ({ error }) => admission.refuse(exchange, error)
      )

    /** The response in the form of the latitude; without undocumented fields if these are off. */
    const shapeSuccess = (operation: Operation, response: HttpServerResponse): HttpServerResponse => {
      if (latitude.isDefault && undocumented) {
        return response
      }
      const value = Envelope.jsonOf(response)
      return Responses.success(latitude.value, operation, undocumented || value === undefined ? value : operation.documented(value))
    }

    const succeed = (exchange: Exchange, response: HttpServerResponse): Effect.Effect<HttpServerResponse> => {
      const { caller, entry, operation } = exchange
      if (caller === undefined || operation === undefined) {
        return Effect.dieMessage("every operation requires admission")
      }
      const shaped = shapeSuccess(operation, response)
      log.noteDecision(entry, Rule.done(operation))
      entry.status = shaped.status
      return operation.method === "GET"
        ? Effect.succeed(shaped)
        : Effect.as(commits.add(writeOf(exchange, operation, caller)), shaped)
    }

    const fail = (exchange: Exchange, cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse, RequestError | NotHandled> => {
      const { caller, entry, operation } = exchange
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

    /** The service's own response. */
    const decide = (exchange: Exchange): Effect.Effect<HttpServerResponse, RequestError | NotHandled> =>
      Effect.catchAllCause(
        Effect.flatMap(route(exchange), (response) => succeed(exchange, response)),
        (cause) => fail(exchange, cause)
      )

    const commitLate = (exchange: Exchange) => {
      exchange.isLate = true
      return decide(exchange)
    }

    const perform = (exchange: Exchange): Effect.Effect<FaultyResponse.FaultResult, RequestError> => {
      const original = Effect.catchTag(decide(exchange), "NotHandled", () => Effect.succeed(undefined))
      const { entry, hit } = exchange
      return isUnaffected(hit) ? Effect.map(original, (response) => FaultyResponse.apply(undefined, response)) : Effect.gen(function*() {
        entry.faults = hit.ids
        const response = yield* original
        yield* pause(hit.delay, "after")
        const now = yield* Clock.currentTimeMillis
        return FaultyResponse.apply(hit.outcome, response,
          (response, hasOwnBody) => latitude.isDefault ? response : Responses.failure(latitude.value, response, { now, hasOwnBody }))
      })
    }

    const hitOf = ({ headers, method }: ServerRequest, path: string): Effect.Effect<Hit> => {
      const isGateway = latitude.isGatewayRequest()
      return Effect.map(faults.take({ method, path, caller: admission.callerOf(headers) }), (hit) =>
        // An added fault takes precedence.
        isGateway && hit.outcome === undefined ? { ...hit, outcome: gatewayFault(latitude.value) } : hit)
    }

    interface Sent {
      readonly response?: HttpServerResponse | undefined
      readonly streamed?: Uint8Array | undefined
      readonly latitude: Latitude
    }

    /** Records the end of a request: its duration, and its messages as far as they exist. */
    const close = (exchange: Exchange, now: number, { latitude, response, streamed }: Sent): void => {
      const { bytes, entry, file, hit: { delay, outcome }, source: { hasBody, headers, method, url } } = exchange
      entry.durationMillis = now - entry.at
      log.keepMessages(entry, {
        method,
        url,
        headers,
        hasBody,
        body: bytes === undefined ? undefined : Messages.copy(bytes),
        bodySize: bytes?.length ?? 0,
        upload: file,
        response,
        streamed,
        faults: isUnaffected(exchange.hit)
          ? noFaults
          : [...(delay === undefined ? [] : [{ kind: "delay", ...delay }]), ...(outcome === undefined ? [] : [outcome])],
        latitude
      })
    }

    /** The response to a defect outside of `decide`. The request log keeps an earlier decision. */
    const recover = (exchange: Exchange, cause: Cause.Cause<unknown>): Effect.Effect<HttpServerResponse> => {
      const { entry } = exchange
      return Effect.zipWith(Failures.fromDefect(cause, entry.operation ?? "none"), Clock.currentTimeMillis, (error, now) => {
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
        close(exchange, now, { response, latitude: simplest })
        return response
      })
    }

    const respond = (exchange: Exchange): Effect.Effect<HttpServerResponse, RequestError | ConnectionReset> => {
      const { entry } = exchange
      return perform(exchange).pipe(
        // Also after an interruption, because the region is uninterruptible.
        Effect.matchCauseEffect({
          onFailure: (cause) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) => {
              entry.delivered = "abandoned"
              close(exchange, now, { latitude: latitude.value })
              return Effect.failCause(cause)
            }),
          onSuccess: ({ delivered, response, streamed }) => {
            entry.delivered = delivered
            return Effect.matchEffect(response, {
              onFailure: (error) =>
                Effect.flatMap(Clock.currentTimeMillis, (now) => {
                  close(exchange, now, { latitude: latitude.value })
                  return Effect.fail(error)
                }),
              onSuccess: (response) => {
                entry.deliveredStatus = response.status
                return Effect.map(Clock.currentTimeMillis, (now) => {
                  const sent = Responses.withHeaders(latitude.value, response, { now, id: entry.id })
                  close(exchange, now, { response: sent, streamed, latitude: latitude.value })
                  return sent
                })
              }
            })
          }
        }),
        Effect.catchAllCause((cause) => Cause.isDie(cause) ? recover(exchange, cause) : Effect.failCause(cause))
      )
    }

    const open = (request: ServerRequest, path: string, query: string): Effect.Effect<Opened> =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        // A path that does not start with the base path is unknown.
        const isKnown = path.startsWith(`${basePath}/`)
        const relative = isKnown ? path.slice(basePath.length) : path
        const entry = log.open(request.method, relative, query, now)
        // No route has an empty URL.
        const url = isKnown ? Router.urlOf(path, query) : ""
        const exchange = (hit: Hit) =>
          new Exchange(request.source, { url, path: relative, entry, hit, handlers, admit: admission.admit, commit: commitLate })
        return {
          id: entry.id,
          response: Effect.matchCauseEffect(isKnown ? hitOf(request, relative) : noFault, {
            onFailure: (cause) =>
              Cause.isDie(cause) ? Effect.flatMap(noFault, (hit) => recover(exchange(hit), cause)) : Effect.failCause(cause),
            onSuccess: (hit) => respond(exchange(hit))
          })
        }
      })

    return {
      open,
      respond: (request: ServerRequest, path: string, query: string) =>
        Effect.flatMap(open(request, path, query), ({ response }) => response)
    }
  })
