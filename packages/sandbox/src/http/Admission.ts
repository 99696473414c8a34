/**
 * What stands before every operation of the interface: the refusals that don't depend on what is asked for, in one
 * order. That order is assumed; the document gives none:
 *
 * 1. the route (404 NOT_FOUND; a path that can't be decoded: 400 VALIDATION_ERROR)
 * 2. the key (401 INVALID_API_KEY)
 * 3. developer access (403 DEVELOPER_ACCESS_REVOKED)
 * 4. the rate and the daily quota (429 RATE_LIMITED)
 * 5. the scope (403 INSUFFICIENT_SCOPE)
 * 6. profile photo and cover, on writes (403 PROFILE_INCOMPLETE)
 * 7. the size of the body (413 PAYLOAD_TOO_LARGE)
 * 8. its JSON (400 INVALID_JSON)
 * 9. parameters and fields (400 VALIDATION_ERROR)
 *
 * What comes after (existence, then blocks and permissions, then conflicts) is the handlers'. Knows nothing of storage
 * or faults.
 *
 * Source: interface v1, "Endpoints", "Authentication", "Limits".
 *
 * @since 0.1.0
 */
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type { DocumentedError } from "@plaza/domain/Errors"
import {
  DeveloperAccessRevoked,
  InsufficientScope,
  InvalidApiKey,
  NotFound,
  ProfileIncomplete,
  ValidationError
} from "@plaza/domain/Errors"
import type { Authorization } from "@plaza/domain/PlazaApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { Assumed } from "../Assumptions.js"
import type { Caller } from "../access/Callers.js"
import type { Decoded, HandlersOfGroup, Operation } from "./Dispatch.js"
import type { Gone, Incoming } from "./IncomingRequest.js"
import { readBody, takeJson } from "./IncomingRequest.js"
import { Keys } from "../access/Keys.js"
import { MediaFiles } from "../areas/media/MediaFiles.js"
import { RateWindow } from "../access/RateWindow.js"
import type { Entry } from "./RequestLog.js"
import type { Match } from "./Routes.js"
import * as Upload from "../areas/media/Upload.js"
import type { UploadedFile } from "../areas/media/Upload.js"

/**
 * What a handler knows of its call beside the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  readonly caller: Caller
}

/**
 * The handlers of one area.
 *
 * @since 0.1.0
 * @category models
 */
export type Handlers<Group extends HttpApiGroup.HttpApiGroup.Any> = HandlersOfGroup<
  Group,
  typeof Authorization["failure"]["Type"],
  Call
>

/** @since 0.1.0 @category models */
export interface Admitted extends Call {
  readonly operation: Operation
  readonly request: Decoded
}

/** @since 0.1.0 @category services */
export class Gate extends Context.Tag("@plaza/sandbox/Gate")<Gate, {
  /** Lets a request through to its handler, or refuses it. Notes in the record who is calling. */
  readonly admit: (
    match: Match,
    incoming: Incoming,
    entry: Entry
  ) => Effect.Effect<Admitted, DocumentedError | Gone>
  /** Counts a request that was kept from the gate by a fault: the limit has seen it all the same. */
  readonly count: (match: Match, incoming: Incoming, entry: Entry) => Effect.Effect<void>
}>() {}

/**
 * The operation of a match, or the refusal of the route.
 *
 * @since 0.1.0
 * @category matching
 */
export const route = (match: Match, method: string, path: string): Effect.Effect<Extract<Match, { _tag: "Operation" }>, NotFound | ValidationError> => {
  switch (match._tag) {
    case "Operation":
      return Effect.succeed(match)
    case "NotFound":
      return Effect.fail(new NotFound({ message: `there is no endpoint ${method} ${path}` }))
    case "Malformed":
      return Effect.fail(new ValidationError({ message: "the path is not well-formed percent-encoding", details: { field: "path" } }))
  }
}

/**
 * How bodies are read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Bodies {
  /** Most bytes of a JSON body, and of one that is ignored where none is asked for. */
  readonly most: number
  /** Most levels of lists and objects in each other in a JSON body. */
  readonly maxDepth: number
  /** Takes the one file of an upload. */
  readonly receive: (incoming: Incoming) => Effect.Effect<UploadedFile, DocumentedError | Gone>
}

