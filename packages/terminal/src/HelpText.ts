/**
 * The help page of a command as text that fits a width. Knows nothing of any command, and loads nothing, so that help is there at once.
 */
import type { Entry, Page } from "./Manual.js"

const gap = 2
/** With less room beside the names, what is said of them goes below them. */
const leastRoom = 20

/** A text broken between words; a word that is longer than the line stays whole, for a part of it can't be copied. */
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

/** The options of a page as they are shown: those of the command, and those that every command has. */
export const optionsOf = (page: Page): ReadonlyArray<Entry> => [...page.options, everywhere, ...(page.commands.length > 0 ? [atTheTop] : [])]

/** The lines of a page; `path` are the words by which the command is called, the program's name first. */
export const render = (page: Page, path: ReadonlyArray<string>, width: number): string => {
  const [program = ""] = path
  const section = (head: string, entries: ReadonlyArray<Entry>): ReadonlyArray<string> => entries.length === 0 ? [] : ["", `${head}:`, ...entryLines(entries, width)]
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
