/** Decides whether a running worker is ready, and gives the reasons if not. Pure. */
import * as Duration from "effect/Duration"
import type { State } from "../sync/SyncStatus.js"
import * as StatusText from "./StatusText.js"

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
  /** A sentence without its end. */
  readonly message: string
}

const shortest = Duration.minutes(5)

/**
 * For how long a source that is looked at so often may go without having been read: one look may fail, and reading takes its time.
 */
export const patienceWith = (poll: Duration.Duration): Duration.Duration => Duration.max(Duration.times(poll, 3), shortest)

const account = ({ account }: State): ReadonlyArray<Reason> => {
  switch (account._tag) {
    case "Running":
      return []
    case "Starting":
      return [{ reason: "starting", message: "the service has not yet said whose key it is" }]
    case "Paused":
      return [{ reason: "accountPaused", message: `the service refuses everything: ${StatusText.told(account.failure)}` }]
    case "Quota":
      return [{
        reason: "accountQuota",
        message: `nothing may be sent until ${StatusText.moment(account.until)}: ${StatusText.told(account.failure)}`
      }]
    case "Trouble":
      return [{ reason: "accountTrouble", message: `the service is in trouble: ${StatusText.told(account.failure)}` }]
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

const source = ({ source }: State, now: number, patience: Duration.Duration | undefined): ReadonlyArray<Reason> => {
  const { failing, held, readAt } = source
  const stale = readAt !== undefined && patience !== undefined && now - readAt > Duration.toMillis(patience)
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

/** Why it isn't ready; nothing if it is. Without a patience the source is read once and never too old. */
export const reasons = (state: State, now: number, patience: Duration.Duration | undefined): ReadonlyArray<Reason> => [
  ...(state.stopping ? [{ reason: "stopping", message: "it was told to stop" } as const] : []),
  ...account(state),
  ...ledger(state),
  ...source(state, now, patience)
]
