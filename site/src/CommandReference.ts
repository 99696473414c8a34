/** Writes `docs/reference/plaza.md` and `docs/reference/plaza-stock-sync.md`: the help of every command of the programs. */
import { allPages, labelOf, type Manual, type Option, type Page, usageOf } from "@plaza/cli-kit/Manual"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
// Programs export nothing. `scripts/bundle.mjs` makes their help of these modules too.
import { manual as plaza } from "../../apps/cli/src/manual.ts"
import { manual as stockSync } from "../../apps/stock-sync/src/manual.ts"
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

const optionRows = (options: ReadonlyArray<Option>): ReadonlyArray<Row> =>
  options.map((option) => ({
    name: labelOf(option),
    description: `${option.description}${option.required ? " Required." : ""}${option.repeated ? " May be repeated." : ""}`
  }))

const isSame = (one: Option) => (other: Option) => labelOf(one) === labelOf(other) && one.description === other.description

/** The options of more than half of the commands, which the page lists once. */
const commonOf = (commands: ReadonlyArray<Page>): ReadonlyArray<Option> => {
  const all = commands.flatMap(({ options }) => options)
  return all.filter((option, index) => all.findIndex(isSame(option)) === index && all.filter(isSame(option)).length > commands.length / 2)
}

const render = ({ name: program, page: top, sections }: Manual, guide: string): string => {
  const commands = allPages(top).filter(({ page }) => page.commands.length === 0)
  const common = commonOf(commands.map(({ page }) => page))
  const command = (path: string, page: Page) => [
    `## ${path}`,
    page.summary,
    ...page.details,
    `\`\`\`text\n${path} ${usageOf(page)}\n\`\`\``.replace(" \n", "\n"),
    ...table("argument", page.args),
    ...table("option", optionRows(page.options.filter((option) => !common.some(isSame(option))))),
    ...(page.examples.length === 0
      ? []
      : [`Examples:\n\n\`\`\`text\n${page.examples.map((line) => `${program} ${line}`).join("\n")}\n\`\`\``])
  ]
  return `${
    [
      `# Commands of \`${program}\``,
      `The help of every command, as \`${program} COMMAND --help\` prints it. ${guide} This page is generated from the program ` +
      "(`pnpm --filter @plaza/site commands`).",
      ...commands.flatMap(({ page, path }) => command(path.join(" "), page)),
      "## Options of most commands",
      ...table("option", optionRows([...common, ...top.options])),
      ...sections.flatMap(({ entries, title }) => [`## ${title}`, ...table("name", entries)])
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
