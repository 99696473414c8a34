/**
 * The conditions of the account, the source and the ledger of a running worker: how an operator sees each, what to do about it, and why the
 * worker is not ready. Pure.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { AccountState, LedgerState, State } from "../sync/SyncStatus.ts"
import { capitalized, failure, held as heldText, moment } from "./StatusText.ts"

/** Why a worker is not ready. */
export interface Reason {
  readonly reason:
    | `account${"Paused" | "Quota" | "Trouble"}`
    | `ledger${"Failing" | "Opening"}`
    | `source${"Failing" | "Stale" | "Unread"}`
    | "snapshotHeld"
    | "starting"
    | "stopping"
  /** A sentence without its full stop. */
  readonly message: string
}

/** The part of a condition that the status page shows. */
export interface StateText {
  readonly tone: "good" | "note" | "bad"
  readonly label: string
  /** One or more sentences. */
  readonly description: string
  /** What an operator has to do, in sentences; empty if nothing. */
  readonly action: string
}

export interface Condition extends StateText {
  /** Empty if it does not keep the worker from being ready. */
  readonly reasons: ReadonlyArray<Reason>
}

const good = (label: string, description: string): Condition => ({ tone: "good", label, description, action: "", reasons: [] })

const bad = (reason: Reason["reason"], message: string, text: Pick<StateText, "label" | "description" | "action">): Condition => ({
  tone: "bad",
  ...text,
  reasons: [{ reason, message }]
})

/** Ends without an action of an operator. */
const note = (reason: Reason["reason"], message: string, label: string, description: string): Condition => ({
  ...bad(reason, message, { label, description, action: "" }),
  tone: "note"
})

/** The age at which a source counts as stale: one read may fail, and a read takes time. */
export const staleAfter = (poll: Duration.Duration): Duration.Duration => Duration.max(Duration.times(poll, 3), Duration.minutes(5))

const developers = "in the web app under Settings, then Developers"
const waits = "Changes wait in the ledger."
const resumes = "Sending then resumes without a restart."
const setVariable = "put it into PLAZA_API_KEY or the file that PLAZA_API_KEY_FILE names, and restart the program"

const remedies = (setKey: string): Readonly<Record<string, string>> => ({
  INVALID_API_KEY: `Make an active key ${developers}, ${setKey}.`,
  INSUFFICIENT_SCOPE: `Make a key with the missing scope ${developers}, ${setKey}.`,
  DEVELOPER_ACCESS_REVOKED: `Ask the service's support to grant the access again. ${resumes}`,
  PROFILE_INCOMPLETE: `Add a profile photo and a cover in the web app. ${resumes}`,
  STORE_BLOCKED: `Ask the owner of the store to lift the block. ${resumes}`
})

/** `setKey` says how to set another key. */
export const account = (state: AccountState, setKey = setVariable): Condition => {
  const text = "failure" in state ? failure(state.failure) : ""
  switch (state._tag) {
    case "Starting":
      return note("starting", "the service has not confirmed the account of the key yet", "Starting",
        "Waiting for the service to confirm the account of the key.")
    case "Running":
      return good("Running", "Changes are sent in the order of their priority.")
    case "Paused":
      return bad("accountPaused", `the service refuses all requests: ${text}`, {
        label: "Paused",
        description: `The service refuses all requests since ${moment(state.since)}: ${text}. ${waits} Next check at ${
          moment(state.nextProbe)
        }.`,
        action: remedies(setKey)[state.failure.code ?? ""] ?? `Correct what the message names. ${resumes}`
      })
    case "Quota":
      return note("accountQuota", `the rate limit or a quota is used up until ${moment(state.until)}: ${text}`, "Out of quota",
        `The rate limit of the key or a quota of the account is used up. ${waits} Sending resumes at ${moment(state.until)}.`)
    case "Trouble":
      return bad("accountTrouble", `requests fail: ${text}`, {
        label: "Service unavailable",
        description: `All requests fail since ${moment(state.since)}. Last failure: ${text}. ${waits} Next attempt at ${
          moment(state.nextTry)
        }.`,
        action: `Check the network and the status of the service. ${resumes}`
      })
  }
}

const keeps = "The stock of the previous snapshot stays in effect."
const sourceRemedy = "Correct the source. It is read again without a restart."

const sourceText = ({ failing, held, readAt }: State["source"]): StateText => {
  if (held !== undefined) {
    return {
      tone: "bad",
      label: "Held",
      description: `${capitalized(heldText(held))}. ${keeps}`,
      action:
        `If the source is wrong, correct it: the next plausible snapshot is accepted. If it is right, run "plaza-stock-sync confirm ${held.number}" beside this worker.`
    }
  }
  if (failing !== undefined) {
    return {
      tone: "bad",
      label: "Unreadable",
      description: `Since ${moment(failing.since)}: ${failing.failure.message}. ${keeps}`,
      action: sourceRemedy
    }
  }
  return readAt === undefined
    ? { tone: "note", label: "Not read yet", description: "The first read is in progress.", action: "" }
    : { tone: "good", label: "Accepted", description: `Last read at ${moment(readAt)}.`, action: "" }
}

/** A source that is read once has no `staleAge`. */
export const source = (state: State["source"], now: DateTime.Utc, staleAge: Duration.Duration | undefined): Condition => {
  const { failing, held, readAt } = state
  const isStale = readAt !== undefined && staleAge !== undefined && Duration.isGreaterThan(DateTime.distance(readAt, now), staleAge)
  const reasons: Array<Reason> = []
  if (failing !== undefined && (readAt === undefined || isStale)) {
    const message = `the source can't be read since ${moment(failing.since)}: ${failing.failure.message}`
    reasons.push({ reason: "sourceFailing", message })
  } else if (failing === undefined && readAt === undefined) {
    reasons.push({ reason: "sourceUnread", message: "the source has not been read yet" })
  } else if (failing === undefined && readAt !== undefined && isStale) {
    reasons.push({ reason: "sourceStale", message: `the source was last read ${moment(readAt)}` })
  }
  if (held !== undefined) reasons.push({ reason: "snapshotHeld", message: heldText(held) })
  return { ...sourceText(state), reasons }
}

export const ledger = (state: LedgerState): Condition => {
  switch (state._tag) {
    case "Opening":
      return note("ledgerOpening", "the ledger is not open yet", "Opening", "The ledger is not open yet.")
    case "Open":
      return good("Open", `${state.path}, since ${moment(state.since)}.`)
    case "Failing":
      return bad("ledgerFailing", state.failure.message, {
        label: "Unavailable",
        description: `${capitalized(state.failure.message)}. Nothing is sent. Next attempt to open it at ${moment(state.nextTry)}.`,
        action: `Check the disk or the database of the ledger. ${resumes}`
      })
  }
}

/**
 * Why the service or the source keeps an account from being up to date, and what to do, without a full stop at the end; undefined if nothing
 * does. It has no times, so that it stays the same until something else is wrong.
 */
export const problem = ({ account: state, source: { failing } }: State, setKey: string): string | undefined => {
  const texts = "failure" in state
    ? [failure(state.failure), account(state, setKey).action]
    : failing !== undefined
    ? [failing.failure.message, sourceRemedy]
    : undefined
  return texts?.map((text) => text.replace(/\.$/, "")).filter((text) => text !== "").join(". ")
}
