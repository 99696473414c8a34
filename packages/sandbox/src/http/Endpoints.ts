/**
 * The endpoints of an api on the platform's router. Their routes hold the prepared schemas, so all sandboxes of a process
 * share them. Each sandbox makes its own handlers, and a request carries those of its sandbox.
 *
 * @since 0.1.0
 */
import type * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { CurrentCaller } from "./RequiresAdmission.js"
import * as Router from "./Router.js"
import { type Handler, type Handlers, ServerRequest } from "./ServerRequest.js"

/**
 * The endpoints of one group.
 *
 * @since 0.1.0
 * @category models
 */
export interface Group<R, Middleware> {
  readonly routes: Layer.Layer<never, never, HttpApiBuilder.Router | Middleware>
  /** Makes the handlers of one sandbox, by the names of their endpoints. */
  readonly handlers: Effect.Effect<Handlers, never, R>
}

/** What handlers are given to, by the names of their endpoints. */
interface Collector {
  readonly handle: (endpoint: string, handler: Handler, options?: { readonly uninterruptible: boolean }) => Collector
}

const handle = (name: string): Handler => (input) =>
  (input.request instanceof ServerRequest ? input.request.handlers.get(name)?.(input) : undefined) ??
    Effect.dieMessage(`the sandbox of this request has no handler ${name}`)

/**
 * A group of an api, with handlers as `HttpApiBuilder.group` takes them. They require nothing but the caller. A started
 * handler runs to its end, even if the caller closes the connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const group = <
  ApiId extends string,
  Groups extends HttpApiGroup.HttpApiGroup.Any,
  ApiE,
  ApiR,
  const Name extends HttpApiGroup.HttpApiGroup.Name<Groups>,
  E,
  Provides,
  R
>(
  api: HttpApi.HttpApi<ApiId, Groups, ApiE, ApiR>,
  name: Name,
  build: (
    handlers: HttpApiBuilder.Handlers.FromGroup<ApiE, ApiR, HttpApiGroup.HttpApiGroup.WithName<Groups, Name>>
  ) => Effect.Effect<HttpApiBuilder.Handlers<E, Provides, CurrentCaller>, never, R>
): Group<R, HttpApiGroup.HttpApiGroup.MiddlewareWithName<Groups, Name>> => ({
  // The middleware is that of the group, and every endpoint of the group is handled: a loop hides both from the types.
  routes: HttpApiBuilder.group(api as unknown as HttpApi.HttpApi.AnyWithProps, name,
    (handlers) =>
      Object.keys(handlers.group.endpoints).reduce(
        (all, endpoint) => all.handle(endpoint, handle(endpoint), { uninterruptible: true }),
        handlers as unknown as Collector
      ) as never) as Group<never, never>["routes"],
  handlers: Effect.suspend(() => {
    const made = new Map<string, Handler>()
    const collector: Collector = {
      handle: (endpoint, handler) => {
        made.set(endpoint, handler)
        return collector
      }
    }
    // Handlers are given to `handle` alone, whose types are those of the group.
    return Effect.as(build(collector as never), made)
  })
})

type Requirements<G> = G extends Group<infer R, infer _> ? R : never

/**
 * The endpoints of an api.
 *
 * @since 0.1.0
 * @category models
 */
export interface Endpoints<R> {
  /** The app of all sandboxes, which is made at its first use. */
  readonly app: () => Router.App
  /** Makes the handlers of one sandbox. */
  readonly handlers: Effect.Effect<Handlers, never, R>
}

/**
 * Groups behind their middleware.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <Groups extends ReadonlyArray<Group<unknown, Middleware>>, Middleware>(
  middleware: Context.Context<Middleware>,
  ...groups: Groups
): Endpoints<Requirements<Groups[number]>> => {
  let app: Router.App | undefined
  return {
    app: () => app ??= Router.make(middleware, groups.map(({ routes }) => routes)),
    // The types of a list lose what each of its items requires.
    handlers: Effect.map(
      Effect.forEach(groups as ReadonlyArray<Group<Requirements<Groups[number]>, Middleware>>, ({ handlers }) => handlers),
      (all) => new Map(all.flatMap((handlers) => [...handlers]))
    )
  }
}
