/**
 * A runner of a fleet in simulated time: a sandbox in process with a store for each account, sources that the test changes, ledgers and
 * accounts in memory. The test owns the database and decides which shards the runner owns.
 */
import { TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import {
  ConfigProvider,
  Context,
  Data,
  DateTime,
  Duration,
  Effect,
  Exit,
  FileSystem,
  Layer,
  Option,
  Redacted,
  Ref,
  References,
  Schedule,
  Scope
} from "effect"
import { HttpClient } from "effect/http"
import * as AccountOptions from "../../src/fleet/AccountOptions.ts"
import type { AccountSelection } from "../../src/fleet/AccountSelection.ts"
import * as AccountSources from "../../src/fleet/AccountSources.ts"
import type { FleetAccount } from "../../src/fleet/FleetAccounts.ts"
import { FleetDatabaseError } from "../../src/fleet/FleetError.ts"
import { FleetLedger } from "../../src/fleet/FleetLedger.ts"
import { FleetRoster } from "../../src/fleet/FleetRoster.ts"
import { FleetRunner } from "../../src/fleet/FleetRunner.ts"
import * as FleetRunnerLive from "../../src/fleet/FleetRunnerLive.ts"
import * as Ownership from "../../src/fleet/Ownership.ts"
import type { Ledger } from "../../src/ledger/Ledger.ts"
import { LedgerFault } from "../../src/ledger/LedgerError.ts"
import { type Source, type SourceFailure, SourceUnreachable } from "../../src/source/Source.ts"
import * as OneFolder from "./oneFolder.ts"
import * as Simulation from "./simulation.ts"

interface TestAccount {
  row: FleetAccount
  readonly memory: Simulation.MemoryLedger
  readonly source: Effect.Success<ReturnType<typeof Simulation.source>>
}

export interface Runner {
  readonly state: FleetRunner["Service"]["state"]
  readonly activity: FleetRunner["Service"]["activity"]
  /** As SIGTERM does. */
  readonly stop: Effect.Effect<void>
}

const allShards = (term: number): ReadonlyMap<number, number> => new Map([[1, term], [2, term], [3, term]])

const make = Effect.gen(function*() {
  const sandbox = yield* Sandbox.Sandbox
  const client = yield* HttpClient.HttpClient
  const accounts = new Map<string, TestAccount>()
  const keys = new Map<string, string>()
  const owned = yield* Ref.make(allShards(1))
  const isFresh = yield* Ref.make(true)
  const isReachable = yield* Ref.make(true)
  const isSilent = yield* Ref.make(false)
  const cuts = yield* Ref.make(0)
  const statementTime = yield* Ref.make<Duration.Duration>(Duration.zero)
  const openings: Array<string> = []
  let revisions = 0

  const reached = <A>(use: () => A): Effect.Effect<A, FleetDatabaseError> =>
    Effect.gen(function*() {
      // A statement that waits for its server can't be interrupted.
      if (yield* Ref.get(isSilent)) return yield* Effect.uninterruptible(Effect.never)
      if (!(yield* Ref.get(isReachable))) return yield* new FleetDatabaseError({ database: "memory", message: "the database is away" })
      return use()
    })
  const selected = (selection: AccountSelection): ReadonlyArray<TestAccount> => {
    const ids = selection._tag === "Ids" ? new Set(selection.ids) : new Set<string>()
    const shards = selection._tag === "Shards" ? new Set(selection.shards) : new Set<number>()
    return Array.from(accounts.values()).filter(({ row }) => ids.has(row.id) || (row.shard !== null && shards.has(row.shard)))
  }
  const get = (id: string): TestAccount => {
    const account = accounts.get(id)
    if (account === undefined) throw new Error(`no account ${id}`)
    return account
  }
  const change = (id: string, row: Partial<FleetAccount>) =>
    Effect.sync(() => {
      const account = get(id)
      account.row = { ...account.row, ...row, revision: ++revisions }
    })

  const roster: FleetRoster["Service"] = {
    cutIfSilent: Ref.update(cuts, (count) => count + 1),
    changes: (shards, after) =>
      reached(() => {
        const wanted = new Set(shards)
        return Array.from(accounts.values(), ({ row }) => row)
          .filter(({ revision, shard }) => shard === null || (wanted.has(shard) && revision > after))
      }),
    read: (selection) => reached(() => selected(selection).map(({ row }) => row)),
    revisions: (shards) => reached(() => selected({ _tag: "Shards", shards }).map(({ row }) => row)),
    assign: (assigned) =>
      Effect.andThen(reached(() => undefined), Effect.forEach(assigned, ({ id, shard }) => change(id, { shard }), { discard: true })),
    recordProblems: (problems) =>
      reached(() =>
        problems.map(({ epoch, id, problem }) => {
          const account = accounts.get(id)
          if (account?.row.epoch === epoch && !(account.row.paused && problem !== null)) account.row = { ...account.row, problem }
          return id
        })
      )
  }

  const fenced = (account: TestAccount, epoch: number): Ledger["Service"] => {
    const { ledger } = account.memory
    const slowly = Effect.flatMap(Ref.get(statementTime), Effect.sleep)
    const fault = (more: { readonly isTakenOver?: true } = {}) =>
      new LedgerFault({ path: "memory", message: "the ledger can't be used", ...more })
    const check = Effect.flatMap(Ref.get(isReachable), (reachable) =>
      !reachable
        ? Effect.fail(fault())
        : account.row.epoch !== epoch || accounts.get(account.row.id) !== account
        ? Effect.fail(fault({ isTakenOver: true }))
        : Effect.void)
    return {
      ...ledger,
      check,
      account: Effect.andThen(check, ledger.account),
      bind: (owner) => Effect.andThen(check, ledger.bind(owner)),
      countRequest: (request) => Effect.andThen(check, ledger.countRequest(request)),
      requests: Effect.andThen(check, ledger.requests),
      snapshot: Effect.andThen(check, ledger.snapshot),
      applySnapshot: (input, policy) => Effect.andThen(check, ledger.applySnapshot(input, policy)),
      take: (selection) => Effect.andThen(Effect.andThen(slowly, check), ledger.take(selection)),
      nextDelayed: Effect.andThen(slowly, ledger.nextDelayed),
      confirm: (send) => Effect.andThen(check, ledger.confirm(send)),
      fail: (send, failed) => Effect.andThen(check, ledger.fail(send, failed))
    }
  }
  const ledgers = {
    takeOver: (selection, runner) =>
      Effect.flatMap(reached(() => selected(selection).filter(({ row }) => !row.paused)), (accounts) =>
        Effect.forEach(accounts, (account) => {
          account.row = { ...account.row, epoch: account.row.epoch + 1, runner }
          const { epoch, id, revision, shard } = account.row
          return Effect.map(Effect.orDie(account.memory.ledger.account), (boundTo) => ({ id, account: 1, epoch, revision, shard, boundTo }))
        })),
    open: ({ epoch, id }, _options, how) =>
      Effect.suspend(() => {
        const account = get(id)
        openings.push(`${id} ${how}`)
        const ledger = fenced(account, epoch)
        return how === "again" ? Effect.succeed(ledger) : Effect.as(Effect.andThen(ledger.check, account.memory.reopened), ledger)
      }),
    dueAccounts: (selection) =>
      Effect.flatMap(reached(() => selected(selection)), (all) =>
        Effect.map(
          Effect.forEach(all, ({ memory, row }) =>
            Effect.gen(function*() {
              const now = yield* DateTime.now
              const { pending } = yield* memory.ledger.counts
              const next = pending > 0 ? Option.some(now) : yield* memory.ledger.nextDelayed
              return Option.map(next, (dueAt) => ({ account: row.id, dueAt }))
            })).pipe(Effect.orDie),
          (due) => due.flatMap(Option.toArray)
        )),
    beside: () => Effect.die("not used by a runner")
  } satisfies FleetLedger["Service"]

  const files = OneFolder.make()
  const { open } = Context.get(
    yield* Layer.build(Layer.provide(AccountSources.layer, Layer.merge(files.layer, Layer.succeed(HttpClient.HttpClient, client)))),
    AccountSources.AccountSources
  )
  const sources: AccountSources.AccountSources["Service"] = {
    open: (options) =>
      Effect.suspend((): Effect.Effect<Source["Service"], SourceFailure> => {
        const { source } = options
        return source.startsWith("/")
          ? open(options)
          : source === "defect.csv"
          ? Effect.die(new Error("a defect of the source"))
          : source === "missing.csv"
          ? Effect.fail(new SourceUnreachable({ source, message: "missing.csv: no such file; no row of it was used" }))
          : Effect.succeed(get(source.replace(/\.csv$/, "")).source.service)
      })
  }

  const options = Layer.effect(
    AccountOptions.AccountOptions,
    Effect.map(AccountOptions.AccountOptions, ({ resolve, ...others }) => ({
      ...others,
      resolve: (account) =>
        Effect.suspend(() =>
          Effect.provideService(resolve(account), ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: Object.fromEntries(keys) }))
        )
    }))
  ).pipe(
    Layer.provide(AccountOptions.layer(Option.none(), {
      timeout: Duration.seconds(30),
      rateLimit: 120,
      rateWindow: Duration.minutes(1),
      allowInsecureHttp: false
    })),
    Layer.provide(FileSystem.layerNoop({}))
  )

  return {
    owned,
    isFresh,
    isReachable,
    /** Whether statements about the accounts never end. */
    isSilent,
    /** How long the statements take by which a worker looks for a product. */
    statementTime,
    /** How often the runner had the connections of a silent database cut. */
    cuts: Ref.get(cuts),
    /** The files whose paths are absolute. */
    files,
    /** How ledgers were opened, such as `a again`. */
    openings,
    /** A store with products of no stock, its key, and an account of the fleet. Its products are named `ID-P0000` and so on. */
    add: (id: string, wanted: Simulation.Wanted, settings: Partial<FleetAccount> = {}) =>
      Effect.gen(function*() {
        const store = yield* sandbox.createAccount({ id: `store-${id}` })
        const { apiKey } = yield* sandbox.createKey(store.id)
        yield* sandbox.addFixtures({ products: Object.keys(wanted).map((product) => ({ id: product, accountId: store.id })) })
        keys.set(`KEY_${id}`, Redacted.value(apiKey))
        accounts.set(id, {
          memory: yield* Simulation.memoryLedger(),
          source: yield* Simulation.source(wanted),
          row: {
            id,
            baseUrl: sandbox.baseUrl,
            key: { _tag: "Env", name: `KEY_${id}` },
            source: { _tag: "Plain", text: `${id}.csv` },
            options: {},
            paused: false,
            revision: ++revisions,
            shard: null,
            epoch: 0,
            runner: null,
            problem: null,
            ...settings
          }
        })
      }).pipe(Effect.orDie),
    change,
    /** As `fleet accounts pause` does. */
    pause: (id: string) => change(id, { paused: true, problem: null }),
    /** The variables of the runners, with the key of each account as `KEY_ID`. */
    variables: keys,
    remove: (id: string) => Effect.sync(() => accounts.delete(id)),
    account: (id: string) => Effect.sync(() => get(id)),
    problem: (id: string) => Effect.sync(() => get(id).row.problem),
    /** Another runner takes an account over. */
    takeOverBy: (runner: string, id: string) => Effect.orDie(ledgers.takeOver({ _tag: "Ids", ids: [id] }, runner)),
    /** Loses all shards, or acquires them in a new term. */
    lose: Ref.set(owned, new Map()),
    acquire: (term: number) => Ref.set(owned, allShards(term)),
    start: (name = "one"): Effect.Effect<Runner, never, Scope.Scope> =>
      Effect.gen(function*() {
        const own = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
        const context = yield* Layer.buildWithScope(
          FleetRunnerLive.layer({ concurrentReads: 4, stopWithin: Duration.seconds(15) }).pipe(
            Layer.provide([
              Ownership.layerTest(name, { owned, isFresh: Ref.get(isFresh) }),
              Layer.succeed(FleetRoster, roster),
              Layer.succeed(FleetLedger, ledgers),
              Layer.succeed(AccountSources.AccountSources, sources),
              Layer.succeed(HttpClient.HttpClient, client),
              options
            ])
          ),
          own
        )
        const { activity, state } = Context.get(context, FleetRunner)
        return { state, activity, stop: Scope.close(own, Exit.void) }
      })
  }
})

