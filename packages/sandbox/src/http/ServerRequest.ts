/**
 * The platform's `HttpServerRequest` for both ways in. Its body is bounded and read once; JSON has to be declared, valid
 * UTF-8 and not nested too deeply, which the platform's own requests don't check.
 *
 * @since 0.1.0
 */
import * as Cookies from "@effect/platform/Cookies"
import type * as Headers from "@effect/platform/Headers"
import * as IncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { ValidationError } from "@plaza/domain/Errors"
import { InvalidJson, PayloadTooLarge } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.js"
import type { Operation } from "./Operation.js"
import type { CurrentCaller } from "./RequiresAdmission.js"

/**
 * What a way in knows of a request. Reading its body fails when the caller goes away.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  /** In capitals. */
  readonly method: string
  /** Path and query as they were sent. */
  readonly url: string
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** None for a call in process. */
  readonly remoteAddress: Option.Option<string>
  /** Whether the head of the request announces a body, empty or not. */
  readonly hasBody: boolean
  /** Reads the body; none when it has more bytes than these. */
  readonly read: (maxBytes: number) => Effect.Effect<Option.Option<Uint8Array>, unknown>
  /** The body piece by piece, for what is too large to be read. A body is taken once, in one of the two ways. */
  readonly stream: Stream.Stream<Uint8Array, unknown>
}

/**
 * Bounds of a JSON body.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonLimits {
  readonly maxBytes: number
  /** Levels of lists and objects inside each other. */
  readonly maxDepth: number
}

const isDeeper = (value: unknown, most: number): boolean =>
  typeof value === "object" && value !== null && (most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1)))

const utf8 = new TextDecoder("utf-8", { fatal: true })

const unreadUpload = "an upload is read by areas/media/Upload"

/** Source: interface v1, "Endpoints", general rules. */
const parseJson = (
  contentType: string | undefined,
  bytes: Uint8Array,
  maxDepth: number
): Either.Either<unknown, InvalidJson | ValidationError> => {
  if (!/^\s*application\/json\s*(?:;|$)/i.test(contentType ?? "")) {
    return Either.left(Envelope.invalidField("Content-Type", "has to be application/json"))
  }
  return Either.filterOrLeft(
    Either.try({
      try: (): unknown => JSON.parse(utf8.decode(bytes)),
      catch: () => new InvalidJson({ message: bytes.length === 0 ? "the body is empty; JSON is expected" : "the body is not valid JSON" })
    }),
    // So many levels take twice as many bytes to write.
    (value) => bytes.length <= 2 * maxDepth || !isDeeper(value, maxDepth),
    () => Envelope.invalidField("body", `may be nested ${maxDepth} levels deep at most`)
  )
}

/**
 * The handler of an endpoint, which is given the decoded parameters and payload beside the request.
 *
 * @since 0.1.0
 * @category models
 */
export type Handler = (input: { readonly request: unknown }) => Effect.Effect<unknown, unknown, CurrentCaller>

/**
 * The handlers of a sandbox, by the names of their endpoints.
 *
 * @since 0.1.0
 * @category models
 */
export type Handlers = ReadonlyMap<string, Handler>

