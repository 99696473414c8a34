/** Renders a `Manual` as a man page. */
import { optionsOf, wrap } from "./HelpText.ts"
import { allPages, labelOf, type Manual, type Option, type Page, usageOf } from "./Manual.ts"

/** Escapes a line for man: dashes stay dashes, and a leading dot or quote is no request. */
const line = (plain: string): string => plain.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/^([.'])/, "\\&$1")

const text = (plain: string): string => wrap(plain, 72).map(line).join("\n")

const entry = (name: string, description: string): string =>
  [".TP", `.B ${line(name)}`, text(description === "" ? name : description)].join("\n")

const optionEntry = (option: Option): string => entry(labelOf(option), option.description)

const isSame = (one: Option) => (other: Option): boolean => one.name === other.name && one.description === other.description

/** The options of more than half of the commands. The page describes them once. */
const commonOptions = (commands: ReadonlyArray<Page>): ReadonlyArray<Option> => {
  const all = commands.flatMap(({ options }) => options)
  return all.filter((option, index) => all.findIndex(isSame(option)) === index && all.filter(isSame(option)).length > commands.length / 2)
}

/** Renders the page. It has no date, so that builds are reproducible. */
export const render = ({ name, page, sections, version }: Manual): string => {
  const commands = allPages(page).filter(({ page }) => page.commands.length === 0)
  const common = commonOptions(commands.map(({ page }) => page))
  const summary = page.summary.replace(/\.$/, "")
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
      ...[page.summary, ...page.details].flatMap((paragraph) => [".PP", text(paragraph)]).slice(1),
      ".SH COMMANDS",
      ...commands.flatMap(({ page, path }) => [
        `.SS ${line(path.join(" "))}`,
        ...[page.summary, ...page.details].flatMap((paragraph) => [text(paragraph), ".PP"]),
        `.B ${line(path.join(" "))}`,
        line(usageOf(page)),
        ...page.args.map(({ description, name }) => entry(name, description)),
        ...page.options.filter((option) => !common.some(isSame(option))).map(optionEntry)
      ]),
      ".SH OPTIONS",
      "Of most commands:",
      ...common.map(optionEntry),
      ".PP",
      "Of every command:",
      ...optionsOf(page).map(optionEntry),
      ...sections.flatMap(({ entries, title }) => [
        `.SH ${title.toUpperCase()}`,
        ...entries.map(({ description, name }) => entry(name, description))
      ]),
      ".SH EXAMPLES",
      ".nf",
      ...commands.flatMap(({ page }) => page.examples).map((example) => line(`${name} ${example}`)),
      ".fi"
    ].filter((line) => line !== "").join("\n")
  }\n`
}
