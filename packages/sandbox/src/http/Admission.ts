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
 * blocks and permissions, then conflicts. A fault may delay admission, or stop the request before its handler.
 *
 * Source: interface v1, "Endpoints", "Authentication", "Limits".
 */
import { DeveloperAccessRevoked, InsufficientScope, InvalidApiKey, ProfileIncomplete } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Headers } from "effect/http/Headers"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import type { Caller } from "../access/Keys.ts"
import { Keys } from "../access/Keys.ts"
import { RateWindow } from "../access/RateWindow.ts"
import { MediaFiles } from "../areas/media/MediaFiles.ts"
import * as Upload from "../areas/media/Upload.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import type { Operation } from "../InterfaceApi.ts"
import type { Latitude } from "../Latitude.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { LateCommits } from "../latitude/LateCommits.ts"
import type { Admitted, Refusal, RequestState } from "./CurrentRequest.ts"
import { NotHandled } from "./CurrentRequest.ts"
import * as Failures from "./Failures.ts"
import type { Pause, ResponseFault } from "./Fault.ts"
import { isUnaffected } from "./Faults.ts"
import { RequestLog } from "./RequestLog.ts"
import { maxBodyBytes as shownBodyBytes } from "./RequestMessages.ts"
import { hasBody, parseJson, readBytes } from "./RequestReader.ts"
import * as Rule from "./Rule.ts"

const keyOf = (authorization: string | undefined): string | undefined => /^Bearer +(\S+)\s*$/i.exec(authorization ?? "")?.[1]

/** Why a request has no valid key. */
const problemOf = (authorization: string | undefined): string =>
  authorization === undefined
    ? "the API key is missing: send it as \"Authorization: Bearer KEY\""
    : keyOf(authorization) === undefined
    ? "the Authorization header is malformed: send \"Authorization: Bearer KEY\""
    : "the API key is malformed, unknown or revoked"

/** Waits for a delay before or after the handler. A closed connection ends the wait. */
export const pause = (delay: Pause | undefined, when: Pause["when"]): Effect.Effect<void> =>
  delay?.when === when ? Effect.interruptible(Effect.sleep(delay.millis)) : Effect.void

const isBeforeHandler = (fault: ResponseFault): boolean => fault.kind !== "garbage" && fault.when === "before"

/** Whether a late commit may follow a fault that stops the request before its handler. */
const mayCommitAfter = (fault: ResponseFault, { lateCommitStatuses }: Latitude): boolean =>
  fault.kind === "drop" || fault.kind !== "garbage" && lateCommitStatuses.some((status) => status === fault.status)

