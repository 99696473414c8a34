/**
 * The entry point: layers that provide every service, and requests to undocumented endpoints.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { DeliveryClass } from "@plaza/domain/Delivery"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Chat from "./Chat.js"
import { InvalidInput } from "./ClientError.js"
import type { InvalidSettings } from "./ClientError.js"
import { fromEither } from "./internal/Compat.js"
import { decoder } from "./internal/contract/Contract.js"
import * as Operations from "./internal/contract/Operations.js"
import type { OpenFailure } from "./internal/contract/Operations.js"
import * as Pagination from "./internal/contract/Pagination.js"
import type { ListFailure, ListOptions } from "./internal/contract/Pagination.js"
import type { ApiRequest } from "./internal/transport/ApiRequest.js"
import * as Media from "./Media.js"
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
 * The services of the layers in this module.
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
 * Every service but the rate limit, from `Settings`. {@link layerShared} takes options.
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
 * Every service but the rate limit, for a base address and a key. Provide a rate limit such as `RateLimitSql.layer` for a key that
 * several processes share. The options `rateLimit` and `rateWindow` have no effect.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerShared = (
  options: Options
): Layer.Layer<Exclude<Services, RateLimit.RateLimit>, InvalidSettings, HttpClient.HttpClient | RateLimit.RateLimit> =>
  Layer.provide(Layer.fresh(layerWithoutRateLimit), Layer.effect(Settings, fromEither(fromOptions(options))))

// Fresh, because a layer that is shared by reference would send the key of another client in the same graph.
const layerFromSettings: Layer.Layer<Services, never, HttpClient.HttpClient | Settings> = Layer.fresh(Layer.provideMerge(
  layerWithoutRateLimit,
  Layer.unwrapEffect(Effect.map(Settings, ({ rateLimit, rateWindow }) =>
    // `Settings` has checked both values.
    Layer.orDie(RateLimit.layerMemory({ limit: rateLimit, window: rateWindow }))))
))

/**
 * Every service, for a base address and a key. Each layer has its own rate limit: share one layer for one key.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza/client"
 * import * as NodeClient from "@plaza/client/node"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const live = Plaza.layer({ baseUrl: "https://host/open/v1", apiKey: Redacted.make("a key") }).pipe(
 *   Layer.provide(NodeClient.layer)
 * )
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(Effect.provide(live))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Services, InvalidSettings, HttpClient.HttpClient> =>
  Layer.provide(layerFromSettings, Layer.effect(Settings, fromEither(fromOptions(options))))

/**
 * {@link layerConfig} with the name and version of an application, such as `stock-robot/1.2`, for `User-Agent`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfigFor = (application: string | undefined): Layer.Layer<Services, ConfigError, HttpClient.HttpClient> =>
  Layer.provide(layerFromSettings, Layer.effect(Settings, configFor(application)))

/**
 * Every service, from the configuration: `PLAZA_BASE_URL` and `PLAZA_API_KEY`, and optionally `PLAZA_TIMEOUT` (of one attempt,
 * default "30 seconds"), `PLAZA_RATE_LIMIT` (default 120), `PLAZA_RATE_WINDOW` (default "60 seconds") and
 * `PLAZA_ALLOW_INSECURE_HTTP` (default false).
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig: Layer.Layer<Services, ConfigError, HttpClient.HttpClient> = layerConfigFor(undefined)

/** @since 0.1.0 @category models */
export interface OpenRequest<A, I> {
  readonly method: HttpMethod
  /** Relative to the base address, with a leading slash and percent-encoded ids. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** Sent as JSON. */
  readonly payload?: unknown
  /** Decodes the JSON of the response. It gets `undefined` for a response without a body. */
  readonly response: Schema.Schema<A, I>
  /** What the client does after an ambiguous failure (default: `Read` for GET, `Once` for other methods). */
  readonly delivery?: Exclude<DeliveryClass, "Checkable"> | undefined
}

/** @since 0.1.0 @category models */
export interface OpenList<A, I> extends ListOptions {
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** Decodes each item. */
  readonly item: Schema.Schema<A, I>
}

// Rejects a path that a URL parser resolves into another one, or that leaves the base address.
const validatePath = (path: string): Either.Either<string, InvalidInput> => {
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
      path: validatePath(request.path),
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
 * Sends a request to an undocumented endpoint, with the key, the allowance, the delivery rules, the errors and the spans of the
 * documented ones.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import { Schema } from "effect"
 *
 * const program = Plaza.request({ method: "GET", path: "/notes", response: Schema.Unknown })
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
    return yield* sendOpen(yield* fromEither(apiRequestOf(options)), reader)
  })

/**
 * Reads an undocumented list that follows the documented list behaviour.
 * Source: interface v1, "List behaviour".
 *
 * @since 0.1.0
 * @category open areas
 */
export const paginate = <A, I>(
  options: OpenList<A, I>
): Stream.Stream<A, OpenFailure | ListFailure, Operations.Operations> => {
  // Once for all pages, because compiling a schema takes longer than decoding a page.
  const reader = { decode: Pagination.pageDecoder(options.item) }
  return Pagination.items(Pagination.pages(
    `GET ${options.path}`,
    ({ cursor, limit }) => send({ method: "GET", path: options.path, query: { ...options.query, limit: String(limit), cursor } }, reader),
    options
  ))
}
