/** Describes the state of a running worker in sentences, for readiness, the log and the status page. */
import * as DateTime from "effect/DateTime"
import * as HeldSnapshots from "../ledger/HeldSnapshots.ts"
import type { HeldSnapshot } from "../ledger/Snapshot.ts"
import type { AccountState, Failure, State } from "../sync/SyncStatus.ts"

export const iso = (at: DateTime.Utc): string => DateTime.formatIso(at)

/** A time as text, such as `2026-03-01 12:00:00 UTC`. */
export const moment = (at: DateTime.Utc): string => `${iso(at).slice(0, 10)} ${iso(at).slice(11, 19)} UTC`

/** Code and message of a failure, without a full stop: messages of the service may have one or not. */
export const failure = ({ code, message, tag }: Failure): string => `${code ?? tag}: ${message.replace(/\.\s*$/, "")}`

export const held = ({ figures, number, since }: HeldSnapshot): string =>
  `snapshot ${number} of the source is held since ${moment(since)}: ${HeldSnapshots.describe(figures)}`

/** A duration in its two largest units, such as `2 h 5 min`. */
export const duration = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1_000))
  const parts = [[Math.floor(seconds / 86_400), "d"], [Math.floor(seconds / 3_600) % 24, "h"], [Math.floor(seconds / 60) % 60, "min"], [
    seconds % 60,
    "s"
  ]] as const
  const first = parts.findIndex(([count]) => count > 0)
  return first === -1 ? "0 s" : parts.slice(first, first + 2).flatMap(([count, unit]) => count > 0 ? [`${count} ${unit}`] : []).join(" ")
}

export interface StateText {
  readonly tone: "good" | "note" | "bad"
  readonly label: string
  /** One or more sentences. */
  readonly description: string
  /** What an operator has to do, in sentences; empty if nothing. */
  readonly action: string
}

const developers = "in the web app under Settings, then Developers"
const resumes = "Sending then resumes without a restart."

const remedies = (setKey: string): Readonly<Record<string, string>> => ({
  INVALID_API_KEY: `Make an active key ${developers}, ${setKey}.`,
  INSUFFICIENT_SCOPE: `Make a key with the missing scope ${developers}, ${setKey}.`,
  DEVELOPER_ACCESS_REVOKED: `Ask the service's support to grant the access again. ${resumes}`,
  PROFILE_INCOMPLETE: `Add a profile photo and a cover in the web app. ${resumes}`,
  STORE_BLOCKED: `Ask the owner of the store to lift the block. ${resumes}`
})

const setVariable = "put it into PLAZA_API_KEY or the file that PLAZA_API_KEY_FILE names, and restart the program"

/** What an operator has to do about the state of an account, in sentences; empty if nothing. */
const accountRemedy = (state: AccountState, setKey: string): string => {
  switch (state._tag) {
    case "Paused":
      return remedies(setKey)[state.failure.code ?? ""] ?? `Correct what the message names. ${resumes}`
    case "Trouble":
      return `Check the network and the status of the service. ${resumes}`
    case "Quota":
    case "Running":
    case "Starting":
      return ""
  }
}

const sourceRemedy = "Correct the source. It is read again without a restart."

/** `setKey` says how to set another key. */
export const account = (state: AccountState, setKey = setVariable): StateText => {
  switch (state._tag) {
    case "Starting":
      return { tone: "note", label: "Starting", description: "Waiting for the service to confirm the account of the key.", action: "" }
    case "Running":
      return { tone: "good", label: "Running", description: "Changes are sent in the order of their priority.", action: "" }
    case "Paused":
      return {
        tone: "bad",
        label: "Paused",
        description: `The service refuses all requests since ${moment(state.since)}: ${
          failure(state.failure)
        }. Changes wait in the ledger. Next check at ${moment(state.nextProbe)}.`,
        action: accountRemedy(state, setKey)
      }
    case "Quota":
      return {
        tone: "note",
        label: "Out of quota",
        description: `The rate limit of the key or a quota of the account is used up. Changes wait in the ledger. Sending resumes at ${
          moment(state.until)
        }.`,
        action: ""
      }
    case "Trouble":
      return {
        tone: "bad",
        label: "Service unavailable",
        description: `All requests fail since ${moment(state.since)}. Last failure: ${
          failure(state.failure)
        }. Changes wait in the ledger. Next attempt at ${moment(state.nextTry)}.`,
        action: accountRemedy(state, setKey)
      }
  }
}

export const source = ({ source: { failing, held: heldSnapshot, readAt } }: State): StateText => {
  if (heldSnapshot !== undefined) {
    return {
      tone: "bad",
      label: "Held",
      description: `${capitalized(held(heldSnapshot))}. The stock of the previous snapshot stays in effect.`,
      action:
        `If the source is wrong, correct it: the next plausible snapshot is accepted. If it is right, run "plaza-stock-sync confirm ${heldSnapshot.number}" beside this worker.`
    }
  }
  if (failing !== undefined) {
    return {
      tone: "bad",
      label: "Unreadable",
      description: `Since ${moment(failing.since)}: ${failing.failure.message}. The stock of the previous snapshot stays in effect.`,
      action: sourceRemedy
    }
  }
  return readAt === undefined
    ? { tone: "note", label: "Not read yet", description: "The first read is in progress.", action: "" }
    : { tone: "good", label: "Accepted", description: `Last read at ${moment(readAt)}.`, action: "" }
}

/**
 * Why the service or the source keeps an account from being up to date, and what to do, without a full stop at the end; undefined if nothing
 * does. It has no times, so that it stays the same until something else is wrong.
 */
export const problem = ({ account: state, source: { failing } }: State, setKey: string): string | undefined => {
  const found = state._tag === "Paused" || state._tag === "Trouble" || state._tag === "Quota"
    ? [failure(state.failure), accountRemedy(state, setKey)]
    : failing !== undefined
    ? [failing.failure.message, sourceRemedy]
    : undefined
  return found?.map((text) => text.replace(/\.$/, "")).filter((text) => text !== "").join(". ")
}

export const ledger = ({ ledger: state }: State): StateText => {
  switch (state._tag) {
    case "Opening":
      return { tone: "note", label: "Opening", description: "The ledger is not open yet.", action: "" }
    case "Open":
      return { tone: "good", label: "Open", description: `${state.path}, since ${moment(state.since)}.`, action: "" }
    case "Failing":
      return {
        tone: "bad",
        label: "Unavailable",
        description: `${capitalized(state.failure.message)}. Nothing is sent. Next attempt to open it at ${moment(state.nextTry)}.`,
        action: `Check the disk or the database of the ledger. ${resumes}`
      }
  }
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
