/**
 * The sandbox: the service of the document, local and stateful, with faults on request. It runs in process for tests, or on a
 * socket for people and other programs. This module composes its layers.
 *
 * @since 0.1.0
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { type DocumentedError, Forbidden, NotFound, type ValidationError } from "@plaza/domain/Errors"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import type { HttpServerError } from "effect/http/HttpServerError"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as AccessRequests from "./access/AccessRequests.ts"
import { AccessRequestsRepo } from "./access/AccessRequestsRepo.ts"
import { AccountPolicy } from "./access/AccountPolicy.ts"
import { AccountsRepo } from "./access/AccountsRepo.ts"
import { ArrivalsRepo } from "./access/ArrivalsRepo.ts"
import * as Keys from "./access/Keys.ts"
import { KeysRepo } from "./access/KeysRepo.ts"
import { RateWindow } from "./access/RateWindow.ts"
import * as Chat from "./areas/chat/ChatHandlers.ts"
import { ChatRepo } from "./areas/chat/ChatRepo.ts"
import { Cursors } from "./areas/Cursors.ts"
import * as MediaFiles from "./areas/media/MediaFiles.ts"
import * as Media from "./areas/media/MediaHandlers.ts"
import { MediaRepo } from "./areas/media/MediaRepo.ts"
import { Pagination } from "./areas/Pagination.ts"
import * as Posts from "./areas/posts/PostsHandlers.ts"
import { PostsPolicy } from "./areas/posts/PostsPolicy.ts"
import { PostsRepo } from "./areas/posts/PostsRepo.ts"
import * as Profiles from "./areas/profiles/ProfilesHandlers.ts"
import * as Store from "./areas/store/StoreHandlers.ts"
import { StorePolicy } from "./areas/store/StorePolicy.ts"
import { StoreRepo } from "./areas/store/StoreRepo.ts"
import * as Stories from "./areas/stories/StoriesHandlers.ts"
import { StoriesRepo } from "./areas/stories/StoriesRepo.ts"
import type { Assumptions } from "./Assumptions.ts"
import { CurrentAssumptions, decode as decodeAssumptions, defaults, merge } from "./Assumptions.ts"
import * as AssumptionsFile from "./AssumptionsFile.ts"
import * as Control from "./control/Control.ts"
import { ControlApi } from "./control/ControlApi.ts"
import * as ControlHandlers from "./control/ControlHandlers.ts"
import { Admission } from "./http/Admission.ts"
import type { Commit } from "./http/Commits.ts"
import { Commits } from "./http/Commits.ts"
import * as Envelope from "./http/Envelope.ts"
import type { ActiveFault, FaultId } from "./http/Fault.ts"
import { Fault } from "./http/Fault.ts"
import { Faults } from "./http/Faults.ts"
import type { ConnectionReset } from "./http/FaultyResponse.ts"
import * as HostPolicy from "./http/HostPolicy.ts"
import { makeClient, origin as originInProcess } from "./http/InProcess.ts"
import { type App as InterfaceHandler, Interface, layerMiddleware as interfaceMiddleware } from "./http/Interface.ts"
import type { ServerTimeouts } from "./http/NodeServer.ts"
import type { RequestFilter, RequestRecord } from "./http/RequestLog.ts"
import { RequestLog } from "./http/RequestLog.ts"
import { targetOf } from "./http/RequestReader.ts"
import { basePath, InterfaceApi } from "./InterfaceApi.ts"
import * as Latitude from "./Latitude.ts"
import { CurrentLatitude } from "./latitude/CurrentLatitude.ts"
import { LateCommits } from "./latitude/LateCommits.ts"
import { SandboxError } from "./SandboxError.ts"
import { Fixtures, read as readFixtures } from "./seeding/Fixtures.ts"
import * as InitialData from "./seeding/InitialData.ts"
import { Seeding } from "./seeding/Seeding.ts"
import type { SeedingOperations } from "./seeding/SeedingOperations.ts"
import type { Snapshot } from "./seeding/Snapshots.ts"
import { Snapshots } from "./seeding/Snapshots.ts"
import type { StateSnapshot } from "./seeding/StateSnapshot.ts"
import * as Database from "./storage/Database.ts"
import { Db } from "./storage/Db.ts"
import { MetaRepo } from "./storage/MetaRepo.ts"
import type { ClockState } from "./VirtualClock.ts"
import * as VirtualClock from "./VirtualClock.ts"
import * as ChosenWorld from "./web/ChosenWorld.ts"
import * as Layout from "./web/Layout.ts"
import * as Web from "./web/Web.ts"
import * as WorldFiles from "./worlds/WorldFiles.ts"
import { NewWorld, type WorldInfo } from "./worlds/WorldModels.ts"
import * as Worlds from "./worlds/Worlds.ts"
import { CurrentWorld, type Target } from "./worlds/Worlds.ts"

/**
 * The addresses and the key of a sandbox or a world, and the operations that inspect and control it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Operations extends SeedingOperations {
  /** The base URL of the interface; ends with `/open/v1`. */
  readonly baseUrl: string
  /** The address of the web pages; ends with a slash. */
  readonly webUrl: string
  /** The base URL of the control API; ends with `/sandbox`. */
  readonly controlUrl: string
  /**
   * The seeded key of the shop, with all scopes. It is derived from the seed, so it is public.
   */
  readonly apiKey: Redacted.Redacted
  /** The seed of the data. */
  readonly seed: number
  /** A snapshot of the whole state. */
  readonly state: Effect.Effect<StateSnapshot>
  /** The request log, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<RequestRecord>>
  /** The number of logged requests that match (default: all); `*` matches any run of characters. */
  readonly countRequests: (filter?: RequestFilter) => Effect.Effect<number>
  /** Restores the initial data and the time of the caller's Clock, and clears faults, rate counters and the logs. */
  readonly reset: Effect.Effect<void>
  /** The snapshots, oldest first. */
  readonly snapshots: Effect.Effect<ReadonlyArray<Snapshot>>
  /** Saves all data under a name. Replaces a snapshot of the same name. A reset keeps snapshots. */
  readonly saveSnapshot: (name: string) => Effect.Effect<Snapshot, ValidationError>
  /** Replaces all data by a snapshot, the offset of the clock included. Keeps the logs, faults and latitude. */
  readonly restoreSnapshot: (name: string) => Effect.Effect<void, NotFound>
  readonly removeSnapshot: (name: string) => Effect.Effect<void, NotFound>
  /** The time of the sandbox, and how far it is ahead of the caller's Clock. */
  readonly clock: Effect.Effect<ClockState>
  /** Advances the sandbox's clock by whole milliseconds, in addition to the caller's Clock. */
  readonly advanceClock: (by: Duration.Input) => Effect.Effect<ClockState, ValidationError>
  /** The writes that were carried out, as they were sent, oldest first. At most `Commits.capacity`; a reset clears them. */
  readonly commits: Effect.Effect<ReadonlyArray<Commit>>
  /** The current latitude. */
  readonly latitude: Effect.Effect<Latitude.Latitude>
  /** Sets fields of the latitude, or draws a whole latitude from a seed. A reset restores the latitude of the start. */
  readonly setLatitude: (change: Latitude.Change | number) => Effect.Effect<Latitude.Latitude>
  /** Adds a fault, which hits the next matching calls. Dies if no call can match, such as one of an unknown account. */
  readonly addFault: (fault: Fault) => Effect.Effect<FaultId>
  /** The active faults. */
  readonly faults: Effect.Effect<ReadonlyArray<ActiveFault>>
  /**
   * The faults that have hit no call: active ones, and those whose time is over. At the end of a test they show a fault that
   * misses the calls that it was made for.
   */
  readonly unusedFaults: Effect.Effect<ReadonlyArray<ActiveFault>>
  /** Replaces an active fault; its counters start again. */
  readonly replaceFault: (id: FaultId, fault: Fault) => Effect.Effect<ActiveFault, NotFound>
  readonly removeFault: (id: FaultId) => Effect.Effect<void, NotFound>
  readonly clearFaults: Effect.Effect<void>
}

