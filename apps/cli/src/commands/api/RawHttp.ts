/** Changes to the HTTP client for `plaza api`: extra headers, a raw body, and access to the head of the response. */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { Redaction } from "@plaza-legacy/client"
import type * as Effect from "effect/Effect"
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
  readonly body: string | undefined
  readonly onResponse: (head: ResponseHead) => Effect.Effect<void>
}

// A proxy that echoes the request may echo the key with it.
const withoutKey = (headers: Headers.Headers, request: HttpClientRequest.HttpClientRequest): Readonly<Record<string, string>> =>
  Redaction.make(request.headers["authorization"]?.replace(/^Bearer /, "") ?? "").headers(headers)

/** The HTTP client with the changes. */
export const transform = ({ body, headers, onResponse }: Options): Transform => (client) =>
  client.pipe(
    HttpClient.mapRequest((request) => {
      const withBody = body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.text(body, "application/json"))
      return HttpClientRequest.setHeaders(withBody, headers)
    }),
    HttpClient.tap((response) => onResponse({ status: response.status, headers: withoutKey(response.headers, response.request) }))
  )
