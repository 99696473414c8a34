/**
 * The entry point: layers that provide every service, and requests to undocumented endpoints.
 *
 * @since 0.1.0
 */
import * as HttpBody from "@effect/platform/HttpBody"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpMethod } from "@effect/platform/HttpMethod"
import type { DeliveryClass } from "@plaza-legacy/domain/Delivery"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Chat from "./Chat.ts"
import { InvalidInput } from "./ClientError.ts"
import type { InvalidSettings } from "./ClientError.ts"
import { fromEither } from "./internal/Compat.ts"
import { decoder } from "./internal/contract/Contract.ts"
import * as Operations from "./internal/contract/Operations.ts"
import type { OpenFailure } from "./internal/contract/Operations.ts"
import * as Pagination from "./internal/contract/Pagination.ts"
import type { ListFailure, ListOptions } from "./internal/contract/Pagination.ts"
import type { ApiRequest } from "./internal/transport/ApiRequest.ts"
import * as Media from "./Media.ts"
import * as Posts from "./Posts.ts"
import * as Profiles from "./Profiles.ts"
import * as RateLimit from "./RateLimit.ts"
import { configFor, fromOptions, Settings } from "./Settings.ts"
import type { Options } from "./Settings.ts"
import * as Store from "./Store.ts"
import * as Stories from "./Stories.ts"

/** @since 0.1.0 @category models */
export type { Options } from "./Settings.ts"

/** @since 0.1.0 @category options */
export { withMaxWait, withRetry, withTimeout } from "./CallOptions.ts"

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

// One effect for all services, because a layer for each would take most of the time before the first request.
const make: Effect.Effect<
  Context.Context<Exclude<Services, RateLimit.RateLimit>>,
  never,
  HttpClient.HttpClient | RateLimit.RateLimit | Settings | Scope.Scope
> = /*#__PURE__*/ Effect.flatMap(Operations.make, (operations) =>
  Effect.gen(function*() {
    return Context.make(Operations.Operations, operations).pipe(
      Context.add(Profiles.Profiles, yield* Profiles.make),
      Context.add(Posts.Posts, yield* Posts.make),
      Context.add(Media.Media, yield* Media.make),
      Context.add(Stories.Stories, yield* Stories.make),
      Context.add(Store.Store, yield* Store.make),
      Context.add(Chat.Chat, yield* Chat.make)
    )
  }).pipe(Effect.provideService(Operations.Operations, operations)))

/**
 * Every service except the rate limit, for a base URL and a key. Provide a rate limit such as `RateLimitSql.layer` if several
 * processes share the key. The options `rateLimit` and `rateWindow` have no effect. Fails with `InvalidSettings`, which names the
 * option.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWithoutRateLimit = (
  options: Options
): Layer.Layer<Exclude<Services, RateLimit.RateLimit>, InvalidSettings, HttpClient.HttpClient | RateLimit.RateLimit> =>
  Layer.scopedContext(
    Effect.flatMap(fromEither(fromOptions(options)), (settings) => Effect.provideService(make, Settings, settings))
  )

const layerFrom = <A, E>(
  settings: Effect.Effect<Settings["Type"], E>,
  make: Effect.Effect<Context.Context<A>, never, HttpClient.HttpClient | RateLimit.RateLimit | Settings | Scope.Scope>
): Layer.Layer<A | RateLimit.RateLimit, E, HttpClient.HttpClient> =>
  Layer.scopedContext(Effect.gen(function*() {
    const given = yield* settings
    // A defect is impossible: `Settings` has checked both values.
    const rateLimit = yield* Effect.orDie(RateLimit.makeMemory({ limit: given.rateLimit, window: given.rateWindow }))
    const required = Context.make(Settings, given).pipe(Context.add(RateLimit.RateLimit, rateLimit))
    return Context.add(yield* Effect.provide(make, required), RateLimit.RateLimit, rateLimit)
  }))

/**
 * Every service, for a base URL and a key. Each layer has its own rate limit: use one layer for each key. Fails with
 * `InvalidSettings`, which names the option.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza-legacy/client"
 * import * as NodeClient from "@plaza-legacy/client/node"
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
  layerFrom(fromEither(fromOptions(options)), make)

/**
 * What the services of {@link layer} have in common, without the services. A page in a browser loads less with it and the layers of the
 * services that it uses. Each of these layers has the module of its service, such as `@plaza-legacy/client/Store`. They share one rate limit.
 * {@link request} and {@link paginate} require nothing else.
 *
 * @example
 * import { Plaza } from "@plaza-legacy/client"
 * import * as Store from "@plaza-legacy/client/Store"
 * import { Layer, Redacted } from "effect"
 *
 * const store = Layer.provide(
 *   Store.layer,
 *   Plaza.layerOperations({ baseUrl: "https://host/open/v1", apiKey: Redacted.make("a key") })
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerOperations = (
  options: Options
): Layer.Layer<Operations.Operations | RateLimit.RateLimit, InvalidSettings, HttpClient.HttpClient> =>
  layerFrom(
    fromEither(fromOptions(options)),
    Effect.map(Operations.make, (operations) => Context.make(Operations.Operations, operations))
  )

/**
 * {@link layerConfig} with the name and version of an application for `User-Agent`, such as `stock-robot/1.2`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfigFor = (application: string | undefined): Layer.Layer<Services, ConfigError, HttpClient.HttpClient> =>
  layerFrom(configFor(application), make)

/**
 * Every service, from the configuration: `PLAZA_BASE_URL` and `PLAZA_API_KEY` (both required), `PLAZA_TIMEOUT` of one attempt
 * (default: 30 seconds), `PLAZA_RATE_LIMIT` (default: 120 requests), `PLAZA_RATE_WINDOW` (default: 60 seconds) and
 * `PLAZA_ALLOW_INSECURE_HTTP` (default: false). Fails with a `ConfigError` that names the variable.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza-legacy/client"
 * import * as NodeClient from "@plaza-legacy/client/node"
 * import { Effect, Layer } from "effect"
 *
 * const live = Layer.provide(Plaza.layerConfig, NodeClient.layer)
 * const program = Effect.flatMap(Profiles, ({ me }) => me).pipe(Effect.provide(live))
 *
 * @since 0.1.0
 * @category layers
 */
