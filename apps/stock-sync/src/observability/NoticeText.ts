/**
 * The texts of messages to a chat. Slack, Mattermost, Discord and Google Chat read mark-up in them: nothing of the data may become a mention, a
 * link or a format. Pure.
 */
import type * as Duration from "effect/Duration"
import type { Kind, Problem } from "./Notices.ts"
import { counted, duration, grouped, plain, type Text } from "./StatusText.ts"

/** Discord accepts 2,000 characters, and counts each of them after an escape was read. */
export const mostCharacters = 1_900

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

// Shown as a space, and not as a line of its own or in another order.
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const longest = 300

const cut = (text: string): string => text.length > longest ? `${Array.from(text).slice(0, longest).join("")}…` : text

/**
 * A text of anyone. `<` and `>` are escaped as Slack asks for it, an `@` gets a character without width behind it, so that it mentions nobody,
 * and a back quote becomes an apostrophe.
 */
export const safe = (text: string): string =>
  cut(text.replace(hidden, " ")).replace(/[&<>]/g, (character) => entities[character] ?? "").replaceAll("@", "@\u200b").replaceAll("`", "'")

const isPlain = (command: string): boolean => !/[`<>&@]/.test(command) && command.length <= longest && command.search(hidden) < 0

/** Sentences with commands. A command that can't be shown as it is typed is replaced by one that lists the products. */
export const sentences = (text: Text, lists: string): string =>
  text.map((piece) =>
    typeof piece === "object" && "code" in piece ? `\`${isPlain(piece.code) ? piece.code : lists}\`` : safe(plain([piece]))
  ).join("")

interface Notice {
  readonly phase: "begins" | "lasts" | "ends"
  readonly problem: Problem
  readonly lasted: Duration.Duration
}

/** What is wrong with several accounts, and what was. */
const together: Readonly<Record<Kind, readonly [is: string, was: string]>> = {
  ledger: ["the ledger is unavailable", "the ledger was unavailable"],
  paused: ["the service refuses all requests", "the service refused all requests"],
  unavailable: ["the service is unavailable", "the service was unavailable"],
  quota: ["the rate limit or a quota is used up", "the rate limit or a quota was used up"],
  account: ["not up to date", "not up to date"],
  held: ["a snapshot is held", "a snapshot was held"],
  source: ["the source can't be read", "the source could not be read"],
  products: ["products need a person", "products needed a person"],
  rejected: ["rows of the source are rejected", "rows of the source were rejected"]
}

const line = ({ lasted, phase, problem: { account, kind, text } }: Notice): string => {
  const subject = account === undefined ? "" : `${safe(account)}: `
  const since = duration(lasted)
  return phase === "ends"
    ? `${subject}Over after ${since}: ${together[kind][1]}.`
    : `${subject}${text} (${phase === "begins" ? "for" : "still, after"} ${since})`
}

/** Accounts that are named one by one; more are one line. */
const mostNamed = 3

/** The most frequent text of several problems. */
const example = (notices: ReadonlyArray<Notice>): string => {
  const counts = new Map<string, number>()
  for (const { problem } of notices) counts.set(problem.name, (counts.get(problem.name) ?? 0) + 1)
  const [first] = Array.from(counts).toSorted(([, one], [, other]) => other - one)
  return first === undefined ? "" : ` ${first[1] === notices.length ? "All" : `${grouped(first[1])} of them`}: ${first[0]}.`
}

const digest = (kind: Kind, phase: Notice["phase"], notices: ReadonlyArray<Notice>, lists: string): string => {
  const names = notices.slice(0, mostNamed).map(({ problem }) => safe(problem.account ?? ""))
  const more = notices.length - names.length
  const who = `${names.join(", ")}${more > 0 ? ` and ${grouped(more)} more` : ""}`
  return phase === "ends"
    ? `Over for ${counted(notices.length, "account")}: ${together[kind][1]} (${who}).`
    : `${counted(notices.length, "account")}${phase === "lasts" ? ", still" : ""}: ${together[kind][0]} (${who}).${
      example(notices)
    } \`${lists}\` lists them.`
}

// True because the object has exactly these keys.
const kinds = Object.keys(together) as ReadonlyArray<Kind>
const phases = ["begins", "lasts", "ends"] as const

/** Ends between two words, and with a command that is closed. */
const shortened = (text: string, room: number): string => {
  const begun = text.slice(0, room - 1).replace(/\s+\S*$/, "")
  return begun.split("`").length % 2 === 0 ? `${begun}\`` : begun
}

/** One message for all that is due. `lists`: the command that lists everything. */
export const message = (notices: ReadonlyArray<Notice>, lists: string): string => {
  const groups = phases.flatMap((phase) =>
    kinds.map((kind) => ({ kind, phase, group: notices.filter((notice) => notice.phase === phase && notice.problem.kind === kind) }))
  )
  const lines = groups.flatMap(({ group, kind, phase }) =>
    group.length > mostNamed && group.every(({ problem }) => problem.account !== undefined)
      ? [digest(kind, phase, group, lists)]
      : group.map(line)
  )
  const rest = `… and more: \`${lists}\``
  const room = mostCharacters - rest.length - 1
  let text = ""
  for (const each of lines) {
    const next = text === "" ? each : `${text}\n${each}`
    if (next.length > room) return `${text === "" ? shortened(each, room) : text}\n${rest}`
    text = next
  }
  return text
}
