/**
 * The platform's `HttpServerRequest`, in process and on a socket. The body has a size limit and is read once. JSON must have
 * its content type, be valid UTF-8 and not nest too deeply; the platform's own requests check none of these.
 *
 * @since 0.1.0
 */
import * as Cookies from "@effect/platform/Cookies"
import type * as Headers from "@effect/platform/Headers"
import * as IncomingMessage from "@effect/platform/HttpIncomingMessage"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import { RequestError } from "@effect/platform/HttpServerError"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type { ValidationError } from "@plaza-legacy/domain/Errors"
import { InvalidJson, PayloadTooLarge } from "@plaza-legacy/domain/Errors"
import * as NestingDepth from "@plaza-legacy/domain/NestingDepth"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Inspectable from "effect/Inspectable"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Envelope from "./Envelope.ts"
import type { Operation } from "./Operation.ts"
import type { CurrentCaller } from "./RequiresAdmission.ts"

/**
 * The parts of a request that differ in process and on a socket. Reading the body fails if the caller closes the connection.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  /** In capitals. */
  readonly method: string
  /** Path and query, undecoded. */
  readonly url: string
  /** With lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** None in process. */
  readonly remoteAddress: Option.Option<string>
  /** Whether the headers announce a body, which may be empty. */
  readonly hasBody: boolean
  /**
   * Reads the body; none if it has more than `maxBytes`. Interruptible while it waits, also in an uninterruptible region: a request
   * whose body did not arrive completely has no effect.
   */
  readonly read: (maxBytes: number) => Effect.Effect<Option.Option<Uint8Array>, unknown>
  /** The body as a stream, for uploads. A body can be consumed once, by `read` or by `stream`. */
  readonly stream: Stream.Stream<Uint8Array, unknown>
}

/**
 * Limits of a JSON body.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonLimits {
  readonly maxBytes: number
  /** Maximum nesting of arrays and objects. */
  readonly maxDepth: number
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const unreadUpload = "an upload is read by areas/media/Upload"

/** Source: interface v1, "Endpoints", general rules. */
const parseJson = (
  contentType: string | undefined,
  bytes: Uint8Array,
  maxDepth: number
): Either.Either<unknown, InvalidJson | ValidationError> => {
  if (!/^\s*application\/json\s*(?:;|$)/i.test(contentType ?? "")) {
    return Either.left(Envelope.invalidField("Content-Type", "must be application/json"))
  }
  return Either.filterOrLeft(
    Either.try({
      try: (): unknown => JSON.parse(utf8.decode(bytes)),
      catch: () => new InvalidJson({ message: bytes.length === 0 ? "the body is empty; JSON is expected" : "the body is not valid JSON" })
    }),
    // A level takes at least two bytes.
    (value) => bytes.length <= 2 * maxDepth || !NestingDepth.isBeyond(value, maxDepth),
    () => Envelope.invalidField("body", `must be nested at most ${maxDepth} levels deep`)
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
export interface Handlers {
  readonly get: (endpoint: string) => Handler | undefined
}

/** @since 0.1.0 @category models */
export class ServerRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [IncomingMessage.TypeId]: IncomingMessage.TypeId = IncomingMessage.TypeId
  readonly source: Source
  readonly url: string
  /** The handlers of the sandbox that it is for. */
  readonly handlers: Handlers
  /** Set once its route is known. */
  operation: Operation | undefined
  /** The body, once {@link readBytes} has read it. */
  bytes: Uint8Array | undefined
  /** The result of {@link readJson}. */
  received: Option.Option<unknown> = Option.none()
  /** The body of the response as JSON, once the handler has succeeded; undefined without a body. */
  result: unknown

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
    // The platform's own request makes the same cast. It is true of every request with a route; others get 404.
    return this.source.method as HttpMethod
  }

  get headers(): Headers.Headers {
    // True as in the platform's own request: `Headers` is a record with lower-case names.
    return this.source.headers as Headers.Headers
  }

  get remoteAddress(): Option.Option<string> {
    return this.source.remoteAddress
  }

  get cookies(): Readonly<Record<string, string>> {
    return Cookies.parseHeader(this.headers["cookie"] ?? "")
  }

  /** The `Content-Length`; 0 if it is absent. */
  get declaredLength(): number {
    return Number(this.headers["content-length"] ?? 0)
  }

  private failure(cause: unknown): RequestError {
    return new RequestError({ request: this, reason: "Transport", cause })
  }

  /** Reads the body up to a size. A declared length is used only to refuse a body early. */
  readBytes(maxBytes: number): Effect.Effect<Uint8Array, PayloadTooLarge | RequestError> {
    const tooLarge = () => new PayloadTooLarge({ message: `the body may have at most ${maxBytes} bytes` })
    return this.declaredLength > maxBytes
      ? Effect.fail(tooLarge())
      : Effect.matchEffect(
        this.source.read(maxBytes),
        {
          onFailure: (cause) => Effect.fail(this.failure(cause)),
          onSuccess: Option.match({
            onNone: () => Effect.fail(tooLarge()),
            onSome: (bytes) => {
              this.bytes = bytes
              return Effect.succeed(bytes)
            }
          })
        }
      )
  }

  /** Reads the body as JSON. After that, {@link json} returns it. */
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

  /** Only `readBytes`, `readJson` and `stream` read a body, because they have limits. */
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
    return { _id: "@plaza-legacy/sandbox/ServerRequest", method: this.method, url: this.url }
  }
}

/**
 * Reads the body of an operation without an upload. A body that the operation does not take is discarded.
 *
 * @since 0.1.0
 * @category reading
 */
export const readBody = (request: ServerRequest, body: Exclude<Operation["body"], "file">, limits: JsonLimits) =>
  body === "json"
    ? request.readJson(limits)
    // The document says that these endpoints take no body, but not that they refuse one.
    : request.source.hasBody
    ? request.readBytes(limits.maxBytes)
    : Effect.void
