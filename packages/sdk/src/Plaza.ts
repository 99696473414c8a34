/** The services of the client on Promises. Their types and `createPlaza` derive from those of the client. */
import { Chat, ClientError, Media, Plaza as Client, Posts, Profiles, RateLimit, Settings, Store, Stories } from "@plaza/client"
import type { Cursor } from "@plaza/domain/Ids"
import { type Plain, type PlainArguments, toPlain } from "@plaza/domain/Plain"
import {
  Cause,
  Config,
  ConfigProvider,
  Context,
  Effect,
  Exit,
  FileSystem,
  Layer,
  Logger,
  References,
  Schema,
  SchemaIssue,
  SchemaTransformation,
  Scope,
  Stream
} from "effect"
import type { HttpClient } from "effect/http"
import { type FailuresByTag, toFailure } from "./Failures.ts"
import * as FakeableClock from "./FakeableClock.ts"
import * as Options from "./Options.ts"
import { toUploads, type UploadFailures, type Uploads } from "./Uploads.ts"

/** The services of the client, by the names of their areas. Uploads are below, because their content differs. */
interface Services {
  readonly profiles: Profiles["Service"]
  readonly posts: Posts["Service"]
  readonly media: Omit<Media["Service"], keyof Uploads>
  readonly stories: Stories["Service"]
  readonly store: Store["Service"]
  readonly chat: Chat["Service"]
}

type Result<T> = T extends Effect.Effect<infer A, infer _E, infer _R> ? Promise<Plain<A>>
  : T extends Stream.Stream<infer A, infer _E, infer _R> ? AsyncIterable<Plain<A>>
  : never

/** A call with its options as the last argument, among the options that it has itself. */
type Method<T> = T extends (...args: infer Args) => infer Out
  ? Args["length"] extends Required<Args>["length"] ? (...args: [...PlainArguments<Args>, options?: Options.CallOptions]) => Result<Out>
  : Args extends [...infer Init, (infer Last)?] ?
    (...args: [...PlainArguments<Init>, options?: Plain<Last> & Options.CallOptions]) => Result<Out>
  : never
  : (options?: Options.CallOptions) => Result<T>

type FailureOf<T> = T extends Effect.Effect<infer _A, infer E, infer _R> ? Plain<E, FailuresByTag>
  : T extends Stream.Stream<infer _A, infer E, infer _R> ? Plain<E, FailuresByTag>
  : T extends (...args: never) => infer Out ? FailureOf<Out>
  : never

/** The errors that each operation can reject with, such as `Failures["store"]["ship"]`. */
export type Failures = {
  readonly [Area in keyof Services]:
    & { readonly [Name in keyof Services[Area]]: FailureOf<Services[Area][Name]> }
    & (Area extends "media" ? UploadFailures : unknown)
}

/** The operations of each area. */
export type Areas = {
  readonly [Area in keyof Services]:
    & { readonly [Name in keyof Services[Area]]: Method<Services[Area][Name]> }
    & (Area extends "media" ? Uploads : unknown)
}

/** What is read from the response of an undocumented endpoint. */
interface Parsing<A> {
  /** Validates the JSON of a response or of an item, such as `schema.parse` of a library (default: no validation). It throws if it can't. */
  readonly parse?: ((json: unknown) => A) | undefined
}

/** A request to an undocumented endpoint. */
export type OpenRequest<A> = Plain<Omit<Client.OpenRequest<unknown>, "response">> & Parsing<A> & Options.CallOptions

/** A list at an undocumented endpoint. */
export type OpenList<A> = Plain<Omit<Client.OpenList<unknown>, "item">> & Parsing<A> & Options.CallOptions

