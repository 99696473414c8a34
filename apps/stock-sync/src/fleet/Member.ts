/** What a runner knows about one account of its shards: its settings, its plan, its worker if it has one, and its problem. */
import { Durations } from "@plaza/client"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import * as Conditions from "../observability/Conditions.ts"
import { log } from "../observability/EventLogger.ts"
import type * as MonotonicClock from "../sync/MonotonicClock.ts"
import type * as SyncStatus from "../sync/SyncStatus.ts"
import type * as AccountWorker from "./AccountWorker.ts"
import { type AccountSettings, type FleetAccount, settingsOf } from "./FleetAccounts.ts"
import type { OwnedAccount } from "./FleetLedger.ts"
import * as KeyReference from "./KeyReference.ts"
import type { Term } from "./Ownership.ts"
import * as PollPhase from "./PollPhase.ts"

export interface Member extends AccountWorker.AccountRecord {
  readonly id: string
  readonly shard: number
  readonly term: Term
  readonly paused: boolean
  revision: number
  /** It was added, changed or resumed while this runner owned its shard. The service is asked about its key, because a problem may be left. */
  readonly isChanged: boolean
  /** Undefined until this runner has taken the account over, and after it has lost it. */
  owned: OwnedAccount | undefined
  worker: Fiber.Fiber<void> | undefined
  /** Failed activations in a row. */
  failures: number
  /** No activation before this time. */
  retryAt: MonotonicClock.MonotonicMillis
  /** Why the account is not up to date; null if nothing is known that keeps it from being so. */
  problem: string | null
  /** The problem that the database has. */
  recorded: string | null
}

/** A time before every other. */
export const longAgo: MonotonicClock.MonotonicMillis = Number.NEGATIVE_INFINITY
/** A time after every other. */
export const never: MonotonicClock.MonotonicMillis = Number.POSITIVE_INFINITY

const defaultInterval = Duration.minutes(1)

/** How often the source of an account is read. An invalid setting is reported when the account is activated. */
const pollInterval = (options: AccountSettings["options"]): Duration.Duration =>
  Result.getOrElse(Durations.parsePositiveText(options["poll"] ?? ""), () => defaultInterval)

/** An account that is not taken over yet. */
export const make = (account: FleetAccount, shard: number, term: Term, isChanged: boolean): Member => ({
  id: account.id,
  shard,
  term,
  paused: account.paused,
  revision: account.revision,
  isChanged,
  settings: settingsOf(account),
  phase: PollPhase.of(account.id),
  owned: undefined,
  opening: "afterTakeover",
  checkpoint: undefined,
  polling: undefined,
  source: undefined,
  status: undefined,
  rateLimit: undefined,
  worker: undefined,
  interval: pollInterval(account.options),
  nextPoll: never,
  pollAskedAt: longAgo,
  nextDue: never,
  failures: 0,
  retryAt: longAgo,
  problem: account.problem,
  recorded: account.problem
})

/** Whether an account of the database has the settings that this runner works with. */
export const isUnchanged = (member: Member, account: FleetAccount): boolean =>
  member.paused === account.paused && JSON.stringify(settingsOf(account)) === JSON.stringify(settingsOf(member.settings))

export const setKey = ({ id, settings }: Member): string => KeyReference.setKey(id, settings.key)

/** Sets the problem that the status of a worker shows. */
export const setProblemOf = (member: Member, status: SyncStatus.State): Effect.Effect<void> =>
  setProblem(member, Conditions.problem(status, setKey(member)) ?? null)

export const setProblem = (member: Member, problem: string | null): Effect.Effect<void> => {
  const { id: account, problem: before } = member
  member.problem = problem
  if (problem === before) return Effect.void
  if (problem === null) return log("Info", "account.recovered", { account })
  return before === null ? log("Warn", "account.failed", { account, detail: problem }) : Effect.void
}
