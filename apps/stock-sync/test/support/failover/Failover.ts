/**
 * Three runners with the faults of a real operation: killed, frozen, restarted and cut off from the database, while sources change and
 * the service fails. Reports what is wrong at the end. The seed decides the times of the faults, the changes and the failures of the
 * service; how far the runners get meanwhile depends on the machine.
 */
import { Array as Arr, Clock, Duration, Effect, Fiber, FileSystem, Option, Random, Schedule, Scope } from "effect"
import * as Semaphore from "effect/Semaphore"
import * as Feed from "../crash/Feed.ts"
import * as DatabaseProxy from "../databaseProxy.ts"
import * as Fleet from "./Fleet.ts"
import * as HostileSources from "./HostileSources.ts"
import * as Judge from "./Judge.ts"
import * as StrictService from "./StrictService.ts"

/** With the seconds that each takes, about. The changes are spread over them. */
const seconds = {
  kill: 12,
  freeze: 16,
  restartAll: 12,
  cutDatabase: 18,
  forgetConnections: 12,
  stopWithoutDatabase: 14,
  slowStart: 12,
  stallResponses: 14,
  killWithoutDatabase: 20
}
export type Fault = keyof typeof seconds
export const isFault = (text: string): text is Fault => text in seconds
export const everyFault = Object.keys(seconds).filter(isFault)

export interface Options {
  readonly accounts: number
  readonly changes: number
  /** Rows of the large source. */
  readonly rows: number
  /** Accounts with a source that never ends. */
  readonly endless: number
  /** One after the other. */
  readonly faults: ReadonlyArray<Fault>
  readonly seed: number
  /** How long the database is out of reach. A runner is frozen for 0.8 to 1.5 times as long. */
  readonly outage: Duration.Duration
  /** The accounts of a lost runner are taken over, and small changes are sent, within this time. */
  readonly within: Duration.Duration
  /** A folder for the logs, requests and takeovers. */
  readonly logs: string | undefined
}

interface Machine {
  readonly network: DatabaseProxy.DatabaseProxy
  /** Undefined while no runner is to run. */
  runner: Fleet.Runner | undefined
}

export const products = Array.from({ length: 24 }, (_, index) => `P${index}`)
/** Every tenth account has few products, of which one changes at a time, and its requests never fail: no change has to wait. */
const isSteady = (index: number) => index % 10 === 0
const steady = { products: products.slice(0, 5), shares: { changed: 0, complete: 0 }, changeEvery: Duration.seconds(5) }
// A change of all products is more.
const allowance = { limit: 10, window: Duration.seconds(5) }
const shares = { changed: 0.05, complete: 0.03 }
const secretPart = "secretsecretsecretsecretsecret"
const tick = Duration.millis(100)
// Much longer than it takes on a busy machine.
const longest = Duration.minutes(2)
/** A stage waits for several such things. */
const longestStage = Duration.minutes(5)

const among = <A>(...all: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, all.length, { halfOpen: true }), (index) => Option.getOrThrow(Option.fromUndefinedOr(all[index])))

