/**
 * One request and its whole answer as a single step, without the layers of a general client: what a client may offer
 * beside being an `HttpClient`, and what an attempt is made by wherever it does. Knows nothing of attempts, nor of any
 * runtime.
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
  /** Undefined where there is none. */
  readonly body: Uint8Array | undefined
  /** Whether the request may be sent twice; one that must not be goes out on a connection that was never idle. */
  readonly idempotent: boolean
}

/**
 * What an answer begins with.
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
  /** Whether it has more bytes than were to be read. */
  readonly isCut: boolean
}

/**
 * What becomes of a request: a head and the end of its answer, or a failure before or after the head.
 *
 * @since 0.1.0
 * @category models
 */
export interface Listener {
  /** The request has a connection, to which nothing of it was written yet. */
  readonly onConnection: () => void
  /** Returns how many bytes of the body to read; the connection is dropped where there are more. */
  readonly onHead: (head: Head) => number
  readonly onEnd: (head: Head, body: Body) => void
  readonly onFailure: (cause: unknown) => void
}

/**
 * Sends a request once, follows no redirect and makes no span. What it gives back breaks the exchange off; nothing is
 * heard of it after that.
 *
 * @since 0.1.0
 * @category models
 */
export type Transport = (request: TransportRequest, listener: Listener) => () => void

const attached = new WeakMap<HttpClient.HttpClient, Transport>()

/**
 * The client, offering an exchange that does as it does. A client that is made from it offers none, since what was
 * changed in it must count.
 *
 * @since 0.1.0
 * @category combinators
 */
export const attach = (client: HttpClient.HttpClient, transport: Transport): HttpClient.HttpClient => {
  attached.set(client, transport)
  return client
}

/**
 * The exchange that a client offers.
 *
 * @since 0.1.0
 * @category combinators
 */
export const of = (client: HttpClient.HttpClient): Transport | undefined => attached.get(client)
