/**
 * What may stand where the cursor is, for a shell that completes a command line: commands, options, or files. Knows what the manual
 * tells, and nothing of any shell; loads nothing, for it is asked at every press of a key.
 */
import { optionsOf } from "./HelpText.js"
import { type Entry, type Manual, type Page, pageAt } from "./Manual.js"

/** The word that asks for it: a command that help doesn't show. */
export const command = "__complete"

/** What is answered where a file has to be named: the shell knows files better. */
export const files = ":files"

const placeholder = ({ name }: Entry): string => name.slice(name.indexOf(" ") + 1)

const valuesOf = (entry: Entry | undefined): ReadonlyArray<Entry> | typeof files => {
  if (entry === undefined) return []
  if (placeholder(entry) === "FILE") return files
  // The parser's own words for an argument that is one of some.
  const choices = /One of the following: ([^.]+)/.exec(entry.said)?.[1]
  return choices === undefined ? [] : choices.split(", ").map((name) => ({ name, said: "" }))
}

const flagOf = ({ name }: Entry): string => name.split(" ")[0] ?? name

const argumentAt = (page: Page, index: number): Entry | undefined =>
  page.args[index] ?? (page.usage.includes("...") ? page.args.at(-1) : undefined)

const candidates = (manual: Manual, done: ReadonlyArray<string>, current: string): ReadonlyArray<Entry> | typeof files => {
  const { grammar } = manual
  let page = manual.page
  let words = 0
  let pending: string | undefined
  let closed = false
  const given = new Set<string>()
  for (const word of done) {
    if (pending !== undefined) pending = undefined
    else if (closed) words++
    else if (word === "--") closed = true
    else if (word.startsWith("-")) {
      given.add(word.split("=")[0] ?? word)
      pending = grammar.valued.includes(word) ? word : undefined
    } else {
      const below = words === 0 ? pageAt(page, [word]) : page
      if (below === page && !(page === manual.page && word === "help")) words++
      page = below
    }
  }
  const options = optionsOf(page)
  if (pending !== undefined) return valuesOf(options.find((option) => flagOf(option) === pending))
  if (current.startsWith("-") && !closed) {
    return options
      .map((option) => ({ name: flagOf(option), said: option.said }))
      .filter(({ name }) => !given.has(name) || grammar.repeated.includes(name))
  }
  if (page.commands.length > 0) return words > 0 ? [] : page.commands.map(({ about, name }) => ({ name, said: about }))
  return valuesOf(argumentAt(page, words))
}

/**
 * The answer for a shell: a candidate a line, a tab and what is said of it behind it, or {@link files}. The last of the words is the one
 * under the cursor, as far as it is typed.
 */
export const answer = (manual: Manual, words: ReadonlyArray<string>): string => {
  const current = words.at(-1) ?? ""
  const found = candidates(manual, words.slice(0, -1), current)
  return found === files
    ? `${files}\n`
    : found.filter(({ name }) => name.startsWith(current)).map(({ name, said }) => `${said === "" ? name : `${name}\t${said}`}\n`).join("")
}
