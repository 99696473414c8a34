/**
 * Sends operations: encodes the request by the contract, delivers it by its delivery class, and decodes the response. All services
 * use this module.
 *
 * @since 0.1.0
 */
import type { ServiceError } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as CallOptions from "../../CallOptions.ts"
import { InvalidInput } from "../../ClientError.ts"
import type { CallFailure, OutcomeUnknown } from "../../ClientError.ts"
import type { RateLimit } from "../../RateLimit.ts"
import { Settings } from "../../Settings.ts"
import * as Attempt from "../delivery/Attempt.ts"
import { deliver, RetryBudget } from "../delivery/Delivery.ts"
import type { Check } from "../delivery/Delivery.ts"
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
  readonly decode: (body: unknown) => Result.Result<A, string>
  /** The result for a response without a body, if the request determines it. */
  readonly whenEmpty?: (() => A) | undefined
  /** Fields of the result that the request determines, for responses that omit them. */
  readonly known?: Readonly<Record<string, unknown>> | undefined
}

interface SendOptions<A> extends Pick<Attempt.ApiRequest, "canRepeat" | "onSent" | "onResponse"> {
  /** The result for a response without a body, if the contract allows one. */
  readonly whenEmpty?: () => A
  /** Fields of the result that the request determines, for responses that omit them. */
  readonly known?: Readonly<Record<string, unknown>>
  /** For `Checkable` operations. */
  readonly check?: Check<A>
  /** The body, if it isn't the encoded payload. */
  readonly body?: HttpBody.HttpBody
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

/** @since 0.1.0 @category services */
export class Operations extends Context.Service<Operations, {
  /** Sends an operation of the contract. */
  readonly send: <Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    options?: SendOptions<ResultOf<Name>>
  ) => Effect.Effect<ResultOf<Name>, FailureOf<Name>>
  /** Reads pages of a list of the contract, up to an item that can't be decoded. */
  readonly sendPage: <Name extends OperationName, A>(
    name: Name,
    item: Schema.Decoder<A>
  ) => (
    urlParams: Pagination.PageRequest,
    options?: Pick<SendOptions<never>, "onResponse">
  ) => Effect.Effect<Pagination.FetchedPage<A>, FailureOf<Name>>
  /** Sends an encoded request. */
  readonly sendOpen: <A>(request: Attempt.ApiRequest, reader: Reader<A>, check?: Check<A>) => Effect.Effect<A, OpenFailure>
  /** How long the service may still change state after an ambiguous failure. */
  readonly settleTime: Duration.Duration
}>()("@plaza/client/Operations") {}

/**
 * Returns the layer of a service on {@link Operations}, one service for each client. A constant layer is memoized for the whole program, so
 * two clients would share the service. A fresh layer would give one client two services with separate locks.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerOf = <I, S>(key: Context.Key<I, S>, make: Effect.Effect<S, never, Operations>): Layer.Layer<I, never, Operations> => {
  const services = new WeakMap<Operations["Service"], S>()
  return Layer.fresh(Layer.effect(
    key,
    Effect.flatMap(Operations, (operations) => {
      const service = services.get(operations)
      return service === undefined
        ? Effect.map(make, (made) => {
          services.set(operations, made)
          return made
        })
        : Effect.succeed(service)
    })
  ))
}

const parse = (text: string): Result.Result<unknown, string> =>
  Result.try({ try: (): unknown => JSON.parse(text), catch: () => "it is not JSON" })

const isNonEmpty = (value: unknown): boolean => Predicate.isObjectOrArray(value) ? Object.keys(value).length > 0 : Boolean(value)

/**
 * Whether the body of a success is an error envelope with an error of any form. An empty field `error` doesn't count.
 */
const isError = (body: unknown): boolean => Predicate.isObject(body) && "error" in body && isNonEmpty(body.error)

/** Adds the fields that the request determines and the response omits. */
const withKnownFields = (body: unknown, known: Readonly<Record<string, unknown>> | undefined): unknown =>
  known === undefined || !Predicate.isObject(body)
    ? body
    : { ...body, ...Record.filter(known, (_, name) => Predicate.isNullish(Reflect.get(body, name))) }

const read = <A>(body: string, reader: Reader<A>): Result.Result<A, string> => {
  if (body.trim() === "" && reader.whenEmpty !== undefined) {
    return Result.succeed(reader.whenEmpty())
  }
  const parsed = parse(body)
  if (Result.isFailure(parsed)) {
    return Result.fail(parsed.failure)
  }
  return isError(parsed.success) ? Result.fail("it is an error") : reader.decode(withKnownFields(parsed.success, reader.known))
}

/**
 * Creates a JSON body. Fails for a value that JSON can't represent, such as a cycle.
 *
 * @since 0.1.0
 * @category encoding
 */
export const jsonBody = (value: unknown): Result.Result<HttpBody.HttpBody, InvalidInput> =>
  Result.try({
    try: () => HttpBody.jsonUnsafe(value),
    catch: () => new InvalidInput({ field: "", message: "the body can't be encoded as JSON" })
  })

