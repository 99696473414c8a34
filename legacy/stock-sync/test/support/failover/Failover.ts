/**
 * Three runners with the faults of a real operation: killed, suspended, restarted and cut off from the database, while sources change and
 * the service fails. Reports what is wrong at the end. The seed decides the times of the faults, the changes and the failures of the
 * service; how far the runners get meanwhile depends on the machine.
 */
import { FileSystem } from "@effect/platform"
import { Clock, Duration, Effect, Fiber, Random, Scope } from "effect"
import * as Feed from "../crash/Feed.ts"
import * as DatabaseProxy from "./DatabaseProxy.ts"
import * as Fleet from "./Fleet.ts"
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
  killWithoutDatabase: 20
}
export type Fault = keyof typeof seconds
export const isFault = (text: string): text is Fault => text in seconds
export const everyFault = Object.keys(seconds).filter(isFault)

export interface Options {
  readonly accounts: number
  readonly changes: number
  /** One after the other. */
  readonly faults: ReadonlyArray<Fault>
  readonly seed: number
  /** How long the database is out of reach. A runner is suspended for 0.8 to 1.5 times as long. */
  readonly outage: Duration.Duration
  /** A folder for the logs, requests and takeovers. */
  readonly logs: string | undefined
}

interface Machine {
  readonly network: DatabaseProxy.DatabaseProxy
  /** Undefined while no runner is to run. */
  runner: Fleet.Runner | undefined
}

export const products = Array.from({ length: 24 }, (_, index) => `P${index}`)
// A change of all products is more.
const allowance = { limit: 10, window: Duration.seconds(5) }
const shares = { changed: 0.05, complete: 0.03 }
const secretPart = "secretsecretsecretsecretsecret"
const tick = Duration.millis(100)
// Much longer than it takes on a busy machine.
const longest = Duration.minutes(2)
/** A stage waits for several such things. */
const longestStage = Duration.minutes(5)

/** The largest number of these times within a window. */
export const mostWithin = (window: Duration.Duration, times: ReadonlyArray<number>): number => {
  let first = 0
  return times.reduce((most, at, index) => {
    while (at - (times[first] ?? at) >= Duration.toMillis(window)) first++
    return Math.max(most, index - first + 1)
  }, 0)
}

/** A request that has left its runner arrives within this time, whoever takes the account over meanwhile. */
const longestWay = 1_000

/** The requests of an account whose runner did not own it: another one had taken it over some time before, or had sent a request already. */
export const staleOf = (
  arrivals: ReadonlyArray<StrictService.Arrival>,
  takeovers: ReadonlyArray<Fleet.Takeover>,
  pids: ReadonlyMap<string, number>
): ReadonlyArray<StrictService.Arrival> =>
  arrivals.filter(({ at, runner }, index) => {
    const own = takeovers.findLastIndex((takeover) => takeover.pid === pids.get(runner) && takeover.at <= at)
    const next = takeovers[own + 1]
    if (own < 0) return true
    if (next === undefined || next.at > at) return false
    return at - next.at > longestWay || arrivals.slice(0, index).some((other) => pids.get(other.runner) === next.pid && other.at >= next.at)
  })

