/**
 * Sends operations: encodes the request by the contract, delivers it by its delivery class, and decodes the response. All services
 * use this module.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import { parseHttpDate } from "@plaza-legacy/domain/ErrorResponse"
import type { ServiceError } from "@plaza-legacy/domain/Errors"
import { UnrecognizedError } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import * as CallOptions from "../../CallOptions.ts"
import { InvalidInput } from "../../ClientError.ts"
import type { AttemptFailure, CallFailure, OutcomeUnknown } from "../../ClientError.ts"
import type { RateLimit } from "../../RateLimit.ts"
import { Settings } from "../../Settings.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { fiberLocal, fromEither, monotonicNow, monotonicWith } from "../Compat.ts"
import { deliver } from "../delivery/Delivery.ts"
import type { Check } from "../delivery/Delivery.ts"
import * as HttpAttempt from "../delivery/HttpAttempt.ts"
import * as RateLimitedAttempt from "../delivery/RateLimitedAttempt.ts"
import type { ApiRequest, ApiResponse } from "../transport/ApiRequest.ts"
import * as Contract from "./Contract.ts"
import type { FailureOf, OperationName, RequestOf, SuccessOf } from "./Contract.ts"
import * as Pagination from "./Pagination.ts"

/**
 * Decodes a response.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reader<A> {
  readonly decode: (body: unknown) => Either.Either<A, string>
  /** The result for a response without a body, if the request determines it. */
  readonly whenEmpty?: (() => A) | undefined
  /** Fields of the result that the request determines, for responses that omit them. */
  readonly known?: Readonly<Record<string, unknown>> | undefined
}

interface SendOptions<A> {
  /** The result for a response without a body, if the contract allows one. */
  readonly whenEmpty?: () => A
  /** Fields of the result that the request determines, for responses that omit them. */
  readonly known?: Readonly<Record<string, unknown>>
  /** For `Checkable` operations. */
  readonly check?: Check<A>
  /** The body, if it isn't JSON. */
  readonly body?: HttpBody.HttpBody
  /** As {@link ApiRequest.canRepeat}. */
  readonly canRepeat?: (() => boolean) | undefined
}

/**
 * The failures of a request to an endpoint that is not in the contract.
 *
 * @since 0.1.0
 * @category models
 */
export type OpenFailure = ServiceError | CallFailure | OutcomeUnknown

/**
 * The result of an operation, without `void`.
 *
 * @since 0.1.0
 * @category models
 */
export type ResultOf<Name extends OperationName> = Exclude<SuccessOf<Name>, void>

/**
 * The `Date` header of the service's last success, if it had one, and the time of that response by the monotonic clock of this
 * process.
 */
interface ServiceClock {
  readonly date: DateTime.Utc | undefined
  readonly receivedAt: MonotonicMillis
}

/** @since 0.1.0 @category services */
export class Operations extends Context.Tag("@plaza-legacy/client/Operations")<Operations, {
  /** Sends an operation of the contract. */
  readonly send: <Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    options?: SendOptions<ResultOf<Name>>
  ) => Effect.Effect<ResultOf<Name>, FailureOf<Name>>
  /** Reads pages of a list of the contract, up to an item that can't be decoded. */
  readonly sendPage: <Name extends OperationName, A, I>(
    name: Name,
    item: Schema.Schema<A, I>
  ) => (urlParams: Pagination.PageRequest) => Effect.Effect<Pagination.FetchedPage<A>, FailureOf<Name>>
  /** Sends an encoded request. */
  readonly sendOpen: <A>(request: ApiRequest, reader: Reader<A>, check?: Check<A>) => Effect.Effect<A, OpenFailure>
  /** The clock of the service, from its last success. */
  readonly serviceClock: Effect.Effect<ServiceClock>
  /** How long the service may still change state after an ambiguous failure. */
  readonly settleTime: Duration.Duration
}>() {}

const parse = (text: string): Either.Either<unknown, string> =>
  Either.try({ try: (): unknown => JSON.parse(text), catch: () => "it is not JSON" })

const isNonEmpty = (value: unknown): boolean => Predicate.isObject(value) ? Object.keys(value).length > 0 : Boolean(value)

/**
 * Whether the body of a success is an error envelope with an error of any form. An empty field `error` doesn't count.
 */
const isError = (body: unknown): boolean => Predicate.isRecord(body) && isNonEmpty(body["error"])

/** Adds the fields that the request determines and the response omits. */
const withKnownFields = (body: unknown, known: Readonly<Record<string, unknown>> = {}): unknown =>
  Predicate.isRecord(body)
    ? { ...body, ...Record.filter(known, (_, name) => body[name] === undefined || body[name] === null) }
    : body

const read = <A>(body: string, reader: Reader<A>): Either.Either<A, string> =>
  body.trim() === "" && reader.whenEmpty !== undefined
    ? Either.right(reader.whenEmpty())
    : Either.flatMap(parse(body),
      (value) => isError(value) ? Either.left("it is an error") : reader.decode(withKnownFields(value, reader.known)))

/** The failure of a success that can't be decoded: a service fault for a read, `UnreadableSuccess` for a write. */
const unreadable = (request: ApiRequest, attempts: number, { body, status }: ApiResponse, why: string): AttemptFailure =>
  request.delivery === "Read"
    ? new UnrecognizedError({
      status,
      category: "ServiceFault",
      attempts,
      message: `the response with status ${status} can't be decoded (${why})`,
      details: { body: HttpAttempt.excerptOf(body) }
    })
    : HttpAttempt.unreadable(request, attempts, status, `its response can't be decoded (${why})`, body)

