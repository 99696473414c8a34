/**
 * The service of the document, local and stateful, with faults on request: in process for tests, on a socket for people
 * and other programs. Puts the parts together; knows nothing of what they do.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import { HttpClient as HttpClientTag } from "@effect/platform/HttpClient"
import type { ValidationError } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AccessRequests from "./AccessRequests.js"
import * as Accounts from "./Accounts.js"
import type { Assumptions } from "./Assumptions.js"
import { Assumed, defaults } from "./Assumptions.js"
import * as Control from "./Control.js"
import * as Cursors from "./Cursors.js"
import * as Database from "./Database.js"
import type { ActiveFault, FaultId } from "./Fault.js"
import { Fault } from "./Fault.js"
import * as Faults from "./Faults.js"
import type { Fixtures } from "./Fixtures.js"
import { Fixtures as FixturesSchema } from "./Fixtures.js"
import * as FixturesFile from "./Fixtures/File.js"
import * as Gate from "./Gate.js"
import { apart, makeClient, origin as originInProcess } from "./InProcess.js"
import * as Keys from "./Keys.js"
import * as MediaFiles from "./MediaFiles.js"
import type { Patience } from "./NodeServer.js"
import * as Plant from "./Plant.js"
import * as RateWindow from "./RateWindow.js"
import type { RequestRecord } from "./RequestLog.js"
import * as RequestLog from "./RequestLog.js"
import type { SandboxError } from "./SandboxError.js"
import * as Service from "./Service.js"
import type { SetupCalls } from "./Setup.js"
import * as Setup from "./Setup.js"
import type { Sql } from "./Sql.js"
import type { State } from "./State.js"
import type { ClockState } from "./VirtualClock.js"
import * as VirtualClock from "./VirtualClock.js"
import * as Web from "./Web.js"

/**
 * A running sandbox, seen from the side of whoever runs it.
 *
 * @since 0.1.0
 * @category services
 */
export class Sandbox extends Context.Tag("@plaza/sandbox/Sandbox")<Sandbox, SetupCalls & {
  /** The base address of the interface; ends with `/open/v1`. */
  readonly baseUrl: string
  /** Where the pages are; ends with a slash. */
  readonly webUrl: string
  /** The base address of the control interface; ends with `/sandbox`. */
  readonly controlUrl: string
  /** A ready key of the seeded shop, with all scopes. It follows from the seed and is no secret. */
  readonly apiKey: Redacted.Redacted
  /** The seed that the data was planted with. */
  readonly seed: number
  /** Everything the sandbox holds. */
  readonly state: Effect.Effect<State>
  /** What was asked of the interface lately, oldest first. */
  readonly requests: Effect.Effect<ReadonlyArray<RequestRecord>>
  /** Back to the seed and to the time outside. Forgets faults, counted requests and the log too. */
  readonly reset: Effect.Effect<void>
  /** What time it is in the sandbox, and how far that is ahead of the clock outside. */
  readonly clock: Effect.Effect<ClockState>
  /** Moves the sandbox's time forward, in whole milliseconds: windows open and days pass. On top of `TestClock` in process. */
  readonly advanceClock: (by: Duration.DurationInput) => Effect.Effect<ClockState, ValidationError>
  /** Asks for a fault; it hits the next calls that match. */
  readonly addFault: (fault: Fault) => Effect.Effect<FaultId>
  /** The faults that may still hit something. */
  readonly faults: Effect.Effect<ReadonlyArray<ActiveFault>>
  readonly clearFaults: Effect.Effect<void>
}>() {}

/** @since 0.1.0 @category models */
export interface Options {
  /** The file that keeps the data; `:memory:`, which keeps nothing, unless told. */
  readonly data?: string
  /** What new data is planted with, 1 unless told. A file that has data keeps its own. */
  readonly seed?: number
  /**
   * What new data holds beside what the seed gives: fixtures, or the path of a JSON or YAML file of them. A file that has
   * data keeps its own.
   */
  readonly fixtures?: string | Fixtures
  /**
   * What is assumed other than by default. With `false` there is nothing that the document doesn't show: assumed paths
   * are unknown, and answers have the contract's fields alone.
   */
  readonly assumptions?: Partial<Assumptions> | false
  /** Who may call the control interface over a socket: programs on this machine unless told. */
  readonly control?: "loopback" | "anyone"
}

/** @since 0.1.0 @category models */
export interface ServerOptions extends Options {
  /** `127.0.0.1` unless told. */
  readonly host?: string
  /** 0, which takes one that is free, unless told. */
  readonly port?: number
  /** How long callers are waited for, where other than by default. */
  readonly patience?: Partial<Patience>
}

const validFault = Schema.validate(Fault)

const validFixtures = Schema.validate(FixturesSchema)

/** Fixtures as they are told, or from the file that is named. */
const readFixtures = (fixtures: Options["fixtures"]): Effect.Effect<Fixtures | undefined, SandboxError> =>
  typeof fixtures === "string"
    // Files are read by few, and what reads them takes a while to load.
    ? Effect.flatMap(Effect.promise(() => import("@effect/platform-node/NodeFileSystem")), ({ layer }) =>
      Effect.provide(FixturesFile.read(fixtures), layer))
    : Effect.succeed(fixtures)

