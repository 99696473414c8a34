/**
 * What `SUPPORT.md` promises to work with, from `support.json`: the checks of installations and the workflows take their versions from it.
 * `node scripts/support.mjs` prints them as outputs of a step of a workflow.
 */
import { readFileSync } from "node:fs"
import { argv } from "node:process"
import { fileURLToPath } from "node:url"

/**
 * @typedef {"node" | "bun" | "deno" | "workerd" | "vercelEdge" | "effect" | "effectBesideSdk" | "typescriptOfLibraries" | "typescriptOfSdk" |
 *   "typescriptOfSdkInCommonJs" | "systems"} Supported
 */

/** The versions of each, from the oldest on. The cast is true: a test reads the same file. */
export const support = /** @type {Readonly<Record<Supported, ReadonlyArray<string>>>} */ (
  JSON.parse(readFileSync(new URL("support.json", import.meta.url), "utf8"))
)

if (argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(Object.entries(support).map(([name, versions]) => `${name}=${JSON.stringify(versions)}\n`).join(""))
}