/**
 * Reads a request's body and decodes all its parts.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (
  { operation, params }: Extract<Match, { _tag: "Operation" }>,
  incoming: Incoming,
  bodies: Bodies
): Effect.Effect<Decoded, DocumentedError | Gone> => {
  const mark = incoming.target.indexOf("?")
  const query = mark === -1 ? "" : incoming.target.slice(mark + 1)
  const withBody = (body: unknown): Either.Either<Decoded, ValidationError> =>
    Either.flatMap(operation.decodePath(params), (path) =>
      Either.flatMap(operation.decodeQuery(query), (urlParams) =>
        Either.map(operation.decodePayload(body), (payload) => ({ ...path, ...urlParams, ...payload }))))
  switch (operation.body) {
    case "none":
      // The document says that such endpoints are sent nothing, not that they refuse it.
      return incoming.hasBody
        ? Effect.flatMap(readBody(incoming, bodies.most), () => withBody(undefined))
        : withBody(undefined)
    case "json":
      return Effect.flatMap(readBody(incoming, bodies.most), (bytes) =>
        Either.flatMap(takeJson(incoming.headers["content-type"], bytes, bodies.maxDepth), withBody))
    case "file":
      return Effect.flatMap(bodies.receive(incoming), withBody)
  }
}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Gate, never, Keys | RateWindow | MediaFiles | Assumed> = Layer.effect(
  Gate,
  Effect.gen(function*() {
    const keys = yield* Keys
    const window = yield* RateWindow
    const { maxBodyBytes, maxFileBytes, maxJsonDepth, scopes, supportContact } = yield* Assumed
    const files = yield* MediaFiles
    const bodies: Bodies = {
      most: maxBodyBytes,
      maxDepth: maxJsonDepth,
      receive: (incoming) => Upload.receive(incoming, maxFileBytes, files)
    }

    const identify = (incoming: Incoming, entry: Entry) => {
      const value = /^Bearer +(\S+)\s*$/i.exec(incoming.headers["authorization"] ?? "")?.[1]
      return Effect.map(value === undefined ? Effect.succeed(undefined) : keys.find(value), (caller) => {
        entry.accountId = caller?.accountId ?? null
        return caller
      })
    }

    const known = (incoming: Incoming, entry: Entry): Effect.Effect<Caller, InvalidApiKey | DeveloperAccessRevoked> =>
      Effect.flatMap(identify(incoming, entry), (caller): Effect.Effect<Caller, InvalidApiKey | DeveloperAccessRevoked> =>
        caller === undefined
          ? Effect.fail(new InvalidApiKey({ message: "the API key is missing, malformed or revoked" }))
          : caller.account.access === "granted"
          ? Effect.succeed(caller)
          : Effect.fail(
            new DeveloperAccessRevoked({ message: `developer access of this account is not granted: write to ${supportContact}` })
          ))

    /** What keeps a caller from an operation, whatever is sent. */
    const refusal = ({ method, name }: Operation, { account, scopes: held }: Caller) => {
      const scope = scopes[name]
      return scope !== undefined && !held.includes(scope)
        ? new InsufficientScope({ message: `the key lacks the scope ${scope}`, details: { scope } })
        : method !== "GET" && !(account.photo && account.cover)
        ? new ProfileIncomplete({ message: "the account needs a profile photo and a cover before it may write" })
        : undefined
    }

    return {
      // In few steps: each one is paid by every request.
      admit: (match, incoming, entry) =>
        Effect.flatMap(route(match, incoming.method, entry.path), (found) =>
          Effect.flatMap(known(incoming, entry), (caller) =>
            Effect.flatMap(window.take(caller.keyId, caller.accountId, found.operation), (): Effect.Effect<Admitted, DocumentedError | Gone> => {
              const { operation } = found
              return refusal(operation, caller) ??
                Effect.map(decode(found, incoming, bodies), (request) => ({ operation, request, caller }))
            }))),

      count: (match, incoming, entry) =>
        Effect.flatMap(
          identify(incoming, entry),
          (caller) => caller === undefined ? Effect.void : Effect.ignore(window.take(caller.keyId, caller.accountId, match._tag === "Operation" ? match.operation : undefined))
        )
    }
  })
)
