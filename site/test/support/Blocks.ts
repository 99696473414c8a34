/** The code blocks of the documentation. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../src/Paths.ts"

/** A code block of a page. */
export interface Block {
  readonly page: string
  /** The line of its fence, from 1. */
  readonly line: number
  readonly language: string
  /** Without the indentation of the fence. */
  readonly code: string
  /** The reason why a test does not run it, if the page declares one. */
  readonly notRun: string | undefined
}

/** The pages for users, and the skill for the client. */
export const pages: ReadonlyArray<string> = [
  "README.md",
  "apps/cli/src/skills/plaza-client/SKILL.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".md")).map((file) =>
    `docs/${file}`
  ).sort()
]

const pattern = /^(?:[^\S\n]*<!-- not run: (.+) -->\n)?([^\S\n]*)```(\S*)[^\n]*\n([^]*?)^\2```$/gm

const blocksOf = (page: string): ReadonlyArray<Block> => {
  const text = readFileSync(join(root, page), "utf8")
  return [...text.matchAll(pattern)].map(({ 1: notRun, 2: indent = "", 3: language = "", 4: code = "", index }) => ({
    page,
    line: text.slice(0, index).split("\n").length + (notRun === undefined ? 0 : 1),
    language,
    code: code.replace(new RegExp(`^${indent}`, "gm"), ""),
    notRun
  }))
}

/** All blocks in a language. */
export const blocks = (language: string, files = pages): ReadonlyArray<Block> =>
  files.flatMap(blocksOf).filter((block) => block.language === language)
