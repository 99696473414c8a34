/**
 * The platform's router for the routes of all groups, with exact paths.
 *
 * @since 0.1.0
 */
import * as HttpRouter from "@effect/platform/HttpRouter"
import { RouteNotFound } from "@effect/platform/HttpServerError"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import { NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ServerRequest } from "./ServerRequest.ts"

/**
 * A method and a path match no operation.
 *
 * @since 0.1.0
 * @category errors
 */
export class Unroutable extends Data.TaggedError("Unroutable")<{ readonly error: NotFound | ValidationError }> {}

// By default the router ignores case, trailing and duplicate slashes, and matches no id of more than 100 characters.
const config = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Number.POSITIVE_INFINITY
}

const isWellFormed = (path: string): boolean => {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/**
 * The URL of a path and a query. The router also starts a query at `;` and `#`, so these are encoded in the path.
 *
 * @since 0.1.0
 * @category routing
 */
export const urlOf = (path: string, query: string): string => `${path.replace(/[;#]/g, encodeURIComponent)}?${query}`

const unknown = (method: string, path: string, question: string) =>
  new Unroutable({ error: new NotFound({ message: `there is no endpoint ${method} ${path}${question}` }) })

/**
 * Runs the operation that a request means. Its failures are the operation's, beside `RouteNotFound`.
 *
 * @since 0.1.0
 * @category models
 */
export type App = (request: ServerRequest) => Effect.Effect<HttpServerResponse, unknown>

/** @since 0.1.0 @category models */
export type Route = HttpRouter.Route<unknown, HttpRouter.HttpRouter.DefaultServices>

/**
 * Routes as an app.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (routes: ReadonlyArray<Route>): App => {
  const app = Effect.runSync(HttpRouter.withRouterConfig(HttpRouter.toHttpApp(HttpRouter.fromIterable(routes)), config))
  return (request) =>
    Effect.mapInputContext(app, () =>
      // True of these routes: none sends a file or reads a multipart body by the platform, which the other services are for.
      Context.make(HttpServerRequest, request) as Context.Context<HttpServerRequest | HttpRouter.HttpRouter.DefaultServices>)
}

/**
 * Runs the operation that a request and its path mean. Its failures are the operation's, beside {@link Unroutable}. `question`
 * is appended to the refusal of an unknown route; see `NearMiss`.
 *
 * @since 0.1.0
 * @category routing
 */
export const run = (app: App, request: ServerRequest, path: string, question: () => string): Effect.Effect<HttpServerResponse, unknown> => {
  if (path.includes("%") && !isWellFormed(path)) {
    return new Unroutable({
      error: new ValidationError({ message: "the path is not well-formed percent-encoding", details: { field: "path" } })
    })
  }
  // The router handles HEAD as GET, and matches an empty segment with a parameter.
  if (request.method === "HEAD" || path.endsWith("/") || path.includes("//")) {
    return unknown(request.method, path, question())
  }
  return Effect.mapError(
    app(request),
    (error) => error instanceof RouteNotFound ? unknown(request.method, path, question()) : error
  )
}
