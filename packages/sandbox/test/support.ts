/** Test support: calls a sandbox over plain HTTP, in process or over a socket. */
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Cause, Context, Effect, Layer, Logger, Redacted, References, Schema } from "effect"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpMethod from "effect/http/HttpMethod"
import { CurrentLatitude } from "../src/latitude/CurrentLatitude.ts"
import { Db } from "../src/storage/Db.ts"
import { MetaRepo } from "../src/storage/MetaRepo.ts"

export interface Request {
  /** The key to send (default: the seeded key); null sends none. */
  readonly key?: Redacted.Redacted | string | null
  /** Sent as JSON. */
  readonly json?: unknown
  /** Sent unchanged (default content type: JSON). */
  readonly text?: string
  readonly bytes?: Uint8Array
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
}

export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly text: string
  /** The body as JSON; undefined if it isn't JSON. */
  readonly json: unknown
}

/** In process or on a socket. */
export class Transport extends Context.Service<Transport, {
  readonly send: (method: HttpMethod.HttpMethod, url: string, request: Request) => Effect.Effect<Response, unknown>
}>()("test/Transport") {}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const headersOf = (sandbox: Sandbox.Sandbox["Service"], { bytes, headers, json, key = sandbox.apiKey, text }: Request) => ({
  ...(key === null ? {} : { authorization: `Bearer ${typeof key === "string" ? key : Redacted.value(key)}` }),
  ...(json === undefined && text === undefined && bytes === undefined ? {} : { "content-type": "application/json" }),
  ...headers
})

const bodyOf = ({ bytes, json, text }: Request): string | Uint8Array | undefined =>
  bytes ?? text ?? (json === undefined ? undefined : JSON.stringify(json))

// New for each sandbox: a layer value that two sandboxes of one test share is built once.
const inProcess = () =>
  Layer.effect(
    Transport,
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      const client = yield* HttpClient.HttpClient
      return {
        send: (method, url, request) =>
          Effect.gen(function*() {
            const headers = headersOf(sandbox, request)
            const body = bodyOf(request)
            const response = yield* client.execute(
              HttpClientRequest.make(method)(url, {
                body: request.form !== undefined
                  ? HttpBody.formData(request.form)
                  : body === undefined
                  ? HttpBody.empty
                  : typeof body === "string"
                  ? HttpBody.text(body, headers["content-type"])
                  : HttpBody.uint8Array(body, headers["content-type"]),
                headers
              })
            )
            const text = yield* response.text
            return { status: response.status, headers: response.headers, text, json: parse(text) }
          })
      }
    })
  )

const bySocket = () =>
  Layer.effect(
    Transport,
    Effect.map(Sandbox.Sandbox, (sandbox) => ({
      send: (method: string, url: string, request: Request) =>
        Effect.tryPromise(async (signal) => {
          const response = await fetch(url, {
            method,
            headers: headersOf(sandbox, request),
            // True of a text and of bytes: fetch accepts both.
            body: request.form ?? (bodyOf(request) as BodyInit | undefined) ?? null,
            signal
          })
          const text = await response.text()
          return {
            status: response.status,
            headers: Object.fromEntries(response.headers),
            text,
            json: parse(text)
          }
        })
    }))
  )

export const layerInProcess = (options?: Sandbox.Options) => inProcess().pipe(Layer.provideMerge(Sandbox.layerHttpClient(options)))

export const layerSocket = (options?: Sandbox.ServerOptions) => bySocket().pipe(Layer.provideMerge(Sandbox.layerServer(options)))

/** Calls a path of the interface. */
export const call = (method: HttpMethod.HttpMethod, path: string, request: Request = {}) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* Sandbox.Sandbox
    const { send } = yield* Transport
    return yield* send(method, baseUrl + path, request)
  })

/** Calls a path of the control API. */
export const control = (method: HttpMethod.HttpMethod, path: string, request: Request = {}) =>
  Effect.gen(function*() {
    const { controlUrl } = yield* Sandbox.Sandbox
    const { send } = yield* Transport
    return yield* send(method, controlUrl + path, { key: null, ...request })
  })

const Envelope = Schema.Struct({
  error: Schema.Struct({ code: Schema.String, message: Schema.NonEmptyString, field: Schema.optionalKey(Schema.String) })
})
const readEnvelope = Schema.decodeUnknownSync(Envelope)

/** Status and code of a refusal, and its field if it names one; fails without the envelope. */
export const refusal = (reply: Response): string => {
  const { code, field } = readEnvelope(reply.json).error
  return [reply.status, code, ...(field === undefined ? [] : [field])].join(" ")
}

/** The message of a refusal. */
export const messageOf = (reply: Response): string => readEnvelope(reply.json).error.message

/** One field of a JSON response. */
export const field = (reply: Response, name: string): unknown =>
  typeof reply.json === "object" && reply.json !== null ? Object.entries(reply.json).find(([key]) => key === name)?.[1] : undefined

/** Another account with its own key. */
export const someone = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const { id, username } = yield* sandbox.createAccount()
  const { apiKey } = yield* sandbox.createKey(id)
  return { id, username, key: apiKey }
})

const Ids = Schema.Struct({ data: Schema.Array(Schema.Struct({ id: Schema.String })), next_cursor: Schema.NullOr(Schema.String) })
const readIds = Schema.decodeUnknownSync(Ids)

/** The ids of a page and its cursor. */
export const pageOf = (reply: Response): { readonly ids: ReadonlyArray<string>; readonly next: string | null } => {
  const { data, next_cursor } = readIds(reply.json)
  return { ids: data.map(({ id }) => id), next: next_cursor }
}

/** The default latitude, without the rest of a sandbox. */
export const layerLatitude = CurrentLatitude.layer(Latitude.defaults).pipe(
  Layer.provide(MetaRepo.layer),
  Layer.provide(Layer.fresh(Db.layer(":memory:")))
)

/** An entry of the program's log. */
export interface LogEvent {
  readonly level: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly cause: string
}

/** Collects the log, at every level. */
export const layerLogs = (events: Array<LogEvent>) =>
  Layer.merge(
    Logger.layer([Logger.make(({ cause, fiber, logLevel, message }) => {
      events.push({
        level: logLevel,
        message: [message].flat().join(" "),
        fields: fiber.getRef(References.CurrentLogAnnotations),
        cause: Cause.pretty(cause)
      })
    })]),
    Layer.succeed(References.MinimumLogLevel, "All")
  )
