/**
 * The way in: layers that provide every service, and requests to what the document names without showing it.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as HttpBody from "@effect/platform/HttpBody"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { DeliveryClass } from "@plaza/domain/Delivery"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Chat from "./Chat.js"
import { decoder } from "./internal/contract/Contract.js"
import { InvalidInput } from "./ClientError.js"
import type { InvalidSettings } from "./ClientError.js"
import * as Media from "./Media.js"
import * as Operations from "./internal/contract/Operations.js"
import type { OpenFailure } from "./internal/contract/Operations.js"
import type { ApiRequest } from "./internal/transport/ApiRequest.js"
import * as Pagination from "./Pagination.js"
import type { ListFailure, ListOptions } from "./Pagination.js"
import * as Posts from "./Posts.js"
import * as Profiles from "./Profiles.js"
import * as RateLimit from "./RateLimit.js"
import { configFor, fromOptions, Settings } from "./Settings.js"
import type { Options } from "./Settings.js"
import * as Store from "./Store.js"
import * as Stories from "./Stories.js"

/** @since 0.1.0 @category models */
export type { Options } from "./Settings.js"

/** @since 0.1.0 @category options */
export { withMaxWait, withRetry, withTimeout } from "./CallOptions.js"

/**
 * Everything that the layers of this module provide.
 *
 * @since 0.1.0
 * @category models
 */
export type Services =
  | Profiles.Profiles
  | Posts.Posts
  | Media.Media
  | Stories.Stories
  | Store.Store
  | Chat.Chat
  | Operations.Operations
  | RateLimit.RateLimit

/**
 * The services without a rate limit of their own, from `Settings`. {@link layerShared} takes options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWithoutRateLimit: Layer.Layer<
  Exclude<Services, RateLimit.RateLimit>,
  never,
  HttpClient.HttpClient | RateLimit.RateLimit | Settings
> = Layer.mergeAll(
  Profiles.layer,
  Posts.layer,
  Media.layer,
  Stories.layer,
  Store.layer,
  Chat.layer
).pipe(Layer.provideMerge(Operations.layer))

/**
 * Every service but the rate limit, for a base address and a key. The rate limit comes from outside, such as
 * `RateLimitSql.layer` for a key that several processes share; `rateLimit` and `rateWindow` of these options have no effect.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerShared = (
  options: Options
): Layer.Layer<Exclude<Services, RateLimit.RateLimit>, InvalidSettings, HttpClient.HttpClient | RateLimit.RateLimit> =>
  Layer.provide(layerWithoutRateLimit, Layer.effect(Settings, fromOptions(options)))

const layerFromSettings: Layer.Layer<Services, never, HttpClient.HttpClient | Settings> = Layer.provideMerge(
  layerWithoutRateLimit,
  Layer.unwrapEffect(Effect.map(Settings, ({ rateLimit, rateWindow }) =>
    // The settings are checked by now, under their own names.
    Layer.orDie(RateLimit.layerMemory({ limit: rateLimit, window: rateWindow }))))
)

/**
 * Every service, for a base address and a key.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Services, InvalidSettings, HttpClient.HttpClient> =>
  Layer.provide(layerFromSettings, Layer.effect(Settings, fromOptions(options)))

/**
 * {@link layerConfig} for an application with this name and version, which `User-Agent` names.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfigFor = (application: string | undefined): Layer.Layer<Services, ConfigError, HttpClient.HttpClient> =>
  Layer.provide(layerFromSettings, Layer.effect(Settings, configFor(application)))

/**
 * Every service, from `PLAZA_BASE_URL` and `PLAZA_API_KEY`, and optionally `PLAZA_TIMEOUT` (of one attempt),
 * `PLAZA_RATE_LIMIT` and `PLAZA_RATE_WINDOW` (120 and "60 seconds"), and `PLAZA_ALLOW_INSECURE_HTTP` (false).
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig: Layer.Layer<Services, ConfigError, HttpClient.HttpClient> = layerConfigFor(undefined)

/** @since 0.1.0 @category models */
export interface OpenRequest<A, I> {
  readonly method: HttpMethod
  /** Relative to the base address, with a slash at its beginning; ids in it percent-encoded. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** Sent as JSON. */
  readonly payload?: unknown
  /** What the answer's JSON is decoded by; an answer without a body is `undefined` to it. */
  readonly response: Schema.Schema<A, I>
  /** What may be done after an ambiguous failure (default: `Read` for GET, `Once` for all else). */
  readonly delivery?: Exclude<DeliveryClass, "Checkable"> | undefined
}

/** @since 0.1.0 @category models */
export interface OpenList<A, I> extends ListOptions {
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** What each item is decoded by. */
  readonly item: Schema.Schema<A, I>
}

// A path that a URL parser would resolve into another one, or that would leave the base address.
const checkedPath = (path: string): Either.Either<string, InvalidInput> => {
  const url = path.startsWith("/") && URL.canParse(`http://host/base${path}`) ? new URL(`http://host/base${path}`) : null
  return url === null || url.search !== "" || url.hash !== "" || url.pathname !== `/base${path}`
    ? Either.left(
      new InvalidInput({
        field: "path",
        message: `path must begin with a slash and hold percent-encoded segments only, without "..", ? or #`
      })
    )
    : Either.right(path)
}

const apiRequestOf = (request: Omit<OpenRequest<unknown, unknown>, "response">): Either.Either<ApiRequest, InvalidInput> =>
  Either.map(
    Either.all({
      path: checkedPath(request.path),
      body: request.payload === undefined ? Either.right(HttpBody.empty) : Operations.jsonBody(request.payload)
    }),
    ({ body, path }) => ({
      operation: "request",
      area: "open",
      delivery: request.delivery ?? (request.method === "GET" ? "Read" : "Once"),
      method: request.method,
      path,
      query: request.query ?? {},
      body
    })
  )

/**
 * Sends a request that the document doesn't show, with the key, the allowance, the delivery rules, the errors and the
 * spans of those that it shows.
 *
 * @since 0.1.0
 * @category open areas
 */
export const request = <A, I>(
  options: OpenRequest<A, I>
): Effect.Effect<A, OpenFailure, Operations.Operations> =>
  Effect.suspend(() => {
    const decode = decoder(options.response)
    const empty = decode(undefined)
    return send(options, { decode, whenEmpty: Either.isRight(empty) ? () => empty.right : undefined })
  })

const send = <A>(options: Omit<OpenRequest<unknown, unknown>, "response">, reader: Operations.Reader<A>) =>
  Effect.gen(function*() {
    const { sendOpen } = yield* Operations.Operations
    return yield* sendOpen(yield* apiRequestOf(options), reader)
  })

/**
 * Reads a list that the document doesn't show but that keeps to its list behaviour.
 *
 * @since 0.1.0
 * @category open areas
 */
export const paginate = <A, I>(
  options: OpenList<A, I>
): Stream.Stream<A, OpenFailure | ListFailure, Operations.Operations> => {
  // Once for all pages, since compiling a schema takes longer than decoding a page.
  const reader = { decode: Pagination.pageDecoder(options.item) }
  return Pagination.items(Pagination.pages(
    `GET ${options.path}`,
    ({ cursor, limit }) =>
      send({ method: "GET", path: options.path, query: { ...options.query, limit: String(limit), cursor } }, reader),
    options
  ))
}
