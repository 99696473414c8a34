/**
 * Admission: the checks before every operation of the interface, in one order. The document gives no order; this one is
 * assumed:
 *
 * 1. the route (404 NOT_FOUND; malformed percent-encoding: 400 VALIDATION_ERROR)
 * 2. the key (401 INVALID_API_KEY)
 * 3. developer access (403 DEVELOPER_ACCESS_REVOKED)
 * 4. the rate and the daily quota (429 RATE_LIMITED)
 * 5. the scope (403 INSUFFICIENT_SCOPE)
 * 6. profile photo and cover, on writes (403 PROFILE_INCOMPLETE)
 * 7. the size of the body (413 PAYLOAD_TOO_LARGE)
 * 8. its JSON (400 INVALID_JSON)
 * 9. parameters and fields (400 VALIDATION_ERROR)
 *
 * The router does the first check and the schemas of the endpoint the last. The handlers check the rest: existence, then
 * blocks and permissions, then conflicts.
 *
 * Source: interface v1, "Endpoints", "Authentication", "Limits".
 *
 * @since 0.1.0
 */
import type { Headers } from "@effect/platform/Headers"
import * as HttpRouter from "@effect/platform/HttpRouter"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import type { NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import { DeveloperAccessRevoked, InsufficientScope, InvalidApiKey, ProfileIncomplete } from "@plaza-legacy/domain/Errors"
import { PlazaApiWithStories } from "@plaza-legacy/domain/PlazaApi"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { Caller } from "../access/Callers.ts"
import { Keys } from "../access/Keys.ts"
import { RateWindow } from "../access/RateWindow.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import * as Upload from "../areas/media/Upload.ts"
import { AssumedApi } from "../AssumedApi.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import type { LateCommits } from "../latitude/LateCommits.ts"
import type { Refusal } from "./Exchange.ts"
import { Exchange } from "./Exchange.ts"
import { isUnaffected } from "./Faults.ts"
import * as FaultyAdmission from "./FaultyAdmission.ts"
import type { Operation } from "./Operation.ts"
import { byRoute, operationsOf } from "./Operation.ts"
import { RequestLog } from "./RequestLog.ts"
import { RequiresAdmission } from "./RequiresAdmission.ts"
import { basePath } from "./ServedApi.ts"
import { type JsonLimits, readBody } from "./ServerRequest.ts"

/** @since 0.1.0 @category services */
export class Admission extends Context.Tag("@plaza-legacy/sandbox/Admission")<Admission, {
  /** The owner of the key in these headers; undefined without a valid key. */
  readonly callerOf: (headers: Headers) => Effect.Effect<Caller | undefined>
  /** Admits a request to its handler, or refuses it. Records its operation and account in the request log. */
  readonly admit: (exchange: Exchange, route: HttpRouter.RouteContext) => Effect.Effect<Caller, Refusal>
  /** Refuses a request that matches no operation, unless a fault hits it first. */
  readonly refuse: (exchange: Exchange, refusal: NotFound | ValidationError) => Effect.Effect<never, Refusal>
}>() {}

/** @since 0.1.0 @category constants */
export const documentedOperations: ReadonlyArray<Operation> = operationsOf(PlazaApiWithStories)

/** @since 0.1.0 @category constants */
export const assumedOperations: ReadonlyArray<Operation> = operationsOf(AssumedApi)

const operationOf = byRoute([...documentedOperations, ...assumedOperations], basePath)

const keyOf = (authorization: string | undefined): string | undefined => /^Bearer +(\S+)\s*$/i.exec(authorization ?? "")?.[1]

/** Why a request has no valid key. */
const problemOf = (authorization: string | undefined): string =>
  authorization === undefined
    ? "the API key is missing: send it as \"Authorization: Bearer KEY\""
    : keyOf(authorization) === undefined
    ? "the Authorization header is malformed: send \"Authorization: Bearer KEY\""
    : "the API key is malformed, unknown or revoked"

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Admission["Type"],
  never,
  Keys | RateWindow | MediaFiles | CurrentAssumptions | CurrentLatitude | LateCommits | RequestLog
> = Effect.gen(function*() {
  const keys = yield* Keys
  const window = yield* RateWindow
  const log = yield* RequestLog
  const { maxBodyBytes, maxFileBytes, maxJsonDepth, scopes, supportContact } = yield* CurrentAssumptions
  const files = yield* MediaFiles
  const limits: JsonLimits = { maxBytes: maxBodyBytes, maxDepth: maxJsonDepth }

  const callerOf = (headers: Headers) => {
    const value = keyOf(headers["authorization"])
    return value === undefined ? Effect.succeed(undefined) : keys.find(value)
  }

  const identify = ({ entry, headers }: Exchange) =>
    Effect.map(callerOf(headers), (caller) => {
      entry.accountId = caller?.accountId ?? null
      entry.keyId = caller?.keyId ?? null
      return caller
    })

  const known = (exchange: Exchange): Effect.Effect<Caller, InvalidApiKey | DeveloperAccessRevoked> =>
    Effect.flatMap(identify(exchange), (caller): Effect.Effect<Caller, InvalidApiKey | DeveloperAccessRevoked> =>
      caller === undefined
        ? Effect.fail(new InvalidApiKey({ message: problemOf(exchange.headers["authorization"]) }))
        : caller.account.access === "granted"
        ? Effect.succeed(caller)
        : Effect.fail(
          new DeveloperAccessRevoked({ message: `developer access of this account is not granted: contact ${supportContact}` })
        ))

  /** Why a caller may not use an operation: a missing scope or an incomplete profile. */
  const refusalOf = ({ method, name }: Operation, { account, scopes: held }: Caller) => {
    const scope = scopes[name]
    return scope !== undefined && !held.includes(scope)
      ? new InsufficientScope({ message: `the key lacks the scope ${scope}`, details: { scope } })
      : method !== "GET" && !(account.photo && account.cover)
      ? new ProfileIncomplete({ message: "the account has no profile photo or no cover: writes require both" })
      : undefined
  }

  const receive = (exchange: Exchange, { body }: Operation): Effect.Effect<unknown, Refusal> =>
    body === "file"
      ? Effect.map(Upload.receive(exchange, maxFileBytes, files), (file) => {
        exchange.file = file
      })
      : readBody(exchange, body, limits)

  const check = (exchange: Exchange, operation: Operation): Effect.Effect<Caller, Refusal> =>
    Effect.flatMap(known(exchange), (caller) =>
      Effect.flatMap(window.take(caller.keyId, caller.accountId, operation), (): Effect.Effect<Caller, Refusal> =>
        refusalOf(operation, caller) ?? Effect.as(receive(exchange, operation), caller)))

  const underFault = yield* FaultyAdmission.make((exchange) =>
    Effect.flatMap(identify(exchange), (caller) =>
      caller === undefined ? Effect.void : Effect.ignore(window.take(caller.keyId, caller.accountId, exchange.operation)))
  )

  /** A late commit was admitted or refused when its request arrived. */
  const decide = (exchange: Exchange, admit: Effect.Effect<Caller, Refusal>): Effect.Effect<Caller, Refusal> =>
    exchange.isLate && exchange.admission !== undefined
      ? exchange.admission
      : isUnaffected(exchange.hit)
      ? admit
      : underFault(exchange, admit)

  return {
    callerOf,
    admit: (exchange, { params, route }) => {
      const operation = operationOf(route)
      if (operation === undefined) {
        return Effect.dieMessage(`no operation has the route ${route.method} ${route.path}`)
      }
      exchange.operation = operation
      log.noteOperation(exchange.entry, operation.name, Record.filter(params, (value) => value !== undefined))
      return Effect.map(decide(exchange, check(exchange, operation)), (caller) => {
        exchange.caller = caller
        return caller
      })
    },
    refuse: (exchange, refusal) => Effect.zipRight(decide(exchange, Effect.fail(refusal)), Effect.fail(refusal))
  }
})

/**
 * Runs {@link Admission} before every operation.
 *
 * @since 0.1.0
 * @category middleware
 */
export const middleware: Context.Context<RequiresAdmission> = Context.make(
  RequiresAdmission,
  Effect.contextWithEffect((context: Context.Context<HttpServerRequest | HttpRouter.RouteContext>) => {
    const request = Context.get(context, HttpServerRequest)
    return request instanceof Exchange
      ? request.admit(request, Context.get(context, HttpRouter.RouteContext))
      : Effect.dieMessage("the request is not an Exchange")
  })
)