/** @since 0.1.0 @category models */
export class ServerRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [IncomingMessage.TypeId]: IncomingMessage.TypeId = IncomingMessage.TypeId
  readonly source: Source
  readonly url: string
  /** Those of the sandbox that it is for. */
  readonly handlers: Handlers
  /** Once its route is known. */
  operation: Operation | undefined
  /** What {@link readJson} has read. */
  received: Option.Option<unknown> = Option.none()

  constructor(source: Source, url: string = source.url, handlers: Handlers = new Map()) {
    super()
    this.source = source
    this.url = url
    this.handlers = handlers
  }

  get originalUrl(): string {
    return this.source.url
  }

  get method(): HttpMethod {
    // A method that the platform has no type for finds no route.
    return this.source.method as HttpMethod
  }

  get headers(): Headers.Headers {
    // A plain record with lower-case names, as in the platform's own request.
    return this.source.headers as Headers.Headers
  }

  get remoteAddress(): Option.Option<string> {
    return this.source.remoteAddress
  }

  get cookies(): Readonly<Record<string, string>> {
    return Cookies.parseHeader(this.headers["cookie"] ?? "")
  }

  /** The size of the body as the request declares it; 0 when it doesn't. */
  get declaredLength(): number {
    return Number(this.headers["content-length"] ?? 0)
  }

  private failure(cause: unknown): RequestError {
    return new RequestError({ request: this, reason: "Transport", cause })
  }

  /** Reads the body up to a size. A declared length is trusted only where it already says too much. */
  readBytes(maxBytes: number): Effect.Effect<Uint8Array, PayloadTooLarge | RequestError> {
    const tooLarge = () => new PayloadTooLarge({ message: `the body may have at most ${maxBytes} bytes` })
    return this.declaredLength > maxBytes
      ? Effect.fail(tooLarge())
      : Effect.matchEffect(
        // A caller who goes away while the body is on its way has asked for nothing yet.
        Effect.interruptible(this.source.read(maxBytes)),
        {
          onFailure: (cause) => Effect.fail(this.failure(cause)),
          onSuccess: Option.match({ onNone: () => Effect.fail(tooLarge()), onSome: Effect.succeed })
        }
      )
  }

  /** Reads the body as JSON, which {@link json} returns from then on. */
  readJson({ maxBytes, maxDepth }: JsonLimits): Effect.Effect<unknown, PayloadTooLarge | InvalidJson | ValidationError | RequestError> {
    return Effect.flatMap(this.readBytes(maxBytes),
      (bytes) =>
        Either.map(parseJson(this.headers["content-type"], bytes, maxDepth), (value) => {
          this.received = Option.some(value)
          return value
        }))
  }

  get json(): Effect.Effect<unknown, RequestError> {
    return Option.match(this.received, { onNone: () => this.unread, onSome: Effect.succeed })
  }

  get stream(): Stream.Stream<Uint8Array, RequestError> {
    return Stream.mapError(this.source.stream, (cause) => this.failure(cause))
  }

  /** A body leaves by `readBytes`, `readJson` and `stream` alone, which are bounded. */
  private get unread(): Effect.Effect<never, RequestError> {
    return Effect.fail(new RequestError({ request: this, reason: "Decode", description: "the body was not read" }))
  }

  get text(): Effect.Effect<string, RequestError> {
    return this.unread
  }

  get arrayBuffer(): Effect.Effect<ArrayBuffer, RequestError> {
    return this.unread
  }

  get urlParamsBody(): Effect.Effect<never, RequestError> {
    return this.unread
  }

  get multipart(): Effect.Effect<never> {
    return Effect.dieMessage(unreadUpload)
  }

  get multipartStream(): Stream.Stream<never> {
    return Stream.dieMessage(unreadUpload)
  }

  get upgrade(): Effect.Effect<never, RequestError> {
    return this.unread
  }

  modify({ headers, url }: { readonly url?: string; readonly headers?: Headers.Headers }): ServerRequest {
    const made = new ServerRequest(headers === undefined ? this.source : { ...this.source, headers }, url ?? this.url, this.handlers)
    made.received = this.received
    return made
  }

  toJSON(): unknown {
    return { _id: "@plaza/sandbox/ServerRequest", method: this.method, url: this.url }
  }
}

/**
 * Reads the body of an operation that takes none or JSON.
 *
 * @since 0.1.0
 * @category reading
 */
export const readBody = (request: ServerRequest, body: Exclude<Operation["body"], "file">, limits: JsonLimits) =>
  body === "json"
    ? request.readJson(limits)
    // The document says that such endpoints are sent nothing, not that they refuse it.
    : request.source.hasBody
    ? request.readBytes(limits.maxBytes)
    : Effect.void