// Pure, so that bundlers drop it from pages that pass options.
export const layerConfig: Layer.Layer<Services, ConfigError, HttpClient.HttpClient> = /*#__PURE__*/ layerConfigFor(undefined)

/**
 * A request to an undocumented endpoint.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenRequest<A, I> {
  readonly method: HttpMethod
  /** Relative to the base URL, with a leading slash and percent-encoded ids. */
  readonly path: string
  /** The query parameters. One that is `undefined` is not sent. */
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** The body, which is sent as JSON (default: no body). */
  readonly payload?: unknown
  /** Decodes the JSON of the response. Its input is `undefined` for a response without a body. */
  readonly response: Schema.Schema<A, I>
  /** What the client does after an ambiguous failure (default: `Read` for GET, `Once` for other methods). */
  readonly delivery?: Exclude<DeliveryClass, "Checkable"> | undefined
}

/**
 * A list at an undocumented endpoint.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenList<A, I> extends ListOptions {
  /** Relative to the base URL, with a leading slash and percent-encoded ids. */
  readonly path: string
  /** The query parameters in addition to `limit` and `cursor`. */
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** Decodes each item. */
  readonly item: Schema.Schema<A, I>
}

// Rejects a path that a URL parser resolves to another path or origin.
const validatePath = (path: string): Either.Either<string, InvalidInput> => {
  const url = path.startsWith("/") && URL.canParse(`http://host/base${path}`) ? new URL(`http://host/base${path}`) : null
  return url === null || url.search !== "" || url.hash !== "" || url.pathname !== `/base${path}`
    ? Either.left(
      new InvalidInput({
        field: "path",
        message: `path must start with a slash and contain percent-encoded segments only, without "..", ? or #`
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
 * Sends a request to an undocumented endpoint. The key, the rate limit, the delivery rules, the errors and the spans are those of
 * documented endpoints. Fails with `InvalidInput` for a path that isn't percent-encoded.
 * Source: interface v1, "Endpoints", gaps.
 *
 * @example
 * import { Plaza } from "@plaza-legacy/client"
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
 * @example
 * import { Plaza } from "@plaza-legacy/client"
 * import { Order } from "@plaza-legacy/domain"
 *
 * const orders = Plaza.paginate({ path: "/store/orders", item: Order, limit: 50 })
 *
 * @since 0.1.0
 * @category open areas
 */
export const paginate = <A, I>(
  options: OpenList<A, I>
): Stream.Stream<A, OpenFailure | ListFailure, Operations.Operations> => {
  // Compiled once for all pages, because compiling a schema takes longer than decoding a page.
  const reader = { decode: Pagination.pageDecoder(options.item) }
  return Pagination.items(Pagination.pages(
    `GET ${options.path}`,
    ({ cursor, limit }) => send({ method: "GET", path: options.path, query: { ...options.query, limit: String(limit), cursor } }, reader),
    options
  ))
}
