/**
 * The sandbox for tests without Effect: its operations return Promises, instants are `Date`, and `fetch` calls it without a socket.
 *
 * @since 0.1.0
 */
import { fromPlain, type Plain, type PlainArguments, toPlain } from "@plaza/domain/Plain"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Sandbox from "./Sandbox.ts"
import { SandboxError } from "./SandboxError.ts"
import type { NewWorld, WorldInfo } from "./worlds/WorldModels.ts"

/** @since 0.1.0 @category models */
export type { Plain } from "@plaza/domain/Plain"

type Operations = Sandbox.Operations

type Operation<T> = T extends (...args: infer Args) => Effect.Effect<infer A, infer _E, infer _R>
  ? (...args: PlainArguments<Args>) => Promise<Plain<A>>
  : T extends Effect.Effect<infer A, infer _E, infer _R> ? () => Promise<Plain<A>>
  : Plain<T>

type Started = { readonly [Name in keyof Operations]: Operation<Operations[Name]> }

/**
 * A world of a running sandbox, with the members of a sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export type StartedWorld = Started & {
  /** The name in its addresses. */
  readonly id: string
  /** That of its sandbox. */
  readonly fetch: typeof globalThis.fetch
  /** Closes the connections of its requests, and deletes everything behind it. `await using` does it at the end of the block. */
  readonly remove: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * A running sandbox. Its members are those of the service `Sandbox`, such as `addFault`, `requests` and `reset`.
 *
 * @since 0.1.0
 * @category models
 */
export type StartedSandbox = Started & {
  /** Worlds: sandboxes beside this one, for tests that run at the same time. */
  readonly worlds: {
    /** Makes a world, by default as the sandbox was started and with a free id. Rejects with `SandboxError` if that is not possible. */
    readonly create: (options?: Plain<NewWorld>) => Promise<StartedWorld>
    /** Oldest first. */
    readonly list: () => Promise<ReadonlyArray<Plain<WorldInfo>>>
    readonly remove: (id: string) => Promise<void>
  }
  /**
   * Calls the sandbox in process: pass it to a client in place of the global `fetch`. Requests to other hosts fail. On a socket, it is the
   * global `fetch`.
   */
  readonly fetch: typeof globalThis.fetch
  /**
   * Releases the sandbox, whose members then reject. `await using` does it at the end of the block. A process ends without it, unless the
   * sandbox is on a socket.
   */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/**
 * Options of {@link startSandbox}. With a `port` or a `host` the sandbox listens on a socket, for clients in other processes.
 *
 * @since 0.1.0
 * @category models
 */
export type Options = { readonly [Name in keyof Sandbox.ServerOptions]: Plain<Sandbox.ServerOptions[Name]> }

const toResponse = ({ method, signal, url }: Request, { headers, status, stream }: HttpClientResponse.HttpClientResponse): Response => {
  // These have no body, and `Response` refuses one.
  const isEmpty = method === "HEAD" || status === 204 || status === 205 || status === 304
  // By the web's streams, because a fiber would resume by a timer, and a test can have fake ones.
  const body = isEmpty ? null : Stream.toReadableStream(stream).pipeThrough(new TransformStream(), { signal })
  // `Response` has no other way to set it.
  return Object.defineProperty(new Response(body, { status, headers }), "url", { value: url })
}

/** The bytes of a body, or the reason of a signal. Not an Effect, which would resume by a timer: a test can have fake ones. */
const bytesOf = (web: Request): Promise<ArrayBuffer> =>
  new Promise((resolve, reject) => {
    const stop = () => reject(web.signal.reason)
    web.signal.addEventListener("abort", stop)
    web.arrayBuffer().then(resolve, reject).finally(() => web.signal.removeEventListener("abort", stop))
  })

/** Converts a request of `fetch`. A body of known length is sent with that length. */
const toRequest = async (web: Request, isStream: boolean): Promise<HttpClientRequest.HttpClientRequest> => {
  const request = HttpClientRequest.fromWeb(web)
  return web.body === null || isStream
    ? request
    : HttpClientRequest.bodyUint8Array(request, new Uint8Array(await bytesOf(web)), web.headers.get("content-type") ?? undefined)
}

/** A `fetch` that ends with the sandbox. */
const makeFetch = (client: HttpClient.HttpClient, closed: AbortSignal): typeof globalThis.fetch => async (input, init) => {
  const isStream = init?.body instanceof ReadableStream
  const given = new Request(input, { ...init, ...(isStream ? { duplex: "half" } : {}) })
  const web = new Request(given, { signal: AbortSignal.any([given.signal, closed]) })
  given.signal.throwIfAborted()
  // As `fetch` reports a server that has ended.
  closed.throwIfAborted()
  const exit = await Effect.runPromiseExit(client.execute(await toRequest(web, isStream)), { signal: web.signal })
  if (Exit.isSuccess(exit)) return toResponse(web, exit.value)
  web.signal.throwIfAborted()
  const error = Cause.squash(exit.cause)
  // As `fetch` reports a failed connection: the code is in the cause.
  throw new TypeError("fetch failed", { cause: error instanceof Error && "reason" in error ? causeOf(error.reason) : error })
}

const causeOf = (reason: unknown): unknown => typeof reason === "object" && reason !== null && "cause" in reason ? reason.cause : reason

/** What a call rejects with: the errors of the service and of the sandbox, and for an argument of a wrong form one sentence. */
const rejection = (cause: Cause.Cause<unknown>): unknown => {
  const error = Cause.squash(cause)
  return error instanceof SandboxError || (error instanceof Error && "category" in error) ? error : new SandboxError({
    message: `an argument can't be used: ${(error instanceof Error ? error.message : String(error)).replaceAll(/\s*\n\s*/g, " ")}`,
    cause: error
  })
}

const run = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
  const exit = await Effect.runPromiseExit(effect)
  if (Exit.isSuccess(exit)) return exit.value
  throw rejection(exit.cause)
}

