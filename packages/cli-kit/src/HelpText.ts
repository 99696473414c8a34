/** Renders the help page of a command as text of a given width. Imports no library, so that help prints at once. */
import type { Entry, Page } from "./Manual.js"

const gap = 2
/** With less room beside the names, descriptions go below them. */
const leastRoom = 20

/** Wraps text between words. A word that is longer than the line stays whole. */
export const wrap = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of text.split(" ")) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}

const entryLines = (entries: ReadonlyArray<Entry>, width: number): ReadonlyArray<string> => {
  const names = Math.max(...entries.map(({ name }) => name.length)) + gap
  const room = width - names - gap
  return entries.flatMap(({ name, said }) => {
    if (said === "") return [`  ${name}`]
    if (room < leastRoom) return [`  ${name}`, ...wrap(said, width - 6).map((line) => `      ${line}`)]
    return wrap(said, room).map((line, index) => `${(index === 0 ? `  ${name}` : "").padEnd(names + gap)}${line}`)
  })
}

const everywhere: Entry = { name: "--help", said: "Show this." }
const atTheTop: Entry = { name: "--version", said: "Show the version." }

/** The options that a page shows: the command's own and the global ones. */
export const optionsOf = (
  page: Page
): ReadonlyArray<Entry> => [...page.options, everywhere, ...(page.commands.length > 0 ? [atTheTop] : [])]

/** Renders a page. `path` is the command path, the program's name first. */
export const render = (page: Page, path: ReadonlyArray<string>, width: number): string => {
  const [program = ""] = path
  const section = (head: string, entries: ReadonlyArray<Entry>): ReadonlyArray<string> =>
    entries.length === 0 ? [] : ["", `${head}:`, ...entryLines(entries, width)]
  return [
    ...(page.about === "" ? [] : wrap(page.about, width)),
    "",
    `Usage: ${[...path, page.usage].join(" ").trimEnd()}`,
    ...section("Commands", page.commands.map(({ about, name }) => ({ name, said: about }))),
    ...section("Arguments", page.args),
    ...section("Options", optionsOf(page)),
    ...(page.examples.length === 0 ? [] : ["", "Examples:", ...page.examples.map((example) => `  ${program} ${example}`)])
  ].map((line) => `${line}\n`).join("")
}
