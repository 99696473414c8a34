/** Renders the manual as a man page. */
import { type Flag, fullLabelOf, isRunnable, type Pages, textOf, usageOf } from "./Manual.ts"
import { wrap } from "./Text.ts"

/** Escapes a line for man: dashes stay dashes, and a leading dot or quote is no request. */
const line = (plain: string): string => plain.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/^([.'])/, "\\&$1")

const text = (plain: string): string => wrap(plain, 72).map(line).join("\n")

const entry = (name: string, description: string): string =>
  [".TP", `.B ${line(name)}`, text(description === "" ? name : description)].join("\n")

const flagEntry = (flag: Flag): string => entry(fullLabelOf(flag), textOf(flag))

/** Renders the pages of a program, its own first. It has no date, so that builds are reproducible. */
export const render = ([root, ...others]: Pages, version: string): string => {
  const name = root.path.join(" ")
  const commands = others.filter(isRunnable)
  const summary = root.summary.replace(/\.$/, "")
  return `${
    [
      `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
      ".SH NAME",
      `${line(name)} \\- ${line(summary.charAt(0).toLowerCase() + summary.slice(1))}`,
      ".SH SYNOPSIS",
      `.B ${line(name)}`,
      "COMMAND",
      "[OPTION]...",
      ".SH DESCRIPTION",
      ...[root.summary, ...root.details].flatMap((paragraph) => [".PP", text(paragraph)]).slice(1),
      ".SH COMMANDS",
      ...commands.flatMap((page) => [
        `.SS ${line(page.path.join(" "))}`,
        ...[page.summary, ...page.details].flatMap((paragraph) => [text(paragraph), ".PP"]),
        `.B ${line(page.path.join(" "))}`,
        line(usageOf(page)),
        ...page.args.map((arg) => entry(arg.name, arg.description)),
        ...page.flags.map(flagEntry)
      ]),
      ".SH OPTIONS",
      "Of every command:",
      ...root.globals.map(flagEntry),
      ...root.sections.flatMap(({ entries, title }) => [
        `.SH ${title.toUpperCase()}`,
        ...entries.map(({ description, name }) => entry(name, description))
      ]),
      ".SH EXAMPLES",
      ".nf",
      ...commands.flatMap(({ examples }) => examples).map(line),
      ".fi"
    ].filter((line) => line !== "").join("\n")
  }\n`
}