const closedError = new SandboxError({ message: "the sandbox is closed" })

// A typo in code without types would be an option that has no effect. A test compares the names with the type.
const optionNames = new Set(
  "allowedHosts assumptions assumptionsFile control data fixtures freezeClock host latitude port seed timeouts".split(" ")
)

const checkOptions = (options: unknown): void => {
  if (typeof options !== "object" || options === null) throw new SandboxError({ message: "the options must be an object" })
  const unknown = Object.keys(options).find((name) => !optionNames.has(name))
  if (unknown !== undefined) throw new SandboxError({ message: `${unknown} is no option; the options are ${[...optionNames].join(", ")}` })
}

const operation = (value: unknown, isClosed: () => boolean): unknown => {
  const call = async (effect: () => Effect.Effect<unknown, unknown>) =>
    toPlain(await run(isClosed() ? Effect.fail(closedError) : Effect.suspend(effect)))
  return Effect.isEffect(value)
    // True because the operations of the service need no other service.
    ? () => call(() => value as Effect.Effect<unknown, unknown>)
    : typeof value === "function"
    // True because every function of the service returns such an Effect.
    ? (...args: ReadonlyArray<unknown>) =>
      call(() => Reflect.apply(value, undefined, args.map(fromPlain)) as Effect.Effect<unknown, unknown>)
    : value
}

/** The operations with Promises for Effects. */
const converted = (operations: Operations, isClosed: () => boolean): Started => {
  const names = Object.keys(operations).filter((name) => name !== "apiKey" && name !== "worlds")
  const members = Object.fromEntries(names.map((name) => [name, operation(Reflect.get(operations, name), isClosed)]))
  // True because `operation` converts each member as the type `Operation` does. The latitude determines the prefix of the key.
  return Object.defineProperty(members, "apiKey", {
    enumerable: true,
    get: () => Redacted.value(operations.apiKey)
  }) as unknown as Started
}

/**
 * Starts a sandbox. Rejects with `SandboxError` for an invalid option.
 *
 * @example
 * import { startSandbox } from "@plaza/sandbox/promise"
 *
 * const program = async () => {
 *   await using sandbox = await startSandbox({ seed: 7 })
 *   const response = await sandbox.fetch(`${sandbox.baseUrl}/me`, { headers: { authorization: `Bearer ${sandbox.apiKey}` } })
 *   return [response.status, await sandbox.countRequests()]
 * }
 * // => [200, 1]
 *
 * @since 0.1.0
 * @category constructors
 */
export const startSandbox = async (options: Options = {}): Promise<StartedSandbox> => {
  checkOptions(options)
  const scope = Scope.makeUnsafe()
  // True because `fromPlain` gives the types of its argument with instants for dates.
  const given = await run(Effect.sync(() => fromPlain(options) as Sandbox.ServerOptions))
  const build = <A, E>(layer: Layer.Layer<A, E>) => run(Layer.buildWithScope(layer, scope))
  const closing = new AbortController()
  const { fetch, service } = given.port === undefined && given.host === undefined
    ? await build(Sandbox.layerHttpClient(given)).then((context) => ({
      fetch: makeFetch(Context.get(context, HttpClient.HttpClient), closing.signal),
      service: Context.get(context, Sandbox.Sandbox)
    }))
    : await build(Sandbox.layerServer(given)).then((context) => ({
      fetch: globalThis.fetch,
      service: Context.get(context, Sandbox.Sandbox)
    }))
  const close = () => {
    closing.abort(new TypeError("fetch failed", { cause: Object.assign(new Error(closedError.message), { code: "ECONNREFUSED" }) }))
    return run(Scope.close(scope, Exit.void))
  }
  const isClosed = () => closing.signal.aborted
  const { worlds } = service
  const call = <A>(effect: () => Effect.Effect<A, unknown>) => run(isClosed() ? Effect.fail(closedError) : Effect.suspend(effect))
  const remove = (id: string) => call(() => worlds.remove(id))
  const create = async (options?: Plain<NewWorld>): Promise<StartedWorld> => {
    // True because `fromPlain` gives the types of its argument with instants for dates.
    const world = await call(() => worlds.create(fromPlain(options) as NewWorld | undefined))
    const removing = () => remove(world.id)
    return Object.assign(converted(world, isClosed), { id: world.id, fetch, remove: removing, [Symbol.asyncDispose]: removing })
  }
  // True because `toPlain` gives the types of its argument with dates for instants.
  const list = async () => toPlain(await call(() => worlds.list)) as ReadonlyArray<Plain<WorldInfo>>
  return Object.assign(converted(service, isClosed), { worlds: { create, list, remove }, fetch, close, [Symbol.asyncDispose]: close })
}