/** The wait budget of the call whose outcome a check searches for. */
const CheckedCall = Context.Reference<Attempt.WaitBudget | undefined>("@plaza/client/CheckedCall", { defaultValue: () => undefined })

interface Parts {
  readonly path?: unknown
  readonly urlParams?: unknown
  readonly payload?: unknown
}

/** Encodes a request. An operation without a payload and without a body of the caller has none. */
const apiRequestOf = (
  operation: Contract.Operation,
  parts: Parts,
  options: Pick<SendOptions<unknown>, "body" | "canRepeat" | "onSent" | "onResponse">
): Result.Result<Attempt.ApiRequest, InvalidInput> =>
  Result.gen(function*() {
    const path = yield* operation.path(parts.path)
    const query = yield* operation.query(parts.urlParams)
    const payload = operation.payload === undefined ? undefined : yield* operation.payload(parts.payload)
    const body = options.body ?? (operation.payload === undefined ? HttpBody.empty : yield* jsonBody(payload))
    return {
      operation: operation.name,
      area: operation.area,
      delivery: operation.delivery,
      method: operation.method,
      listed: operation.listed,
      path,
      query,
      body,
      canRepeat: options.canRepeat,
      onSent: options.onSent,
      onResponse: options.onResponse
    }
  })

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Operations["Service"],
  never,
  HttpClient.HttpClient | RateLimit | Settings | Scope.Scope
> = Effect.gen(function*() {
  const settings = yield* Settings
  const { attempt, closed, redaction } = yield* Attempt.make
  const budget = settings.retryBudget ? new RetryBudget() : undefined
  const ownObservers = settings.onAttempt === undefined ? [] : [settings.onAttempt]

  const sendOpen = <A>(request: Attempt.ApiRequest, reader: Reader<A>, check?: Check<A>): Effect.Effect<A, OpenFailure> =>
    Effect.useSpan(`plaza.${request.operation}`, {
      attributes: {
        "plaza.area": request.area,
        "plaza.operation": request.operation,
        "plaza.delivery": request.delivery
      }
    }, (span) =>
      Effect.withFiber((fiber): Effect.Effect<A, OpenFailure> => {
        const options = fiber.getRef(CallOptions.CurrentCallOptions)
        if (Result.isFailure(options)) {
          return Effect.fail(options.failure)
        }
        const { maxWait = settings.maxWait, onAttempt, retry = settings.retry, timeout = settings.timeout } = options.success
        const checkedCall = fiber.getRef(CheckedCall)
        const waitBudget = checkedCall ?? { left: maxWait }
        const call = { request, waitBudget, timeout, span }
        return deliver(
          (progress, isRetry) =>
            Effect.flatMap(attempt(call, progress, isRetry), ({ body, status }) => {
              const result = read(body, reader)
              return Result.isSuccess(result)
                ? Effect.succeed(result.success)
                : Effect.fail(Attempt.undecodable(request, progress.number, status, result.failure, body))
            }),
          (number) => Attempt.progress(request, number),
          {
            request,
            retry,
            redaction,
            closed,
            waitBudget,
            // The requests of a check are free.
            budget: checkedCall === undefined ? budget : undefined,
            observers: onAttempt === undefined ? ownObservers : [onAttempt, ...ownObservers],
            // A check runs under the span of its call and within the call's maximum wait.
            check: check?.lookUp === undefined
              ? check
              : { ...check, lookUp: check.lookUp.pipe(Effect.withParentSpan(span), Effect.provideService(CheckedCall, waitBudget)) }
          }
        )
      }))

  const send = (name: OperationName, parts: Parts, options: SendOptions<unknown> = {}) => {
    const operation = Contract.operation(name)
    const request = apiRequestOf(operation, parts, options)
    return Result.isFailure(request) ? Effect.fail(request.failure) : sendOpen(request.success, {
      decode: operation.decode,
      whenEmpty: operation.mayBeEmpty ? options.whenEmpty : undefined,
      known: options.known
    }, options.check)
  }

  const sendPage = <A>(name: OperationName, item: Schema.Decoder<A>) => {
    // Compiled on first use, because most programs read no list.
    let decode: Reader<Pagination.FetchedPage<A>>["decode"] | undefined
    return (urlParams: Pagination.PageRequest, options: Pick<SendOptions<never>, "onResponse"> = {}) =>
      Effect.suspend(() => {
        decode ??= Pagination.pageDecoder(item)
        const request = apiRequestOf(Contract.operation(name), { urlParams }, options)
        return Result.isFailure(request) ? Effect.fail(request.failure) : sendOpen(request.success, { decode })
      })
  }

  return {
    // True because the contract determines request, result and failures by name. The compiled operations lose these types.
    send: send as Operations["Service"]["send"],
    // True for the same reason as for `send`.
    sendPage: sendPage as Operations["Service"]["sendPage"],
    sendOpen,
    settleTime: settings.settleTime
  }
})