/**
 * A world: a sandbox with addresses of its own and everything behind them, beside others in the same process.
 *
 * @since 0.1.0
 * @category models
 */
export interface World extends Operations {
  /** The name in its addresses. */
  readonly id: string
  /** The worlds of the sandbox that it belongs to. */
  readonly worlds: WorldsOfSandbox
}

/**
 * The worlds of a sandbox.
 *
 * @since 0.1.0
 * @category models
 */
export interface WorldsOfSandbox {
  /**
   * Makes a world, by default as the sandbox was started and with a free id. Fails with `SandboxError` if the id is in use or an option can't be
   * used.
   */
  readonly create: (options?: NewWorld) => Effect.Effect<World, SandboxError>
  /** Oldest first. */
  readonly list: Effect.Effect<ReadonlyArray<WorldInfo>>
  /**
   * Closes the connections of its requests, and deletes everything behind it. Fails with `SandboxError` if its files can't be deleted: the
   * world has ended all the same, and can be removed again.
   */
  readonly remove: (id: string) => Effect.Effect<void, NotFound | SandboxError>
}

/**
 * A running sandbox: its addresses, its key, and the operations that inspect and control it.
 *
 * @since 0.1.0
 * @category services
 */
export class Sandbox extends Context.Service<Sandbox, Operations & { readonly worlds: WorldsOfSandbox }>()("@plaza/sandbox/Sandbox") {}

