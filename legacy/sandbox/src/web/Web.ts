/**
 * Serves the web pages. Their modules are loaded when a page is opened for the first time.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { HostPolicy } from "../http/HostPolicy.ts"
import type { ServerRequest } from "../http/ServerRequest.ts"
import type * as Pages from "./Pages.ts"
import { paths } from "./Paths.ts"

/**
 * The path prefix of the pages.
 *
 * @since 0.1.0
 * @category constants
 */
export const basePath = paths.home

/** @since 0.1.0 @category services */
export class Web extends Context.Tag("@plaza-legacy/sandbox/Web")<Web, {
  /** Whether a path belongs to a page. */
  readonly owns: (path: string) => boolean
  /** Whether a person opened a path that is neither a page nor one of the interface. */
  readonly ownsUnknown: (request: ServerRequest, path: string) => boolean
  readonly respond: (request: ServerRequest, path: string, query: string) => Effect.Effect<HttpServerResponse, RequestError>
}>() {}

const owned: ReadonlySet<string> = new Set(Object.values(paths))

/** @since 0.1.0 @category constructors */
export const make = (
  access: "loopback" | "anyone",
  local: HostPolicy,
  addresses: { readonly interface: string; readonly control: string }
): Effect.Effect<Web["Type"], never, Pages.Services> =>
  Effect.gen(function*() {
    const services = yield* Effect.context<Pages.Services>()
    const pages = yield* Effect.cached(Effect.flatMap(
      Effect.promise(() => import("./Pages.ts")),
      ({ make }) => Effect.provide(make(access, local, addresses), services)
    ))
    return {
      owns: (path) => owned.has(path),
      ownsUnknown: ({ headers, method }, path) =>
        (method === "GET" || method === "HEAD") && /(?:^|,)\s*text\/html\b/i.test(headers["accept"] ?? "") &&
        path !== addresses.interface && !path.startsWith(`${addresses.interface}/`),
      respond: (request, path, query) => Effect.flatMap(pages, ({ respond }) => respond(request, path, query))
    }
  })
