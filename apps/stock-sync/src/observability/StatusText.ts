/** Sentences about the state of a running worker, for readiness, logs and the page. */
import * as ApplySnapshot from "../ledger/ApplySnapshot.js"
import type { Held } from "../ledger/Ledger.js"
import type { AccountState, Failure, State } from "../sync/SyncStatus.js"

export const iso = (at: number): string => new Date(at).toISOString()

/** For eyes. */
export const moment = (at: number): string => `${iso(at).slice(0, 10)} ${iso(at).slice(11, 19)} UTC`

/** Without the end of a sentence, as messages of services have it or not. */
export const told = ({ code, message, tag }: Failure): string => `${code ?? tag}: ${message.replace(/\.\s*$/, "")}`

export const held = (each: Held): string =>
  `the source is held as snapshot ${each.number} since ${moment(each.since)}: ${ApplySnapshot.heldText(each.figures)}`

/** For how long, in the two largest units that matter. */
export const lasting = (millis: number): string => {
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
  readonly name: string
  /** What is the case, in sentences. */
  readonly what: string
  /** What somebody has to do, in sentences; empty where there is nothing to do. */
  readonly todo: string
}

const developers = "in the web app under Settings, then Developers"
const byItself = "Sending goes on by itself then."

const mending: Readonly<Record<string, string>> = {
  INVALID_API_KEY:
    `Make an active key ${developers}, put it into PLAZA_API_KEY or the file that PLAZA_API_KEY_FILE names, and restart the program.`,
  INSUFFICIENT_SCOPE:
    `Make a key with the scope that is missing ${developers}, put it into PLAZA_API_KEY or the file that PLAZA_API_KEY_FILE names, and restart the program.`,
  DEVELOPER_ACCESS_REVOKED: `Write to the service's support to have access granted again. ${byItself}`,
  PROFILE_INCOMPLETE: `Add a profile photo and a cover in the web app. ${byItself}`,
  STORE_BLOCKED: `Ask the owner of the store to lift the block. ${byItself}`
}

/** The account's state in words, with what to do about it. */
export const account = (state: AccountState): StateText => {
  switch (state._tag) {
    case "Starting":
      return { tone: "note", name: "Starting", what: "The service is asked whose key it is.", todo: "" }
    case "Running":
      return { tone: "good", name: "Running", what: "What waits is sent, the most urgent first.", todo: "" }
    case "Paused":
      return {
        tone: "bad",
        name: "Paused",
        what: `The service refuses everything since ${moment(state.since)}: ${
          told(state.failure)
        }. Values wait in the ledger; the service is asked again at ${moment(state.nextProbe)}.`,
        todo: mending[state.failure.code ?? ""] ?? `Look what the service says, and mend it. ${byItself}`
      }
    case "Quota":
      return {
        tone: "note",
        name: "Out of quota",
        what: `The key's requests or the account's quota are used up. Values wait in the ledger; sending goes on by itself at ${
          moment(state.until)
        }.`,
        todo: ""
      }
    case "Trouble":
      return {
        tone: "bad",
        name: "Service in trouble",
        what: `Nothing gets through since ${moment(state.since)}, the last failure was ${
          told(state.failure)
        }. Values wait in the ledger; sending is tried again at ${moment(state.nextTry)}.`,
        todo: "Look at the machine's network and the service. " + byItself
      }
  }
}

/** The source's state in words. */
export const source = ({ source: { failing, held: kept, readAt } }: State): StateText => {
  if (kept !== undefined) {
    return {
      tone: "bad",
      name: "Held",
      what: `${capital(held(kept))}. Nothing of it is taken; the stock that was wanted before stays wanted.`,
      todo:
        `If the source is wrong, correct it: the next plausible one is taken. If it is right, run "plaza-stock-sync confirm ${kept.number}" beside this worker.`
    }
  }
  if (failing !== undefined) {
    return {
      tone: "bad",
      name: "Can't be read",
      what: `Since ${moment(failing.since)}: ${failing.failure.message}. What was wanted before stays wanted.`,
      todo: "Mend the source; it is looked at again by itself."
    }
  }
  return readAt === undefined
    ? { tone: "note", name: "Not read yet", what: "The source is read for the first time.", todo: "" }
    : { tone: "good", name: "Read", what: `Last at ${moment(readAt)}.`, todo: "" }
}

/** The ledger's state in words. */
export const ledger = ({ ledger: state }: State): StateText => {
  switch (state._tag) {
    case "Opening":
      return { tone: "note", name: "Opening", what: "The ledger is being opened.", todo: "" }
    case "Open":
      return { tone: "good", name: "Open", what: `${state.ledger.path}, since ${moment(state.since)}.`, todo: "" }
    case "Failing":
      return {
        tone: "bad",
        name: "Failing",
        what: `${capital(state.failure.message)}. Nothing is sent meanwhile; it is opened anew at ${moment(state.nextTry)}.`,
        todo: "Look at the disk or the database that it lies in. Sending goes on by itself then."
      }
  }
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