/** @since 0.1.0 @category models */
export interface Options {
  /** The data file (default: `:memory:`, without a file). */
  readonly data?: string
  /** The seed of new data (default: 1). An existing data file keeps its seed. */
  readonly seed?: number
  /**
   * Freezes the clock, at this time or with `true` at 2026-01-01T00:00:00Z: only `advanceClock` moves it. The same seed and the
   * same requests then give the same responses; keys are derived from the seed (default: false, the caller's Clock).
   */
  readonly freezeClock?: boolean | DateTime.Utc
  /**
   * Fixtures in addition to the seeded data, or the path of a JSON or YAML file of fixtures. An existing data file keeps its
   * fixtures.
   */
  readonly fixtures?: string | Fixtures
  /**
   * Assumptions that differ from the defaults. With `false` the sandbox serves only what the document shows: assumed paths are
   * unknown, and responses have only fields of the contract.
   */
  readonly assumptions?: Partial<Assumptions> | false
  /**
   * Fields of the latitude that differ from the default, a lenient and exact service, or the seed of a latitude.
   */
  readonly latitude?: Latitude.Change | number
  /**
   * The path of a JSON file of assumptions, with a `latitude` beside them. `assumptions` and `latitude` take precedence over it.
   * See `Assumptions.decode`.
   */
  readonly assumptionsFile?: string
  /**
   * Who may call the control API and open the web pages over a socket (default: `loopback`, only this machine). Pages of
   * another origin are refused in either case.
   */
  readonly control?: "loopback" | "anyone"
}

/** @since 0.1.0 @category models */
export interface ServerOptions extends Options {
  /**
   * The address to listen on (default: `127.0.0.1`). A request is refused unless its `Host` is this machine (`localhost`, a
   * loopback address), this address or one of `allowedHosts`.
   */
  readonly host?: string
  /**
   * Further allowed hosts without a port, such as the name of a container. `*` allows every host (default: none).
   */
  readonly allowedHosts?: ReadonlyArray<string>
  /** The port (default: 0, any free port). */
  readonly port?: number
  /** Timeouts that differ from the defaults. */
  readonly timeouts?: Partial<ServerTimeouts>
}

const defaultHost = "127.0.0.1"

const strict = { onExcessProperty: "error" } as const
const validFault = Schema.decodeUnknownEffect(Schema.toType(Fault), strict)
const validLatitude = Schema.decodeUnknownEffect(Schema.Union([Schema.Int, Latitude.Change]), strict)
const validWorld = Schema.decodeUnknownEffect(Schema.toType(NewWorld), strict)
const validFixtures = Schema.decodeUnknownEffect(Schema.toType(Fixtures), strict)