type Parts = Service.Service | Setup.Setup | Faults.Faults | RequestLog.RequestLog | VirtualClock.VirtualClock

/** Everything behind the two ways in. */
const parts = ({ assumptions = {}, control = "loopback", data = ":memory:", fixtures, seed }: Options) => {
  const assumed = Layer.succeed(Assumed, {
    ...defaults,
    ...(assumptions === false ? { undocumented: false } : assumptions)
  })
  const prepared = readFixtures(fixtures).pipe(
    Effect.flatMap((read) => Plant.prepare(data, { seed, fixtures: read })),
    Effect.provide(Layer.merge(Accounts.layer, assumed))
  )
  return Layer.unwrapEffect(
    Effect.map(prepared, (recorded): Layer.Layer<Parts, never, Sql | MediaFiles.MediaFiles> => {
      const basics = Layer.mergeAll(
        Keys.layer,
        AccessRequests.layer,
        Accounts.layer,
        Cursors.layer(recorded),
        Faults.layer(recorded),
        RequestLog.layer,
        RateWindow.layer({ stored: data !== ":memory:" }),
        VirtualClock.layer
      ).pipe(Layer.provideMerge(assumed))
      return Service.layer.pipe(
        Layer.provide(Control.layer(control)),
        Layer.provide(Web.layer(control, { interface: Service.basePath, control: Control.basePath })),
        Layer.provideMerge(Setup.layer),
        Layer.provide(Gate.layer),
        Layer.provideMerge(basics)
      )
    })
  ).pipe(
    Layer.provideMerge(MediaFiles.layer(data)),
    Layer.provideMerge(Database.layer(data))
  )
}

const make = (origin: string) =>
  Effect.gen(function*() {
    const setup = yield* Setup.Setup
    const faults = yield* Faults.Faults
    const log = yield* RequestLog.RequestLog
    const clock = yield* VirtualClock.VirtualClock
    const seed = yield* setup.seed
    const { calls } = setup
    const inside = <A, E>(effect: Effect.Effect<A, E>) => apart(clock.within(effect))
    return Sandbox.of({
      baseUrl: `${origin}${Service.basePath}`,
      webUrl: `${origin}${Web.basePath}`,
      controlUrl: `${origin}${Control.basePath}`,
      apiKey: Keys.ready(seed),
      seed,
      state: inside(setup.state),
      requests: log.all,
      reset: inside(setup.reset),
      clock: inside(clock.read),
      advanceClock: (by) => inside(clock.advance(Duration.toMillis(by))),
      // The type can't tell a share of 2 or a status of 99 from a right one; asking for that is a mistake in the test.
      addFault: (fault) => Effect.flatMap(Effect.orDie(validFault(fault)), faults.add),
      faults: faults.list,
      clearFaults: faults.clear,
      createAccount: (account) => inside(calls.createAccount(account)),
      setProfile: (accountId, change) => inside(calls.setProfile(accountId, change)),
      requestAccess: (accountId, form) => inside(calls.requestAccess(accountId, form)),
      decideAccess: (requestId, decision) => inside(calls.decideAccess(requestId, decision)),
      setAccess: (accountId, move) => inside(calls.setAccess(accountId, move)),
      createKey: (accountId, options) => inside(calls.createKey(accountId, options)),
      revokeKey: (keyId) => inside(calls.revokeKey(keyId)),
      setRelation: (from, to, relation) => inside(calls.setRelation(from, to, relation)),
      setProduct: (product) => inside(calls.setProduct(product)),
      setOrder: (order) => inside(calls.setOrder(order)),
      createPost: (post) => inside(calls.createPost(post)),
      plant: (fixtures) => Effect.flatMap(Effect.orDie(validFixtures(fixtures)), (valid) => inside(calls.plant(valid))),
      createConversation: (conversation) => inside(calls.createConversation(conversation))
    })
  })

/**
 * An HttpClient that the sandbox answers in process, without a port, under the caller's Clock.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerHttpClient = (
  options: Options = {}
): Layer.Layer<HttpClient.HttpClient | Sandbox, SandboxError> =>
  Layer.merge(
    Layer.effect(HttpClientTag, Effect.map(Service.Service, makeClient)),
    Layer.effect(Sandbox, make(originInProcess))
  ).pipe(Layer.provide(parts(options)))

/**
 * The sandbox on a socket of Node, until its scope closes.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerServer = (
  { host = "127.0.0.1", patience, port = 0, ...options }: ServerOptions = {}
): Layer.Layer<Sandbox, SandboxError> =>
  Layer.scoped(
    Sandbox,
    Effect.gen(function*() {
      const service = yield* Service.Service
      const { listen } = yield* Effect.promise(() => import("./NodeServer.js"))
      const { within } = yield* VirtualClock.VirtualClock
      // Around all that is answered, so that the clock isn't changed for every request anew.
      const { origin } = yield* within(listen(service, { host, port, patience }))
      return yield* make(origin)
    })
  ).pipe(Layer.provide(parts(options)))

