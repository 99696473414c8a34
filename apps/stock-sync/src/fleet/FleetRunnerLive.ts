/**
 * The runner of a fleet: follows the shards that it owns and the settings of their accounts, and activates accounts whose source is to be
 * read or whose products are due. One loop, one timer and one record for each account, whatever the number of accounts.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import { Durations } from "@plaza/client"
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as LogLevel from "effect/LogLevel"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { LedgerFault } from "../ledger/LedgerError.js"
import * as Metrics from "../observability/Metrics.js"
import * as Backoff from "../sync/Backoff.js"
import * as MonotonicClock from "../sync/MonotonicClock.js"
import type * as SyncStatus from "../sync/SyncStatus.js"
import type { AccountOptions } from "./AccountOptions.js"
import type { AccountSelection } from "./AccountSelection.js"
import type { AccountSources } from "./AccountSources.js"
import * as AccountWorker from "./AccountWorker.js"
import { type AccountSettings, type FleetAccount, settingsOf } from "./FleetAccounts.js"
import { FleetDatabaseError } from "./FleetError.js"
import { FleetRoster } from "./FleetRoster.js"
import { FleetRunner } from "./FleetRunner.js"
import * as FleetLedger from "./ledger/FleetLedger.js"
import { Ownership, type Term } from "./Ownership.js"
import * as PollPhase from "./PollPhase.js"
import * as ReadSlots from "./ReadSlots.js"
import { WakeQueue } from "./WakeQueue.js"

export interface Options {
  /** Sources that are read, and workers that are started, at once. */
  readonly concurrentReads: number
  /** How long a stop waits for requests in flight. */
  readonly stopWithin: Duration.Duration
}

/** An account of an owned shard. */
interface Member extends AccountWorker.AccountRecord {
  readonly id: string
  readonly shard: number
  readonly term: Term
  readonly paused: boolean
  revision: number
  /** Undefined until this runner has taken the account over. */
  owned: FleetLedger.OwnedAccount | undefined
  /** The worker of the account's earlier settings. The account is taken over when it has ended, so that it records its outcomes. */
  readonly predecessor: Fiber.RuntimeFiber<void> | undefined
  worker: Fiber.RuntimeFiber<void> | undefined
  /** Failed activations in a row. */
  failures: number
  /** No activation before this time. */
  retryAt: MonotonicClock.MonotonicMillis
  problem: string | null
  /** The problem that the database has. */
  recorded: string | null
}

const turnInterval = Duration.seconds(1)
// In turns.
const removedEvery = 5
/** A statement of the loop that takes longer fails. A takeover of ten thousand accounts takes less than a second. */
const statementTimeout = Duration.seconds(8)
/** After the requests in flight, a stop waits so long until their outcomes are recorded. */
const recordWithin = Duration.seconds(3)
/** A change may be committed after a later revision was seen, but hardly by more than this. */
const revisionLag = Duration.toMillis("10 seconds")
const backoff: Backoff.Backoff = { first: Duration.seconds(1), longest: Duration.minutes(5) }
/** The first polls of accounts that were added or changed are spread over this time for each of them, up to their interval. */
const firstPollSpacing = Duration.millis(6)

/** After a takeover the source is read sooner than its interval says: the earlier runner may have been about to read it. */
const maxFirstPoll = Duration.minutes(1)
const defaultInterval = Duration.minutes(1)

/**
 * A worker counts as starting until it ends, and at most so long: it may wait for the service for hours. The start of a worker takes most of
 * its CPU time. If all accounts started at once, as after a takeover, no lease could be renewed meanwhile.
 */
const startingFor = Duration.toMillis("15 seconds")

const none: MonotonicClock.MonotonicMillis = Number.NEGATIVE_INFINITY
const never: MonotonicClock.MonotonicMillis = Number.POSITIVE_INFINITY