/** The latitude of the start. Its own fields override those of the file of assumptions. */
const initialLatitude = (written: Latitude.Change, wanted: Options["latitude"] = {}): Effect.Effect<Latitude.Latitude, SandboxError> =>
  Effect.fromResult(Latitude.decode(typeof wanted === "number" ? { seed: wanted } : wanted)).pipe(
    Effect.mapBoth({
      onFailure: (problem) => new SandboxError({ message: `latitude, the service variant, can't be used: ${problem}` }),
      onSuccess: (change) => Latitude.apply(Latitude.apply(Latitude.defaults, written), change)
    })
  )

/** Rejects a seed that is no whole number, invalid hosts, which would never match, and a time that has no ISO 8601 form of four digits for the year. */
const checkSettings = (
  seed: number | undefined,
  allowed: ReadonlyArray<string>,
  frozenAt: DateTime.Utc | undefined
): Effect.Effect<void, SandboxError> => {
  if (seed !== undefined && !Number.isSafeInteger(seed)) {
    return Effect.fail(new SandboxError({ message: "the seed must be a whole number" }))
  }
  if (frozenAt !== undefined && !VirtualClock.canFreezeAt(frozenAt)) {
    return Effect.fail(new SandboxError({ message: "the clock can't be frozen at this time: use one from 1970 to the year 9999" }))
  }
  const wrong = allowed.find((host) => !HostPolicy.isHost(host))
  return wrong === undefined ? Effect.void : Effect.fail(
    new SandboxError({
      message: `the allowed host "${wrong}" is invalid: give a host name or an address without a port, or * for every host`
    })
  )
}

const repos = Layer.mergeAll(
  AccessRequestsRepo.layer,
  AccountsRepo.layer,
  ArrivalsRepo.layer,
  KeysRepo.layer,
  ChatRepo.layer,
  MediaRepo.layer,
  PostsRepo.layer,
  StoreRepo.layer,
  StoriesRepo.layer,
  MetaRepo.layer
)

const areas = Layer.mergeAll(Profiles.layer, Media.layer, Posts.layer, Stories.layer, Store.layer, Chat.layer)

const interfaceRoutes = HttpApiBuilder.layer(InterfaceApi).pipe(Layer.provide(areas), Layer.provide(interfaceMiddleware))

const controlRoutes = HttpApiBuilder.layer(ControlApi).pipe(Layer.provide(ControlHandlers.layer), Layer.provide(Control.layerMiddleware))

const pageRoutes = (app: InterfaceHandler) =>
  Layer.unwrap(Effect.map(Effect.promise(() => import("./web/Pages.ts")), ({ layer }) => layer(app)))

/** Paths are compared exactly; by default the router ignores case and slashes, and limits the length of an id. */
const routerConfig = Layer.succeed(HttpRouter.RouterConfig, {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: false,
  maxParamLength: Number.POSITIVE_INFINITY
})

