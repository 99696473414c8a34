/**
 * Writes the tables of what is assumed into the documentation, between their headings and the next text.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { tables } from "../src/Assumptions.js"

const file = new URL("../../../docs/sandbox.md", import.meta.url)
const { fixed, values } = tables()
const between = (text: string, name: string, table: string): string =>
  text.replace(
    new RegExp(`(<!-- ${name} -->)[^]*?(<!-- end of ${name} -->)`),
    (_, begin: string, end: string) => `${begin}\n\n${table}\n\n${end}`
  )
writeFileSync(file, between(between(readFileSync(file, "utf8"), "values", values), "fixed", fixed))
