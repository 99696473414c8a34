/**
 * The sandbox: the service of the document, local and stateful, with faults on request. It runs in process for tests, or on a
 * socket for people and other programs. This module composes its layers.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import { HttpClient as HttpClientTag } from "@effect/platform/HttpClient"
import type { NotFound, ValidationError } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as AccessRequests from "./access/AccessRequests.ts"
import * as AccountPolicy from "./access/AccountPolicy.ts"
import * as Keys from "./access/Keys.ts"
import * as RateWindow from "./access/RateWindow.ts"
import * as AssumedChat from "./areas/chat/AssumedChatHandlers.ts"
import * as Chat from "./areas/chat/ChatHandlers.ts"
import * as MediaFiles from "./areas/media/MediaFiles.ts"
import * as Media from "./areas/media/MediaHandlers.ts"
import * as AssumedPosts from "./areas/posts/AssumedPostsHandlers.ts"
import * as Posts from "./areas/posts/PostsHandlers.ts"
import * as PostsPolicy from "./areas/posts/PostsPolicy.ts"
import * as Profiles from "./areas/profiles/ProfilesHandlers.ts"
import * as AssumedStore from "./areas/store/AssumedStoreHandlers.ts"
import * as Store from "./areas/store/StoreHandlers.ts"
import * as StorePolicy from "./areas/store/StorePolicy.ts"
import * as Stories from "./areas/stories/StoriesHandlers.ts"
import type { Assumptions } from "./Assumptions.ts"
import { CurrentAssumptions, defaults, merge } from "./Assumptions.ts"
import * as AssumptionsFile from "./AssumptionsFile.ts"
import * as Control from "./control/Control.ts"
import type { StateSnapshot } from "./control/StateSnapshot.ts"
import * as Admission from "./http/Admission.ts"
import type { Commit } from "./http/Commits.ts"
import * as Commits from "./http/Commits.ts"
import * as Endpoints from "./http/Endpoints.ts"
import type { ActiveFault, FaultId } from "./http/Fault.ts"
import { Fault } from "./http/Fault.ts"
import * as Faults from "./http/Faults.ts"
import * as HostPolicy from "./http/HostPolicy.ts"
import { makeClient, origin as originInProcess, withoutCallerContext } from "./http/InProcess.ts"
import * as InterfaceApp from "./http/InterfaceApp.ts"
import type { ServerTimeouts } from "./http/NodeServer.ts"
import type { RequestRecord } from "./http/RequestLog.ts"
import * as RequestLog from "./http/RequestLog.ts"
import * as SandboxApp from "./http/SandboxApp.ts"
import { basePath } from "./http/ServedApi.ts"
import * as Latitude from "./Latitude.ts"
import * as CurrentLatitude from "./latitude/CurrentLatitude.ts"
import * as LateCommits from "./latitude/LateCommits.ts"
import { onFirstUse } from "./OnFirstUse.ts"
import * as Repos from "./Repos.ts"
import { SandboxError } from "./SandboxError.ts"
import type { Fixtures } from "./seeding/Fixtures.ts"
import { Fixtures as FixturesSchema } from "./seeding/Fixtures.ts"
import * as FixturesFile from "./seeding/FixturesFile.ts"
import * as InitialData from "./seeding/InitialData.ts"
import type { SeedingOperations } from "./seeding/Seeding.ts"
import * as Seeding from "./seeding/Seeding.ts"
import { service, together, withServices } from "./Services.ts"
import * as Cursors from "./storage/Cursors.ts"
import * as Database from "./storage/Database.ts"
import * as Pagination from "./storage/Pagination.ts"
import type { Snapshot } from "./storage/Snapshots.ts"
import * as Snapshots from "./storage/Snapshots.ts"
import { Sql } from "./storage/Sql.ts"
import type { ClockState } from "./VirtualClock.ts"
import * as VirtualClock from "./VirtualClock.ts"
import * as Web from "./web/Web.ts"

/**
 * A running sandbox: its addresses, its key, and the operations that inspect and control it.
 *
 * @since 0.1.0
 * @category services
 */
