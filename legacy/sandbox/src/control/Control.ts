/**
 * Serves the control API. By default only programs on this machine and the sandbox's own pages may call it, because
 * it can do anything.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import { Forbidden } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { AccessRequests } from "../access/AccessRequests.ts"
import type { AccountsRepo } from "../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { Commits } from "../http/Commits.ts"
import * as Endpoints from "../http/Endpoints.ts"
import * as Envelope from "../http/Envelope.ts"
import * as Failures from "../http/Failures.ts"
import type { Faults } from "../http/Faults.ts"
import { type HostPolicy, isSameOrigin } from "../http/HostPolicy.ts"
import * as KeyMask from "../http/KeyMask.ts"
import type { Operation } from "../http/Operation.ts"
import type { RequestLog } from "../http/RequestLog.ts"
import * as Router from "../http/Router.ts"
import type { ServerRequest } from "../http/ServerRequest.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { Seeding } from "../seeding/Seeding.ts"
import type { Snapshots } from "../storage/Snapshots.ts"
import type { VirtualClock } from "../VirtualClock.ts"
import * as ControlHandlers from "./ControlHandlers.ts"
import * as SeedingHandlers from "./SeedingHandlers.ts"
import { ControlRequest, middleware, nearMiss } from "./ServedControlApi.ts"
import * as SnapshotsHandlers from "./SnapshotsHandlers.ts"

/**
 * The path prefix of the control API.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = "/sandbox"

/** @since 0.1.0 @category services */
export class Control extends Context.Tag("@plaza-legacy/sandbox/Control")<Control, {
  readonly respond: (
    request: ServerRequest,
    path: string,
    query: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, RequestError>
}>() {}

const endpoints = Endpoints.make(middleware, ControlHandlers.group, SeedingHandlers.group, SnapshotsHandlers.group)

/** The only operation whose response contains a key. */
const creatingKeys = "createKey"

/** @since 0.1.0 @category constructors */
export const make = (
  access: "loopback" | "anyone",
  local: HostPolicy
): Effect.Effect<
  Control["Type"],
  never,
  | AccessRequests
  | AccountsRepo
  | CurrentAssumptions
  | Commits
  | CurrentLatitude
  | Faults
  | RequestLog
  | Seeding
  | Snapshots
  | VirtualClock
> =>
  Effect.gen(function*() {
    const { keyPrefixes } = yield* CurrentLatitude
    const { maxBodyBytes, maxJsonDepth } = yield* CurrentAssumptions
    const limits = { maxBytes: maxBodyBytes, maxDepth: maxJsonDepth }
    const handlers = yield* endpoints.handlers

    const mask = KeyMask.make(keyPrefixes)
    /** Masks keys in every response but the one that creates a key. */
    const withoutKeys = (response: HttpServerResponse.HttpServerResponse, operation: Operation | undefined) => {
      const text = Envelope.textOf(response)
      return operation?.name === creatingKeys || mask.text(text) === text
        ? response
        : HttpServerResponse.setBody(response, Envelope.json(response.status, mask.json(Envelope.jsonOf(response))).body)
    }

    const refusalOf = (request: ServerRequest): Forbidden | undefined =>
      access === "loopback" && !local.isLocal(request)
        ? new Forbidden({ message: "the control API accepts only requests from the machine that the sandbox runs on" })
        : isSameOrigin(request, { addressBar: request.method === "GET" })
        ? undefined
        : new Forbidden({
          message: "the control API accepts no requests from a page of another origin"
        })

    const handle = (request: ControlRequest, path: string): Effect.Effect<HttpServerResponse.HttpServerResponse, RequestError> => {
      const refusal = refusalOf(request)
      return (refusal === undefined
        ? Router.run(endpoints.app(), request, path, () => nearMiss(request.method, path))
        : Effect.fail(refusal)).pipe(
          Effect.catchAllCause((cause) =>
            Effect.map(
              Failures.fromCause(cause, `control.${request.operation?.name ?? "none"}`),
              ({ error }) => Envelope.failure(error)
            )
          ),
          // Faults never hit the control API.
          Effect.catchTag("NotHandled", Effect.die),
          Effect.map((response) => withoutKeys(response, request.operation))
        )
    }

    return {
      respond: (incoming, path, query) =>
        handle(new ControlRequest(incoming.source, { url: Router.urlOf(path, query), handlers, limits }), path)
    }
  })
