/**
 * The loop of a runner. Each second it compares the shards that it owns and the settings of their accounts with its `Members`, takes accounts
 * over, and records their problems. `Members` does the work for the accounts.
 */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { log } from "../observability/EventLogger.ts"
import { disconnect } from "../sync/Disconnect.ts"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import type { AccountOptions } from "./AccountOptions.ts"
import type { AccountSelection } from "./AccountSelection.ts"
import type { AccountSources } from "./AccountSources.ts"
import { FleetDatabaseError } from "./FleetError.ts"
import { FleetLedger } from "./FleetLedger.ts"
import { FleetRoster } from "./FleetRoster.ts"
import { FleetRunner } from "./FleetRunner.ts"
import * as Member from "./Member.ts"
import * as Members from "./Members.ts"
import { Ownership, type Term } from "./Ownership.ts"

export type Options = Members.Options

const turnInterval = Duration.seconds(1)
// In turns.
const comparedEvery = 5
/** A statement of the loop that takes longer fails. A takeover of ten thousand accounts takes less than a second. */
const statementTimeout = Duration.seconds(8)
/** A change may be committed after a later revision was seen. One that is more than this later is noticed by a comparison. */
const revisionLag = Duration.toMillis("10 seconds")

const make = Effect.fnUntraced(function*(options: Options) {
  const ledgers = yield* FleetLedger
  const ownership = yield* Ownership
  const roster = yield* FleetRoster
  const { runner } = ownership
  const startedAt = yield* DateTime.now

  const members = yield* Members.make(options)
  /** The shards whose accounts were taken over, with their terms. */
  const terms = new Map<number, Term>()
  const revisions: Array<{ readonly at: MonotonicClock.MonotonicMillis; readonly revision: number }> = []
  let isReachable = false
  let isReported = false
  let turns = 0
  let lastTurnAt = yield* MonotonicClock.now
  let lastReachedAt = lastTurnAt

  const statement = <A>(effect: Effect.Effect<A, FleetDatabaseError>): Effect.Effect<A, FleetDatabaseError> =>
    Effect.timeoutOrElse(disconnect(effect), {
      duration: statementTimeout,
      orElse: () =>
        Effect.andThen(
          Effect.forkDetach(roster.cutIfSilent),
          Effect.fail(
            new FleetDatabaseError({
              database: "",
              message: `the fleet's database did not respond within ${Duration.format(statementTimeout)}: look whether it is overloaded`
            })
          )
        )
    })

  const takeOver = Effect.fnUntraced(function*(selection: AccountSelection) {
    const taken = yield* statement(ledgers.takeOver(selection, runner))
    return { taken, due: taken.length === 0 ? [] : yield* statement(ledgers.dueAccounts(selection)) }
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
      if (account.shard !== null && term !== undefined) yield* members.put(account, account.shard, term, false)
    }
    for (const [shard, term] of held) terms.set(shard, term)
    // An account of epoch 1 was never polled.
    yield* members.startWork({ taken, due }, (epoch) => epoch === 1)
    yield* log("Info", "fleet.tookOver", { shards: held.size, accounts: taken.length, due: due.length })
  })

  /** Stops the accounts of shards that were lost. Uses no database. */
  const dropLost = Effect.gen(function*() {
    const owned = yield* ownership.owned
    const lost = new Set(Array.from(terms).flatMap(([shard, term]) => owned.get(shard) === term ? [] : [shard]))
    if (lost.size === 0) return
    const accounts = members.all().filter(({ shard }) => lost.has(shard))
    for (const shard of lost) terms.delete(shard)
    yield* Effect.forEach(accounts, members.drop, { discard: true })
    yield* log("Info", "fleet.lost", { shards: lost.size, accounts: accounts.length })
  })

  /** Loads the settings of accounts whose revisions are not those of their members. */
  const load = Effect.fnUntraced(function*(revisions: ReadonlyArray<{ readonly id: string; readonly revision: number }>) {
    const changed = revisions.filter(({ id, revision }) => members.get(id)?.revision !== revision)
    if (changed.length === 0) return
    const accounts = yield* statement(roster.read({ _tag: "Ids", ids: changed.map(({ id }) => id) }))
    for (const account of accounts) {
      const term = account.shard === null ? undefined : terms.get(account.shard)
      if (account.shard === null || term === undefined) continue
      const member = members.get(account.id)
      // A worker with a problem does not notice that the content of its key's file has changed.
      if (member !== undefined && member.problem === null && Member.isUnchanged(member, account)) {
        // Something else has changed, such as a product that an operator released.
        member.revision = account.revision
        yield* members.wake(member)
      } else {
        yield* members.put(account, account.shard, term, true)
      }
    }
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
    yield* load(changes.filter(({ shard }) => shard !== null))
  })

  /** Drops members whose accounts were removed, and loads the changes that `applyChanges` has not seen. */
  const compare = Effect.gen(function*() {
    const accounts = yield* statement(roster.revisions(terms.keys()))
    const ids = new Set(accounts.map(({ id }) => id))
    yield* Effect.forEach(members.all().filter(({ id }) => !ids.has(id)), members.drop, { discard: true })
    yield* load(accounts)
  })

  /** Takes over accounts that were added, changed or resumed, that were locked, and those whose lease was not fresh for a moment. */
  const takeSingle = Effect.gen(function*() {
    const held = yield* Effect.filter(yield* members.untaken, ({ shard, term }) => ownership.holds(shard, term))
    if (held.length === 0) return
    yield* members.startWork(yield* takeOver({ _tag: "Ids", ids: held.map(({ id }) => id) }), () => true)
  })

  const recordProblems = Effect.gen(function*() {
    yield* members.updateProblems
    const changed = members.all().flatMap((member) => {
      const { id, owned, problem, recorded } = member
      return owned === undefined || problem === recorded ? [] : [{ member, row: { id, epoch: owned.epoch, problem } }]
    })
    if (changed.length === 0) return
    const recorded = new Set(yield* statement(roster.recordProblems(changed.map(({ row }) => row))))
    for (const { member, row } of changed) if (recorded.has(row.id)) member.recorded = row.problem
  })

  const turn = Effect.gen(function*() {
    yield* dropLost
    yield* takeGained
    yield* applyChanges
    if (++turns % comparedEvery === 0) yield* compare
    yield* takeSingle
    yield* recordProblems
    lastReachedAt = yield* MonotonicClock.now
    if (isReachable) return
    isReachable = true
    yield* members.setEnabled(true)
    if (isReported) yield* log("Info", "fleet.databaseReached", {})
    isReported = false
  }).pipe(
    Effect.catchCause((cause) =>
      Effect.gen(function*() {
        isReachable = false
        yield* members.setEnabled(false)
        if (Cause.hasInterruptsOnly(cause)) return
        const failure = Option.getOrUndefined(Cause.findErrorOption(cause))
        if (failure === undefined) return yield* Effect.logError("fleet.defect", cause)
        yield* log(isReported ? "Debug" : "Error", "fleet.databaseUnreachable", { detail: failure.message })
        isReported = true
      })
    ),
    Effect.ensuring(Effect.map(MonotonicClock.now, (now) => {
      lastTurnAt = now
    }))
  )

  /** Runs again after each end, and after a defect. */
  const repeated = (effect: Effect.Effect<void>) =>
    Effect.forkScoped(Effect.repeat(
      Effect.catchCause(effect, (cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("fleet.defect", cause)),
      Schedule.spaced(turnInterval)
    ))

  // First, so that it runs after the loops have ended.
  yield* Effect.addFinalizer(() => members.drain)
  yield* repeated(members.follow)
  yield* repeated(turn)
  // A turn may wait for the database.
  yield* repeated(dropLost)

  return FleetRunner.of({
    drain: members.drain,
    state: Effect.gen(function*() {
      const held = yield* Effect.filter(Array.from(terms), ([shard, term]) => ownership.holds(shard, term))
      return {
        runner,
        startedAt,
        shards: held.length,
        leaseRenewedAt: yield* ownership.renewedAt,
        loop: { lastTurnAt, lastReachedAt },
        ...yield* members.state
      }
    }),
    activity: (account) =>
      Effect.gen(function*() {
        const member = members.get(account)
        if (member === undefined || !(yield* ownership.holds(member.shard, member.term))) return Option.none()
        const { checkpoint, nextDue, nextPoll, owned, paused, rateLimit, retryAt, status, worker } = member
        return Option.some({
          paused,
          takenOver: owned !== undefined,
          active: worker !== undefined,
          setKey: Member.setKey(member),
          status: yield* status ?? Effect.succeed(checkpoint?.status),
          rateLimit: yield* rateLimit ?? Effect.succeed(undefined),
          nextPoll,
          nextDue,
          retryAt
        })
      })
  })
})

export const layer = (
  options: Options
): Layer.Layer<
  FleetRunner,
  never,
  AccountOptions | AccountSources | FleetLedger | FleetRoster | HttpClient.HttpClient | Ownership
> => Layer.effect(FleetRunner, make(options))
