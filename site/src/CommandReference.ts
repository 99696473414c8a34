/** Writes `docs/reference/plaza.md` and `docs/reference/plaza-stock-sync.md`: the help of every command of the programs. */
import { type Flag, fullLabelOf, isRunnable, labelOf, type Page, type Pages, textOf, usageOf } from "@plaza/cli-kit/Manual"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
// Programs export nothing. `scripts/bundle.mjs` makes their help of these modules too.
import { pages as plaza } from "../../apps/cli/src/manual.ts"
import { pages as stockSync } from "../../apps/stock-sync/src/manual.ts"
import { root } from "./Paths.ts"

interface Row {
  readonly name: string
  readonly description: string
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

const table = (title: string, rows: ReadonlyArray<Row>): ReadonlyArray<string> =>
  rows.length === 0
    ? []
    : [[`| ${title} | |`, "|---|---|", ...rows.map(({ description, name }) => `| \`${cell(name)}\` | ${cell(description)} |`)].join("\n")]

const flagRows = (flags: ReadonlyArray<Flag>): ReadonlyArray<Row> =>
  flags.map((flag) => ({ name: fullLabelOf(flag), description: textOf(flag) }))

const isSame = (one: Flag) => (other: Flag) => labelOf(one) === labelOf(other) && one.description === other.description

/** The flags of more than half of the commands, which the page lists once. */
const commonOf = (commands: ReadonlyArray<Page>): ReadonlyArray<Flag> => {
  const all = commands.flatMap(({ flags }) => flags)
  return all.filter((flag, index) => all.findIndex(isSame(flag)) === index && all.filter(isSame(flag)).length > commands.length / 2)
}

const render = ([root, ...others]: Pages, guide: string): string => {
  const program = root.path.join(" ")
  const commands = others.filter(isRunnable)
  const common = commonOf(commands)
  const command = (page: Page) => {
    const path = page.path.join(" ")
    return [
      `## ${path}`,
      page.summary,
      ...page.details,
      `\`\`\`text\n${path} ${usageOf(page)}\n\`\`\``.replace(" \n", "\n"),
      ...table("argument", page.args),
      ...table("option", flagRows(page.flags.filter((flag) => !common.some(isSame(flag))))),
      ...(page.examples.length === 0 ? [] : [`Examples:\n\n\`\`\`text\n${page.examples.join("\n")}\n\`\`\``])
    ]
  }
  return `${
    [
      `# Commands of \`${program}\``,
      `The help of every command, as \`${program} COMMAND --help\` prints it. ${guide} This page is generated from the program ` +
      "(`pnpm --filter @plaza/site commands`).",
      ...commands.flatMap(command),
      ...(common.length === 0 ? [] : ["## Options of most commands", ...table("option", flagRows(common))]),
      ...(root.globals.length === 0 ? [] : ["## Options of every command", ...table("option", flagRows(root.globals))]),
      ...root.sections.flatMap(({ entries, title }) => [`## ${title}`, ...table("name", entries)])
    ].join("\n\n")
  }\n`
}

/** The texts of the pages by their files. */
export const make = (): ReadonlyMap<string, string> =>
  new Map([
    ["docs/reference/plaza.md", render(plaza, "[plaza](../cli.md) explains its use.")],
    [
      "docs/reference/plaza-stock-sync.md",
      render(stockSync, "[plaza-stock-sync](../stock-sync.md) and [A fleet](../fleet.md) explain its use.")
    ]
  ])

if (argv[1] === fileURLToPath(import.meta.url)) {
  for (const [file, text] of make()) writeFileSync(join(root, file), text)
}
