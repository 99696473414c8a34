/**
 * The conditions of the account, the source and the ledger of a running worker: how an operator sees each, what to do about it, and why the
 * worker is not ready. Pure.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import type { Commands } from "../ledger/LedgerCommands.ts"
import type { HeldSnapshot } from "../ledger/Snapshot.ts"
import { describe } from "../ledger/snapshot/Judge.ts"
import type { AccountState, Failure, LedgerState, State } from "../sync/SyncStatus.ts"
import { capitalized, failure, held as heldText, moment, plain, relative, type Text } from "./StatusText.ts"

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
  readonly description: Text
  /** What an operator has to do, in sentences; empty if nothing. */
  readonly action: Text
}

export interface Condition extends StateText {
  /** Empty if it does not keep the worker from being ready. */
  readonly reasons: ReadonlyArray<Reason>
  /** What people have to know before any number, because the numbers are old or stand still; undefined if it is good. */
  readonly lead: string | undefined
}

const good = (label: string, description: Text): Condition => ({
  tone: "good",
  label,
  description,
  action: [],
  reasons: [],
  lead: undefined
})

const bad = (
  reason: Reason["reason"],
  message: string,
  text: Pick<Condition, "label" | "description" | "action" | "lead">
): Condition => ({
  tone: "bad",
  ...text,
  reasons: [{ reason, message }]
})

/** Ends without an action of an operator. */
const note = (
  reason: Reason["reason"],
  message: string,
  text: Pick<Condition, "label" | "description" | "lead">
): Condition => ({ ...bad(reason, message, { ...text, action: [] }), tone: "note" })

/** The age at which a source counts as stale: one read may fail, and a read takes time. */
export const staleAfter = (poll: Duration.Duration): Duration.Duration => Duration.max(Duration.times(poll, 3), Duration.minutes(5))

const developers = "in the web app under Settings, then Developers"
const waits = "Changes wait in the ledger."
const resumes = "Sending then resumes without a restart."
const setVariable = "put it into PLAZA_API_KEY or the file that PLAZA_API_KEY_FILE names, and restart the program"

const troubleRemedy = `Check the network and the status of the service. ${resumes}`

const remedies = (setKey: string): Readonly<Record<string, string>> => ({
  INVALID_API_KEY: `Make an active key ${developers}, ${setKey}.`,
  INSUFFICIENT_SCOPE: `Make a key with the missing scope ${developers}, ${setKey}.`,
  DEVELOPER_ACCESS_REVOKED: `Ask the service's support to grant the access again. ${resumes}`,
  PROFILE_INCOMPLETE: `Add a profile photo and a cover in the web app. ${resumes}`,
  STORE_BLOCKED: `Ask the owner of the store to lift the block. ${resumes}`
})

const remedyOf = ({ code }: Failure, setKey: string): string => remedies(setKey)[code ?? ""] ?? `Correct what the message names. ${resumes}`

/** `setKey` says how to set another key. */
export const account = (state: AccountState, setKey = setVariable): Condition => {
  const text = "failure" in state ? failure(state.failure) : ""
  switch (state._tag) {
    case "Starting":
      return note("starting", "the service has not confirmed the account of the key yet", {
        label: "Starting",
        lead: "Starting: the service has not confirmed the account yet",
        description: ["Waiting for the service to confirm the account of the key."]
      })
    case "Running":
      return good("Running", ["Changes are sent in the order of their priority."])
    case "Paused":
      return bad("accountPaused", `the service refuses all requests: ${text}`, {
        label: "Paused",
        lead: "Nothing is sent: the account is paused",
        description: [`The service refuses all requests: ${text}. The first was refused `, state.since, `. ${waits} Next check `, {
          due: state.nextProbe
        }, "."],
        action: [remedyOf(state.failure, setKey)]
      })
    case "Quota":
      return note("accountQuota", `the rate limit or a quota is used up until ${moment(state.until)}: ${text}`, {
        label: "Out of quota",
        lead: "Nothing is sent: the rate limit or a quota is used up",
        description: [
          `The rate limit of the key or a quota of the account is used up. ${waits} Sending resumes `,
          { due: state.until },
          "."
        ]
      })
    case "Trouble":
      return bad("accountTrouble", `requests fail: ${text}`, {
        label: "Service unavailable",
        lead: "Nothing is accepted: the service is unavailable",
        description: [`Requests fail: ${text}. The first failed `, state.since, `. ${waits} Next attempt `, { due: state.nextTry }, "."],
        action: [troubleRemedy]
      })
  }
}

