/** Phrases that are banned in all texts of this repository, with replacements. docs/glossary.md has the terms to use. Conflict markers are banned too. */
import { readdirSync, readFileSync } from "node:fs"
import * as Path from "node:path"

/** A banned phrase in a file. Lines count from 1. */
export interface Hit {
  readonly file: string
  readonly line: number
  readonly phrase: string
  readonly instead: string
}

const banned: ReadonlyArray<readonly [phrase: string, instead: string]> = [
  ["unless told", "default: ..."],
  ["knows nothing", "what the module provides"],
  ["is told", "reports, returns, receives"],
  ["are told", "reports, returns, receives"],
  ["been told", "reports, returns, receives"],
  ["has to be told", "required"],
  ["is answered", "the response is ..., responds with ..."],
  ["is meant by", "means"],
  ["set aside", "rejected, quarantined"],
  ["gone away", "closed, exited, removed"],
  ["way in", "the term for it, such as interface or option"],
  ["ways in", "the terms for them, such as interfaces or options"],
  ["hands on", "returns, passes"],
  ["looks after", "handles"],
  ["stands beside", "is in addition to, is in the same folder as"],
  ["told apart", "distinguished"],
  ["tells apart", "distinguishes"],
  ["to nowhere", "discarded"],
  ["of one's own", "own"],
  ["lookout", "observability, metrics, health"],
  ["turnstile", "rate limit"]
]

// A phrase may be wrapped over two lines, also in a comment or a quotation.
const gap = String.raw`(?:[ \t]|\r?\n[ \t]*(?:\*|//|#|>)?)+`
const patterns = banned.map(([phrase, instead]) => ({
  phrase,
  instead,
  pattern: new RegExp(String.raw`\b${phrase.split(" ").join(gap)}\b`, "gi")
}))

// The compiler accepts a conflict marker inside a comment.
const markers = [{ phrase: "conflict marker", instead: "one of the two sides", pattern: /^(?:<{7}|>{7})(?= |$)/gm }]

/** Finds the banned phrases and the conflict markers of one text. */
export const hitsOf = (file: string, text: string): ReadonlyArray<Hit> =>
  [...patterns, ...markers].flatMap(({ instead, pattern, phrase }) =>
    [...text.matchAll(pattern)].map(({ index }) => ({ file, line: text.slice(0, index).split("\n").length, phrase, instead }))
  ).sort((one, other) => one.line - other.line)

const skippedFolders = new Set(["node_modules", "dist", "build", "results"])
// These files list the phrases.
const skippedFiles = new Set(["docs/glossary.md", "scripts/BannedPhrases.ts", "scripts/test/BannedPhrases.test.ts"])
const isText = (name: string) => /\.(?:[cm]?[jt]sx?|md|json|ya?ml|html|css|txt|csv|service)$/.test(name) && name !== "pnpm-lock.yaml"

const textFiles = (root: string, folder: string): ReadonlyArray<string> =>
  readdirSync(Path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = Path.posix.join(folder, entry.name)
    if (entry.isDirectory()) return skippedFolders.has(entry.name) || entry.name.startsWith(".") ? [] : textFiles(root, path)
    return isText(entry.name) && !skippedFiles.has(path) ? [path] : []
  })

/** Finds the banned phrases of every text file under a root. */
export const check = (root: string): { readonly files: number; readonly hits: ReadonlyArray<Hit> } => {
  const files = textFiles(root, "")
  return { files: files.length, hits: files.flatMap((file) => hitsOf(file, readFileSync(Path.join(root, file), "utf8"))) }
}
