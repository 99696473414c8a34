/** Renders the help of a command as text of a given width. Imports no library, so that help prints at once. */
import { labelOf, type Manual, type Option, type Page, pageAt, usageOf } from "./Manual.ts"

interface Row {
  readonly name: string
  readonly description: string
}

const gap = 2
/** With fewer columns beside the names, descriptions go below them. */
const minDescriptionWidth = 20

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

const rowLines = (rows: ReadonlyArray<Row>, width: number): ReadonlyArray<string> => {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length)) + gap
  const rest = width - nameWidth - gap
  return rows.flatMap(({ description, name }) => {
    if (description === "") return [`  ${name}`]
    if (rest < minDescriptionWidth) return [`  ${name}`, ...wrap(description, width - 6).map((line) => `      ${line}`)]
    return wrap(description, rest).map((line, index) => `${(index === 0 ? `  ${name}` : "").padEnd(nameWidth + gap)}${line}`)
  })
}

const help: Option = { name: "--help", description: "Show help for the command.", required: false, repeated: false }
const version: Option = { name: "--version", description: "Show the version.", required: false, repeated: false }

/** The options that a page shows: those of the command, and for the program and groups of commands also `--version`. */
export const optionsOf = (page: Page): ReadonlyArray<Option> => [...page.options, help, ...(page.commands.length > 0 ? [version] : [])]

/** The help of the command at a path without the program's name. */
export const render = ({ name: program, page: root, sections }: Manual, path: ReadonlyArray<string>, width: number): string => {
  const page = pageAt(root, path)
  const command = [program, ...path].join(" ")
  const section = (title: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
    rows.length === 0 ? [] : ["", `${title}:`, ...rowLines(rows, width)]
  return [
    ...(page.summary === "" ? [] : wrap(page.summary, width)),
    ...page.details.flatMap((paragraph) => ["", ...wrap(paragraph, width)]),
    "",
    `Usage: ${command} ${usageOf(page)}`.trimEnd(),
    ...section("Commands", page.commands.map(({ name, summary }) => ({ name, description: summary }))),
    ...section("Arguments", page.args),
    ...section("Options", optionsOf(page).map((option) => ({ name: labelOf(option), description: option.description }))),
    ...(page.examples.length === 0 ? [] : ["", "Examples:", ...page.examples.map((example) => `  ${program} ${example}`)]),
    ...(path.length > 0 ? [] : sections.flatMap(({ entries, title }) => section(title, entries))),
    ...(page.commands.length === 0 ? [] : ["", `Run ${command} COMMAND --help for the options of a command.`])
  ].map((line) => `${line}\n`).join("")
}