const keeps = "The stock of the previous snapshot stays in effect."
export const sourceRemedy = "Correct the source. It is read again without a restart."

type SourceText = Pick<Condition, "tone" | "label" | "description" | "action" | "lead">

/** A snapshot that the drop guard holds. */
export const heldCondition = (held: HeldSnapshot, commands: Commands): SourceText => ({
  tone: "bad",
  label: "Held",
  lead: `Snapshot ${held.number} of the source is held`,
  description: [`${capitalized(describe(held.figures))}. It arrived `, held.since, `. ${keeps}`],
  action: held.confirmed
    ? ["It is confirmed, and accepted at the next read of the source."]
    : [
      "If the source is wrong, correct it: the next plausible snapshot is accepted. If it is right, run ",
      { code: commands.confirm(held.number) },
      "."
    ]
})

const sourceText = ({ failing, held, readAt }: State["source"], now: DateTime.Utc, isStale: boolean, commands: Commands): SourceText => {
  if (held !== undefined) return heldCondition(held, commands)
  if (failing !== undefined) {
    return {
      tone: "bad",
      label: "Unreadable",
      lead: "The source can't be read",
      description: [`${capitalized(failing.failure.message)}. The first read failed `, failing.since, `. ${keeps}`],
      action: [sourceRemedy]
    }
  }
  if (readAt === undefined) {
    return {
      tone: "note",
      label: "Not read yet",
      lead: "Starting: the source has not been read yet",
      description: ["The first read is in progress."],
      action: []
    }
  }
  return isStale
    ? {
      tone: "bad",
      label: "Stale",
      lead: `The source was last read ${relative(readAt, now)}`,
      description: ["Last read ", readAt, ". The read after it has not ended."],
      action: [sourceRemedy]
    }
    : { tone: "good", label: "Accepted", lead: undefined, description: ["last read ", readAt, "."], action: [] }
}

/** A source that is read once has no `staleAge`. */
export const source = (
  state: State["source"],
  now: DateTime.Utc,
  staleAge: Duration.Duration | undefined,
  commands: Commands
): Condition => {
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
  return { ...sourceText(state, now, isStale, commands), reasons }
}

export const ledger = (state: LedgerState): Condition => {
  switch (state._tag) {
    case "Opening":
      return note("ledgerOpening", "the ledger is not open yet", {
        label: "Opening",
        lead: "Starting: the ledger is not open yet",
        description: ["The ledger is not open yet."]
      })
    case "Open":
      return good("Open", [`${state.path}, opened `, state.since, "."])
    case "Failing":
      return bad("ledgerFailing", state.failure.message, {
        label: "Unavailable",
        lead: "Nothing is sent: the ledger is unavailable",
        description: [`${capitalized(state.failure.message)}. Nothing is sent. Next attempt to open it `, { due: state.nextTry }, "."],
        action: [`Check the disk or the database of the ledger. ${resumes}`]
      })
  }
}

/**
 * Why the service or the source keeps an account from being up to date, and what to do, without a full stop at the end; undefined if nothing
 * does. It has no times, so that it stays the same until something else is wrong.
 */
export const problem = ({ account: state, source: { failing } }: State, setKey: string): string | undefined => {
  const texts = "failure" in state
    ? [failure(state.failure), plain(account(state, setKey).action)]
    : failing !== undefined
    ? [failing.failure.message, sourceRemedy]
    : undefined
  return texts?.map((text) => text.replace(/\.$/, "")).filter((text) => text !== "").join(". ")
}
