/**
 * The entry point: layers that provide every service, and requests to undocumented endpoints.
 *
 * @since 0.1.0
 */
import type { DeliveryClass } from "@plaza/domain/Operations"
import type { ConfigError } from "effect/Config"
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import * as Chat from "./Chat.ts"
import { InvalidInput } from "./ClientError.ts"
import type { InvalidSettings } from "./ClientError.ts"
import { decoder } from "./internal/contract/Contract.ts"
import * as Operations from "./internal/contract/Operations.ts"
import type { OpenFailure } from "./internal/contract/Operations.ts"
import * as Pagination from "./internal/contract/Pagination.ts"
import type { ListFailure, ListOptions } from "./internal/contract/Pagination.ts"
import type { ApiRequest } from "./internal/delivery/Attempt.ts"
import { invalid as invalidSetting } from "./internal/Setting.ts"
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

/** @since 0.1.0 @category models */
export type { Attempt, OnAttempt } from "./CallOptions.ts"

/** @since 0.1.0 @category options */
export { onAttempt, withMaxWait, withRetry, withTimeout } from "./CallOptions.ts"

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

// Constant layers are memoized for the whole program, also for two clients with different options. So each client gets fresh ones.
const operations = /*#__PURE__*/ Layer.effect(Operations.Operations, Operations.make)

const services = /*#__PURE__*/ Layer.mergeAll(
  Profiles.layer,
  Posts.layer,
  Media.layer,
  Stories.layer,
  Store.layer,
  Chat.layer
).pipe(/*#__PURE__*/ Layer.provideMerge(operations))

const settingsOf = (options: Options): Layer.Layer<Settings, InvalidSettings> =>
  Layer.effect(Settings, Effect.suspend(() =>
    Effect.fromResult(
      Predicate.isObject(options)
        ? fromOptions(options)
        : Result.fail(invalidSetting("options", "must be an object with baseUrl and apiKey"))
    )
  ))

// A defect is impossible: `Settings` has checked both values.
const rateLimit = /*#__PURE__*/ Layer.effect(
  RateLimit.RateLimit,
  /*#__PURE__*/ Effect.flatMap(Settings,
    ({ rateLimit, rateWindow }) => Effect.orDie(RateLimit.makeMemory({ limit: rateLimit, window: rateWindow })))
)

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
  services.pipe(Layer.fresh, Layer.provide(settingsOf(options)))

/**
 * Every service, for a base URL and a key. Each layer has its own rate limit: use one layer for each key. Fails with
 * `InvalidSettings`, which names the option.
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
 * // => { username: "corner-shop" }
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Services, InvalidSettings, HttpClient.HttpClient> =>
  services.pipe(Layer.provideMerge(rateLimit), Layer.fresh, Layer.provide(settingsOf(options)))

/**
 * {@link layer} without its services. A page loads less code with it and the layers of the services that it uses, such as `layer` of
 * `@plaza/client/Store`. They share one rate limit. {@link request} and {@link paginate} require nothing else.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import * as Store from "@plaza/client/Store"
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
  operations.pipe(Layer.provideMerge(rateLimit), Layer.fresh, Layer.provide(settingsOf(options)))

/**
 * {@link layerConfig} with the name and version of an application for `User-Agent`, such as `stock-robot/1.2`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfigFor = (application: string | undefined): Layer.Layer<Services, ConfigError, HttpClient.HttpClient> =>
  services.pipe(
    Layer.provideMerge(rateLimit),
    Layer.fresh,
    Layer.provide(Layer.effect(Settings, configFor(application)))
  )

/**
 * Every service, from the configuration: `PLAZA_BASE_URL` and `PLAZA_API_KEY` (both required), `PLAZA_TIMEOUT` of one attempt
 * (default: 30 seconds), `PLAZA_RATE_LIMIT` (default: 120 requests), `PLAZA_RATE_WINDOW` (default: 60 seconds) and
 * `PLAZA_ALLOW_INSECURE_HTTP` (default: false). Fails with a `ConfigError` that names the variable.
 *
 * @example
 * import { Plaza, Profiles } from "@plaza/client"
 * import * as NodeClient from "@plaza/client/node"
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
export interface OpenRequest<A> {
  readonly method: ApiRequest["method"]
  /** Relative to the base URL, with a leading slash and percent-encoded ids. */
  readonly path: string
  /** The query parameters. One that is `undefined` is not sent. */
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** The body, which is sent as JSON (default: no body). */
  readonly payload?: unknown
  /** Decodes the JSON of the response. Its input is `undefined` for a response without a body. */
  readonly response: Schema.Decoder<A>
  /** What the client does after an ambiguous failure (default: `Read` for GET, `Once` for other methods). */
  readonly delivery?: Exclude<DeliveryClass, "Checkable"> | undefined
}

