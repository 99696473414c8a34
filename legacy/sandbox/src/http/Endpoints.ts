/**
 * The endpoints of an api on the platform's router. All sandboxes of a process share the routes, and a route prepares its
 * schemas for its first request. Each sandbox makes its own handlers, and a request carries those of its sandbox.
 *
 * @since 0.1.0
 */
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpApiMiddleware from "@effect/platform/HttpApiMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Envelope from "./Envelope.ts"
import type { CurrentCaller } from "./RequiresAdmission.ts"
import * as Router from "./Router.ts"
import { encoder, type FurtherFields, served } from "./ServedEndpoint.ts"
import { type Handler, type Handlers, ServerRequest } from "./ServerRequest.ts"

type AnyEndpoint = HttpApiEndpoint.HttpApiEndpoint.AnyWithProps

type AnyMiddleware = HttpApiMiddleware.HttpApiMiddleware.AnyId

/**
 * How the groups of an api are served: behind which middleware and with which fields. Handlers may fail with `E` in addition to
 * the errors of the middleware and of their endpoint.
 *
 * @since 0.1.0
 * @category models
 */
export interface Serving<Middleware extends AnyMiddleware, E = never> {
  /** In front of all paths; may be empty. */
  readonly basePath: "" | `/${string}`
  /** Adds the middleware to an endpoint. */
  readonly middleware: (endpoint: AnyEndpoint) => AnyEndpoint
  readonly furtherFields: FurtherFields
  /** Never set: it holds the types. */
  readonly types?: { readonly middleware: Middleware; readonly errors: E }
}

/**
 * The endpoints of one group.
 *
 * @since 0.1.0
 * @category models
 */
export interface Group<R, Middleware> {
  readonly routes: (middleware: Context.Context<Middleware>) => ReadonlyArray<Router.Route>
  /** The names of its endpoints. */
  readonly names: () => ReadonlyArray<string>
  /** Makes the handlers of one sandbox, by the names of their endpoints. */
  readonly handlers: Effect.Effect<Handlers, never, R>
}

/** What handlers are given to, by the names of their endpoints. */
interface Collector {
  readonly handle: (endpoint: string, handler: Handler) => Collector
}

/**
 * Runs the handler of a request, and responds with its result. The platform would also encode it, but in many more steps, and
 * respond with 400 to a result that does not match the contract. Here that is a defect.
 */
const handle = (name: string, encode: (result: unknown) => unknown): Handler => (input) => {
  const { request } = input
  if (!(request instanceof ServerRequest)) {
    return Effect.dieMessage("the request is not a ServerRequest")
  }
  const handler = request.handlers.get(name)
  return handler === undefined
    ? Effect.dieMessage(`the sandbox of this request has no handler ${name}`)
    : Effect.map(handler(input), (result) => {
      request.result = encode(result)
      return request.result === undefined ? Envelope.empty(204) : Envelope.json(200, request.result)
    })
}

/** The platform's route of an endpoint: decodes the request, and runs the handler behind the middleware. */
const prepare = (
  endpoint: AnyEndpoint,
  handler: Handler,
  middleware: Context.Context<never>
): Router.Route =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    // The route finds the router by it. Layers that merge or provide these would take most of the time of this.
    const memoMap = yield* Layer.makeMemoMap
    const router = yield* Layer.buildWithMemoMap(HttpApiBuilder.Router.Live, memoMap, scope)
    const api = HttpApi.make("sandbox").add(HttpApiGroup.make("group").add(endpoint))
    const routes = HttpApiBuilder.group(api, "group",
      (handlers) => handlers.handle(endpoint.name, handler, { uninterruptible: true }) as never)
    yield* Effect.provide(Layer.buildWithMemoMap(routes, memoMap, scope), Context.merge(middleware, router))
    return Chunk.unsafeHead((yield* Effect.provide(HttpApiBuilder.Router.router, router)).routes)
  }).pipe(Effect.scoped, Effect.runSync)

/** The route of an endpoint, which is prepared by its first request. */
const routeOf = <Middleware extends AnyMiddleware, E>(
  { basePath, furtherFields, middleware: behind }: Serving<Middleware, E>,
  endpoint: AnyEndpoint,
  middleware: Context.Context<Middleware>
): Router.Route => {
  let prepared: Router.Route | undefined
  const path = `${basePath}${endpoint.path}` as const
  const handler = handle(endpoint.name, encoder(endpoint.successSchema, furtherFields))
  return HttpRouter.makeRoute(endpoint.method, path,
    Effect.suspend(() => (prepared ??= prepare(served(behind(endpoint), path), handler, middleware)).handler), {
    uninterruptible: true
  })
}

// True of every group: `Any` is the same class without the type of its endpoints.
const endpointsOf = (group: HttpApiGroup.HttpApiGroup.Any) => (group as unknown as HttpApiGroup.HttpApiGroup.AnyWithProps).endpoints

/**
 * A group of an api, with handlers as `HttpApiBuilder.group` takes them. They require nothing but the caller. A started
 * handler runs to its end, even if the caller closes the connection.
 *
 * @since 0.1.0
 * @category constructors
 */
export const group = <Middleware extends AnyMiddleware, ServingE, Endpoints extends HttpApiGroup.HttpApiGroup.Any, E, Provides, R>(
  serving: Serving<Middleware, ServingE>,
  endpoints: Endpoints,
  build: (
    handlers: HttpApiBuilder.Handlers.FromGroup<
      ServingE | HttpApiMiddleware.HttpApiMiddleware.Error<Middleware>,
      Middleware,
      Endpoints
    >
  ) => Effect.Effect<HttpApiBuilder.Handlers<E, Provides, CurrentCaller>, never, R>
): Group<R, Middleware> => ({
  routes: (middleware) => Object.values(endpointsOf(endpoints)).map((endpoint) => routeOf(serving, endpoint, middleware)),
  names: () => Object.keys(endpointsOf(endpoints)),
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
  /** The handlers of one sandbox. Those of a group are made at their first use. */
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
  type R = Requirements<Groups[number]>
  let app: Router.App | undefined
  let byName: ReadonlyMap<string, Group<R, Middleware>> | undefined
  const groupOf = (name: string) =>
    // The types of a list lose what each of its items requires.
    (byName ??= new Map((groups as ReadonlyArray<Group<R, Middleware>>).flatMap((group) => group.names().map((name) => [name, group]))))
      .get(name)
  return {
    app: () => app ??= Router.make(groups.flatMap(({ routes }) => routes(middleware))),
    handlers: Effect.map(Effect.context<R>(), (services): Handlers => {
      const made = new Map<Group<R, Middleware>, Handlers>()
      return {
        get: (name) => {
          const group = groupOf(name)
          if (group === undefined) {
            return undefined
          }
          // A request uses one group of ten. To make handlers is to take their services.
          const handlers = made.get(group) ?? Effect.runSync(Effect.provide(group.handlers, services))
          made.set(group, handlers)
          return handlers.get(name)
        }
      }
    })
  }
}
