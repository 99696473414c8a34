/**
 * Sends one request and reads its whole response by callbacks, without the fibers, streams and promises of an `HttpClient`. An
 * `HttpClient` may carry a transport; the client then sends requests whose body is in memory by it.
 *
 * @since 0.1.0
 */
import type * as Headers from "@effect/platform/Headers"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"

/** @since 0.1.0 @category models */
export interface TransportRequest {
  readonly method: HttpMethod
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | undefined
  /** Whether the request may be sent twice. One that may not uses a new connection. */
  readonly idempotent: boolean
}

/**
 * The beginning of a response.
 *
 * @since 0.1.0
 * @category models
 */
export interface Head {
  readonly status: number
  readonly headers: Headers.Headers
}

/**
 * The body of a response, as far as it was read.
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
  /** The request has a connection, and nothing of it has been written yet. */
  readonly onConnection: () => void
  /** Returns how many bytes of the body to read. The connection is dropped if there are more. */
  readonly onHead: (head: Head) => number
  readonly onEnd: (head: Head, body: Body) => void
  readonly onFailure: (cause: unknown) => void
}

/**
 * Sends a request once. Follows no redirects and makes no span. Returns how to abort the request; no event follows that.
 *
 * @since 0.1.0
 * @category models
 */
export type Transport = (request: TransportRequest, listener: Listener) => () => void

const attached = new WeakMap<HttpClient.HttpClient, Transport>()

/**
 * The client with a transport that behaves as it does. A client that is made from it has none, so that what an application adds
 * to its client applies to every request.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = (client: HttpClient.HttpClient, transport: Transport): HttpClient.HttpClient => {
  attached.set(client, transport)
  return client
}

/**
 * The transport of a client, if it has one.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = (client: HttpClient.HttpClient): Transport | undefined => attached.get(client)