const among = <A>(...all: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.flatMap(Random.nextIntBetween(0, all.length), (index) => Effect.orDie(Effect.fromNullable(all[index])))

export const run = (options: Options) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const scope = yield* Effect.scope
    const folder = yield* files.makeTempDirectoryScoped()
    const ids = Array.from({ length: options.accounts }, (_, index) => `shop-${index}`)
    const keyOf = (id: string) => `key_${secretPart}${id.slice("shop-".length).padStart(10, "0")}`
    const sourceOf = (id: string) => `${folder}/${id}.csv`
    const service = yield* StrictService.start({
      accounts: new Map(ids.map((id) => [keyOf(id), id])),
      products,
      allowance,
      seed: options.seed
    })
    const feeds = new Map(
      yield* Effect.forEach(ids, (id) => Effect.map(Feed.make(sourceOf(id), products, shares), (feed) => [id, feed] as const))
    )
    // One at a time: a change replaces the file in two steps.
    const changing = Effect.unsafeMakeSemaphore(1)
    const changeOf = (id: string) => changing.withPermits(1)(feeds.get(id)?.change ?? Effect.void)
    yield* Effect.forEach(ids, changeOf)
    const fleet = yield* Fleet.make({
      accounts: ids.map((id) => ({ id, key: keyOf(id), source: sourceOf(id) })),
      products: products.length,
      baseUrl: service.baseUrl,
      proxyFor: service.proxyFor,
      allowance
    })

    const started: Array<Fleet.Runner> = []
    /** Runners that the test ends. */
    const ending = new Set<Fleet.Runner>()
    const ended = new Set<Fleet.Runner>()
    let isOver = false
    const exits: Array<string> = []
    const unserved: Array<string> = []
    const failovers: Array<number> = []
    let failedStarts = 0

    const startOn = (machine: Machine): Effect.Effect<Fleet.Runner> =>
      Effect.gen(function*() {
        const runner = yield* fleet.start(machine.network)
        started.push(runner)
        machine.runner = runner
        yield* Effect.forkIn(superviseOn(machine, runner), scope)
        return runner
      }).pipe(Scope.extend(scope))

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
        ).pipe(Effect.tap((isServing) => {
          if (!isServing) unserved.push(`${machine.runner?.name ?? "no runner"} took no account over`)
        })), { discard: true })

    const killOn = (machine: Machine) =>
      Effect.gen(function*() {
        const { runner } = machine
        if (runner === undefined) return undefined
        ending.add(runner)
        machine.runner = undefined
        yield* runner.signal("SIGKILL")
        yield* runner.ended
        return runner
      })

    const stopOn = (machine: Machine) =>
      Effect.gen(function*() {
        const { runner } = machine
        if (runner === undefined) return
        ending.add(runner)
        machine.runner = undefined
        yield* runner.signal("SIGTERM")
        const ended = yield* Effect.timeoutOption(runner.ended, longest)
        if (ended._tag === "None" || ended.value.status !== 0) {
          exits.push(`${runner.name} was stopped and ended with ${ended._tag === "None" ? "nothing" : ended.value.status}`)
        }
      })

    const machines = yield* Effect.replicateEffect(
      Effect.map(DatabaseProxy.start(fleet.database), (network): Machine => ({ network, runner: undefined })),
      3
    )
    const situation = Effect.gen(function*() {
      const latest = new Map(service.arrivals.map((arrival) => [arrival.runner, arrival]))
      const database = yield* Effect.all([fleet.unsettled, fleet.left, fleet.problems]).pipe(
        Effect.disconnect,
        Effect.timeoutTo({ duration: "5 seconds", onTimeout: () => "no answer", onSuccess: (answers): unknown => answers })
      )
      return JSON.stringify({
        now: yield* now,
        wanted: machines.map(({ runner }) => runner?.name ?? "no runner"),
        runners: started.map((runner) => ({
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
      effect.pipe(
        Effect.disconnect,
        Effect.timeoutTo({
          duration: longestStage,
          onTimeout: () =>
            Effect.flatMap(situation, (text) => Effect.dieMessage(`${name} takes more than ${Duration.format(longestStage)}: ${text}`)),
          onSuccess: Effect.succeed
        }),
        Effect.flatten
      )

    const connect = (some: ReadonlyArray<Machine>, state: DatabaseProxy.State) =>
      Effect.forEach(some, ({ network }) => network.set(state), { discard: true })
    const randomMachine = among(...machines)
    const now = Clock.currentTimeMillis

    const faults: Readonly<Record<Fault, Effect.Effect<void>>> = {
      kill: Effect.gen(function*() {
        const machine = yield* randomMachine
        const runner = yield* killOn(machine)
        const killedAt = yield* now
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
        yield* machine.runner?.signal("SIGSTOP") ?? Effect.void
        const share = yield* Random.nextRange(0.8, 1.5)
        yield* Effect.sleep(Duration.times(options.outage, share))
        const thawedAt = yield* now
        yield* machine.runner?.signal("SIGCONT") ?? Effect.void
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
        yield* Effect.forEach(states, (state) => Effect.zipRight(connect(cut, state), Effect.sleep(Duration.times(options.outage, 0.5))), {
          discard: true
        })
        const reopenedAt = yield* now
        yield* connect(cut, "open")
        yield* Effect.forEach(ids, changeOf)
        yield* served(cut, reopenedAt)
      }),
      forgetConnections: Effect.gen(function*() {
        const forgotten = yield* among(machines, [yield* randomMachine])
        const forgottenAt = yield* now
        yield* connect(forgotten, "forgotten")
        yield* Effect.forEach(ids, changeOf)
        yield* served(forgotten, forgottenAt)
      }),
      stopWithoutDatabase: Effect.gen(function*() {
        const machine = yield* randomMachine
        yield* connect([machine], yield* among<DatabaseProxy.State>("stalled", "cut"))
        yield* Effect.sleep(Duration.times(options.outage, yield* Random.nextRange(0, 0.3)))
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
        yield* Effect.sleep(Duration.times(options.outage, 0.4))
        yield* connect([machine], "open")
        yield* served([machine], 0)
      }),
      killWithoutDatabase: Effect.gen(function*() {
        yield* connect(machines, yield* among<DatabaseProxy.State>("stalled", "cut"))
        yield* Effect.sleep(Duration.times(options.outage, yield* Random.nextRange(0, 0.5)))
        const machine = yield* randomMachine
        yield* killOn(machine)
        yield* startOn(machine)
        yield* Effect.sleep(Duration.times(options.outage, 0.5))
        const reopenedAt = yield* now
        yield* connect(machines, "open")
        yield* Effect.forEach(ids, changeOf)
        yield* served(machines, reopenedAt)
      })
    }

    const startedAt = yield* now
    yield* stage("the first start", Effect.zipRight(Effect.forEach(machines, startOn), served(machines, 0)))
    // Only an account that was served can be served again.
    const isLoaded = Effect.sync(() => new Set(service.arrivals.map(({ account }) => account)).size === ids.length)
    if (!(yield* Fleet.until(isLoaded, longest))) unserved.push("accounts before the first fault")
    yield* service.setFailing(true)

    const expected = options.faults.reduce((sum, fault) => sum + seconds[fault], 0)
    const ticks = expected * 1_000 / Duration.toMillis(tick)
    let changes = 0
    const changer = yield* Effect.iterate(1, {
      while: () => changes < options.changes,
      body: (turn) =>
        Effect.gen(function*() {
          while (changes < Math.min(options.changes, turn / ticks * options.changes)) {
            changes++
            yield* changeOf(yield* among(...ids))
          }
          yield* Effect.sleep(tick)
          return turn + 1
        })
    }).pipe(Effect.withRandom(Random.make(["changes", options.seed])), Effect.fork)

    for (const fault of options.faults) {
      yield* Effect.sleep(Duration.seconds(yield* Random.nextRange(0, 3)))
      yield* stage(fault, faults[fault])
    }
    yield* stage("changing the sources", Fiber.join(changer))
    yield* service.setFailing(false)
    const differing = () =>
      ids.flatMap((id) =>
        products.filter((product) => service.stock(id, product) !== feeds.get(id)?.wanted(product)).map((product) => `${id} ${product}`)
      )
    /** As long as it takes while requests arrive. */
    const settle: Effect.Effect<boolean> = Effect.gen(function*() {
      const before = service.arrivals.length
      const isSettled = Effect.map(fleet.unsettled, (count) => count === 0 && differing().length === 0)
      return (yield* Fleet.until(isSettled, longest)) || (service.arrivals.length > before && (yield* settle))
    })
    const settled = yield* stage("settling", settle)
    const failing = settled ? [] : yield* fleet.problems
    const left = settled ? [] : yield* fleet.left
    const unrecorded = yield* fleet.unrecorded
    isOver = true
    yield* stage("stopping", Effect.zipRight(Effect.forEach(machines, stopOn), Effect.forEach(started, ({ ended }) => ended)))

    const takeovers = yield* fleet.takeovers
    const pids = new Map(started.map(({ name, pid }) => [name, pid]))
    const ofAccount = Array.from(ids, (id) => ({
      id,
      arrivals: service.arrivals.filter(({ account }) => account === id),
      takeovers: takeovers.filter(({ account }) => account === id)
    }))
    const logs = yield* Effect.forEach(started,
      ({ ended, name }) => Effect.map(ended, ({ stderr, stdout }) => ({ name, text: `${stdout}${stderr}` })))
    if (options.logs !== undefined) {
      const at = `${options.logs}/${options.seed}`
      yield* files.makeDirectory(at, { recursive: true })
      yield* Effect.forEach(logs, ({ name, text }) => files.writeFileString(`${at}/${name}.log`, text))
      yield* files.writeFileString(`${at}/requests.json`, JSON.stringify(service.arrivals))
      yield* files.writeFileString(`${at}/takeovers.json`, JSON.stringify({ takeovers, pids: [...pids] }))
    }
    return {
      figures: {
        seconds: Math.round(((yield* now) - startedAt) / 1_000),
        faults: options.faults.join(" "),
        changes: ids.reduce((sum, id) => sum + (feeds.get(id)?.changes() ?? 0), 0),
        requests: service.arrivals.length,
        failedRequests: service.hits(),
        takeovers: takeovers.length,
        failoverSeconds: failovers.map((millis) => millis / 1_000),
        worstWindow: Math.max(
          ...ofAccount.map(({ arrivals }) => mostWithin(allowance.window, arrivals.filter(({ counted }) => counted).map(({ at }) => at)))
        ),
        failedStarts
      },
      /** What has to be empty, each. */
      different: differing(),
      left,
      failing,
      unrecorded,
      outOfOrder: ofAccount.flatMap(({ arrivals, id }) =>
        feeds.get(id)?.outOfOrder(arrivals.flatMap(({ at, set }) => set === undefined ? [] : [{ ...set, at, isLate: false }])).map((
          write
        ) => ({ id, ...write })) ?? []
      ),
      overAllowance: service.arrivals.filter(({ exceeded }) => exceeded),
      stale: ofAccount.flatMap(({ arrivals, takeovers }) => staleOf(arrivals, takeovers, pids)),
      exits,
      unserved,
      leaks: logs.filter(({ text }) => text.includes(secretPart)).map(({ name }) => name)
    }
  }).pipe(Effect.scoped, Effect.withRandom(Random.make(options.seed)))
