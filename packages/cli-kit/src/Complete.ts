/**
 * Candidates for shell completion: commands, options or files. Depends only on the manual's data, because it runs at
 * every press of a key.
 */
import { optionsOf } from "./HelpText.js"
import { type Entry, type Manual, type Page, pageAt } from "./Manual.js"

/** The hidden command that prints completions. */
export const command = "__complete"

/** Printed where a file name is expected, so that the shell completes files itself. */
export const files = ":files"

const placeholder = ({ name }: Entry): string => name.slice(name.indexOf(" ") + 1)

const valuesOf = (entry: Entry | undefined): ReadonlyArray<Entry> | typeof files => {
  if (entry === undefined) return []
  if (placeholder(entry) === "FILE") return files
  // The parser describes a choice with this sentence.
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
 * The completions for a shell: one candidate a line, then a tab and its description, or {@link files}. The last word is the one under
 * the cursor.
 */
export const answer = (manual: Manual, words: ReadonlyArray<string>): string => {
  const current = words.at(-1) ?? ""
  const found = candidates(manual, words.slice(0, -1), current)
  return found === files
    ? `${files}\n`
    : found.filter(({ name }) => name.startsWith(current)).map(({ name, said }) => `${said === "" ? name : `${name}\t${said}`}\n`).join("")
}
