/** The compiler of the repository, on modules of tests. */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import * as Path from "node:path"
import { fileURLToPath } from "node:url"

export interface Module {
  readonly name: string
  readonly code: string
}

/** Writes modules into a temporary folder of a package, where they can import what the package can, for the time of a function. */
export const withModules = async <A>(
  packageFolder: string,
  modules: ReadonlyArray<Module>,
  use: (folder: string) => Promise<A>
): Promise<A> => {
  const build = Path.join(packageFolder, "build")
  mkdirSync(build, { recursive: true })
  const folder = mkdtempSync(Path.join(build, "modules-"))
  try {
    for (const { code, name } of modules) writeFileSync(Path.join(folder, name), code)
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Type-checks modules as the tests of a package are, with further options of the compiler. Returns the compiler's output, which is empty for
 * modules without errors.
 */
export const compile = (packageFolder: string, modules: ReadonlyArray<Module>, options: object = {}): Promise<string> =>
  withModules(packageFolder, modules, (folder) => {
    const config = Path.join(folder, "tsconfig.json")
    writeFileSync(config, JSON.stringify({
      extends: fileURLToPath(new URL("../../../tsconfig.test.json", import.meta.url)),
      compilerOptions: { noUnusedLocals: false, ...options },
      files: modules.map(({ name }) => name),
      include: [],
      exclude: []
    }))
    const tsc = Path.join(Path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc")
    return new Promise<string>((resolve) => {
      execFile(process.execPath, [tsc, "-p", config, "--pretty", "false"], (error, stdout, stderr) => {
        resolve(error === null ? "" : `${stdout}${stderr}`)
      })
    })
  })
