/**
 * Candidates for shell completion: commands, options, values or files. Depends only on the manual's data, because it
 * runs at every press of a key.
 */
import { optionsOf } from "./HelpText.ts"
import { type Manual, optionsByName, type Page, pageAt } from "./Manual.ts"

/** The hidden command that prints completions. */
export const command = "__complete"

/** Printed where a file name is expected, so that the shell completes files itself. */
export const files = ":files"

interface Candidate {
  readonly name: string
  readonly description: string
}

const valuesOf = (
  label: string | undefined,
  choices: ReadonlyArray<string> | undefined
): ReadonlyArray<Candidate> | typeof files =>
  label?.split("|").some((word) => word === "FILE" || word === "DIR") === true
    ? files
    : (choices ?? []).map((name) => ({ name, description: "" }))

/** The argument at a position. A repeated one is also at every later position. */
const argumentAt = ({ args }: Page, index: number) => args[index] ?? (args.at(-1)?.repeated === true ? args.at(-1) : undefined)

const candidates = (manual: Manual, previous: ReadonlyArray<string>, current: string): ReadonlyArray<Candidate> | typeof files => {
  const known = optionsByName(manual.page)
  let page = manual.page
  let args = 0
  let pending: string | undefined
  let optionsEnded = false
  const given = new Set<string>()
  for (const word of previous) {
    if (pending !== undefined) pending = undefined
    else if (optionsEnded) args++
    else if (word === "--") optionsEnded = true
    else if (word.startsWith("-")) {
      given.add(word.split("=")[0] ?? word)
      pending = known.get(word)?.value === undefined ? undefined : word
    } else {
      const child = args === 0 ? pageAt(page, [word]) : page
      if (child === page && !(page === manual.page && word === "help")) args++
      page = child
    }
  }
  const options = page === manual.page ? optionsOf(page) : [...optionsOf(page), ...manual.page.options]
  if (pending !== undefined) {
    const option = options.find(({ name }) => name === pending)
    return valuesOf(option?.value, option?.choices)
  }
  if (current.startsWith("-") && !optionsEnded) return options.filter(({ name, repeated }) => repeated || !given.has(name))
  if (page.commands.length > 0) return args > 0 ? [] : page.commands.map(({ name, summary }) => ({ name, description: summary }))
  const argument = argumentAt(page, args)
  return valuesOf(argument?.name, argument?.choices)
}

/**
 * The completions for a shell: one candidate per line, then a tab and its description, or {@link files}. The last word is the one under
 * the cursor.
 */
export const complete = (manual: Manual, words: ReadonlyArray<string>): string => {
  const current = words.at(-1) ?? ""
  const found = candidates(manual, words.slice(0, -1), current)
  return found === files
    ? `${files}\n`
    : found
      .filter(({ name }) => name.startsWith(current))
      .map(({ description, name }) => `${description === "" ? name : `${name}\t${description}`}\n`)
      .join("")
}
