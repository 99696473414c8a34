/**
 * How every operation is sent: encoded by the contract, delivered by its class, its answer decoded. What the services
 * of the areas are made of. Knows nothing of any area.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { ServiceError } from "@plaza/domain/Errors"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Tracer from "effect/Tracer"
import * as Attempt from "./Attempt.js"
import * as CallOptions from "./CallOptions.js"
import * as Contract from "./Contract.js"
import type { FailureOf, OperationName, RequestOf, SuccessOf } from "./Contract.js"
import { deliver } from "./Deliver.js"
import type { Check } from "./Deliver.js"
import { InvalidInput } from "./Failures.js"
import type { AttemptFailure, CallFailure, OutcomeUnknown } from "./Failures.js"
import type { Answer, Outgoing } from "./Outgoing.js"
import type { RateLimit } from "./RateLimit.js"
import * as Sending from "./Sending.js"
import { Settings } from "./Settings.js"

/**
 * How an answer is read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reader<A> {
  readonly decode: (body: unknown) => Either.Either<A, string>
  /** The result for an answer without a body, where that is as good as one with it. */
  readonly whenEmpty?: (() => A) | undefined
}

/** @since 0.1.0 @category models */
export interface SendOptions<A> {
  /** The result for an answer without a body, where the contract allows one. */
  readonly whenEmpty?: () => A
  /** For `Checkable` operations. */
  readonly check?: Check<A>
  /** The body, where it isn't JSON. */
  readonly body?: HttpBody.HttpBody
}

/**
 * What a request may fail with when nothing is known of its endpoint.
 *
 * @since 0.1.0
 * @category models
 */
export type OpenFailure = ServiceError | CallFailure | OutcomeUnknown

/**
 * The result of an operation, where it has one.
 *
 * @since 0.1.0
 * @category models
 */
export type ResultOf<Name extends OperationName> = Exclude<SuccessOf<Name>, void>

/** @since 0.1.0 @category services */
export class Operations extends Context.Tag("@plaza/client/Operations")<Operations, {
  /** Sends an operation of the contract. */
  readonly send: <Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    options?: SendOptions<ResultOf<Name>>
  ) => Effect.Effect<ResultOf<Name>, FailureOf<Name>>
  /** Sends a request that is encoded already. */
  readonly sendOpen: <A>(outgoing: Outgoing, reader: Reader<A>, check?: Check<A>) => Effect.Effect<A, OpenFailure>
  /**
   * How far the service's clock is ahead of ours at least, in milliseconds, by the `Date` of its last answer; undefined
   * until one was seen.
   */
  readonly clockLead: Effect.Effect<number | undefined>
}>() {}

const parse = (text: string): Either.Either<unknown, string> =>
  Either.try({ try: (): unknown => JSON.parse(text), catch: () => "its answer is not JSON" })

const readAnswer = <A>(
  outgoing: Outgoing,
  attempts: number,
  answer: Answer,
  reader: Reader<A>
): Either.Either<A, AttemptFailure> => {
  if (answer.body === "" && reader.whenEmpty !== undefined) {
    return Either.right(reader.whenEmpty())
  }
  return Either.flatMap(parse(answer.body), reader.decode).pipe(
    Either.mapLeft((why) =>
      Sending.unreadable(outgoing, attempts, answer.status, `its answer can't be read (${why})`, answer.body)
    )
  )
}

/**
 * A JSON body. What has no form in JSON, such as a cycle, is refused.
 *
 * @since 0.1.0
 * @category encoding
 */
export const jsonBody = (value: unknown): Either.Either<HttpBody.HttpBody, InvalidInput> =>
  Either.try({
    try: () => HttpBody.unsafeJson(value),
    catch: () => new InvalidInput({ field: "", message: "the body can't be written as JSON" })
  })

/** What is looked up is looked up for the operation. */
const seenUnder = <A>(span: Tracer.Span, check: Check<A> | undefined): Check<A> | undefined =>
  check?.lookUp === undefined ? check : { ...check, lookUp: Effect.withParentSpan(check.lookUp, span) }

// What isn't JSON is given by the caller; what has neither has no body.
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

const outgoingOf = (
  operation: Contract.Operation,
  parts: Parts,
  body: HttpBody.HttpBody | undefined
): Either.Either<Outgoing, InvalidInput> =>
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
      body
    })
  )

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<
  Operations["Type"],
  never,
  HttpClient.HttpClient | RateLimit | Settings | Scope.Scope
> = Effect.gen(function*() {
  const settings = yield* Settings
  const attempt = yield* Attempt.make
  let clockLead: number | undefined

  const noteDate = (answer: Answer) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      if (answer.date !== undefined) {
        clockLead = answer.date - now
      }
    })

  const sendOpen = <A>(outgoing: Outgoing, reader: Reader<A>, check?: Check<A>): Effect.Effect<A, OpenFailure> =>
    Effect.useSpan(`plaza.${outgoing.operation}`, {
      captureStackTrace: false,
      attributes: {
        "plaza.area": outgoing.area,
        "plaza.operation": outgoing.operation,
        "plaza.delivery": outgoing.delivery
      }
    }, (span) =>
      Effect.flatMap(CallOptions.current, ({ patience = settings.patience, retry = settings.retry }) =>
        deliver(
          (number) =>
            Effect.flatMap(attempt({ outgoing, number, patience, span }), (answer) =>
              Effect.zipRight(noteDate(answer), readAnswer(outgoing, number, answer, reader))),
          { operation: outgoing.operation, delivery: outgoing.delivery, retry, patience, check: seenUnder(span, check) }
        )))

  const send = (name: OperationName, parts: Parts, options: SendOptions<unknown> = {}) => {
    const operation = Contract.operation(name)
    const reader = {
      decode: operation.decode,
      whenEmpty: operation.mayBeEmpty ? options.whenEmpty : undefined
    }
    return Effect.flatMap(
      outgoingOf(operation, parts, options.body),
      (outgoing) => sendOpen(outgoing, reader, options.check)
    )
  }

  return {
    // The reflection that the operations are compiled by erases the types which the contract gives them by name.
    send: send as Operations["Type"]["send"],
    sendOpen,
    clockLead: Effect.sync(() => clockLead)
  }
})

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Operations, never, HttpClient.HttpClient | RateLimit | Settings> = Layer.scoped(
  Operations,
  make
)
