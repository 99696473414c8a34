/**
 * The page of the manual, in the language of man, from what the program's help is made from. Knows nothing of any command.
 *
 * @since 0.1.0
 */
import { optionsOf } from "./HelpText.js"
import { allPages, type Entry, type Manual } from "./Manual.js"

/** Text that man shows as it is: a dash that can be copied, and no line that begins like a request. */
const text = (plain: string): string => plain.replace(/\\/g, "\\e").replace(/-/g, "\\-").replace(/^([.'])/, "\\&$1")

const entry = ({ name, said }: Entry): string => [".TP", `.B ${text(name)}`, text(said === "" ? name : said)].join("\n")

/** Exit codes and the like, which help doesn't have: a head, and paragraphs. @since 0.1.0 @category models */
export interface Section {
  readonly head: string
  readonly entries: ReadonlyArray<Entry>
}

/**
 * The whole page. The date stands still, so that the same source makes the same page.
 *
 * @since 0.1.0
 * @category rendering
 */
export const render = (manual: Manual, sections: ReadonlyArray<Section> = []): string => {
  const { name, page, version } = manual
  const [sentence = ""] = page.about.split(/(?<=[.])\s/)
  const commands = allPages(page).filter(({ page }) => page.commands.length === 0)
  const examples = allPages(page).flatMap(({ page }) => page.commands.length === 0 ? page.examples : [])
  return `${[
    `.TH ${name.toUpperCase()} 1 "" "${name} ${version}" "User Commands"`,
    ".SH NAME",
    `${text(name)} \\- ${text(sentence.replace(/\.$/, ""))}`,
    ".SH SYNOPSIS",
    `.B ${text(name)}`,
    "COMMAND",
    "[OPTION]...",
    ".SH DESCRIPTION",
    text(page.about),
    ".SH COMMANDS",
    ...commands.flatMap(({ page, path }) => [
      ".SS " + text(path.join(" ")),
      text(page.about),
      ".PP",
      `.B ${text(path.join(" "))}`,
      text(page.usage),
      ...[...page.args, ...page.options].map(entry)
    ]),
    ".SH OPTIONS",
    "Of every command, and of the program alone:",
    ...optionsOf({ ...page, options: [] }).map(entry),
    ...sections.flatMap(({ entries, head }) => [`.SH ${head}`, ...entries.map(entry)]),
    ".SH EXAMPLES",
    ...examples.flatMap((example) => [".PP", ".nf", `${text(`${name} ${example}`)}`, ".fi"])
  ].filter((line) => line !== "").join("\n")}\n`
}
