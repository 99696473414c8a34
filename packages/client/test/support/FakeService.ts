/** A scripted service in process, for tests of how the client handles single responses. */
import { Plaza } from "@plaza/client"
import { Effect, Layer, Redacted, Stream } from "effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"

export interface Call {
  readonly method: string
  /** As it stands in the address, percent-encoded. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export type Reply =
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | { readonly cut: number; readonly body: string }
  | { readonly stalled: number; readonly body: string }
  | "hang"
  | { readonly broken: string; readonly syscall?: string }

export const key = `key_${"k".repeat(40)}`
export const baseUrl = "https://service.test/open/v1"

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Reply => ({
  status,
  body: JSON.stringify(body),
  headers
})

export const refusal = (
  status: number,
  code: string,
  more: Record<string, unknown> = {},
  headers: Record<string, string> = {}
): Reply => json({ error: { code, message: `refused: ${code}`, ...more } }, status, headers)

export const refused: Reply = { broken: "ECONNREFUSED", syscall: "connect" }
export const lost: Reply = { broken: "ECONNRESET" }

const decoder = new TextDecoder()

const bodyText = (request: HttpClientRequest.HttpClientRequest): Effect.Effect<string, unknown> =>
  request.body._tag === "Uint8Array"
    ? Effect.succeed(decoder.decode(request.body.body))
    : request.body._tag === "Stream"
    ? Stream.mkString(Stream.decodeText(request.body.stream))
    : Effect.succeed("")

const breakingOff = (text: string) =>
  new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    pull: (controller) => controller.error(Object.assign(new Error("terminated"), { code: "UND_ERR_SOCKET" }))
  })

const neverEnding = (text: string) =>
  new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) })

const responseOf = (reply: Exclude<Reply, "hang" | { broken: string }>): Response =>
  "cut" in reply
    ? new Response(breakingOff(reply.body), { status: reply.cut })
    : "stalled" in reply
    ? new Response(neverEnding(reply.body), { status: reply.stalled })
    : new Response(reply.body === undefined || reply.status === 204 ? null : reply.body, {
      status: reply.status,
      headers: reply.headers ?? {}
    })

/** An `HttpClient` that hands every call to the function. */
export const layerHttpClient = (answer: (call: Call) => Effect.Effect<Reply>): Layer.Layer<HttpClient.HttpClient> =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request, url) => {
      const transportError = (cause: unknown) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      return Effect.gen(function*() {
        const body = yield* Effect.mapError(bodyText(request), transportError)
        const reply = yield* answer({
          method: request.method,
          path: url.pathname.slice(new URL(baseUrl).pathname.length),
          query: Object.fromEntries(url.searchParams),
          headers: { ...request.headers },
          body
        })
        if (reply === "hang") {
          return yield* Effect.never
        }
        if ("broken" in reply) {
          return yield* transportError(
            Object.assign(new Error(reply.broken), { code: reply.broken, syscall: reply.syscall })
          )
        }
        return HttpClientResponse.fromWeb(request, responseOf(reply))
      })
    })
  )

export interface Script {
  readonly calls: ReadonlyArray<Call>
  readonly layer: Layer.Layer<Plaza.Services>
}

/** The services over a service that answers by the script, in order, and then with its last reply for ever. */
export const scripted = (
  replies: ReadonlyArray<Reply>,
  options: Partial<Plaza.Options> = {}
): Script => {
  const calls: Array<Call> = []
  return {
    calls,
    layer: layerPlaza((call) =>
      Effect.sync(() => {
        calls.push(call)
        return replies[Math.min(calls.length, replies.length) - 1] ?? "hang"
      }), options)
  }
}

export const layerPlaza = (
  answer: (call: Call) => Effect.Effect<Reply>,
  options: Partial<Plaza.Options> = {}
): Layer.Layer<Plaza.Services> =>
  Plaza.layer({ baseUrl, apiKey: Redacted.make(key), ...options }).pipe(
    Layer.orDie,
    Layer.provide(layerHttpClient(answer))
  )
