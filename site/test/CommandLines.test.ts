/** Command lines that no test runs have commands and options that exist: transcripts, blocks that declare why they do not run, and inline code. */
import type { Manual, Page } from "@plaza/cli-kit/Manual"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { manual as plaza } from "../../apps/cli/src/manual.ts"
import { manual as stockSync } from "../../apps/stock-sync/src/manual.ts"
import { root } from "../src/Paths.ts"
import { blocks, pages } from "./support/Blocks.ts"

const programs: ReadonlyArray<Manual> = [plaza, stockSync]

/** A name of a command. Other words are arguments, such as `FILE`, `...` or `1001`. */
const isName = (word: string) => /^[a-z][a-z-]*$/.test(word)

/** The first word of a command line that its program does not know. */
const unknownIn = (line: string): string | undefined => {
  const [program = "", ...words] = line.split(/\s+(?:[|><&;#]|2>|\s)/)[0]?.trim().split(/\s+/) ?? []
  const top = programs.find(({ name }) => name === program)?.page
  // `plaza help COMMAND` is that command with --help.
  if (words[0] === "help") words.shift()
  if (top === undefined) return program
  let page: Page = top
  for (const word of words) {
    if (word.startsWith("--")) {
      const name = /^--[\w-]*/.exec(word)?.[0]
      const known = [...page.options, ...top.options].map((option) => option.name)
      if (name !== "--" && name !== "--help" && name !== "--version" && !known.includes(name ?? "")) return word
      continue
    }
    const next = page.commands.find(({ name }) => name === word)
    if (next !== undefined) page = next
    else if (page.commands.length > 0 && isName(word)) return word
  }
  return undefined
}

const files = [...pages, "apps/cli/README.md", "apps/stock-sync/README.md", "apps/cli/src/skills/plaza/SKILL.md"]
const start = /^(?:\$ )?((?:plaza|plaza-stock-sync) .*)$/

/** Command lines of the blocks of a language. */
const inBlocks = (language: string) =>
  blocks(language, files).flatMap(({ code, page }) =>
    code.replaceAll("\\\n", " ").split("\n").flatMap((text) => {
      const line = start.exec(text)?.[1]
      return line === undefined ? [] : [{ page, line }]
    })
  )

const inline = files.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/`((?:plaza|plaza-stock-sync) [^`\n]*)`/g)].map(([, line = ""]) => ({ page, line }))
)

describe("a JSON block of the documentation", () => {
  it.each(blocks("json", files))("is valid: $page, line $line", ({ code }) => {
    expect(() => JSON.parse(code) as unknown).not.toThrow()
  })
})

describe("a command line of the documentation", () => {
  it("has only commands and options that exist", () => {
    const lines = [...inBlocks(""), ...inBlocks("text"), ...inBlocks("sh"), ...inline]
    expect(lines.length).toBeGreaterThan(200)
    expect(lines.flatMap(({ line, page }) => {
      const unknown = unknownIn(line)
      return unknown === undefined ? [] : [{ page, line, unknown }]
    })).toEqual([])
  })

  it.each([
    ["plaza posts liste", "liste"],
    ["plaza orders import FILE --dryrun", "--dryrun"],
    ["plaza-stock-sync fleet accounts drop 7", "drop"],
    ["plaza posts list --all --json | head -1", undefined],
    ["plaza-stock-sync once --source=stock.csv > log.txt", undefined]
  ])("%s has the unknown word %s", (line, unknown) => {
    expect(unknownIn(line)).toBe(unknown)
  })
})