/** Requests to a proxy have an absolute URL as their target. */
const withoutOrigin = (target: string): string => /^https?:\/\/[^/?#]*(.*)$/is.exec(target)?.[1] ?? target

const split = (target: string): Target => {
  const mark = target.indexOf("?")
  return mark === -1 ? { path: target, query: "" } : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

const dated = Effect.flatMap((response: HttpServerResponse) =>
  Effect.map(Clock.currentTimeMillis, (now) => Envelope.withHeader(response, "date", new Date(now).toUTCString()))
)

const misdirected = Envelope.failure(
  new Forbidden({
    message: "the Host of this request is not allowed: use localhost or 127.0.0.1, or start the sandbox with this host as an allowed host"
  })
)

const unknownWorld = (id: string) =>
  new NotFound({ message: `there is no world "${id}": create it with POST ${Control.basePath}/worlds, or omit /worlds/${id}` })

/** Removes the clock from the context of the handlers, so that they use the clock of their request. */
const withoutClock = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(effect, (context: Context.Context<R>): Context.Context<R> => Context.omit(Clock.Clock)(context))

const route = <A, E, R>(routes: Layer.Layer<A, E, R>) =>
  withoutClock(HttpRouter.toHttpEffect(Layer.provide(routes, HttpServer.layerServices)))

/**
 * Makes an application with its first request, in the context of the sandbox. Most tests never ask the control API or a page, and
 * these have more routes than the interface.
 */
const onFirstRequest = <A, E, R, E2, R2>(app: Effect.Effect<Effect.Effect<A, E, R>, E2, R2>) =>
  Effect.contextWith((context: Context.Context<R2>) =>
    // Handlers keep the context that they are made in: not that of the first request.
    Effect.map(Effect.cached(Effect.updateContext(app, (_: Context.Context<never>) => context)), Effect.flatten)
  )

type Response = Effect.Effect<HttpServerResponse, HttpServerError | ConnectionReset, HttpServerRequest | Scope.Scope>

/** What a sandbox or a world responds. A started handler runs to its end, even if the caller closes the connection. */
class App extends Context.Service<App, {
  /** To calls of the interface and the control API. */
  readonly respond: (target: Target) => Response
  readonly ownsPage: (request: HttpServerRequest, path: string) => boolean
  readonly page: (target: Target) => Response
}>()("@plaza/sandbox/App") {
  static readonly layer = Layer.effect(
    App,
    Effect.gen(function*() {
      const control = yield* Control.Control
      const web = yield* Web.Web
      const api = yield* Interface
      const clock = yield* VirtualClock.VirtualClock
      const app = yield* route(interfaceRoutes)
      const controlApp = yield* onFirstRequest(route(controlRoutes))
      const pages = yield* onFirstRequest(route(pageRoutes(app)))
      const within = (response: Response) => Effect.uninterruptible(clock.within(response))
      return {
        respond: (target) => within(control.owns(target.path) ? dated(control.respond(controlApp, target)) : api.respond(app, target)),
        // Programs accept HTML too: the HTTP client of Java does by default, and with it the wait of Testcontainers.
        ownsPage: (request, path) => !control.owns(path) && web.owns(request, path),
        page: (target) => within(dated(web.respond(pages, target)))
      }
    })
  ).pipe(Layer.provide(routerConfig))
}

/** The services of a sandbox, in process and on a socket. Built bottom-up: each step may use the services below it. */
const services = Effect.fnUntraced(function*({
  allowedHosts = [],
  assumptions = {},
  assumptionsFile,
  control = "loopback",
  data = Database.inMemory,
  fixtures: wantedFixtures,
  freezeClock = false,
  host = defaultHost,
  latitude,
  seed: wantedSeed
}: ServerOptions, places: Layer.Layer<CurrentWorld | Worlds.Worlds>) {
  const local = HostPolicy.make(host, allowedHosts)
  const frozenAt = freezeClock === true ? VirtualClock.defaultFrozenAt : freezeClock === false ? undefined : freezeClock
  const file = assumptionsFile === undefined
    ? AssumptionsFile.empty
    : yield* Effect.provide(AssumptionsFile.read(assumptionsFile), NodeFileSystem.layer)
  const assumed = merge(merge(defaults, file.assumptions), assumptions === false ? { undocumented: false } : assumptions)
  yield* checkSettings(wantedSeed, allowedHosts, frozenAt)
  const initial = yield* initialLatitude(file.latitude, latitude)
  const fixtures = typeof wantedFixtures === "string"
    ? yield* Effect.provide(readFixtures(wantedFixtures), NodeFileSystem.layer)
    : wantedFixtures
  // The folder is checked first, so that no data file is created if it is refused.
  yield* MediaFiles.checkFolder(data)

  const prepared = PostsPolicy.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(
      AccountPolicy.layer,
      StorePolicy.layer,
      LateCommits.layer,
      CurrentLatitude.layer(initial, typeof latitude === "number" ? latitude : latitude?.seed ?? file.latitude.seed),
      MediaFiles.MediaFiles.layer(data),
      VirtualClock.VirtualClock.layer(frozenAt)
    )),
    Layer.provideMerge(repos),
    Layer.provideMerge(Layer.mergeAll(Db.layer(data), Layer.succeed(CurrentAssumptions, assumed), places))
  )
  const seeded = Effect.gen(function*() {
    const clock = yield* VirtualClock.VirtualClock
    const seed = yield* clock.within(InitialData.prepare(data, { seed: wantedSeed, fixtures }))
    return App.layer.pipe(
      Layer.provideMerge(Layer.mergeAll(
        Control.Control.layer(control, local),
        Web.Web.layer(control, local),
        Interface.layer,
        Seeding.layer(seed),
        Snapshots.layer,
        Pagination.layer
      )),
      Layer.provideMerge(Admission.layer),
      Layer.provideMerge(Layer.mergeAll(
        Keys.Keys.layer(frozenAt === undefined ? undefined : seed),
        AccessRequests.AccessRequests.layer,
        Cursors.layer(seed),
        Faults.layer(seed),
        RequestLog.layer,
        Commits.layer,
        RateWindow.layer({ stored: data !== Database.inMemory, frozen: frozenAt !== undefined })
      ))
    )
  })
  return Layer.provideMerge(Layer.unwrap(seeded), prepared)
})

