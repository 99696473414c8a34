/** The files that a build of an image can copy: all of a folder, except those that its `.dockerignore` excludes. */
import { readdirSync, readFileSync } from "node:fs"
import * as Path from "node:path"

const expressionOf = (pattern: string): RegExp => {
  const parts = pattern.replace(/^\/|\/$/g, "").split(/(\*\*\/|\*\*|\*|\?)/)
  const source = parts.map((part) => {
    switch (part) {
      case "**/":
        return "(?:.*/)?"
      case "**":
        return ".*"
      case "*":
        return "[^/]*"
      case "?":
        return "[^/]"
      default:
        return part.replace(/[.+^${}()|[\]\\]/g, "\\$&")
    }
  })
  // A pattern that matches a folder also matches what is in it.
  return new RegExp(`^${source.join("")}(?:/.*)?$`)
}

/** Whether a path, relative to the folder, is part of the context. The last matching line decides. */
export const filter = (dockerignore: string): (path: string) => boolean => {
  const rules = dockerignore.split("\n").map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#")).map((line) => ({
    includes: line.startsWith("!"),
    expression: expressionOf(line.replace(/^!/, ""))
  }))
  return (path) => rules.findLast(({ expression }) => expression.test(path))?.includes ?? true
}

// Only for speed: they hold most files of a working copy, and a test shows that the context contains none of them.
const skipped = new Set([".git", "node_modules"])

/** The files of the context of a folder, as relative paths. */
export const files = (root: string): ReadonlyArray<string> => {
  const isIncluded = filter(readFileSync(Path.join(root, ".dockerignore"), "utf8"))
  const below = (folder: string): ReadonlyArray<string> =>
    readdirSync(Path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = Path.posix.join(folder, entry.name)
      if (entry.isDirectory()) return skipped.has(entry.name) ? [] : below(path)
      return isIncluded(path) ? [path] : []
    })
  return below("")
}