const make = Effect.gen(function*() {
  const keys = yield* Keys
  const window = yield* RateWindow
  const log = yield* RequestLog
  const files = yield* MediaFiles
  const latitude = yield* CurrentLatitude
  const late = yield* LateCommits
  const { countRefused: assumedCount, maxBodyBytes, maxFileBytes, maxJsonDepth, scopes, supportContact } = yield* CurrentAssumptions

  /** The owner of the key in these headers; undefined without a valid key. */
  const callerOf = (headers: Headers): Caller | undefined => {
    const value = keyOf(headers["authorization"])
    return value === undefined ? undefined : keys.find(value)
  }

  const identify = ({ entry }: RequestState, headers: Headers): Caller | undefined => {
    const caller = callerOf(headers)
    entry.accountId = caller?.accountId ?? null
    entry.keyId = caller?.keyId ?? null
    return caller
  }

  /** Why a caller may not use an operation: a missing scope or an incomplete profile. */
  const refusalOf = ({ method, name }: Operation, { account, scopes: held }: Caller): InsufficientScope | ProfileIncomplete | undefined => {
    const scope = scopes[name]
    return scope !== undefined && !held.includes(scope)
      ? new InsufficientScope({ message: `the key lacks the scope ${scope}`, details: { scope } })
      : method !== "GET" && !(account.photo && account.cover)
      ? new ProfileIncomplete({ message: "the account has no profile photo or no cover: writes require both" })
      : undefined
  }

  const receive = Effect.fnUntraced(function*(
    state: RequestState,
    request: HttpServerRequest,
    { body }: Operation
  ): Effect.fn.Return<Admitted["body"], Refusal> {
    if (body === "file") {
      return { kind: "file", file: yield* Upload.receive(request, maxFileBytes, files) }
    }
    // The document says that some endpoints take no body, but not that they refuse one.
    if (body === "none" && !hasBody(request)) {
      return { kind: "none" }
    }
    const bytes = yield* readBytes(request, maxBodyBytes)
    state.bytes = bytes
    return body === "none"
      ? { kind: "none" }
      : { kind: "json", value: yield* parseJson(request.headers["content-type"], bytes, maxJsonDepth), bytes: bytes.length }
  })

  const check = Effect.fnUntraced(function*(
    state: RequestState,
    request: HttpServerRequest,
    operation: Operation
  ): Effect.fn.Return<Admitted, Refusal> {
    const caller = identify(state, request.headers)
    if (caller === undefined) {
      return yield* new InvalidApiKey({ message: problemOf(request.headers["authorization"]) })
    }
    if (caller.account.access !== "granted") {
      return yield* new DeveloperAccessRevoked({
        message: `developer access of this account is not granted: contact ${supportContact}`
      })
    }
    const limited = window.take(caller.keyId, caller.accountId, operation, yield* Clock.currentTimeMillis)
    if (limited !== undefined) {
      return yield* limited
    }
    const refusal = refusalOf(operation, caller)
    if (refusal !== undefined) {
      return yield* refusal
    }
    const body = yield* receive(state, request, operation)
    state.body = body
    return { caller, body }
  })

  /** Counts a request that a fault stops before admission, because it still counts against the rate limit. */
  const count = (state: RequestState, headers: Headers): Effect.Effect<void> =>
    // If the storage fails, the fault still applies and the request is not counted.
    Effect.catchCause(
      Effect.map(Clock.currentTimeMillis, (now) => {
        const caller = identify(state, headers)
        // As the service would count it: not an unknown route, and no account without access.
        if (caller?.account.access === "granted" && state.operation !== undefined) {
          window.take(caller.keyId, caller.accountId, state.operation, now)
        }
      }),
      (cause) => Failures.logDefect("count", cause)
    )

  const underFault = Effect.fnUntraced(function*(
    state: RequestState,
    request: HttpServerRequest,
    admit: Effect.Effect<Admitted, Refusal>
  ): Effect.fn.Return<Admitted, Refusal> {
    const { entry, hit: { delay, outcome: fault, outcomeId } } = state
    const { headers, method } = request
    const { countRefused, lateCommitMillis } = latitude.value
    const skipsHandler = fault !== undefined && isBeforeHandler(fault)
    const mayBeLate = lateCommitMillis > 0 && method !== "GET" &&
      (skipsHandler ? mayCommitAfter(fault, latitude.value) : delay?.when === "before")
    if (mayBeLate) {
      // Reads the body now: the connection may be closed when the late commit runs.
      state.admission = yield* Effect.exit(admit)
    }
    const commitLater = late.schedule(lateCommitMillis, {
      commit: state.commit,
      discard: Effect.suspend(() => state.body?.kind === "file" ? files.remove([state.body.file.file]) : Effect.void)
    })
    yield* mayBeLate ? Effect.onInterrupt(pause(delay, "before"), () => commitLater) : pause(delay, "before")
    if (!skipsHandler) {
      return yield* state.admission ?? admit
    }
    // For the console, which tells a repetition from another request by its body.
    if (state.bytes === undefined && state.operation?.body !== "file" && Number(headers["content-length"] ?? 0) <= shownBodyBytes) {
      yield* Effect.ignore(Effect.map(readBytes(request, shownBodyBytes), (bytes) => {
        state.bytes = bytes
      }))
    }
    // A refusal for the rate counts only where refusals are assumed to count.
    const isUncounted = fault.kind === "status" && fault.status === 429 && !(countRefused ?? assumedCount)
    if (mayBeLate) {
      yield* commitLater
    } else if (!isUncounted) {
      yield* count(state, headers)
    }
    log.noteDecision(entry, outcomeId === undefined ? Rule.ofGateway(latitude.value) : Rule.ofFault(outcomeId))
    return yield* new NotHandled()
  })

  /** A late commit was admitted or refused when its request arrived. */
  const decide = (
    state: RequestState,
    request: HttpServerRequest,
    admit: Effect.Effect<Admitted, Refusal>
  ): Effect.Effect<Admitted, Refusal> =>
    state.isLate && state.admission !== undefined
      ? state.admission
      : isUnaffected(state.hit)
      ? admit
      : underFault(state, request, admit)

  return {
    callerOf,
    /** Admits a request to its handler, or refuses it. Records its operation and account in the request log. */
    admit: (
      state: RequestState,
      request: HttpServerRequest,
      operation: Operation,
      params: Readonly<Record<string, string | undefined>>
    ): Effect.Effect<Admitted, Refusal> => {
      state.operation = operation
      log.noteOperation(state.entry, operation.name, params)
      return Effect.map(decide(state, request, check(state, request, operation)), (admitted) => {
        state.caller = admitted.caller
        return admitted
      })
    },
    /** Refuses a request that matches no operation, unless a fault hits it first. */
    refuse: (state: RequestState, request: HttpServerRequest, refusal: Refusal): Effect.Effect<never, Refusal> =>
      Effect.andThen(decide(state, request, Effect.fail(refusal)), Effect.fail(refusal))
  }
})

export class Admission extends Context.Service<Admission, Effect.Success<typeof make>>()("@plaza/sandbox/Admission") {
  static readonly layer = Layer.effect(Admission, make)
}