/** Fresh, because two sandboxes of one program share no service. */
const layerServices = (options: ServerOptions, places: Layer.Layer<CurrentWorld | Worlds.Worlds>) =>
  Layer.fresh(Layer.unwrap(services(options, places))).pipe(
    // Damage in the middle of a data file shows when its data is read.
    Layer.catchCause((cause) => {
      const defect = cause.reasons.filter(Cause.isDieReason).map(({ defect }) => defect).find(Database.isDamage)
      return Layer.effectContext(
        defect === undefined ? Effect.failCause(cause) : Effect.fail(Database.unusable(options.data ?? Database.inMemory, defect))
      )
    })
  )

const make = Effect.fnUntraced(function*(origin: string) {
  const seeding = yield* Seeding
  const snapshots = yield* Snapshots
  const faults = yield* Faults
  const log = yield* RequestLog
  const latitude = yield* CurrentLatitude
  const commits = yield* Commits
  const { advance, read, within } = yield* VirtualClock.VirtualClock
  const { operations, seed } = seeding
  const all: Operations = {
    baseUrl: `${origin}${basePath}`,
    webUrl: `${origin}${Web.basePath}`,
    controlUrl: `${origin}${Control.basePath}`,
    get apiKey() {
      return Keys.withPrefix(Keys.seeded(seed), latitude.value.keyPrefix)
    },
    seed,
    state: Effect.sync(seeding.state),
    requests: Effect.sync(log.all),
    countRequests: (filter = {}) => Effect.sync(() => log.count(filter)),
    reset: within(seeding.reset),
    snapshots: Effect.sync(snapshots.list),
    saveSnapshot: (name) => within(snapshots.save(name)),
    restoreSnapshot: (name) => within(snapshots.restore(name)),
    removeSnapshot: (name) => within(snapshots.remove(name)),
    clock: within(read),
    advanceClock: (by) => within(advance(Duration.toMillis(by))),
    commits: Effect.sync(commits.all),
    latitude: Effect.sync(() => latitude.value),
    // An invalid value is a mistake in the test, as for a fault.
    setLatitude: (change) => Effect.map(Effect.orDie(validLatitude(change)), latitude.change),
    // The type allows a rate of 2, a status of 99 or an unknown account; these are mistakes in the test.
    addFault: (fault) => within(Effect.orDie(Effect.flatMap(validFault(fault), faults.add))),
    faults: within(faults.list),
    unusedFaults: within(faults.unused),
    replaceFault: (id, fault) =>
      within(Effect.flatMap(Effect.orDie(validFault(fault)), (valid) => faults.replace(id, valid))).pipe(
        Effect.catchTag("ValidationError", Effect.die)
      ),
    removeFault: (id) => within(faults.remove(id)),
    clearFaults: Effect.sync(faults.clear),
    createAccount: (account) => within(operations.createAccount(account)),
    setProfile: (accountId, change) => within(operations.setProfile(accountId, change)),
    requestAccess: (accountId, form) => within(operations.requestAccess(accountId, form)),
    decideAccess: (requestId, decision) => within(operations.decideAccess(requestId, decision)),
    setAccess: (accountId, transition) => within(operations.setAccess(accountId, transition)),
    createKey: (accountId, options) => within(operations.createKey(accountId, options)),
    revokeKey: (keyId) => within(operations.revokeKey(keyId)),
    setRelation: (from, to, relation) => within(operations.setRelation(from, to, relation)),
    setProduct: (product) => within(operations.setProduct(product)),
    setOrder: (order) => within(operations.setOrder(order)),
    createPost: (post) => within(operations.createPost(post)),
    addFixtures: (fixtures) => Effect.flatMap(Effect.orDie(validFixtures(fixtures)), (valid) => within(operations.addFixtures(valid))),
    createConversation: (conversation) => within(operations.createConversation(conversation))
  }
  return all
})

