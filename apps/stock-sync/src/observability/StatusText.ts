/** Times, failures and changes as text, for the log, readiness, the status page and the commands. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import { capitalize } from "effect/String"
import type { Refusal } from "../ledger/Entry.ts"
import type { HeldSnapshot } from "../ledger/Snapshot.ts"
import { describe } from "../ledger/snapshot/Judge.ts"
import type { Failure } from "../sync/SyncStatus.ts"

/** A time as text, such as `2026-03-01 12:00:00 UTC`. */
export const moment = (at: DateTime.Utc): string => `${DateTime.formatIso(at).slice(0, 19).replace("T", " ")} UTC`

const units = [[86_400, Infinity, "d"], [3_600, 24, "h"], [60, 60, "min"], [1, 60, "s"]] as const

/** A duration in its two largest units, such as `2 h 5 min`. */
export const duration = (length: Duration.Duration): string => {
  const seconds = Math.max(0, Math.floor(Duration.toSeconds(length)))
  const parts = units.map(([unit, limit, name]) => ({ count: Math.floor(seconds / unit) % limit, name }))
  const first = parts.findIndex(({ count }) => count > 0)
  return first === -1
    ? "0 s"
    : parts.slice(first, first + 2).flatMap(({ count, name }) => count > 0 ? [`${count} ${name}`] : []).join(" ")
}

/** A count with its noun: "1 product", "2 products". */
export const counted = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? "" : "s"}`

/** A number with a comma between thousands. */
export const grouped = (number: number): string => String(number).replace(/\B(?=(?:\d{3})+$)/g, ",")

const words = [[86_400, "day"], [3_600, "hour"], [60, "minute"], [1, "second"]] as const

/** A duration in its largest unit, in words: "3 minutes". */
const inWords = (seconds: number): string => {
  const [length, noun] = words.find(([length]) => seconds >= length) ?? words[3]
  return counted(Math.floor(seconds / length), noun)
}

/** A time as people say it: "3 minutes ago", "in 2 hours". */
export const relative = (at: DateTime.Utc, now: DateTime.Utc): string => {
  const seconds = Math.round((DateTime.toEpochMillis(now) - DateTime.toEpochMillis(at)) / 1_000)
  if (Math.abs(seconds) < 2) return DateTime.isGreaterThan(at, now) ? "now" : "just now"
  return seconds > 0 ? `${inWords(seconds)} ago` : `in ${inWords(-seconds)}`
}

/** A text with times, which a page shows relative to now, and with commands. `due`: a time of the future, or now if it has passed. */
export type Text = ReadonlyArray<string | DateTime.Utc | { readonly due: DateTime.Utc } | { readonly code: string }>

/** A text without markup, with absolute times. */
export const plain = (text: Text): string =>
  text.map((piece) =>
    typeof piece === "string"
      ? piece
      : DateTime.isDateTime(piece)
      ? moment(piece)
      : "due" in piece
      ? moment(piece.due)
      : `"${piece.code}"`
  ).join("")

/** Code and message of a failure, without a full stop: messages of the service may have one or not. */
export const failure = ({ code, message, tag }: Pick<Failure, "code" | "message" | "tag">): string =>
  `${code ?? tag}: ${message.replace(/\.\s*$/, "")}`

/** The last response as one line. */
export const refusal = (refusal: Refusal | undefined): string =>
  refusal === undefined ? "" : `${refusal.code ?? refusal.tag}: ${refusal.message}`

export const held = ({ figures, number, since }: HeldSnapshot): string =>
  `snapshot ${number} of the source is held since ${moment(since)}: ${describe(figures)}`

/** Why `--gone zero` did nothing for a snapshot. */
export const missingKept =
  "missing products keep their stock this time: a rejected row names no known product and may be one of them, or it is the last row and others may be missing behind it"

/** As the beginning of a sentence. An address, a path or another name stays as it is: only a word of letters gets a capital. */
export const capitalized = (text: string): string => /^\p{L}[\p{L}'’]*[,;.]?(?!\S)/u.test(text) ? capitalize(text) : text