export class Sandbox extends Context.Tag("@plaza-legacy/sandbox/Sandbox")<
  Sandbox,
  SeedingOperations & {
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
    readonly countRequests: (filter?: RequestLog.RequestFilter) => Effect.Effect<number>
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
    readonly advanceClock: (by: Duration.DurationInput) => Effect.Effect<ClockState, ValidationError>
    /** The writes that were carried out, as they were sent, oldest first. At most `Commits.capacity`; a reset clears them. */
    readonly commits: Effect.Effect<ReadonlyArray<Commit>>
    /** The current latitude. */
    readonly latitude: Effect.Effect<Latitude.Latitude>
    /** Sets fields of the latitude, or draws a whole latitude from a seed. A reset restores the latitude of the start. */
    readonly setLatitude: (change: Latitude.Change | number) => Effect.Effect<Latitude.Latitude>
    /** Adds a fault, which hits the next matching calls. */
    readonly addFault: (fault: Fault) => Effect.Effect<FaultId>
    /** The active faults. */
    readonly faults: Effect.Effect<ReadonlyArray<ActiveFault>>
    /** Replaces an active fault; its counters start again. */
    readonly replaceFault: (id: FaultId, fault: Fault) => Effect.Effect<ActiveFault, NotFound>
    readonly removeFault: (id: FaultId) => Effect.Effect<void, NotFound>
    readonly clearFaults: Effect.Effect<void>
  }
>() {}

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

const validFault = onFirstUse(() => Schema.validate(Fault))

const validLatitude = onFirstUse(() => Schema.decodeUnknown(Schema.Union(Schema.Int, Latitude.Change)))

/** The latitude of the start. Its own fields override those of the file of assumptions. */
const initialLatitude = (written: Latitude.Change, wanted: Options["latitude"] = {}): Effect.Effect<Latitude.Latitude, SandboxError> =>
  // Usually nothing is given, and then no schema is needed.
  Object.keys(written).length === 0 && typeof wanted !== "number" && Object.keys(wanted).length === 0
    ? Effect.succeed(Latitude.defaults)
    : Effect.mapBoth(
      Latitude.decode(typeof wanted === "number" ? { seed: wanted } : wanted),
      {
        onFailure: (problem) => new SandboxError({ message: `the latitude can't be used: ${problem}` }),
        onSuccess: (change) => Latitude.apply(Latitude.apply(Latitude.defaults, written), change)
      }
    )

const validFixtures = onFirstUse(() => Schema.validate(FixturesSchema))

/** Returns fixtures, or reads them from a file. */
const readFixtures = (fixtures: Options["fixtures"]): Effect.Effect<Fixtures | undefined, SandboxError> =>
  typeof fixtures === "string"
    // Imported only for files, because it takes a while to load.
    ? Effect.flatMap(Effect.promise(() => import("@effect/platform-node/NodeFileSystem")),
      ({ layer }) => Effect.provide(FixturesFile.read(fixtures), layer))
    : Effect.succeed(fixtures)

type Parts =
  | SandboxApp.SandboxApp
  | Commits.Commits
  | CurrentLatitude.CurrentLatitude
  | Seeding.Seeding
  | Snapshots.Snapshots
  | Faults.Faults
  | RequestLog.RequestLog
  | VirtualClock.VirtualClock

/** Reads the assumptions and the latitude of a file, if there is one. */
const readAssumptions = (path: string | undefined): Effect.Effect<AssumptionsFile.Content, SandboxError> =>
  path === undefined ? Effect.succeed(AssumptionsFile.empty) : Effect.flatMap(
    Effect.promise(() => import("@effect/platform-node/NodeFileSystem")),
    ({ layer }) => Effect.provide(AssumptionsFile.read(path), layer)
  )

/** Rejects invalid hosts, which would never match, and a time that has no ISO 8601 form of four digits for the year. */
const checkSettings = (allowed: ReadonlyArray<string>, frozenAt: DateTime.Utc | undefined): Effect.Effect<void, SandboxError> => {
  if (frozenAt !== undefined && !VirtualClock.canFreezeAt(frozenAt)) {
    return new SandboxError({ message: "the clock can't be frozen at this time: use one from 1970 to the year 9999" })
  }
  const wrong = allowed.find((host) => !HostPolicy.isHost(host))
  return wrong === undefined
    ? Effect.void
    : new SandboxError({
      message: `the allowed host "${wrong}" is invalid: give a host name or an address without a port, or * for every host`
    })
}

/** The endpoints of the document. */
const documented = Endpoints.make(
  Admission.middleware,
  Profiles.group,
  Media.group,
  Posts.group,
  Stories.group,
  Store.group,
  Chat.group
)