/** A running sandbox or world. */
interface Running extends Worlds.Running {
  readonly ownsPage: App["Service"]["ownsPage"]
  /** Its operations for a caller that reaches the sandbox at this origin. */
  readonly operations: (origin: string) => Effect.Effect<Operations>
  /** Runs an effect with its clock. */
  readonly within: VirtualClock.VirtualClock["Service"]["within"]
  readonly undocumented: boolean
}

const run = Effect.fnUntraced(function*(
  options: ServerOptions,
  world: CurrentWorld["Service"],
  worlds: Worlds.Worlds["Service"]
): Effect.fn.Return<Running, SandboxError, Scope.Scope> {
  const places = Layer.merge(Layer.succeed(CurrentWorld, world), Layer.succeed(Worlds.Worlds, worlds))
  const context = yield* Layer.build(layerServices(options, places))
  const { seed } = Context.get(context, Seeding)
  const latitude = Context.get(context, CurrentLatitude)
  return {
    ...Context.get(context, App),
    seed,
    apiKey: () => Keys.withPrefix(Keys.seeded(seed), latitude.value.keyPrefix),
    operations: (origin) => Effect.provideContext(make(`${origin}${world.prefix}`), context),
    within: Context.get(context, VirtualClock.VirtualClock).within,
    undocumented: Context.get(context, CurrentAssumptions).undocumented
  }
})

/** The options of the main sandbox, overridden by those of the world. */
const optionsOf = (
  main: ServerOptions,
  { assumptions, ...changes }: NewWorld,
  data: string
): Effect.Effect<ServerOptions, SandboxError> => {
  const options: ServerOptions = { ...main, ...changes, data }
  if (assumptions === undefined) return Effect.succeed(options)
  if (assumptions === false) return Effect.succeed({ ...options, assumptions })
  const inherited = main.assumptions === false ? { undocumented: false } : main.assumptions
  return Result.match(decodeAssumptions(assumptions), {
    onFailure: (problem) => Effect.fail(new SandboxError({ message: `the assumptions can't be used: ${problem}` })),
    onSuccess: (decoded) => Effect.succeed({ ...options, assumptions: { ...inherited, ...decoded } })
  })
}

/** The main sandbox and its worlds, in process and on a socket. */
interface Started {
  readonly respond: Response
  /** The service for a caller that reaches the sandbox at this origin. */
  readonly service: (origin: string) => Effect.Effect<Sandbox["Service"]>
  readonly undocumented: boolean
}

