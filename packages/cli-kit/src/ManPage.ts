/** Renders a `Manual` as a man page. */
import { optionsOf, wrap } from "./HelpText.js"
import { allPages, type Entry, type Manual, type Page } from "./Manual.js"

/** Escapes a line for man: dashes stay dashes, and a leading dot is no request. */
const line = (plain: string): string => plain.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/^([.'])/, "\\&$1")

const text = (plain: string): string => wrap(plain, 72).map(line).join("\n")

const entry = ({ name, said }: Entry): string => [".TP", `.B ${line(name)}`, text(said === "" ? name : said)].join("\n")

/** A section that help doesn't have, for example the exit codes. */
export interface Section {
  readonly head: string
  readonly entries: ReadonlyArray<Entry>
}

/** Options that most commands share; the page describes them once. */
const commonOf = (commands: ReadonlyArray<Page>): ReadonlyArray<Entry> => {
  const all = commands.flatMap(({ options }) => options)
  const isSame = (one: Entry) => ({ name, said }: Entry) => name === one.name && said === one.said
  return all.filter((option, index) => all.findIndex(isSame(option)) === index && all.filter(isSame(option)).length > commands.length / 2)
}

/** Renders the page. It has no date, so that builds are reproducible. */
export const render = (manual: Manual, sections: ReadonlyArray<Section> = []): string => {
  const { name, page, version } = manual
  const [sentence = ""] = page.about.split(/[.:](?:\s|$)/)
  const commands = allPages(page).filter(({ page }) => page.commands.length === 0)
  const common = commonOf(commands.map(({ page }) => page))
  const isCommon = ({ name, said }: Entry) => common.some((option) => option.name === name && option.said === said)
  const examples = commands.flatMap(({ page }) => page.examples)
  return `${
    [
      `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
      ".SH NAME",
      `${line(name)} \\- ${line(sentence.charAt(0).toLowerCase() + sentence.slice(1))}`,
      ".SH SYNOPSIS",
      `.B ${line(name)}`,
      "COMMAND",
      "[OPTION]...",
      ".SH DESCRIPTION",
      text(page.about),
      ".SH COMMANDS",
      ...commands.flatMap(({ page, path }) => [
        `.SS ${line(path.join(" "))}`,
        text(page.about),
        ".PP",
        `.B ${line(path.join(" "))}`,
        line(page.usage),
        ...[...page.args, ...page.options.filter((option) => !isCommon(option))].map(entry)
      ]),
      ".SH OPTIONS",
      "Of most commands:",
      ...common.map(entry),
      ".PP",
      "Of the program, and of every command:",
      ...[...page.options, ...optionsOf({ ...page, options: [] })].map(entry),
      ...sections.flatMap(({ entries, head }) => [`.SH ${head}`, ...entries.map(entry)]),
      ".SH EXAMPLES",
      ".nf",
      ...examples.map((example) => line(`${name} ${example}`)),
      ".fi"
    ].filter((line) => line !== "").join("\n")
  }\n`
}
