/**
 * Sends one request and reads its complete response with callbacks, without the fibers, streams and promises of an `HttpClient`. An
 * `HttpClient` may have an attached transport. The client then uses the transport for requests with a body in memory.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"

interface TransportRequest {
  readonly method: HttpMethod
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
  /** Whether the request may be sent twice. If not, it uses a new connection. */
  readonly idempotent: boolean
}

/**
 * The status and the headers of a response.
 *
 * @since 0.1.0
 * @category models
 */
export interface Head {
  readonly status: number
  readonly headers: Headers.Headers
}

/**
 * The body of a response, or the part of it that was read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Body {
  readonly text: string
  /** Whether the body is longer than the limit. */
  readonly isCut: boolean
}

/**
 * The events of a request: at most one `onConnection`, then `onHead` and `onEnd`, or `onFailure` at any point.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listener {
  /** The request has a connection, and no part of it has been written yet. */
  readonly onConnection: () => void
  /** Returns the maximum number of bytes to read of the body. The transport closes the connection if the body is longer. */
  readonly onHead: (head: Head) => number
  readonly onEnd: (head: Head, body: Body) => void
  readonly onFailure: (cause: unknown) => void
}

/**
 * Sends a request once. Follows no redirects and creates no span. Returns a function that aborts the request; no event follows an
 * abort.
 *
 * @since 0.1.0
 * @category models
 */
export type Transport = (request: TransportRequest, listener: Listener) => () => void

const attached = new WeakMap<HttpClient.HttpClient, Transport>()

/**
 * Attaches a transport to an `HttpClient` with the same behaviour. A client that an application derives from it has no transport, so
 * the application's changes apply to every request.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = (client: HttpClient.HttpClient, transport: Transport): HttpClient.HttpClient => {
  attached.set(client, transport)
  return client
}

/**
 * Returns the transport of a client, if it has one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = (client: HttpClient.HttpClient): Transport | undefined => attached.get(client)
