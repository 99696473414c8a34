/**
 * Writes `docs/feeds.md` from the table of feeds: `pnpm --filter @plaza/tabular feeds`.
 */
/// <reference types="node" />
import { isArchive } from "@plaza/tabular/Format"
import { writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import { type Feed, sections } from "../test/support/feeds.ts"

/** Where the committed copy is. */
export const path = fileURLToPath(new URL("../../../docs/feeds.md", import.meta.url))

const intro = `# Feeds

How \`plaza-stock-sync\` reads the exports of shops, spreadsheets and inventory systems. Find yours in the first column. This page is
generated from the samples of the tests (\`pnpm --filter @plaza/tabular feeds\`).

- **Rows** are ids with the stock that is read.
- A **rejected** row has its line and the reason. It does not affect the other rows.
- An **invalid** source fails with one reason. None of its rows is used.

Every source may be compressed with gzip. UTF-8 and UTF-16 are detected, with or without a byte order mark, and so are Excel workbooks,
whatever their name. \`--charset\` names any other charset. In the second column, ↵ is the end of a line and ⇥ a tab. \`plaza stock import\` reads the same files with the columns
\`productId\` and \`stock\`, and rejects every number below zero.
`

// A bar ends a cell even in code. Invisible characters are shown by number.
const escape = (text: string): string =>
  text
    .replace(/[\p{Cc}\u00A0\u200B\u202F\uFEFF]/gu,
      (character) => character === "\t" ? "⇥" : `\\u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`)
    .replaceAll("|", "\\|")

const code = (text: string): string => {
  const fence = text.includes("`") ? "``" : "`"
  return `${fence}${escape(text)}${fence}`
}

const prose = (text: string): string => escape(text).replace(/[<>*_[\]]/g, (character) => `\\${character}`)

// Enough to recognise a file. Short samples are shown whole.
const longest = 120

const beginning = ({ content, shown }: Feed): string => {
  if (shown !== undefined) return shown
  const text = content.toString().replace(/^\uFEFF/, "").trim().split(/\r\n|\r|\n/).join(" ↵ ")
  return text === "" ? "nothing" : code(text.length > longest ? `${text.slice(0, longest)}…` : text)
}

const word = (text: string): string => /^[\w.:,-]+$/.test(text) ? text : `"${text}"`

const columnsOf = (columns: NonNullable<Feed["stockColumn"]>): string =>
  typeof columns === "string" ? columns : columns.map(({ column, sign }) => `${sign === -1 ? "-" : ""}${column}`).join(",")

const options = (feed: Feed): string => {
  const given = [
    ["--format", feed.format],
    ["--charset", feed.charset],
    ["--id-column", feed.idColumn],
    ["--stock-column", feed.stockColumn && columnsOf(feed.stockColumn)],
    ["--decimal", feed.separators?.decimal],
    ["--thousands", feed.separators?.thousands],
    ["--items", feed.items],
    ["--sheet", feed.sheet],
    ["--delimiter", feed.delimiter],
    ["--negative", feed.negative]
  ] as const
  return given.flatMap(([name, value]) => value === undefined ? [] : [code(`${name} ${word(value)}`)]).join(" ")
}

const outcome = ({ content, note, refused, rejected = [], taken = [] }: Feed): string => {
  const isWorkbook = typeof content !== "string" && isArchive(content)
  return [
    ...(taken.length === 0
      ? []
      : [`Rows: ${taken.map(([id, stock, negative]) => `${code(id)} ${stock}${negative ? " (below zero)" : ""}`).join(", ")}`]),
    ...rejected.map(([line, reason]) => `Rejected, ${isWorkbook ? "row" : "line"} ${line}: ${prose(reason)}`),
    ...(refused === undefined ? [] : [`**Invalid**: ${prose(refused)}`]),
    ...(note === undefined ? [] : [`*${prose(note)}*`])
  ].join("<br>")
}

const table = (feeds: ReadonlyArray<Feed>): string =>
  [
    "| export | starts with | options | result |",
    "|---|---|---|---|",
    // Only a program that requests pages can use one.
    ...feeds.filter(({ pages }) => pages === undefined).map((feed) =>
      `| ${prose(feed.name)} | ${beginning(feed)} | ${options(feed)} | ${outcome(feed)} |`
    )
  ].join("\n")

/** The text of the page, as it should be now. */
export const render = (): string => [intro, ...sections.map(([title, feeds]) => `## ${title}\n\n${table(feeds)}\n`)].join("\n")

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path, render())
}