/** Those of the document, and those that it names without showing them. */
const all = Endpoints.make(
  Admission.middleware,
  Profiles.group,
  Media.group,
  Posts.group,
  Stories.group,
  Store.group,
  Chat.group,
  AssumedPosts.group,
  AssumedStore.group,
  AssumedChat.group
)

const makeInterface = Effect.gen(function*() {
  const { undocumented } = yield* CurrentAssumptions
  const { app, handlers } = undocumented ? all : documented
  return yield* InterfaceApp.make(app, yield* handlers)
})

/**
 * The services of a sandbox, in process and on a socket. They are made from the last line to the first, each with those below
 * its step. A layer for each of them would take most of the time of a start: see docs/decisions/023-sandbox-services.md.
 */
const parts = (
  {
    allowedHosts = [],
    assumptions = {},
    assumptionsFile,
    control = "loopback",
    data = ":memory:",
    fixtures,
    freezeClock = false,
    host = defaultHost,
    latitude,
    seed
  }: ServerOptions
): Effect.Effect<Context.Context<Parts>, SandboxError, Scope.Scope> => {
  const local = HostPolicy.make(host, allowedHosts)
  const frozenAt = freezeClock === true ? VirtualClock.defaultFrozenAt : freezeClock === false ? undefined : freezeClock
  const assumed = (file: AssumptionsFile.Content) =>
    merge(merge(defaults, file.assumptions), assumptions === false ? { undocumented: false } : assumptions)
  const prepared = Effect.flatMap(readFixtures(fixtures), (read) => InitialData.prepare(data, { seed, fixtures: read }))
  const withSeed = (recorded: number) =>
    Effect.context<Parts>().pipe(
      withServices(service(SandboxApp.SandboxApp, SandboxApp.make(local))),
      withServices(service(Web.Web, Web.make(control, local, { interface: basePath, control: Control.basePath }))),
      withServices(together(
        service(Control.Control, Control.make(control, local)),
        service(InterfaceApp.InterfaceApp, makeInterface)
      )),
      withServices(together(
        service(Admission.Admission, Admission.make),
        service(Snapshots.Snapshots, Snapshots.make),
        service(Seeding.Seeding, Seeding.make),
        service(Pagination.Pagination, Pagination.make)
      )),
      withServices(together(
        service(Keys.Keys, Keys.make(frozenAt === undefined ? undefined : recorded)),
        service(AccessRequests.AccessRequests, AccessRequests.make),
        service(Cursors.Cursors, Cursors.make(recorded)),
        service(Faults.Faults, Faults.make(recorded))
      ))
    )
  return Effect.flatMap(readAssumptions(assumptionsFile),
    (file) =>
      Effect.flatMap(Effect.zipRight(checkSettings(allowedHosts, frozenAt), prepared), withSeed).pipe(
        withServices(together(
          service(PostsPolicy.PostsPolicy, PostsPolicy.make),
          service(RequestLog.RequestLog, RequestLog.make),
          service(RateWindow.RateWindow, RateWindow.make({ stored: data !== ":memory:", frozen: frozenAt !== undefined })),
          service(Commits.Commits, Commits.make)
        )),
        withServices(together(
          service(VirtualClock.VirtualClock, VirtualClock.make(frozenAt)),
          service(LateCommits.LateCommits, LateCommits.make),
          service(CurrentLatitude.CurrentLatitude, Effect.flatMap(initialLatitude(file.latitude, latitude), CurrentLatitude.restore)),
          service(MediaFiles.MediaFiles, MediaFiles.make(data)),
          service(StorePolicy.StorePolicy, StorePolicy.make),
          service(AccountPolicy.AccountPolicy, AccountPolicy.make)
        )),
        withServices(Repos.make),
        // The folder is checked first, so that no data file is created if it is refused.
        withServices(service(Sql, Effect.zipRight(MediaFiles.checkFolder(data), Database.make(data)))),
        Effect.provideService(CurrentAssumptions, assumed(file)),
        VirtualClock.frozen(frozenAt)
      ))
}