export const run = (options: Options) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const scope = yield* Effect.scope
    const now = Clock.currentTimeMillis
    const folder = yield* files.makeTempDirectoryScoped()
    const ids = Array.from({ length: options.accounts }, (_, index) => `${Fleet.shops}${index}`)
    const steadyIds = ids.filter((_, index) => isSteady(index))
    const changingIds = ids.filter((_, index) => !isSteady(index))
    const hostile = yield* HostileSources.start(options.rows)
    const accounts = [
      ...ids.map((id) => ({ id, source: `${folder}/${id}.csv`, poll: 2 })),
      ...Array.from({ length: options.endless }, (_, index) => ({ id: `endless-${index}`, source: hostile.endless, poll: 2 })),
      { id: "large", source: hostile.large, poll: 10 }
    ].map((account, index) => ({ ...account, key: `key_${secretPart}${String(index).padStart(10, "0")}` }))
    const service = yield* StrictService.start({
      accounts: new Map(accounts.map(({ id, key }) => [key, id])),
      steady: new Set(steadyIds),
      allowance,
      seed: options.seed
    })
    const feeds = new Map(
      yield* Effect.forEach(ids, (id, index) => {
        const feed = isSteady(index)
          ? Feed.make(`${folder}/${id}.csv`, steady.products, steady.shares)
          : Feed.make(`${folder}/${id}.csv`, products, shares)
        return Effect.map(feed, (feed) => [id, feed] as const)
      })
    )
    /** The stock that a feed has now, by product. */
    const wantedOf = (id: string) =>
      new Map(products.flatMap((product) => {
        const stock = feeds.get(id)?.wanted(product)
        return stock === undefined ? [] : [[product, stock] as const]
      }))
    const small = new Map(steadyIds.map((id) => [id, new Array<Judge.Change>()]))
    // One at a time: a change replaces the file in two steps.
    const changing = yield* Semaphore.make(1)
    const changeOf = (id: string) =>
      Effect.gen(function*() {
        const before = wantedOf(id)
        const at = yield* now
        yield* feeds.get(id)?.change ?? Effect.void
        for (const [product, stock] of wantedOf(id)) {
          if (before.size > 0 && before.get(product) !== stock) small.get(id)?.push({ product, stock, at })
        }
      }).pipe(Effect.uninterruptible, changing.withPermits(1))
    const changeAll = Effect.forEach(ids, changeOf, { discard: true })
    yield* changeAll
    const fleet = yield* Fleet.make({
      accounts,
      products: products.length,
      baseUrl: service.baseUrl,
      proxyFor: service.proxyFor,
      allowance
    })

    const started: Array<{ readonly runner: Fleet.Runner; readonly machine: Machine }> = []
    /** Runners that the test ends. */
    const ending = new Set<Fleet.Runner>()
    const ended = new Set<Fleet.Runner>()
    let isOver = false
    const exits: Array<string> = []
    const unserved: Array<string> = []
    const failovers: Array<number> = []
    const losses: Array<Judge.Loss> = []
    /** Times in which a machine was frozen or without its database. */
    const disturbances: Array<{ readonly machine: Machine; readonly from: number; until: number }> = []
    let failedStarts = 0
    let memory = 0

    const startOn = (machine: Machine): Effect.Effect<Fleet.Runner> =>
      Effect.gen(function*() {
        const runner = yield* fleet.start(machine.network)
        started.push({ runner, machine })
        machine.runner = runner
        yield* Effect.forkIn(superviseOn(machine, runner), scope)
        return runner
      }).pipe(Scope.provide(scope))

    /** Starts a runner again that could not start. A runner that has started may never end by itself. */
    const superviseOn = (machine: Machine, runner: Fleet.Runner): Effect.Effect<void> =>
      Effect.gen(function*() {
        const { status, stderr } = yield* runner.ended
        ended.add(runner)
        if (ending.has(runner)) return
        if (machine.runner === runner) machine.runner = undefined
        if (yield* hasTakenOver(runner)) exits.push(`${runner.name} ended with ${status}: ${stderr.slice(-500)}`)
        else failedStarts++
        yield* Effect.sleep("1 second")
        if (!isOver && machine.runner === undefined) yield* startOn(machine)
      })

    const hasTakenOver = ({ pid }: Fleet.Runner, since = 0) =>
      Effect.map(fleet.takeovers, (takeovers) => takeovers.some((each) => each.pid === pid && each.at > since))

    const hasSent = ({ name }: Fleet.Runner, since: number) => service.arrivals.some(({ at, runner }) => runner === name && at > since)

    /** Waits until the runner of each of these machines works on accounts. */
    const served = (machines: ReadonlyArray<Machine>, since: number) =>
      Effect.forEach(machines, (machine) =>
        Fleet.until(
          Effect.suspend(() => {
            const { runner } = machine
            if (runner === undefined) return Effect.succeed(false)
            return hasSent(runner, since) ? Effect.succeed(true) : hasTakenOver(runner, since)
          }),
          longest
        ).pipe(Effect.tap((isServing) =>
          Effect.sync(() => {
            if (!isServing) unserved.push(`${machine.runner?.name ?? "no runner"} took no account over`)
          })
        )), { discard: true })

    const signal = (runner: Fleet.Runner, signal: NodeJS.Signals) =>
      Effect.gen(function*() {
        memory = Math.max(memory, yield* Fleet.peakMemory(runner))
        yield* runner.signal(signal)
      })

    const killOn = Effect.fnUntraced(function*(machine: Machine) {
      const { runner } = machine
      if (runner === undefined) return undefined
      ending.add(runner)
      machine.runner = undefined
      yield* signal(runner, "SIGKILL")
      yield* runner.ended
      return runner
    })

    const stopOn = Effect.fnUntraced(function*(machine: Machine) {
      const { runner } = machine
      if (runner === undefined) return
      ending.add(runner)
      machine.runner = undefined
      yield* signal(runner, "SIGTERM")
      const ended = Option.getOrUndefined(yield* Effect.timeoutOption(runner.ended, longest))
      if (ended?.status !== 0) exits.push(`${runner.name} was stopped and ended with ${ended?.status ?? "nothing"}`)
    })

    const machines = yield* Effect.replicateEffect(
      Effect.map(DatabaseProxy.start(fleet.database), (network): Machine => ({ network, runner: undefined })),
      3
    )
    const situation = Effect.gen(function*() {
      const latest = new Map(service.arrivals.map((arrival) => [arrival.runner, arrival]))
      const database = yield* Effect.all([fleet.left, fleet.problems]).pipe(Effect.timeoutOption("5 seconds"))
      return JSON.stringify({
        now: yield* now,
        wanted: machines.map(({ runner }) => runner?.name ?? "no runner"),
        runners: started.map(({ runner }) => ({
          name: runner.name,
          isToEnd: ending.has(runner),
          hasEnded: ended.has(runner),
          latest: latest.get(runner.name),
          stderr: runner.stderr().slice(-1_000)
        })),
        database
      })
    })

    /** Says what there is when a stage hangs, which a test that times out doesn't. */
    const stage = <A>(name: string, effect: Effect.Effect<A>): Effect.Effect<A> =>
      Effect.timeoutOrElse(effect, {
        duration: longestStage,
        orElse: () =>
          Effect.flatMap(situation, (text) => Effect.die(new Error(`${name} takes more than ${Duration.format(longestStage)}: ${text}`)))
      })

    const disturb = (machine: Machine, from: number, until = Infinity) => disturbances.push({ machine, from, until })
    const recover = (machine: Machine, at: number) => {
      for (const each of disturbances) if (each.machine === machine) each.until = Math.min(each.until, at)
    }
    const connect = Effect.fnUntraced(function*(some: ReadonlyArray<Machine>, state: DatabaseProxy.State) {
      const at = yield* now
      for (const machine of some) {
        if (state === "open") recover(machine, at)
        // The database can be reached over new connections as soon as the old ones are given up.
        else disturb(machine, at, state === "forgotten" ? at + Duration.toMillis(options.within) : Infinity)
        yield* machine.network.set(state)
      }
      return at
    })
    const outage = (share: number) => Effect.sleep(Duration.times(options.outage, share))
    const randomMachine = among(...machines)

    const faults: Readonly<Record<Fault, Effect.Effect<void>>> = {
      kill: Effect.gen(function*() {
        const machine = yield* randomMachine
        const killedAt = yield* now
        const runner = yield* killOn(machine)
        if (runner !== undefined) losses.push({ pid: runner.pid, at: killedAt })
        const owners = new Map((yield* fleet.takeovers).map(({ account, pid }) => [account, pid]))
        const left = ids.filter((id) => owners.get(id) === runner?.pid)
        yield* Effect.forEach(left, changeOf)
        const servedAgain = () => {
          const first = new Map<string, number>()
          for (const { account, at, runner: sender } of service.arrivals) {
            if (at > killedAt && sender !== runner?.name && !first.has(account)) first.set(account, at)
          }
          return left.map((id) => first.get(id))
        }
        const isServed = yield* Fleet.until(Effect.sync(() => servedAgain().every((at) => at !== undefined)), longest)
        if (!isServed) unserved.push(`accounts of the killed ${runner?.name}`)
        failovers.push(servedAgain().reduce((most: number, at) => Math.max(most, (at ?? 0) - killedAt), 0))
        yield* startOn(machine)
        yield* served([machine], 0)
      }),
      freeze: Effect.gen(function*() {
        const machine = yield* randomMachine
        const frozen = machine.runner
        const frozenAt = yield* now
        disturb(machine, frozenAt)
        yield* frozen?.signal("SIGSTOP") ?? Effect.void
        yield* outage(yield* Random.nextBetween(0.8, 1.5))
        const thawedAt = yield* now
        yield* frozen?.signal("SIGCONT") ?? Effect.void
        recover(machine, thawedAt)
        if (frozen !== undefined) losses.push({ pid: frozen.pid, at: frozenAt, until: thawedAt })
        yield* served([machine], thawedAt)
      }),
      restartAll: Effect.forEach(machines, (machine) =>
        Effect.gen(function*() {
          yield* stopOn(machine)
          yield* startOn(machine)
          yield* served([machine], 0)
        }), { discard: true }),
      cutDatabase: Effect.gen(function*() {
        const cut = yield* among(machines, [yield* randomMachine])
        const states = yield* among<ReadonlyArray<DatabaseProxy.State>>(["stalled", "stalled"], ["cut", "cut"], ["stalled", "cut"])
        yield* Effect.forEach(states, (state) => Effect.andThen(connect(cut, state), outage(0.5)))
        const reopenedAt = yield* connect(cut, "open")
        yield* changeAll
        yield* served(cut, reopenedAt)
      }),
      forgetConnections: Effect.gen(function*() {
        const forgotten = yield* among(machines, [yield* randomMachine])
        const forgottenAt = yield* connect(forgotten, "forgotten")
        yield* changeAll
        yield* served(forgotten, forgottenAt)
      }),
      stopWithoutDatabase: Effect.gen(function*() {
        const machine = yield* randomMachine
        yield* connect([machine], yield* among<DatabaseProxy.State>("stalled", "cut"))
        yield* outage(yield* Random.nextBetween(0, 0.3))
        yield* stopOn(machine)
        yield* connect([machine], "open")
        yield* startOn(machine)
        yield* served([machine], 0)
      }),
      slowStart: Effect.gen(function*() {
        const machine = yield* randomMachine
        yield* stopOn(machine)
        yield* connect([machine], yield* among<DatabaseProxy.State>("slow", "stalled", "cut"))
        yield* startOn(machine)
        yield* outage(0.4)
        yield* connect([machine], "open")
        yield* served([machine], 0)
      }),
      stallResponses: Effect.gen(function*() {
        const stalled = yield* among(machines, [yield* randomMachine])
        yield* connect(stalled, "unanswered")
        yield* outage(yield* Random.nextBetween(0.5, 1))
        const reopenedAt = yield* connect(stalled, "open")
        yield* changeAll
        yield* served(stalled, reopenedAt)
      }),
      killWithoutDatabase: Effect.gen(function*() {
        yield* connect(machines, yield* among<DatabaseProxy.State>("stalled", "cut"))
        yield* outage(yield* Random.nextBetween(0, 0.5))
        const machine = yield* randomMachine
        const runner = yield* killOn(machine)
        yield* startOn(machine)
        yield* outage(0.5)
        const reopenedAt = yield* connect(machines, "open")
        // Before, nobody could take them over.
        if (runner !== undefined) losses.push({ pid: runner.pid, at: reopenedAt })
        yield* changeAll
        yield* served(machines, reopenedAt)
      })
    }

    const startedAt = yield* now
    yield* stage("the first start", Effect.andThen(Effect.forEach(machines, startOn), served(machines, 0)))
    const differing = () =>
      ids.flatMap((id) =>
        products.filter((product) => service.stock(id, product) !== feeds.get(id)?.wanted(product)).map((product) => `${id} ${product}`)
      )
    // The large source never ends to have work.
    const arrivedCount = () => service.arrivals.filter(({ account }) => feeds.has(account)).length
    /** As long as it takes while requests arrive. */
    const settle: Effect.Effect<boolean> = Effect.gen(function*() {
      const before = arrivedCount()
      const isSettled = Effect.map(fleet.isSettled, (isSettled) => isSettled && differing().length === 0)
      return (yield* Fleet.until(isSettled, longest)) || (arrivedCount() > before && (yield* settle))
    })
    // Otherwise the first load, of many products per account, would delay the changes that are measured.
    if (!(yield* stage("the first load", settle))) unserved.push("accounts before the first fault")
    yield* service.setFailing(true)

    const expected = options.faults.reduce((sum, fault) => sum + seconds[fault], 0)
    const ticks = expected * 1_000 / Duration.toMillis(tick)
    const changer = yield* Effect.gen(function*() {
      let changes = 0
      for (let turn = 1; changes < options.changes; turn++) {
        while (changes < Math.min(options.changes, turn / ticks * options.changes)) {
          changes++
          yield* changeOf(yield* among(...changingIds))
        }
        yield* Effect.sleep(tick)
      }
    }).pipe(Random.withSeed(`changes ${options.seed}`), Effect.forkChild)
    const smallChanger = yield* Effect.forEach(steadyIds, changeOf, { discard: true }).pipe(
      Effect.repeat(Schedule.fixed(steady.changeEvery)),
      Effect.forkChild
    )

    for (const fault of options.faults) {
      yield* Effect.sleep(Duration.seconds(yield* Random.nextBetween(0, 3)))
      yield* stage(fault, faults[fault])
    }
    yield* stage("changing the sources", Fiber.join(changer))
    yield* Fiber.interrupt(smallChanger)
    yield* service.setFailing(false)
    const settled = yield* stage("settling", settle)
    const failing = settled ? [] : yield* fleet.problems
    const left = settled ? [] : yield* fleet.left
    const unrecorded = yield* fleet.unrecorded
    isOver = true
    yield* stage("stopping",
      Effect.andThen(Effect.forEach(machines, stopOn), Effect.forEach(started, ({ runner }) => runner.ended, { discard: true })))

    const takeovers = yield* fleet.takeovers
    const pids = new Map(started.map(({ runner }) => [runner.name, runner.pid]))
    const arrivalsOf = Arr.groupBy(service.arrivals, ({ account }) => account)
    const takeoversOf = Arr.groupBy(takeovers, ({ account }) => account)
    const ofAccount = accounts.map(({ id }) => ({ id, arrivals: arrivalsOf[id] ?? [], takeovers: takeoversOf[id] ?? [] }))
    const takeoverWaits = losses.flatMap((loss) => Judge.takeoverWaits(loss, takeovers))
    const disturbed = disturbances.flatMap(({ from, machine, until }) =>
      started.filter((each) => each.machine === machine).map(({ runner: { pid } }) => ({ pid, from, until }))
    )
    const changeWaits = ofAccount.flatMap(({ arrivals, id, takeovers }) =>
      Judge.changeWaits(id, small.get(id) ?? [], arrivals, takeovers, disturbed)
    )
    const late = (waits: ReadonlyArray<Judge.Wait>) =>
      waits.filter(({ millis }) => millis > Duration.toMillis(options.within)).toSorted((one, other) => other.millis - one.millis)
    const [lateTakeovers, lateChanges] = [late(takeoverWaits), late(changeWaits)]
    const logs = yield* Effect.forEach(started,
      ({ runner: { ended, name } }) => Effect.map(ended, ({ stderr, stdout }) => ({ name, text: `${stdout}${stderr}` })))
    if (options.logs !== undefined) {
      const at = `${options.logs}/${options.seed}`
      yield* files.makeDirectory(at, { recursive: true })
      yield* Effect.forEach(logs, ({ name, text }) => files.writeFileString(`${at}/${name}.log`, text))
      yield* files.writeFileString(`${at}/requests.json`, JSON.stringify(service.arrivals))
      yield* files.writeFileString(`${at}/takeovers.json`, JSON.stringify({ takeovers, pids: [...pids], losses, disturbed }))
    }
    return {
      figures: {
        seconds: Math.round(((yield* now) - startedAt) / 1_000),
        faults: options.faults.join(" "),
        changes: ids.reduce((sum, id) => sum + (feeds.get(id)?.changes() ?? 0), 0),
        requests: service.arrivals.length,
        failedRequests: service.hits(),
        takeovers: takeovers.length,
        /** From each kill until every account of the killed runner is served again. */
        failoverSeconds: failovers.map((millis) => millis / 1_000),
        takeoverSeconds: Judge.longestSeconds(takeoverWaits),
        smallChanges: changeWaits.length,
        lateChanges: lateChanges.length,
        smallChangeSeconds: Judge.longestSeconds(changeWaits),
        worstWindow: Math.max(
          ...ofAccount.map(({ arrivals }) =>
            Judge.mostWithin(allowance.window, arrivals.filter(({ counted }) => counted).map(({ at }) => at))
          )
        ),
        hostileReads: hostile.reads(),
        peakMemoryMiB: memory,
        failedStarts
      },
      /** What has to be empty, each. */
      different: differing(),
      left,
      failing,
      unrecorded,
      outOfOrder: [
        ...ofAccount.flatMap(({ arrivals, id }) =>
          feeds.get(id)?.outOfOrder(arrivals.flatMap(({ at, set }) => set === undefined ? [] : [{ ...set, at, isLate: false }])).map((
            write
          ) => ({ id, ...write })) ?? []
        ),
        ...Judge.decreasing(arrivalsOf["large"] ?? [])
      ],
      overAllowance: service.arrivals.filter(({ exceeded }) => exceeded),
      stale: ofAccount.flatMap(({ arrivals, takeovers }) => Judge.staleOf(arrivals, takeovers, pids, losses)),
      lateTakeovers: lateTakeovers.slice(0, 10),
      lateChanges: lateChanges.slice(0, 10),
      exits,
      unserved,
      leaks: logs.filter(({ text }) => text.includes(secretPart)).map(({ name }) => name)
    }
  }).pipe(Effect.scoped, Random.withSeed(options.seed))