/**
 * Creates a JSON body. Fails for a value that JSON can't represent, such as a cycle.
 *
 * @since 0.1.0
 * @category encoding
 */
export const jsonBody = (value: unknown): Either.Either<HttpBody.HttpBody, InvalidInput> =>
  Either.try({
    try: () => HttpBody.unsafeJson(value),
    catch: () => new InvalidInput({ field: "", message: "the body can't be encoded as JSON" })
  })

/** The wait budget of the call whose outcome a check searches for. */
const checkedCall = fiberLocal<RateLimitedAttempt.WaitBudget | undefined>("@plaza-legacy/client/CheckedCall", undefined)

/** Runs a check under the span of its call and within the call's maximum wait. */
const withCallContext = <A>(
  span: Tracer.Span,
  budget: RateLimitedAttempt.WaitBudget,
  check: Check<A> | undefined
): Check<A> | undefined =>
  check?.lookUp === undefined
    ? check
    : { ...check, lookUp: check.lookUp.pipe(Effect.withParentSpan(span), checkedCall.locallyWith(() => budget)) }

// The caller passes a body that isn't JSON. Otherwise, an operation without a payload has no body.
const bodyOf = (
  operation: Contract.Operation,
  payload: unknown,
  given: HttpBody.HttpBody | undefined
): Either.Either<HttpBody.HttpBody, InvalidInput> =>
  given !== undefined
    ? Either.right(given)
    : operation.payload === undefined
    ? Either.right(HttpBody.empty)
    : Either.flatMap(operation.payload(payload), jsonBody)

interface Parts {
  readonly path?: unknown
  readonly urlParams?: unknown
  readonly payload?: unknown
}

const apiRequestOf = (
  operation: Contract.Operation,
  parts: Parts,
  { body, canRepeat }: Pick<SendOptions<unknown>, "body" | "canRepeat"> = {}
): Either.Either<ApiRequest, InvalidInput> =>
  Either.map(
    Either.all({
      path: operation.path(parts.path),
      query: operation.query(parts.urlParams),
      body: bodyOf(operation, parts.payload, body)
    }),
    ({ body, path, query }) => ({
      operation: operation.name,
      area: operation.area,
      delivery: operation.delivery,
      method: operation.method,
      listed: operation.listed,
      path,
      query,
      body,
      canRepeat
    })
  )

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Operations["Type"],
  never,
  HttpClient.HttpClient | RateLimit | Settings | Scope.Scope
> = Effect.gen(function*() {
  const settings = yield* Settings
  const attempt = yield* RateLimitedAttempt.make
  let latest: { readonly date: string | undefined; readonly receivedAt: MonotonicMillis } = {
    date: undefined,
    receivedAt: yield* monotonicNow
  }

  const sendOpen = <A>(request: ApiRequest, reader: Reader<A>, check?: Check<A>): Effect.Effect<A, OpenFailure> =>
    Effect.useSpan(`plaza.${request.operation}`, {
      captureStackTrace: false,
      attributes: {
        "plaza.area": request.area,
        "plaza.operation": request.operation,
        "plaza.delivery": request.delivery
      }
    }, (span) =>
      Effect.flatMap(CallOptions.current, ({ maxWait = settings.maxWait, retry = settings.retry, timeout = settings.timeout }) =>
        checkedCall.with((shared) => {
          const waitBudget = shared ?? RateLimitedAttempt.waitBudget(maxWait)
          return deliver(
            (number) =>
              Effect.flatMap(attempt({ request, number, waitBudget, timeout, span }), (response) =>
                monotonicWith((receivedAt) => {
                  latest = { date: response.date, receivedAt }
                  return fromEither(Either.mapLeft(read(response.body, reader), (why) =>
                    unreadable(request, number, response, why)))
                })),
            {
              operation: request.operation,
              delivery: request.delivery,
              retry: request.canRepeat === undefined ? retry : Schedule.whileInput(retry, request.canRepeat),
              check: withCallContext(span, waitBudget, check)
            }
          )
        })))

  const send = (name: OperationName, parts: Parts, options: SendOptions<unknown> = {}) => {
    const operation = Contract.operation(name)
    const reader = {
      decode: operation.decode,
      whenEmpty: operation.mayBeEmpty ? options.whenEmpty : undefined,
      known: options.known
    }
    return Either.match(apiRequestOf(operation, parts, options), {
      onLeft: Effect.fail,
      onRight: (request) => sendOpen(request, reader, options.check)
    })
  }

  const sendPage = <A, I>(name: OperationName, item: Schema.Schema<A, I>) => {
    // Compiled on first use, because most programs read no list.
    let decode: Reader<Pagination.FetchedPage<A>>["decode"] | undefined
    return (urlParams: Pagination.PageRequest) =>
      Effect.suspend(() => {
        decode ??= Pagination.pageDecoder(item)
        const reader = { decode }
        return Either.match(apiRequestOf(Contract.operation(name), { urlParams }), {
          onLeft: Effect.fail,
          onRight: (request) => sendOpen(request, reader)
        })
      })
  }

  return {
    // True because the contract determines request, result and failures by name. The compiled operations lose these types.
    send: send as Operations["Type"]["send"],
    // True for the same reason as for `send`.
    sendPage: sendPage as Operations["Type"]["sendPage"],
    sendOpen,
    settleTime: settings.settleTime,
    // Parsed on use, because few operations need it.
    serviceClock: Effect.sync(() => {
      const millis = parseHttpDate(latest.date)
      return { date: millis === undefined ? undefined : DateTime.unsafeMake(millis), receivedAt: latest.receivedAt }
    })
  }
})
