/**
 * Other Nodes than the repository's, from npm, for tests of what programs do on them. npm has them for Linux on x64; on other machines they
 * are undefined or this Node.
 */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

const find = (name: string): string | undefined => {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(`${name}/package.json`)), "bin/node")
  } catch {
    return undefined
  }
}

/** The oldest Node that programs and packages support, or this Node. */
export const oldestNode = find("node-22") ?? process.execPath

/** A Node that is too old for the programs. */
export const tooOldNode = find("node-6")
