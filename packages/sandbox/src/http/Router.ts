/**
 * The platform's router for the routes of all groups, with exact paths.
 *
 * @since 0.1.0
 */
import * as Etag from "@effect/platform/Etag"
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpPlatform from "@effect/platform/HttpPlatform"
import * as HttpRouter from "@effect/platform/HttpRouter"
import { RouteNotFound } from "@effect/platform/HttpServerError"
import { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Path from "@effect/platform/Path"
import { NotFound, ValidationError } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { ServerRequest } from "./ServerRequest.js"

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

const unknown = (method: string, path: string) =>
  new Unroutable({ error: new NotFound({ message: `there is no endpoint ${method} ${path}` }) })

/**
 * Makes a function that runs the operation of a request and its path. It fails with the operation's errors or with
 * {@link Unroutable}.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.gen(function*() {
  // Only these services, because the context is copied several times for each request.
  const services = Context.pick(HttpPlatform.HttpPlatform, FileSystem.FileSystem, Path.Path, Etag.Generator)(
    yield* Effect.context<HttpRouter.HttpRouter.DefaultServices>()
  )
  const app = yield* HttpRouter.withRouterConfig(
    Effect.flatMap(HttpApiBuilder.Router.router, HttpRouter.toHttpApp),
    config
  )
  return (request: ServerRequest, path: string): Effect.Effect<HttpServerResponse, unknown> => {
    if (path.includes("%") && !isWellFormed(path)) {
      return new Unroutable({
        error: new ValidationError({ message: "the path is not well-formed percent-encoding", details: { field: "path" } })
      })
    }
    // The router handles HEAD as GET, and matches an empty segment with a parameter.
    if (request.method === "HEAD" || path.endsWith("/") || path.includes("//")) {
      return unknown(request.method, path)
    }
    return Effect.mapError(
      Effect.mapInputContext(app, () => Context.add(services, HttpServerRequest, request)),
      (error) => error instanceof RouteNotFound ? unknown(request.method, path) : error
    )
  }
})
