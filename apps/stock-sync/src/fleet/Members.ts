/**
 * The accounts of the shards that a runner owns, and their workers. A member sleeps until its source is to be read or a product is due. Then
 * its worker runs until nothing is due within seconds, and its end plans the next activation: one queue and one timer serve all members.
 *
 * `FleetRunnerLive` decides which accounts are members, and takes them over.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as HttpClient from "effect/http/HttpClient"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { within } from "../ledger/database/Connections.ts"
import { LedgerFault } from "../ledger/LedgerError.ts"
import { log } from "../observability/EventLogger.ts"
import * as Metrics from "../observability/Metrics.ts"
import * as Backoff from "../sync/Backoff.ts"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import type { AccountOptions } from "./AccountOptions.ts"
import type { AccountSources } from "./AccountSources.ts"
import * as AccountWorker from "./AccountWorker.ts"
import * as CountedSemaphore from "./CountedSemaphore.ts"
import type { FleetAccount } from "./FleetAccounts.ts"
import type { DueAccount, FleetLedger, OwnedAccount } from "./FleetLedger.ts"
import * as Member from "./Member.ts"
import { Ownership, type Term } from "./Ownership.ts"
import * as PollPhase from "./PollPhase.ts"
import { WakeQueue } from "./WakeQueue.ts"

export interface Options {
  /** Sources that are read, and workers that are started, at once. */
  readonly concurrentReads: number
  /** How long a stop waits for requests in flight. */
  readonly stopWithin: Duration.Duration
}

/** Accounts that were taken over, and which of their products are due. */
interface Takeover {
  readonly taken: ReadonlyArray<OwnedAccount>
  readonly due: ReadonlyArray<DueAccount>
}

/** After the requests in flight, a stop waits so long until their outcomes are recorded. */
const recordWithin = Duration.seconds(3)
const backoff: Backoff.Backoff = { first: Duration.seconds(1), longest: Duration.minutes(5) }
/** The first polls of accounts that were added or changed are spread over this time for each of them, up to their interval. */
const firstPollSpacing = Duration.millis(6)

/** After a takeover the source is read sooner than its interval says: the earlier runner may have been about to read it. */
const maxFirstPoll = Duration.minutes(1)

/**
 * A worker counts as starting until it sends its first product or ends, and at most so long: it may wait for its source or the service for
 * hours. The start of a worker takes most of its CPU time. If all accounts started at once, as after a takeover, no lease could be renewed
 * meanwhile.
 */
const startingFor = Duration.toMillis("15 seconds")
/** How long it counts as starting after its first request: the others do not wait for a service that does not respond. */
const respondsWithin = Duration.toMillis("1 second")

/** Accounts whose times are so close are activated together, in one wake-up of the runner. */
const wakeSpacing = Duration.millis(20)

