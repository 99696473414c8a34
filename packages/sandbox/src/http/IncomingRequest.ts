/**
 * A request as it comes in, whichever way it came. Knows nothing of what it asks for.
 *
 * @since 0.1.0
 */
import type { DocumentedError, ValidationError } from "@plaza/domain/Errors"
import { InvalidJson, PayloadTooLarge } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.js"
import * as FailureLog from "./DefectLog.js"

/**
 * The caller went away before the whole request was here: there is nobody to answer.
 *
 * @since 0.1.0
 * @category errors
 */
export class Gone extends Data.TaggedError("Gone")<{ readonly cause: unknown }> {}

/** @since 0.1.0 @category models */
export interface Incoming {
  /** In capitals. */
  readonly method: string
  /** Path and query as they were sent. */
  readonly target: string
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** None for a call in process. */
  readonly remoteAddress: Option.Option<string>
  /** Whether there is a body, empty or not, as far as the head of the request says so. */
  readonly hasBody: boolean
  /** Reads the body; none when it has more bytes than these. */
  readonly read: (most: number) => Effect.Effect<Option.Option<Uint8Array>, Gone>
  /** The body piece by piece, for what is too large to be read. A body is taken once, in one of the two ways. */
  readonly bytes: Stream.Stream<Uint8Array, Gone>
}

/**
 * The size of the body as the request tells it; 0 when it doesn't.
 *
 * @since 0.1.0
 * @category reading
 */
export const declaredLength = ({ headers }: Incoming): number => Number(headers["content-length"] ?? 0)

/**
 * Reads a body up to a size, trusting a declared length only where it already says too much.
 *
 * @since 0.1.0
 * @category reading
 */
export const readBody = (incoming: Incoming, most: number): Effect.Effect<Uint8Array, PayloadTooLarge | Gone> => {
  const tooLarge = () => new PayloadTooLarge({ message: `the body may have at most ${most} bytes` })
  return declaredLength(incoming) > most
    ? Effect.fail(tooLarge())
    : Effect.flatMap(
      // A caller who goes away while the body is on its way has asked for nothing yet.
      Effect.interruptible(incoming.read(most)),
      Option.match({ onNone: () => Effect.fail(tooLarge()), onSome: Effect.succeed })
    )
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const parseJson = (bytes: Uint8Array): Either.Either<unknown, InvalidJson> =>
  Either.try({
    try: (): unknown => JSON.parse(utf8.decode(bytes)),
    catch: () =>
      new InvalidJson({ message: bytes.length === 0 ? "the body is empty; JSON is expected" : "the body is not valid JSON" })
  })

const isDeeper = (value: unknown, most: number): boolean =>
  typeof value === "object" && value !== null && (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)))

// So many levels take twice as many bytes to write.
const isTooDeep = (bytes: Uint8Array, value: unknown, most: number): boolean => bytes.length > 2 * most && isDeeper(value, most)

/**
 * Takes a body as JSON. Source: interface v1, "Endpoints", general rules.
 *
 * @since 0.1.0
 * @category reading
 */
export const takeJson = (
  contentType: string | undefined,
  bytes: Uint8Array,
  maxDepth: number
): Either.Either<unknown, InvalidJson | ValidationError> =>
  /^\s*application\/json\s*(?:;|$)/i.test(contentType ?? "")
    ? Either.filterOrLeft(
      parseJson(bytes),
      (value) => !isTooDeep(bytes, value, maxDepth),
      () => Envelope.invalidField("body", `may be nested ${maxDepth} levels deep at most`)
    )
    : Either.left(Envelope.invalidField("Content-Type", "has to be application/json"))

/**
 * Makes an answer of every failure but the caller's own going away. A defect is logged with the operation that met it,
 * and the caller learns nothing of it.
 *
 * @since 0.1.0
 * @category answering
 */
export const orEnvelope = (
  effect: Effect.Effect<Envelope.Answer, DocumentedError | Gone>,
  operation: () => string,
  errorFields = true
): Effect.Effect<Envelope.Answer, Gone> =>
  Effect.catchAllCause(Effect.catchTag(effect, "Gone", (gone) => Effect.succeed(gone)), (cause) =>
    Cause.isInterruptedOnly(cause)
      ? Effect.interrupt
      : Cause.isDie(cause)
      ? Effect.as(FailureLog.log(operation(), cause), Envelope.failureOfCause(cause, errorFields))
      : Effect.succeed(Envelope.failureOfCause(cause, errorFields))).pipe(
      Effect.flatMap((result) => result instanceof Gone ? Effect.fail(result) : Effect.succeed(result))
    )
