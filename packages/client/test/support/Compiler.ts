/** The compiler of the repository, on modules of tests. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Type-checks modules as the tests of this package are. Returns the compiler's output, which is empty for modules without errors. */
export const compile = (modules: ReadonlyArray<{ readonly name: string; readonly code: string }>): Promise<string> => {
  // Within the package, where its own name resolves to its sources.
  const dist = Path.join(root, "dist")
  mkdirSync(dist, { recursive: true })
  const folder = mkdtempSync(Path.join(dist, "examples-"))
  for (const { code, name } of modules) writeFileSync(Path.join(folder, name), code)
  const config = Path.join(folder, "tsconfig.json")
  writeFileSync(config, JSON.stringify({
    extends: Path.join(root, "../../tsconfig.test.json"),
    compilerOptions: { noUnusedLocals: false },
    files: modules.map(({ name }) => name),
    include: []
  }))
  const tsc = Path.join(Path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc")
  return new Promise<string>((resolve) => {
    execFile(process.execPath, [tsc, "-p", config, "--pretty", "false"], (error, stdout, stderr) => {
      resolve(error === null ? "" : `${stdout}${stderr}`)
    })
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
}