export const make = Effect.fnUntraced(function*({ concurrentReads, stopWithin }: Options) {
  const context = yield* Effect.context<AccountOptions | AccountSources | FleetLedger | HttpClient.HttpClient>()
  const ownership = yield* Ownership
  const reads = CountedSemaphore.make(concurrentReads)
  const timer = yield* Queue.sliding<void>(1)

  const members = new Map<string, Member.Member>()
  const wakes = new WakeQueue()
  /** Members with a worker, dropped ones too until it ends. */
  const active = new Set<Member.Member>()
  /** Members whose worker starts, with the time at which it counts as started. */
  const starting = new Map<Member.Member, MonotonicClock.MonotonicMillis>()
  let isEnabled = false
  let stopping = false

  const isCurrent = (member: Member.Member): boolean => members.get(member.id) === member

  /** Plans the next activation. A running worker plans for itself. */
  const plan = (member: Member.Member): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (!isCurrent(member) || member.worker !== undefined) return Effect.void
      const wake = member.paused || member.owned === undefined
        ? Member.never
        : Math.max(member.retryAt, Math.min(member.nextPoll, member.nextDue))
      const isNext = wake < wakes.next
      wakes.set(member.id, wake)
      return isNext ? Effect.asVoid(Queue.offer(timer, undefined)) : Effect.void
    })

  const fail = Effect.fnUntraced(function*(member: Member.Member, cause: Cause.Cause<AccountWorker.Failure>) {
    const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (failure instanceof LedgerFault) {
      member.opening = "afterTakeover"
      if (failure.isTakenOver) member.owned = undefined
      else yield* Metric.update(Metrics.ledgerFaults, 1)
    }
    member.failures++
    const now = yield* MonotonicClock.now
    member.retryAt = now + Duration.toMillis(yield* Backoff.delay(backoff, member.failures))
    // What is due is not known.
    member.nextDue = now
    if (member.owned === undefined) return
    if (failure === undefined) yield* Effect.annotateLogs(Effect.logError("account.defect", cause), { account: member.id })
    yield* Member.setProblem(member, failure === undefined ? "an unexpected failure: look at the log of its runner" : failure.message)
  })

  /** Makes room for the start of another worker, now or later. */
  const startsUntil = Effect.fnUntraced(function*(member: Member.Member, wait: number) {
    const end = starting.get(member)
    const now = yield* MonotonicClock.now
    if (end === undefined || end <= now + wait) return
    starting.set(member, now + wait)
    // The runner waits for the end of a start, not for the next wake.
    if (starting.size >= concurrentReads) yield* Queue.offer(timer, undefined)
  })

  /** Runs when the worker of a member has ended. */
  const ended = Effect.fnUntraced(function*(member: Member.Member, exit: Exit.Exit<void, AccountWorker.Failure>) {
    member.worker = undefined
    member.status = undefined
    active.delete(member)
    yield* startsUntil(member, 0)
    starting.delete(member)
    if (!isCurrent(member) || stopping) return
    yield* AccountWorker.planPoll(member)
    if (Exit.isSuccess(exit)) {
      member.failures = 0
      member.retryAt = Member.longAgo
      yield* member.checkpoint === undefined ? Member.setProblem(member, null) : Member.setProblemOf(member, member.checkpoint.status)
    } else if (!Cause.hasInterruptsOnly(exit.cause)) {
      yield* fail(member, exit.cause)
    }
    yield* plan(member)
  })

  const stop = (member: Member.Member): Effect.Effect<void> => Effect.sync(() => member.worker?.interruptUnsafe())

  /** The worker stops, and the account is taken over again once its lease is fresh. */
  const onStaleLease = (member: Member.Member): Effect.Effect<void> =>
    Effect.suspend(() => {
      member.owned = undefined
      return Effect.andThen(log("Warn", "account.leaseLost", { account: member.id }), stop(member))
    })

  const activate = (member: Member.Member, now: MonotonicClock.MonotonicMillis): Effect.Effect<void> =>
    Effect.suspend(() => {
      const { owned } = member
      if (owned === undefined || member.paused || member.worker !== undefined || stopping) return Effect.void
      const activation: AccountWorker.Activation = {
        record: member,
        owned,
        reads,
        stopWithin,
        mayRequest: ownership.holds(member.shard, member.term),
        onRequest: (kind) => startsUntil(member, kind === "send" ? 0 : respondsWithin),
        onStaleLease: onStaleLease(member)
      }
      active.add(member)
      starting.set(member, now + startingFor)
      const worker = Effect.onExit(AccountWorker.run(activation), (exit) => ended(member, exit))
      // Detached: `drain` waits for its end, with a limit.
      return Effect.map(Effect.forkDetach(Effect.ignoreCause(Effect.provideContext(worker, context))), (fiber) => {
        // It may have ended already.
        if (active.has(member)) member.worker = fiber
      })
    })

  const activateDue = Effect.gen(function*() {
    const now = yield* MonotonicClock.now
    for (const [member, end] of starting) if (end <= now) starting.delete(member)
    for (const id of wakes.due(now, concurrentReads - starting.size)) {
      const member = members.get(id)
      if (member !== undefined) yield* activate(member, now)
    }
  })

  /** When the next member can be activated. */
  const nextActivation = (): MonotonicClock.MonotonicMillis => {
    if (!isEnabled) return Member.never
    if (starting.size < concurrentReads) return wakes.next
    return Math.max(wakes.next, Math.min(...starting.values()))
  }

  /** Activates members when their time has come. */
  const follow = Effect.forever(Effect.gen(function*() {
    if (isEnabled) yield* activateDue
    const wait = nextActivation() - (yield* MonotonicClock.now)
    const signal = Queue.take(timer)
    yield* Number.isFinite(wait)
      ? Effect.timeoutOption(signal, Duration.max(wakeSpacing, Duration.millis(Math.max(0, Math.ceil(wait)))))
      : signal
  }))

  const drop = (member: Member.Member): Effect.Effect<void> => {
    members.delete(member.id)
    wakes.delete(member.id)
    return stop(member)
  }

  /** Starts to work for accounts that were taken over. Those of some epochs are polled as soon as possible. */
  const startWork = Effect.fnUntraced(function*({ due, taken }: Takeover, isSooner: (epoch: number) => boolean) {
    const dueAt = new Map(due.map((each) => [each.account, each.dueAt]))
    const sooner = taken.filter(({ epoch }) => isSooner(epoch)).length
    const wall = yield* DateTime.now
    const now = yield* MonotonicClock.now
    for (const owned of taken) {
      const member = members.get(owned.id)
      if (member === undefined) continue
      member.owned = owned
      const at = dueAt.get(owned.id)
      // An earlier runner prepared the ledger and bound it, and left nothing in flight and no problem that only a request shows.
      const isKnown = Option.isSome(owned.boundTo) && at === undefined && member.problem === null && !member.isChanged
      member.opening = isKnown ? "again" : "afterTakeover"
      member.checkpoint = undefined
      const longest = isSooner(owned.epoch) ? Duration.times(firstPollSpacing, sooner) : maxFirstPoll
      member.nextPoll = yield* PollPhase.next(member.phase, Duration.min(member.interval, longest))
      member.nextDue = at === undefined ? Member.never : now + Math.max(0, Duration.toMillis(DateTime.distance(wall, at)))
      yield* plan(member)
    }
  })

  const drain = Effect.gen(function*() {
    if (stopping) return
    stopping = true
    yield* log("Info", "fleet.stopping", { active: active.size })
    const workers = Array.from(active).flatMap(({ worker }) => worker ?? [])
    const ended = yield* within(Fiber.interruptAll(workers), Duration.sum(stopWithin, recordWithin))
    if (Option.isNone(ended)) yield* log("Warn", "fleet.stoppedWithRequests", { active: active.size })
  })

  return {
    get: (id: string) => members.get(id),
    all: () => Array.from(members.values()),
    /** Members that this runner is yet to take over, and may try to now. Workers of their earlier settings have recorded their outcomes. */
    untaken: Effect.map(MonotonicClock.now, (now) => {
      const busy = new Set(Array.from(active, ({ id }) => id))
      return Array.from(members.values()).filter(({ id, owned, paused, retryAt }) =>
        owned === undefined && !paused && retryAt <= now && !busy.has(id)
      )
    }),
    /** Adds an account with its settings, or replaces them. The worker of the earlier settings stops. */
    put: (account: FleetAccount, shard: number, term: Term, isChanged: boolean): Effect.Effect<void> =>
      Effect.suspend(() => {
        const earlier = members.get(account.id)
        const dropped = earlier === undefined ? Effect.void : drop(earlier)
        return Effect.map(dropped, () => members.set(account.id, Member.make(account, shard, term, isChanged)))
      }),
    drop,
    startWork,
    /** Activates a member now, since its source or its ledger has changed. */
    wake: (member: Member.Member): Effect.Effect<void> =>
      Effect.flatMap(MonotonicClock.now, (now) => {
        member.nextPoll = now
        member.nextDue = now
        // A worker that runs plans both times anew when it ends.
        member.pollAskedAt = now
        return plan(member)
      }),
    /** Sets the problems of members with a worker. Otherwise the end of the worker has set it. */
    updateProblems: Effect.suspend(() =>
      Effect.forEach(Array.from(active), (member) =>
        member.status === undefined || !isCurrent(member)
          ? Effect.void
          : Effect.flatMap(member.status, (status) => Member.setProblemOf(member, status)), { discard: true })
    ),
    /** Whether members are activated. Without the database their workers would only fail. */
    setEnabled: (enabled: boolean): Effect.Effect<void> =>
      Effect.suspend(() => {
        isEnabled = enabled
        return enabled ? Effect.asVoid(Queue.offer(timer, undefined)) : Effect.void
      }),
    follow,
    drain,
    state: Effect.sync(() => {
      const { held: reading, waiting: waitingToRead } = reads.counts()
      const failing = Array.from(members.values()).filter(({ problem }) => problem !== null).length
      return { accounts: { owned: members.size, active: active.size, reading, waitingToRead, failing }, stopping }
    })
  }
})
