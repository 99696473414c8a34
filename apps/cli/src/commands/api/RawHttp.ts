/** Changes to the HTTP client for `plaza api`: extra headers, a raw body, and access to the head of the response. */
import { Redaction } from "@plaza/client"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type { Transform } from "../../profiles/Connection.ts"

/** The status and headers of a response. */
export interface ResponseHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export interface Options {
  /** They override those of the client. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, sent unchanged (default content type: application/json). */
  readonly body: Uint8Array | undefined
  readonly onResponse: (head: ResponseHead) => void
}

// A proxy that echoes the request may echo the key with it.
const withoutKey = (headers: Headers.Headers, request: HttpClientRequest.HttpClientRequest): Readonly<Record<string, string>> =>
  Redaction.make(request.headers["authorization"]?.replace(/^Bearer /, "") ?? "").headers(headers)

/** The HTTP client with the changes. */
export const transform = ({ body, headers, onResponse }: Options): Transform => (client) =>
  client.pipe(
    HttpClient.mapRequest((request) => {
      const withBody = body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.uint8Array(body, "application/json"))
      return HttpClientRequest.setHeaders(withBody, headers)
    }),
    HttpClient.tap(({ headers, request, status }) => Effect.sync(() => onResponse({ status, headers: withoutKey(headers, request) })))
  )
