/** Command lines that no test runs have commands and options that exist: transcripts, blocks that declare why they do not run, and inline code. */
import type { Page, Pages } from "@plaza/cli-kit/Manual"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { pages as plaza } from "../../apps/cli/src/manual.ts"
import { pages as stockSync } from "../../apps/stock-sync/src/manual.ts"
import { root } from "../src/Paths.ts"
import { blocks, pages } from "./support/Blocks.ts"

const programs: ReadonlyArray<Pages> = [plaza, stockSync]

/** A name of a command. Other words are arguments, such as `FILE`, `...` or `1001`. */
const isName = (word: string) => /^[a-z][a-z-]*$/.test(word)

/** The first word of a command line that its program does not know. */
const unknownIn = (line: string): string | undefined => {
  const [program = "", ...words] = line.split(/\s+(?:[|><&;#]|2>|\s)/)[0]?.trim().split(/\s+/) ?? []
  const manual = programs.find(([{ path }]) => path[0] === program)
  // `plaza help COMMAND` is that command with --help.
  if (words[0] === "help") words.shift()
  if (manual === undefined) return program
  const pageAt = (path: ReadonlyArray<string>) => manual.find((page) => page.path.join(" ") === path.join(" "))
  let page: Page = manual[0]
  for (const word of words) {
    if (/^--?[A-Za-z]/.test(word)) {
      const name = /^--?[\w-]*/.exec(word)?.[0] ?? ""
      const known = [...page.flags, ...manual[0].globals].flatMap((flag) => [...flag.aliases, `--${flag.name}`])
      if (!["--help", "--version", ...known].includes(name)) return word
      continue
    }
    const next = pageAt([...page.path, word])
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
