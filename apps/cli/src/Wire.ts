/**
 * Per-command changes to requests and responses: extra headers, a raw body, and the head of the response. Loaded with
 * the client.
 */
import type * as Headers from "@effect/platform/Headers"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Node from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Layer from "effect/Layer"

/** The status and headers of a response. */
export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
}

export interface Changes {
  /** Override those of the client. */
  readonly headers: Readonly<Record<string, string>>
  /** The body, sent unchanged (default content type: application/json). */
  readonly body: string | undefined
  readonly onHead: (head: Head) => void
}

const current = globalValue("@plaza/cli/Wire", () => FiberRef.unsafeMake<Changes | undefined>(undefined))

/** Applies the changes to clients created within the effect. */
export const withChanges = (changes: Changes) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.locally(effect, current, changes)

// A proxy that echoes the request may echo the key with it.
const withoutKey = (headers: Headers.Headers, request: HttpClientRequest.HttpClientRequest): Readonly<Record<string, string>> => {
  const key = request.headers["authorization"]?.replace(/^Bearer /, "")
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, key === undefined ? value : value.replaceAll(key, "<redacted>")])
  )
}

const changed = (client: HttpClient.HttpClient, { body, headers, onHead }: Changes): HttpClient.HttpClient =>
  client.pipe(
    HttpClient.mapRequest((request) => {
      const filled = body === undefined ? request : HttpClientRequest.setBody(request, HttpBody.text(body, "application/json"))
      return HttpClientRequest.setHeaders(filled, headers)
    }),
    HttpClient.tap((response) =>
      Effect.sync(() => onHead({ status: response.status, headers: withoutKey(response.headers, response.request) }))
    )
  )

/** Node's HTTP client with the changes of the command. */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.provide(
  Layer.effect(
    HttpClient.HttpClient,
    Effect.zipWith(HttpClient.HttpClient, FiberRef.get(current),
      (client, changes) => changes === undefined ? client : changed(client, changes))
  ),
  Node.layer
)