/** How often the source of an account is read. An invalid setting is reported when the account is activated. */
const pollInterval = (options: AccountSettings["options"]): Duration.Duration =>
  Either.getOrElse(Durations.parsePositiveText(options["poll"] ?? ""), () => defaultInterval)

const isSameSettings = (one: FleetAccount, other: Member): boolean =>
  JSON.stringify(settingsOf(one)) === JSON.stringify(settingsOf(other.settings))

/** Why the service or the source keeps the account from being up to date. */
const problemOf = ({ account, source }: SyncStatus.State): string | null => {
  if (account._tag === "Paused" || account._tag === "Trouble" || account._tag === "Quota") return account.failure.message
  return source.failing?.failure.message ?? null
}

const make = ({ concurrentReads, stopWithin }: Options) =>
  Effect.gen(function*() {
    const context = yield* Effect.context<AccountOptions | AccountSources | FleetLedger.FleetLedger | HttpClient.HttpClient>()
    const ledgers = yield* FleetLedger.FleetLedger
    const ownership = yield* Ownership
    const roster = yield* FleetRoster
    const { runner } = ownership
    const startedAt = yield* DateTime.now
    const reads = ReadSlots.make(concurrentReads)
    const timer = yield* Queue.sliding<void>(1)

    const members = new Map<string, Member>()
    /** The shards whose accounts were taken over, with their terms. */
    const terms = new Map<number, Term>()
    const wakes = new WakeQueue()
    const active = new Set<Member>()
    /** When the workers that are about to begin were activated. */
    const starting = new Map<Member, MonotonicClock.MonotonicMillis>()
    /** Workers of lost accounts too, until they end. */
    const workers = new Set<Fiber.RuntimeFiber<void>>()
    /** Accounts that this runner is yet to take over: added, changed or resumed ones, and those whose lease was not fresh for a moment. */
    const untaken = new Set<Member>()
    const failing = new Set<Member>()
    const unrecorded = new Set<Member>()
    const revisions: Array<{ readonly at: MonotonicClock.MonotonicMillis; readonly revision: number }> = []
    let stopping = false
    let isReachable = false
    let isReported = false
    let turns = 0
    let lastTurnAt = yield* MonotonicClock.now
    let lastReachedAt = lastTurnAt

    const statement = <A>(effect: Effect.Effect<A, FleetDatabaseError>): Effect.Effect<A, FleetDatabaseError> =>
      Effect.timeoutFail(Effect.disconnect(effect), {
        duration: statementTimeout,
        onTimeout: () =>
          new FleetDatabaseError({
            database: "",
            message: `the fleet's database did not respond within ${Duration.format(statementTimeout)}: look whether it is overloaded`
          })
      })

    const setProblem = (member: Member, problem: string | null): Effect.Effect<void> => {
      if (member.problem === problem) return Effect.void
      const before = member.problem
      member.problem = problem
      if (problem === null) failing.delete(member)
      else failing.add(member)
      if (problem === member.recorded) unrecorded.delete(member)
      else unrecorded.add(member)
      const fields = { account: member.id, ...(problem === null ? {} : { detail: problem }) }
      return Effect.annotateLogs(
        problem === null ? Effect.logInfo("account.recovered") : before === null ? Effect.logWarning("account.failed") : Effect.void,
        fields
      )
    }

    const isCurrent = (member: Member): boolean => members.get(member.id) === member

    const plan = (member: Member): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (!isCurrent(member) || member.worker !== undefined) return Effect.void
        const wake = member.paused || member.owned === undefined
          ? never
          : Math.max(member.retryAt, Math.min(member.nextPoll, member.nextDue))
        const isNext = wake < wakes.next
        wakes.set(member.id, wake)
        return isNext ? Effect.asVoid(Queue.offer(timer, undefined)) : Effect.void
      })

    const giveUp = (member: Member): void => {
      member.owned = undefined
      untaken.add(member)
    }

    /** Plans the next activation after a failure. */
    const fail = (member: Member, cause: Cause.Cause<AccountWorker.Failure>): Effect.Effect<void> =>
      Effect.gen(function*() {
        const failure = Option.getOrUndefined(Cause.failureOption(cause))
        if (failure instanceof LedgerFault) {
          member.opening = "afterTakeover"
          if (FleetLedger.isTakenOver(failure)) giveUp(member)
          else yield* Metric.increment(Metrics.ledgerFaults)
        }
        member.failures++
        const now = yield* MonotonicClock.now
        member.retryAt = now + Duration.toMillis(yield* Backoff.delay(backoff, member.failures))
        // What is due is not known.
        member.nextDue = now
        if (member.owned === undefined) return
        if (failure === undefined) yield* Effect.annotateLogs(Effect.logError("account.defect", cause), { account: member.id })
        yield* setProblem(member, failure === undefined ? "an unexpected failure: look at the log of its runner" : failure.message)
      })

    /** Runs when the worker of a member has ended. */
    const ended = (member: Member, exit: Exit.Exit<void, AccountWorker.Failure>): Effect.Effect<void> =>
      Effect.gen(function*() {
        member.worker = undefined
        member.status = undefined
        active.delete(member)
        if (starting.delete(member) && wakes.next <= (yield* MonotonicClock.now)) yield* Queue.offer(timer, undefined)
        if (!isCurrent(member) || stopping) return
        yield* AccountWorker.planPoll(member)
        if (Exit.isSuccess(exit)) {
          member.failures = 0
          member.retryAt = none
          yield* setProblem(member, member.carried === undefined ? null : problemOf(member.carried.status))
        } else if (!Cause.isInterruptedOnly(exit.cause)) {
          yield* fail(member, exit.cause)
        }
        yield* plan(member)
      })

    const stop = (member: Member): Effect.Effect<void> =>
      member.worker === undefined ? Effect.void : Effect.asVoid(Fiber.interruptFork(member.worker))

    /** The worker stops, and the account is taken over again once its lease is fresh. */
    const onStaleLease = (member: Member): Effect.Effect<void> =>
      Effect.suspend(() => {
        giveUp(member)
        return Effect.zipRight(Effect.annotateLogs(Effect.logWarning("account.leaseLost"), { account: member.id }), stop(member))
      })

    const activate = (member: Member, now: MonotonicClock.MonotonicMillis): Effect.Effect<void> =>
      Effect.suspend(() => {
        const { owned } = member
        if (owned === undefined || member.paused || member.worker !== undefined || stopping) return Effect.void
        const activation: AccountWorker.Activation = {
          record: member,
          owned,
          reads,
          stopWithin,
          mayRequest: ownership.holds(member.shard, member.term),
          onStaleLease: onStaleLease(member)
        }
        active.add(member)
        starting.set(member, now)
        const worker = Effect.onExit(AccountWorker.run(activation), (exit) => ended(member, exit))
        // A daemon: `drain` waits for its end, with a limit.
        return Effect.map(Effect.forkDaemon(Effect.asVoid(Effect.exit(Effect.provide(worker, context)))), (fiber) => {
          member.worker = fiber
          workers.add(fiber)
          fiber.addObserver(() => workers.delete(fiber))
        })
      })

    /** When the worker that has been starting for longest no longer counts. */
    const nextStarted = () => Math.min(never, ...Array.from(starting.values(), (at) => at + startingFor))

    const activateDue = Effect.gen(function*() {
      const now = yield* MonotonicClock.now
      for (const [member, at] of starting) if (at + startingFor <= now) starting.delete(member)
      const due = wakes.due(now, concurrentReads - starting.size)
      yield* Effect.forEach(due,
        (id) =>
          Option.match(Option.fromNullable(members.get(id)), { onNone: () => Effect.void, onSome: (member) => activate(member, now) }), {
        discard: true
      })
    })

    /** While the database is out of reach, no account is activated: its worker would only fail. */
    const follow = Effect.gen(function*() {
      if (isReachable) yield* activateDue
      const next = starting.size < concurrentReads ? wakes.next : Math.max(wakes.next, nextStarted())
      const wait = (isReachable ? next : never) - (yield* MonotonicClock.now)
      const signal = Queue.take(timer)
      yield* Number.isFinite(wait) ? Effect.timeoutOption(signal, Duration.millis(Math.max(1, Math.ceil(wait)))) : signal
    })

    const drop = (member: Member): Effect.Effect<void> => {
      members.delete(member.id)
      wakes.delete(member.id)
      failing.delete(member)
      unrecorded.delete(member)
      untaken.delete(member)
      return stop(member)
    }

    /** Adds an account with its settings, or replaces them. The worker of the earlier settings stops. */
    const put = (account: FleetAccount, shard: number, term: Term): Effect.Effect<Member> =>
      Effect.gen(function*() {
        const { id, options, paused, problem, revision } = account
        const earlier = members.get(id)
        if (earlier !== undefined) yield* drop(earlier)
        const member: Member = {
          id,
          shard,
          term,
          paused,
          revision,
          settings: settingsOf(account),
          owned: undefined,
          predecessor: earlier?.worker,
          opening: "afterTakeover",
          carried: undefined,
          polling: undefined,
          source: undefined,
          status: undefined,
          rateLimit: undefined,
          worker: undefined,
          interval: pollInterval(options),
          nextPoll: never,
          pollAskedAt: none,
          nextDue: never,
          failures: 0,
          retryAt: none,
          problem,
          recorded: problem
        }
        members.set(id, member)
        if (!paused) untaken.add(member)
        if (problem !== null) failing.add(member)
        return member
      })

    /** Starts to work on accounts that were taken over. Those of some epochs are polled as soon as possible. */
    const begin = (
      { due, taken }: Effect.Effect.Success<ReturnType<typeof takeOver>>,
      isSooner: (epoch: number) => boolean
    ): Effect.Effect<void> =>
      Effect.gen(function*() {
        const dueAt = new Map(due.map((each) => [each.account, each.dueAt]))
        const sooner = taken.filter(({ epoch }) => isSooner(epoch)).length
        const wall = yield* DateTime.now
        const now = yield* MonotonicClock.now
        yield* Effect.forEach(taken, (owned) =>
          Effect.gen(function*() {
            const member = members.get(owned.id)
            if (member === undefined) return
            member.owned = owned
            untaken.delete(member)
            const at = dueAt.get(owned.id)
            // An earlier runner prepared the ledger and bound it, and left nothing in flight and no problem that only a request shows.
            member.opening = Option.isSome(owned.boundTo) && at === undefined && member.problem === null ? "again" : "afterTakeover"
            member.carried = undefined
            const longest = isSooner(owned.epoch) ? Duration.times(firstPollSpacing, sooner) : maxFirstPoll
            member.nextPoll = yield* PollPhase.next(owned.id, Duration.min(member.interval, longest))
            member.nextDue = at === undefined ? never : now + Math.max(0, DateTime.distance(wall, at))
            yield* plan(member)
          }), { discard: true })
      })

    const takeOver = (selection: AccountSelection) =>
      Effect.gen(function*() {
        const taken = yield* statement(ledgers.takeOver(selection, runner))
        const due = yield* statement(ledgers.dueAccounts(selection))
        return { taken, due }
      })

    /** Takes over all accounts of shards that were acquired. */
    const takeGained = Effect.gen(function*() {
      const gained = Array.from(yield* ownership.owned).filter(([shard]) => !terms.has(shard))
      if (gained.length === 0) return
      const selection: AccountSelection = { _tag: "Shards", shards: gained.map(([shard]) => shard) }
      const { due, taken } = yield* takeOver(selection)
      const accounts = yield* statement(roster.read(selection))
      // Shards may have been lost during the statements.
      const held = new Map(yield* Effect.filter(gained, ([shard, term]) => ownership.holds(shard, term)))
      for (const account of accounts) {
        const term = account.shard === null ? undefined : held.get(account.shard)
        if (account.shard !== null && term !== undefined) yield* put(account, account.shard, term)
      }
      for (const [shard, term] of held) terms.set(shard, term)
      // An account of epoch 1 was never polled.
      yield* begin({ taken, due }, (epoch) => epoch === 1)
      yield* Effect.annotateLogs(Effect.logInfo("fleet.tookOver"), { shards: held.size, accounts: taken.length, due: due.length })
    })

    /** Stops the accounts of shards that were lost. Uses no database. */
    const dropLost = Effect.gen(function*() {
      const owned = yield* ownership.owned
      const lost = new Set(Array.from(terms).flatMap(([shard, term]) => owned.get(shard) === term ? [] : [shard]))
      if (lost.size === 0) return
      const accounts = Array.from(members.values()).filter(({ shard }) => lost.has(shard))
      for (const shard of lost) terms.delete(shard)
      yield* Effect.forEach(accounts, drop, { discard: true })
      yield* Effect.annotateLogs(Effect.logInfo("fleet.lost"), { shards: lost.size, accounts: accounts.length })
    })

    const applyChanges = Effect.gen(function*() {
      const now = yield* MonotonicClock.now
      while (revisions.length > 1 && now - (revisions[1]?.at ?? now) > revisionLag) revisions.shift()
      const first = revisions[0]
      const after = first === undefined || now - first.at <= revisionLag ? 0 : first.revision
      const changes = yield* statement(roster.changes(terms.keys(), after))
      revisions.push({ at: now, revision: changes.reduce((most, { revision }) => Math.max(most, revision), after) })
      const unassigned = changes.flatMap(({ id, shard }) => shard === null ? [{ id, shard: ownership.shardOf(id) }] : [])
      if (unassigned.length > 0) yield* statement(roster.assign(unassigned))
      const changed = changes.filter(({ id, revision, shard }) => shard !== null && members.get(id)?.revision !== revision)
      if (changed.length === 0) return
      const accounts = yield* statement(roster.read({ _tag: "Ids", ids: changed.map(({ id }) => id) }))
      for (const account of accounts) {
        const term = account.shard === null ? undefined : terms.get(account.shard)
        if (account.shard === null || term === undefined) continue
        const member = members.get(account.id)
        if (member !== undefined && member.paused === account.paused && isSameSettings(account, member)) {
          // Something else has changed, such as a product that an operator released.
          member.revision = account.revision
          member.nextPoll = now
          member.nextDue = now
          yield* plan(member)
        } else {
          yield* put(account, account.shard, term)
        }
      }
    })

    const dropRemoved = Effect.gen(function*() {
      const ids = new Set(yield* statement(roster.ids(terms.keys())))
      yield* Effect.forEach(Array.from(members.values()).filter(({ id }) => !ids.has(id)), drop, { discard: true })
    })

    const takeSingle = Effect.gen(function*() {
      const now = yield* MonotonicClock.now
      const waiting = Array.from(untaken).filter(({ predecessor, retryAt, worker }) =>
        worker === undefined && retryAt <= now && (predecessor === undefined || !workers.has(predecessor))
      )
      const held = yield* Effect.filter(waiting, ({ shard, term }) => ownership.holds(shard, term))
      if (held.length === 0) return
      yield* begin(yield* takeOver({ _tag: "Ids", ids: held.map(({ id }) => id) }), () => true)
    })

    const recordProblems = Effect.gen(function*() {
      yield* Effect.forEach(Array.from(active), (member) =>
        member.status === undefined ? Effect.void : Effect.flatMap(member.status, (status) => setProblem(member, problemOf(status))), {
        discard: true
      })
      const changed = Array.from(unrecorded).filter(({ owned }) => owned !== undefined)
      if (changed.length === 0) return
      const problems = changed.map(({ id, owned, problem }) => ({ id, epoch: owned?.epoch ?? 0, problem }))
      yield* statement(roster.recordProblems(problems))
      changed.forEach((member, index) => {
        member.recorded = problems[index]?.problem ?? null
        if (member.problem === member.recorded) unrecorded.delete(member)
      })
    })

    const turn = Effect.gen(function*() {
      yield* dropLost
      yield* takeGained
      yield* applyChanges
      if (++turns % removedEvery === 0) yield* dropRemoved
      yield* takeSingle
      yield* recordProblems
      lastReachedAt = yield* MonotonicClock.now
      if (isReachable) return
      isReachable = true
      yield* Queue.offer(timer, undefined)
      if (isReported) yield* Effect.logInfo("fleet.databaseReached")
      isReported = false
    }).pipe(
      Effect.catchAllCause((cause) => {
        isReachable = false
        const failure = Option.getOrUndefined(Cause.failureOption(cause))
        if (Cause.isInterruptedOnly(cause)) return Effect.void
        if (failure === undefined) return Effect.logError("fleet.defect", cause)
        const level = isReported ? LogLevel.Debug : LogLevel.Error
        isReported = true
        return Effect.annotateLogs(Effect.logWithLevel(level, "fleet.databaseUnreachable"), { detail: failure.message })
      }),
      Effect.ensuring(Effect.map(MonotonicClock.now, (now) => {
        lastTurnAt = now
      }))
    )

    const drain = Effect.gen(function*() {
      if (stopping) return
      stopping = true
      yield* Effect.annotateLogs(Effect.logInfo("fleet.stopping"), { active: active.size })
      const all = Effect.asVoid(Fiber.interruptAll(Array.from(workers)))
      const ended = yield* Effect.timeoutOption(Effect.interruptible(Effect.disconnect(all)), Duration.sum(stopWithin, recordWithin))
      if (Option.isNone(ended)) yield* Effect.annotateLogs(Effect.logWarning("fleet.stoppedWithRequests"), { active: workers.size })
    })

    // First, so that it runs after the loops have ended.
    yield* Effect.addFinalizer(() => drain)
    yield* Effect.forkScoped(Effect.forever(follow))
    yield* Effect.forkScoped(Effect.repeat(turn, Schedule.spaced(turnInterval)))
    // A turn may wait for the database.
    yield* Effect.forkScoped(Effect.repeat(dropLost, Schedule.spaced(turnInterval)))

    return {
      drain,
      state: Effect.gen(function*() {
        const held = yield* Effect.filter(Array.from(terms), ([shard, term]) => ownership.holds(shard, term))
        const { reading, waiting: waitingToRead } = yield* reads.counts
        return {
          runner,
          startedAt,
          shards: held.length,
          leaseRenewedAt: yield* ownership.renewedAt,
          accounts: { owned: members.size, active: active.size, reading, waitingToRead, failing: failing.size },
          loop: { lastTurnAt, lastReachedAt },
          stopping
        }
      }),
      activity: (account) =>
        Effect.gen(function*() {
          const member = members.get(account)
          if (member === undefined || !(yield* ownership.holds(member.shard, member.term))) return Option.none()
          const { carried, nextDue, nextPoll, owned, paused, rateLimit, retryAt, status, worker } = member
          return Option.some({
            paused,
            takenOver: owned !== undefined,
            active: worker !== undefined,
            status: yield* status ?? Effect.succeed(carried?.status),
            rateLimit: yield* rateLimit ?? Effect.succeed(undefined),
            nextPoll,
            nextDue,
            retryAt
          })
        })
    } satisfies FleetRunner["Type"]
  })

export const layer = (
  options: Options
): Layer.Layer<
  FleetRunner,
  never,
  AccountOptions | AccountSources | FleetLedger.FleetLedger | FleetRoster | HttpClient.HttpClient | Ownership
> => Layer.scoped(FleetRunner, make(options))