const start = Effect.fnUntraced(function*(options: ServerOptions): Effect.fn.Return<Started, SandboxError, Scope.Scope> {
  const { allowedHosts, data = Database.inMemory, host = defaultHost } = options
  // A world has the caller's Clock, also if a request to the main sandbox makes it, whose clock may be ahead.
  const outer = yield* Effect.context<Scope.Scope>()
  const registry: Worlds.Registry<Running> = yield* Worlds.make<Running>(
    (world, changes, data) =>
      Effect.flatMap(optionsOf(options, changes, data), (options) => run(options, world, registry)).pipe(
        Effect.updateContext((context: Context.Context<Scope.Scope>) => Context.add(outer, Scope.Scope, Context.get(context, Scope.Scope)))
      ),
    WorldFiles.make(data)
  )
  const main = yield* run(options, CurrentWorld.main, registry)
  // After the main sandbox, which may refuse its data file.
  yield* registry.restore
  const local = HostPolicy.make(host, allowedHosts)

  const respond = Effect.flatMap(HttpServerRequest, (request): Response => {
    const { path, query } = split(withoutOrigin(targetOf(request)))
    if (!local.hasKnownHost(request)) return dated(Effect.succeed(misdirected))
    const named = Worlds.split(path)
    if (named === undefined) {
      if (!main.ownsPage(request, path)) return main.respond({ path, query })
      // The page of worlds is that of the main sandbox: a world that removes itself would wait for its own response.
      const chosen = path === Layout.paths.worlds ? undefined : ChosenWorld.of(registry, request.headers["cookie"])
      return (chosen?.running ?? main).page({ path, query })
    }
    const { id, rest } = named
    const world = registry.find(id)
    return world === undefined
      ? dated(Effect.succeed(Envelope.failure(unknownWorld(id), main.undocumented)))
      : rest === "" || rest === "/"
      ? dated(Effect.succeed(ChosenWorld.choose(id)))
      : world.running.respond({ path: rest, query })
  })

  // Assigned, because the key is a getter: the latitude determines its prefix.
  const service = (origin: string): Effect.Effect<Sandbox["Service"]> => {
    const worldOf = ({ id, running }: Worlds.World<Running>): Effect.Effect<World> =>
      Effect.map(running.operations(origin), (operations) => Object.assign(operations, { id, worlds }))
    const worlds: WorldsOfSandbox = {
      create: (given = {}) =>
        // A field of a wrong form is a mistake in the test, as for a fault.
        Effect.flatMap(Effect.orDie(validWorld(given)), (options) => main.within(registry.create(options))).pipe(
          Effect.catchTag("Conflict", ({ message }) => Effect.fail(new SandboxError({ message }))),
          Effect.flatMap(worldOf)
        ),
      list: Effect.sync(() => registry.list().map((world) => Worlds.describe(world, origin))),
      remove: registry.remove
    }
    return Effect.map(main.operations(origin), (operations) => Object.assign(operations, { worlds }))
  }
  return { respond, service, undocumented: main.undocumented }
})

/**
 * An HttpClient of a sandbox in process, without a port, with the caller's Clock.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerHttpClient = (options: Options = {}): Layer.Layer<HttpClient.HttpClient | Sandbox, SandboxError> =>
  Layer.effectContext(Effect.gen(function*() {
    const { respond, service } = yield* start(options)
    return Context.make(HttpClient.HttpClient, makeClient(respond)).pipe(Context.add(Sandbox, yield* service(originInProcess)))
  }))

/**
 * A sandbox on a socket, until its scope closes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerServer = (
  { host = defaultHost, port = 0, timeouts, ...options }: ServerOptions = {}
): Layer.Layer<Sandbox, SandboxError> =>
  Layer.effect(
    Sandbox,
    Effect.gen(function*() {
      const { respond, service, undocumented } = yield* start({ ...options, host })
      const { listen } = yield* Effect.promise(() => import("./http/NodeServer.ts"))
      const refuse = (error: DocumentedError) => Envelope.failure(error, undocumented)
      return yield* service(yield* listen(respond, { host, port, timeouts, refuse }))
    })
  )

/**
 * A new world of the sandbox until the scope closes, by default as the sandbox was started: a test of its own beside others.
 *
 * @example
 * import { Sandbox } from "@plaza/sandbox"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const sandbox = yield* Sandbox.Sandbox
 *   yield* sandbox.addFault({ kind: "status", when: "before", status: 503, path: "/posts" })
 *   return sandbox.baseUrl
 * })
 *
 * // Each run has a world of its own.
 * const isolated = Effect.provide(program, Layer.effect(Sandbox.Sandbox, Sandbox.world()))
 *
 * @since 0.1.0
 * @category constructors
 */
export const world = (options?: NewWorld): Effect.Effect<World, SandboxError, Sandbox | Scope.Scope> =>
  Effect.flatMap(Sandbox, ({ worlds }) =>
    // A test may have removed it.
    Effect.acquireRelease(worlds.create(options), ({ id }) => Effect.ignore(worlds.remove(id))))