/** A client. Every call rejects with an error of this package, or with the reason of its `signal`. */
export interface Plaza extends Areas {
  /** Sends a request to an undocumented endpoint, with the key, the rate limit and the delivery rules of documented ones. */
  readonly request: <A = unknown>(request: OpenRequest<A>) => Promise<A>
  /** Reads an undocumented list that follows the documented list behaviour. */
  readonly paginate: <A = unknown>(list: OpenList<A>) => AsyncIterable<A>
  readonly rateLimit: {
    /** The free slots of the key's allowance, the requests in flight, the waiting calls, and the pauses. */
    readonly status: () => Result<RateLimit.RateLimit["Service"]["status"]>
  }
  /**
   * Closes the connections. Calls that wait reject with `ClientClosed`, those in flight with `ConnectionLost` or `OutcomeUnknown`. A program
   * ends without it. `await using` closes a client at the end of its block.
   */
  readonly close: () => Promise<void>
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Creates clients. */
export interface CreatePlaza {
  /**
   * Creates a client of a base URL and a key. All calls with a key should use one client, because it keeps the key's rate limit. Throws
   * `InvalidSettings`, which names the option.
   */
  (options: Options.Options): Plaza
  /**
   * Creates a client from the variables `PLAZA_BASE_URL` and `PLAZA_API_KEY` (both required), `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT`,
   * `PLAZA_RATE_WINDOW` and `PLAZA_ALLOW_INSECURE_HTTP`. An option overrides its variable. Throws `InvalidSettings`, which names the variable.
   */
  readonly fromEnv: (options?: Options.EnvironmentOptions) => Plaza
}

/** The parts of a client that differ by runtime. */
export interface Platform {
  readonly httpClient: (
    options: Options.TransportOptions
  ) => Layer.Layer<HttpClient.HttpClient, Config.ConfigError | ClientError.InvalidSettings>
  /** Undefined in a runtime without files. */
  readonly files: Layer.Layer<FileSystem.FileSystem> | undefined
}

const firstIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const invalidSetting = (setting: string, message: string) => toFailure(new ClientError.InvalidSettings({ setting, message }))

const toThrown = (error: unknown): unknown => {
  if (error instanceof ClientError.InvalidInput) return invalidSetting(error.field, error.message)
  if (!(error instanceof Config.ConfigError) || !Schema.isSchemaError(error.cause)) return toFailure(error)
  const [issue] = firstIssue(error.cause.issue).issues
  const [name] = issue?.path ?? []
  return invalidSetting(typeof name === "string" ? name : "options", issue?.message ?? error.message)
}

/** Reads the environment at each call, because the platform caches it, and a program may load a file of variables later. */
const runSync = <A, E>(effect: Effect.Effect<A, E>): A => {
  const exit = Effect.runSyncExit(Effect.provideService(effect, ConfigProvider.ConfigProvider, ConfigProvider.fromEnv()))
  if (Exit.isFailure(exit)) throw toThrown(Cause.squash(exit.cause))
  return exit.value
}

const entries = Logger.make(({ cause, fiber, logLevel, message }): Options.LogEntry => {
  const [event, ...details]: ReadonlyArray<unknown> = [message].flat()
  const failures = cause.reasons.length === 0 ? {} : { cause: Cause.squash(cause) }
  const fields = { ...fiber.getRef(References.CurrentLogAnnotations), ...failures, ...details.length === 0 ? {} : { details } }
  return { level: logLevel, event: String(event), fields }
})

/** Logs by a function, or warnings and errors to standard error. */
const layerLogger = (log: Options.Options["logger"]) =>
  log === undefined
    ? Layer.merge(
      Logger.layer([Logger.withConsoleError(Logger.map(entries, ({ event, fields }) => `plaza: ${event} ${JSON.stringify(fields)}`))]),
      Layer.succeed(References.MinimumLogLevel, "Warn")
    )
    : Logger.layer([Logger.map(entries, (entry) => {
      try {
        log(entry)
      } catch {
        // A log must not change the result of a call.
      }
    })])

type Signal = AbortSignal | undefined
type Convert = (value: unknown) => unknown

/**
 * Iterates over a list by its chunks, because a Promise for each item takes longer. Not an async generator, whose `return` waits for the
 * page in flight.
 */
const iterate = (context: Context.Context<Options.Provided>, list: Options.List, signal: Signal, convert: Convert) => {
  const chunks = Stream.toAsyncIterableWith(Stream.chunks(list), context)[Symbol.asyncIterator]()
  let items: Iterator<unknown> = [].values()
  let isOpen = true
  let pending = 0
  const end = async () => {
    isOpen = false
    signal?.removeEventListener("abort", stop)
    await chunks.return?.()
    return { done: true, value: undefined } as const
  }
  const stop = () => void chunks.return?.()
  const step = async (): Promise<IteratorResult<unknown, undefined>> => {
    try {
      // Here, so that a list that is never read leaves no listener. It is added once.
      if (isOpen) signal?.addEventListener("abort", stop)
      while (isOpen) {
        signal?.throwIfAborted()
        const item = items.next()
        if (item.done !== true) return { done: false, value: convert(item.value) }
        const chunk = await chunks.next()
        signal?.throwIfAborted()
        if (chunk.done === true) break
        items = chunk.value[Symbol.iterator]()
      }
      return await end()
    } catch (error) {
      await end()
      throw toFailure(error, step)
    } finally {
      pending--
    }
  }
  // One step after the other, as an async generator does it. Without another one before it, the stack of an error has the caller.
  let last: Promise<unknown> = Promise.resolve()
  return {
    next: () => {
      const next = pending++ === 0 ? step() : last.then(step, step)
      last = next
      return next
    },
    return: end
  }
}

const execute = async (context: Context.Context<Options.Provided>, call: Options.Call, signal: Signal, convert: Convert) => {
  signal?.throwIfAborted()
  const exit = await Effect.runPromiseExitWith(context)(call, { signal })
  if (Exit.isSuccess(exit)) return convert(exit.value)
  signal?.throwIfAborted()
  // Created after an `await`, so that its stack has the caller.
  throw toFailure(Cause.squash(exit.cause), execute)
}

const parser = (parse: ((json: unknown) => unknown) | undefined): Schema.Decoder<unknown> => {
  if (parse === undefined) return Schema.Unknown
  if (typeof parse !== "function") throw Options.invalid("parse", "must be a function")
  const run = (json: unknown): unknown => {
    const value = parse(json)
    if (!(value instanceof Promise)) return value
    value.catch(() => {})
    throw new Error("it returned a Promise")
  }
  const issue = (error: unknown) =>
    new SchemaIssue.InvalidValue({ message: `parse: ${error instanceof Error ? error.message : "it threw"}` })
  return Schema.Unknown.pipe(Schema.decodeTo(
    Schema.Unknown,
    SchemaTransformation.transformEffect({
      decode: (json: unknown) => Effect.try({ try: () => run(json), catch: issue }),
      encode: Effect.succeed
    })
  ))
}

/** Code without types can pass anything. */
const checkObject = <A extends object>(what: string, value: A): A => {
  if (typeof value !== "object" || value === null) throw Options.invalid(what, "must be an object")
  return value
}

const openRequest = (given: OpenRequest<unknown>) => {
  const { parse, ...request } = checkObject("the request", given)
  return Client.request({ ...request, response: parser(parse) })
}

const openList = (given: OpenList<unknown>) => {
  const { cursor, parse, ...list } = checkObject("the list", given)
  // True of a text, and the client refuses everything else.
  return Client.paginate({ ...list, cursor: cursor as Cursor | undefined, item: parser(parse) })
}

/** Creates calls. An error that `create` throws becomes the failure of the call. */
const attempt = (create: () => Options.Calls): Options.Calls => {
  try {
    return create()
  } catch (error) {
    return Effect.fail(error)
  }
}

const identity = (value: unknown): unknown => value

const withoutFiles = (_path: string) =>
  Effect.fail(Options.invalid("path", "needs a runtime with files; pass the content to upload instead"))

/** Builds the layers of a client, and puts Promises in front of its services. */
const open = (
  platform: Platform,
  client: Effect.Effect<Client.Options, Config.ConfigError>,
  options: Options.EnvironmentOptions
): Plaza => {
  const scope = Scope.makeUnsafe()
  // Checked first and one after the other: layers that fail side by side interrupt each other, and that is asynchronous.
  const settings = runSync(Effect.tap(client, (settings) => Effect.fromResult(Settings.fromOptions(settings))))
  const http = runSync(Layer.buildWithScope(platform.httpClient(options), scope))
  const context: Context.Context<Options.Provided> = runSync(Layer.buildWithScope(
    Client.layer(settings).pipe(
      Layer.provideMerge(Layer.succeedContext(http)),
      Layer.provideMerge(Layer.mergeAll(
        platform.files ?? FileSystem.layerNoop({}),
        layerLogger(options?.logger),
        FakeableClock.layer
      ))
    ),
    scope
  ))
  const run = (given: Options.Calls, options: unknown, convert: Convert) => {
    const { calls, signal } = Options.withCallOptions(given, options)
    return Stream.isStream(calls)
      ? { [Symbol.asyncIterator]: () => iterate(context, calls, signal, convert) }
      : execute(context, calls, signal, convert)
  }
  const method = (operation: unknown, convert: Convert) => (...args: ReadonlyArray<unknown>): unknown => {
    // True because a service of the client has only operations. It checks its arguments itself.
    const start = (typeof operation === "function" ? operation : () => operation) as (...args: ReadonlyArray<unknown>) => Options.Calls
    const calls = attempt(() => start(...args))
    // The options are the last argument of a list, and follow the required ones of a call.
    return run(calls, args[Stream.isStream(calls) ? start.length - 1 : start.length], convert)
  }
  const area = (service: object, convert = toPlain) =>
    Object.fromEntries(Object.entries(service).map(([name, operation]) => [name, method(operation, convert)]))

  const media = toUploads(Context.get(context, Media))
  const areas = {
    profiles: area(Context.get(context, Profiles)),
    posts: area(Context.get(context, Posts)),
    media: area({ ...Context.get(context, Media), ...media, ...platform.files === undefined ? { uploadFile: withoutFiles } : {} }),
    // Its result is the JSON of the service, of any depth.
    stories: area(Context.get(context, Stories), identity),
    store: area(Context.get(context, Store)),
    chat: area(Context.get(context, Chat))
  }
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  const operations = {
    ...areas,
    request: (given: OpenRequest<unknown>) => run(Effect.suspend(() => openRequest(given)), given, identity),
    paginate: (given: OpenList<unknown>) => run(Stream.suspend(() => openList(given)), given, identity),
    rateLimit: area({ status: Context.get(context, RateLimit.RateLimit).status }),
    close,
    [Symbol.asyncDispose]: close
  }
  // True because the types of `Plaza` are those of the services, converted as `method` and `run` do.
  return operations as unknown as Plaza
}

/** Creates `createPlaza` for a runtime. */
export const make = (platform: Platform): CreatePlaza =>
  Object.assign((options: Options.Options): Plaza =>
    open(
      platform,
      Effect.sync(() => {
        const { apiKey, baseUrl } = checkObject("options", options)
        return { ...Options.toClientOptions(options, true), baseUrl, apiKey: Options.toApiKey(apiKey) }
      }),
      options
    ), {
    fromEnv: (options: Options.EnvironmentOptions = {}): Plaza =>
      open(
        platform,
        Effect.gen(function*() {
          const changes = Options.toClientOptions(checkObject("options", options), false)
          const allowInsecureHttp = yield* Settings.allowInsecureHttp
          const { apiKey, baseUrl, rateLimit, rateWindow, timeout } = yield* Settings.configFor(options.application)
          return { allowInsecureHttp, rateLimit, rateWindow, timeout, ...changes, baseUrl, apiKey }
        }),
        options
      )
  })