export type Fleet = Effect.Success<typeof make>

/** Products of an account. */
export const products = (id: string, count: number, stock: (index: number) => number): Simulation.Wanted =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${id}-P${String(index).padStart(4, "0")}`, stock(index)]))

/** The products as a file. */
export const csv = (wanted: Simulation.Wanted): string =>
  `productId,stock\n${Object.entries(wanted).map(([id, stock]) => `${id},${stock}\n`).join("")}`

/** Runs a test in simulated time that begins at 0. */
export const simulated = <A, E, R>(test: (fleet: Fleet) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(make, (fleet) => Effect.andThen(Simulation.respondsAfter(Simulation.latency), test(fleet))).pipe(
    Effect.scoped,
    Effect.provide(Sandbox.layerHttpClient({})),
    Effect.provideService(References.MinimumLogLevel, "None"),
    TestTime.advancing
  )

/** Every product that an account holds at the sandbox. */
export const stocks = (id: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), ({ products }) =>
    Object.fromEntries(products.flatMap((product) =>
      product.id.startsWith(`${id}-`) ? [[product.id, product.stock]] : []
    )))

/** The sandbox's requests of one account's products. */
export const sends = (id: string) => Effect.map(Simulation.patches, (all) => all.filter((patch) => patch.id.startsWith(`${id}-`)))

class NotInTime extends Data.TaggedError("NotInTime")<{}> {}

/** Waits in simulated time until a condition holds, at most for a time. */
export const until = <E, R>(condition: Effect.Effect<boolean, E, R>, within: Duration.Input = "2 minutes") =>
  Effect.repeat(condition, { until: (holds) => holds, schedule: Schedule.spaced("250 millis") }).pipe(
    Effect.timeoutOrElse({ duration: within, orElse: () => Effect.fail(new NotInTime()) })
  )