const make = (origin: string) =>
  Effect.gen(function*() {
    const seeding = yield* Seeding.Seeding
    const snapshots = yield* Snapshots.Snapshots
    const faults = yield* Faults.Faults
    const log = yield* RequestLog.RequestLog
    const clock = yield* VirtualClock.VirtualClock
    const seed = yield* seeding.seed
    const latitude = yield* CurrentLatitude.CurrentLatitude
    const commits = yield* Commits.Commits
    const inside = <A, E>(effect: Effect.Effect<A, E>) => withoutCallerContext(clock.within(effect))
    return Sandbox.of({
      baseUrl: `${origin}${basePath}`,
      webUrl: `${origin}${Web.basePath}`,
      controlUrl: `${origin}${Control.basePath}`,
      get apiKey() {
        return Keys.withPrefix(Keys.seeded(seed), latitude.value.keyPrefix)
      },
      seed,
      state: inside(seeding.state),
      requests: log.all,
      countRequests: (filter = {}) => log.count(filter),
      reset: inside(seeding.reset),
      snapshots: snapshots.list,
      saveSnapshot: (name) => inside(snapshots.save(name)),
      restoreSnapshot: (name) => inside(snapshots.restore(name)),
      removeSnapshot: (name) => inside(snapshots.remove(name)),
      clock: inside(clock.read),
      advanceClock: (by) => inside(clock.advance(Duration.toMillis(by))),
      commits: commits.all,
      latitude: Effect.sync(() => latitude.value),
      // An invalid value is a mistake in the test, as for a fault.
      setLatitude: (change) => Effect.flatMap(Effect.orDie(validLatitude(change)), latitude.change),
      // The type allows a rate of 2 or a status of 99; these are mistakes in the test.
      addFault: (fault) => inside(Effect.flatMap(Effect.orDie(validFault(fault)), faults.add)),
      faults: inside(faults.list),
      replaceFault: (id, fault) => inside(Effect.flatMap(Effect.orDie(validFault(fault)), (valid) => faults.replace(id, valid))),
      removeFault: (id) => inside(faults.remove(id)),
      clearFaults: faults.clear,
      createAccount: (account) => inside(seeding.operations.createAccount(account)),
      setProfile: (accountId, change) => inside(seeding.operations.setProfile(accountId, change)),
      requestAccess: (accountId, form) => inside(seeding.operations.requestAccess(accountId, form)),
      decideAccess: (requestId, decision) => inside(seeding.operations.decideAccess(requestId, decision)),
      setAccess: (accountId, transition) => inside(seeding.operations.setAccess(accountId, transition)),
      createKey: (accountId, options) => inside(seeding.operations.createKey(accountId, options)),
      revokeKey: (keyId) => inside(seeding.operations.revokeKey(keyId)),
      setRelation: (from, to, relation) => inside(seeding.operations.setRelation(from, to, relation)),
      setProduct: (product) => inside(seeding.operations.setProduct(product)),
      setOrder: (order) => inside(seeding.operations.setOrder(order)),
      createPost: (post) => inside(seeding.operations.createPost(post)),
      addFixtures: (fixtures) =>
        Effect.flatMap(Effect.orDie(validFixtures(fixtures)), (valid) => inside(seeding.operations.addFixtures(valid))),
      createConversation: (conversation) => inside(seeding.operations.createConversation(conversation))
    })
  })

/**
 * An HttpClient of a sandbox in process, without a port, with the caller's Clock.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerHttpClient = (
  options: Options = {}
): Layer.Layer<HttpClient.HttpClient | Sandbox, SandboxError> =>
  Layer.scopedContext(
    Effect.flatMap(parts(options), (context) =>
      Effect.map(Effect.provide(make(originInProcess), context), (sandbox) =>
        Context.make(HttpClientTag, makeClient(Context.get(context, SandboxApp.SandboxApp))).pipe(Context.add(Sandbox, sandbox))))
  )

/**
 * A sandbox on a socket, until its scope closes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerServer = (
  { host = defaultHost, port = 0, timeouts, ...options }: ServerOptions = {}
): Layer.Layer<Sandbox, SandboxError> =>
  Layer.scoped(
    Sandbox,
    Effect.gen(function*() {
      const context = yield* parts({ ...options, host })
      const { listen } = yield* Effect.promise(() => import("./http/NodeServer.ts"))
      const { within } = Context.get(context, VirtualClock.VirtualClock)
      // Sets the clock once and not for each request.
      const { origin } = yield* within(listen(Context.get(context, SandboxApp.SandboxApp), { host, port, timeouts }))
      return yield* Effect.provide(make(origin), context)
    })
  )
