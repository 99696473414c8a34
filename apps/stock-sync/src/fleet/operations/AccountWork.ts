/** Describes what this runner does for an account now, or who works on it otherwise. */
import * as DateTime from "effect/DateTime"
import * as Conditions from "../../observability/Conditions.ts"
import { type Html, html } from "../../observability/Html.ts"
import type * as StatusText from "../../observability/StatusText.ts"
import type * as MonotonicClock from "../../sync/MonotonicClock.ts"
import type { AccountActivity } from "../FleetRunner.ts"
import type { AccountRow } from "./FleetStatus.ts"
import * as FleetText from "./FleetText.ts"

/** The same moment by both clocks. */
export interface Now {
  readonly wall: DateTime.Utc
  readonly monotonic: MonotonicClock.MonotonicMillis
}

/** A time of the monotonic clock as a date; undefined if it never comes. */
export const dateOf = (at: MonotonicClock.MonotonicMillis, { monotonic, wall }: Now): DateTime.Utc | undefined =>
  Number.isFinite(at) ? DateTime.add(wall, { milliseconds: Math.round(at - monotonic) }) : undefined

const text = (tone: Conditions.StateText["tone"], label: string, ...description: StatusText.Text): Conditions.StateText => ({
  tone,
  label,
  description,
  action: []
})

const sending = ({ rateLimit }: AccountActivity): Conditions.StateText => {
  const { inFlight = 0, pausedUntil, waiting = 0 } = rateLimit ?? {}
  if (inFlight > 0) {
    const rest = waiting === 0 ? "" : ` ${waiting === 1 ? "1 more waits" : `${waiting} more wait`} for the rate limit.`
    return text("good", "Sending", `${inFlight === 1 ? "1 request is" : `${inFlight} requests are`} in flight.${rest}`)
  }
  if (pausedUntil !== undefined) {
    return text("note", "Waiting for the rate limit", "The service asked for a pause. Sending resumes ", { due: pausedUntil }, ".")
  }
  return waiting > 0
    ? text("good", "Waiting for the rate limit", "The rate limit of the key is used up. The next request leaves when a slot is free.")
    : text("good", "Working", "The worker reads the source or prepares the next request.")
}

const running = (activity: AccountActivity): Conditions.StateText => {
  const account = activity.status?.account
  if (account === undefined || account._tag === "Running") return sending(activity)
  const described = Conditions.account(account, activity.setKey)
  return account._tag === "Paused" ? { ...described, label: "Paused by an error" } : described
}

const dormant = ({ nextDue, nextPoll, retryAt }: AccountActivity, now: Now): Conditions.StateText => {
  const retry = dateOf(retryAt, now)
  return retryAt > now.monotonic && retry !== undefined
    ? text("bad", "Waiting to retry", "The last attempt failed. Next attempt ", { due: retry }, ".")
    : Math.min(nextPoll, nextDue) <= now.monotonic
    ? text("note", "Waiting to start", "Work is due. The runner starts a limited number of accounts at the same time.")
    : text("good", "Idle", "Nothing is due.")
}

/** What the runner does for an account that it owns. */
export const owned = (activity: AccountActivity, now: Now): Conditions.StateText =>
  activity.paused
    ? text("note", "Paused", "An operator paused the account. The source is not read, and nothing is sent.")
    : !activity.takenOver
    ? text("note", "Starting", "The runner takes the account over.")
    : activity.active
    ? running(activity)
    : dormant(activity, now)

/** Who works on an account that this runner does not own. */
export const elsewhere = ({ runner, state }: Pick<AccountRow, "runner" | "state">, thisRunner: string): Html => {
  const name = FleetText.isolated(runner ?? "")
  switch (state) {
    case "paused":
      return html`An operator paused the account. No runner works on it.`
    case "pending":
      return runner === null
        ? html`No runner has worked on this account yet. A runner takes it over within seconds.`
        : html`Its last runner, ${name}, is lost. Another runner takes the account over within seconds.`
    case "running":
      return runner === thisRunner
        ? html`This runner does not own the account any more, or not yet again. Look again in some seconds.`
        : html`${name} owns the account. The page of that runner shows what it does now.`
  }
}
