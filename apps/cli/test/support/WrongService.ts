/** A service that breaks one rule: the sandbox behind an HTTP client that changes some responses. */
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A response of the sandbox with its request. */
export interface Exchange extends Reply {
  readonly method: string
  /** The path below the base URL, with its query. */
  readonly path: string
  readonly hasKey: boolean
  /** How many responses of this request came before. */
  readonly earlier: number
}

/** The changed response; undefined leaves it unchanged. */
export type Wrong = (exchange: Exchange) => Partial<Reply> | undefined

/** Changes the responses of an HTTP client. */
export const layer = (wrong: Wrong): Layer.Layer<HttpClient.HttpClient, never, HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) => {
      const counts = new Map<string, number>()
      return HttpClient.transform(client, (effect, request) =>
        Effect.flatMap(effect, (response) =>
          Effect.gen(function*() {
            const url = new URL(request.url)
            const path = `${url.pathname.replace("/open/v1", "")}${url.search}`
            const name = `${request.method} ${path}`
            const earlier = counts.get(name) ?? 0
            counts.set(name, earlier + 1)
            const body = response.status === 204 ? "" : yield* response.text
            const reply = { status: response.status, headers: response.headers, body }
            const change = wrong({
              ...reply,
              method: request.method,
              path,
              hasKey: request.headers["authorization"] !== undefined,
              earlier
            })
            const { headers, status, ...changed } = { ...reply, ...change }
            return HttpClientResponse.fromWeb(
              request,
              new Response(changed.body === "" ? null : changed.body, { status, headers: { ...headers } })
            )
          })))
    })
  )

/** A sandbox whose responses are changed. */
export const sandbox = (wrong: Wrong) => Layer.provideMerge(layer(wrong), Sandbox.layerHttpClient())

/** Changes the JSON of a body. */
export const editJson = (body: string, edit: (value: Record<string, unknown>) => unknown): string => {
  // True because only JSON objects of the sandbox are edited.
  const value = JSON.parse(body) as Record<string, unknown>
  return JSON.stringify(edit(value))
}
