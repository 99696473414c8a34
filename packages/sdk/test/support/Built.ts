/** The built package, for tests of what users install. */
import { existsSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("../../..", import.meta.url))

/** The bundle contains the sources of these packages. */
const sources = ["domain", "client", "sdk"].map((name) => join(packages, name, "src"))

const newestOf = (folder: string): number =>
  Math.max(
    ...readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .map(({ name, parentPath }) => statSync(join(parentPath, name)).mtimeMs)
  )

/** The path of a built module, such as `node.js`. Throws if it is missing or older than a source. */
export const built = (name: string): string => {
  const file = join(packages, "sdk/dist", name)
  const problem = !existsSync(file)
    ? "is missing"
    : statSync(file).mtimeMs < Math.max(...sources.map(newestOf))
    ? "is older than the sources"
    : undefined
  if (problem !== undefined) throw new Error(`packages/sdk/dist/${name} ${problem}: run "npm run build" in packages/sdk`)
  return file
}