/**
 * A list at an undocumented endpoint.
 *
 * @since 0.1.0
 * @category models
 */
export interface OpenList<A> extends ListOptions {
  /** Relative to the base URL, with a leading slash and percent-encoded ids. */
  readonly path: string
  /** The query parameters in addition to `limit` and `cursor`. */
  readonly query?: Readonly<Record<string, string | undefined>> | undefined
  /** Decodes each item. */
  readonly item: Schema.Decoder<A>
}

const isDecodable = (path: string): boolean => {
  try {
    return decodeURIComponent(path) !== ""
  } catch {
    return false
  }
}

const invalid = (field: string, requirement: string) => Result.fail(new InvalidInput({ field, message: `${field} ${requirement}` }))

const methods: ReadonlyArray<string> = ["GET", "POST", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"]
const deliveries: ReadonlyArray<string> = ["Read", "Repeatable", "Once"]

// Rejects a path that a URL parser resolves to another path or origin. Code without types can pass what is no text.
const validatePath = (path: string): Result.Result<string, InvalidInput> => {
  const url = typeof path === "string" && path.startsWith("/") && isDecodable(path) && URL.canParse(`http://host/base${path}`)
    ? new URL(`http://host/base${path}`)
    : null
  return url === null || url.search !== "" || url.hash !== "" || url.pathname !== `/base${path}`
    ? invalid("path", `must start with a slash and contain percent-encoded segments only, without "..", ? or #`)
    : Result.succeed(path)
}

const apiRequestOf = (request: Omit<OpenRequest<unknown>, "response">): Result.Result<ApiRequest, InvalidInput> =>
  Result.gen(function*() {
    const path = yield* validatePath(request.path)
    const delivery = request.delivery ?? (request.method === "GET" ? "Read" : "Once")
    if (!methods.includes(request.method)) {
      return yield* invalid("method", `must be one of ${methods.join(", ")}`)
    }
    // Otherwise a wrong word would make a write repeatable.
    if (!deliveries.includes(delivery)) {
      return yield* invalid("delivery", `must be one of ${deliveries.join(", ")}`)
    }
    const body = request.payload === undefined ? HttpBody.empty : yield* Operations.jsonBody(request.payload)
    return {
      operation: "request",
      area: "open",
      delivery,
      method: request.method,
      path,
      query: request.query ?? {},
      body
    }
  })

/**
 * Sends a request to an undocumented endpoint. The key, the rate limit, the delivery rules, the errors and the spans are those of
 * documented endpoints. Fails with `InvalidInput` for a path that isn't percent-encoded.
 * Source: interface v1, "Endpoints", gaps.
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import { Schema } from "effect"
 *
 * const product = Plaza.request({ method: "GET", path: "/store/products/MUG-BLUE-350", response: Schema.Unknown })
 * // => { id: "MUG-BLUE-350", stock: 0 }
 *
 * @since 0.1.0
 * @category open areas
 */
export const request = <A>(options: OpenRequest<A>): Effect.Effect<A, OpenFailure, Operations.Operations> =>
  Effect.suspend(() => {
    const decode = decoder(options.response)
    const empty = decode(undefined)
    return send(options, { decode, whenEmpty: Result.isSuccess(empty) ? () => empty.success : undefined })
  })

const send = <A>(options: Omit<OpenRequest<unknown>, "response">, reader: Operations.Reader<A>) =>
  Effect.flatMap(
    Effect.fromResult(apiRequestOf(options)),
    (request) => Effect.flatMap(Operations.Operations, ({ sendOpen }) => sendOpen(request, reader))
  )

/**
 * The failures of {@link paginate}.
 *
 * @since 0.1.0
 * @category models
 */
export type OpenListFailure = OpenFailure | ListFailure

/**
 * Reads an undocumented list that follows the documented list behaviour.
 * Source: interface v1, "List behaviour".
 *
 * @example
 * import { Plaza } from "@plaza/client"
 * import { Order } from "@plaza/domain"
 *
 * const orders = Plaza.paginate({ path: "/store/orders", item: Order, limit: 50 })
 *
 * @since 0.1.0
 * @category open areas
 */
export const paginate = <A>(options: OpenList<A>): Stream.Stream<A, OpenListFailure, Operations.Operations> => {
  // Compiled once for all pages, because compiling a schema takes longer than decoding a page.
  const reader = { decode: Pagination.pageDecoder(options.item) }
  return Pagination.items(Pagination.pages(
    `GET ${options.path}`,
    ({ cursor, limit }) => send({ method: "GET", path: options.path, query: { ...options.query, limit: String(limit), cursor } }, reader),
    options
  ))
}
