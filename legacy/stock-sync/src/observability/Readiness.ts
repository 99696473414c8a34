/** Decides whether a running worker is ready, and gives the reasons if not. Pure. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { State } from "../sync/SyncStatus.ts"
import * as StatusText from "./StatusText.ts"

export interface Reason {
  readonly reason:
    | "accountPaused"
    | "accountQuota"
    | "accountTrouble"
    | "ledgerFailing"
    | "ledgerOpening"
    | "snapshotHeld"
    | "sourceFailing"
    | "sourceStale"
    | "sourceUnread"
    | "starting"
    | "stopping"
  /** A sentence without its full stop. */
  readonly message: string
}

const shortest = Duration.minutes(5)

/** The age at which a source counts as stale: one read may fail, and a read takes time. */
export const staleAfter = (poll: Duration.Duration): Duration.Duration => Duration.max(Duration.times(poll, 3), shortest)

const account = ({ account }: State): ReadonlyArray<Reason> => {
  switch (account._tag) {
    case "Running":
      return []
    case "Starting":
      return [{ reason: "starting", message: "the service has not confirmed the account of the key yet" }]
    case "Paused":
      return [{ reason: "accountPaused", message: `the service refuses all requests: ${StatusText.failure(account.failure)}` }]
    case "Quota":
      return [{
        reason: "accountQuota",
        message: `the rate limit or a quota is used up until ${StatusText.moment(account.until)}: ${StatusText.failure(account.failure)}`
      }]
    case "Trouble":
      return [{ reason: "accountTrouble", message: `requests fail: ${StatusText.failure(account.failure)}` }]
  }
}

const ledger = ({ ledger }: State): ReadonlyArray<Reason> => {
  switch (ledger._tag) {
    case "Open":
      return []
    case "Opening":
      return [{ reason: "ledgerOpening", message: "the ledger is not open yet" }]
    case "Failing":
      return [{ reason: "ledgerFailing", message: ledger.failure.message }]
  }
}

const source = ({ source }: State, now: DateTime.Utc, staleAge: Duration.Duration | undefined): ReadonlyArray<Reason> => {
  const { failing, held, readAt } = source
  const stale = readAt !== undefined && staleAge !== undefined && DateTime.distance(readAt, now) > Duration.toMillis(staleAge)
  return [
    ...(readAt === undefined && failing === undefined
      ? [{ reason: "sourceUnread", message: "the source has not been read yet" } as const]
      : []),
    ...(failing !== undefined && (readAt === undefined || stale)
      ? [
        {
          reason: "sourceFailing",
          message: `the source can't be read since ${StatusText.moment(failing.since)}: ${failing.failure.message}`
        } as const
      ]
      : []),
    ...(failing === undefined && stale
      ? [{ reason: "sourceStale", message: `the source was last read ${StatusText.moment(readAt)}` } as const]
      : []),
    ...(held === undefined ? [] : [{ reason: "snapshotHeld", message: StatusText.held(held) } as const])
  ]
}

/** The reasons, none if the worker is ready. A source that is read once has no `staleAge`. */
export const reasons = (state: State, now: DateTime.Utc, staleAge: Duration.Duration | undefined): ReadonlyArray<Reason> => [
  ...(state.stopping ? [{ reason: "stopping", message: "the worker is stopping" } as const] : []),
  ...account(state),
  ...ledger(state),
  ...source(state, now, staleAge)
]
