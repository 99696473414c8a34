/** Renders a page of the manual as text of a given width. */
import { fullLabelOf, isRunnable, type Page, textOf, usageOf } from "./Manual.ts"
import { wrap } from "./Text.ts"

interface Row {
  readonly name: string
  readonly description: string
}

const gap = 2
/** Of a description below its name. */
const indent = " ".repeat(6)
/** With fewer columns beside the names, descriptions go below them. */
const minDescriptionWidth = 20
/** A longer name stands on a line of its own. */
const maxNameWidth = 30

const rowLines = (rows: ReadonlyArray<Row>, width: number): ReadonlyArray<string> => {
  const nameWidth = Math.max(...rows.map(({ name }) => name.length).filter((length) => length <= maxNameWidth), 0) + gap
  const rest = width - nameWidth - gap
  return rows.flatMap(({ description, name }) => {
    if (description === "") return [`  ${name}`]
    if (rest < minDescriptionWidth) return [`  ${name}`, ...wrap(description, width - indent.length).map((line) => `${indent}${line}`)]
    const fits = name.length <= maxNameWidth
    const lines = wrap(description, rest).map((line, index) => `${(index === 0 && fits ? `  ${name}` : "").padEnd(nameWidth + gap)}${line}`)
    return fits ? lines : [`  ${name}`, ...lines]
  })
}

/** The help of a command. */
export const render = (page: Page, width: number): string => {
  const command = page.path.join(" ")
  const section = (title: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
    rows.length === 0 ? [] : ["", `${title}:`, ...rowLines(rows, width)]
  return [
    ...wrap(page.summary, width),
    ...page.details.flatMap((paragraph) => ["", ...wrap(paragraph, width)]),
    "",
    `Usage: ${command} ${usageOf(page)}`.trimEnd(),
    ...page.commands.flatMap(({ commands, title }) =>
      section(title ?? "Commands", commands.map(({ name, summary }) => ({ name, description: summary })))
    ),
    ...section("Arguments", page.args),
    ...section("Options", page.flags.map((flag) => ({ name: fullLabelOf(flag), description: textOf(flag) }))),
    ...section("Global options", page.globals.map((flag) => ({ name: fullLabelOf(flag), description: textOf(flag) }))),
    ...(page.examples.length === 0 ? [] : ["", "Examples:", ...page.examples.map((example) => `  ${example}`)]),
    ...page.sections.flatMap(({ entries, title }) => section(title, entries)),
    ...(isRunnable(page) ? [] : ["", `Run ${command} COMMAND --help for the options of a command.`])
  ].map((line) => `${line}\n`).join("")
}
