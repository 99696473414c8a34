/**
 * Writes the tables of assumptions into `docs/sandbox.md`, between their marks: `pnpm --filter @plaza-legacy/sandbox assumptions`.
 */
// Scripts are outside of the package's TypeScript configuration, which has Node's types.
/// <reference types="node" />
import * as Duration from "effect/Duration"
import * as Struct from "effect/Struct"
import { readFileSync, writeFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"
import type { Assumptions } from "../src/Assumptions.ts"
import { defaults, fixedAssumptions, meanings } from "../src/Assumptions.ts"
import { scopeUses } from "../src/web/ScopeUse.ts"

/** The path of the documentation. */
export const path = fileURLToPath(new URL("../../../docs/sandbox.md", import.meta.url))

const cell = (text: string): string => text.replaceAll("|", "\\|")

const code = (text: string): string => `\`${text}\``

const row = (cells: ReadonlyArray<string>): string => `| ${cells.map(cell).join(" | ")} |`

const table = (heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [row(heads), `|${"---|".repeat(heads.length)}`, ...rows.map(row)].join("\n")

const valueOf = (name: keyof Assumptions): string => {
  const value = defaults[name]
  return name === "scopes"
    ? "the table below"
    : code(Duration.isDuration(value) ? String(Duration.toMillis(value)) : JSON.stringify(value))
}

const tables: Readonly<Record<string, string>> = {
  values: table(["name", "default", "what it is"], Struct.keys(meanings).map((name) => [code(name), valueOf(name), meanings[name]])),
  scopes: table(["operation", "scope"], scopeUses(defaults).map(({ calls, scope }) => [calls.map(code).join(", "), code(scope)])),
  fixed: table(
    ["id", "section", "what is assumed"],
    fixedAssumptions.map(({ assumption, id, section }) => [code(id), section, assumption])
  )
}

/** The documentation with the current tables. */
export const render = (documentation: string): string =>
  Object.entries(tables).reduce(
    (text, [name, rows]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->)[^]*?(<!-- end of ${name} -->)`),
        (_, start: string, end: string) => `${start}\n\n${rows}\n\n${end}`
      ),
    documentation
  )

if (argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(path, render(readFileSync(path, "utf8")))
}
