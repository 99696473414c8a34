/**
 * Loads a bundled program as fast as Node can: with the code that V8 compiled for this version when the bundle was
 * made, else with Node's compile cache, else plainly.
 */
import { existsSync, readFileSync } from "node:fs"
import * as Module from "node:module"
import * as Path from "node:path"
import { setFlagsFromString } from "node:v8"
import * as Vm from "node:vm"

/** Compiled code is valid for one version of Node on one platform. */
export const tag = `${process.version}-${process.platform}-${process.arch}`

/** Where the compiled code of a file lies. */
export const cacheOf = (folder: string, file: string): string => Path.join(folder, "compiled", tag, `${Path.basename(file)}.bin`)

const read = (path: string): Buffer | undefined => {
  try {
    return readFileSync(path)
  } catch {
    return undefined
  }
}

/** A short command ends before this, in milliseconds. */
const startUp = 2_000

/**
 * Keeps V8 from work that costs a short command more than it gains:
 *
 * - V8 optimizes the WebAssembly of undici's parser during the first response, which takes more CPU than the rest of a command. With this
 *   budget it does so after some dozens of responses.
 * - V8 marks the whole heap once it has grown to some megabytes, which loading the program does. A program that goes on does so later.
 */
const deferWork = (): void => {
  // V8 reports an unknown flag on standard error, and these versions have both.
  if (Number.parseInt(process.versions.node) > 24) return
  setFlagsFromString("--wasm-tiering-budget=200000000")
  setFlagsFromString("--no-incremental-marking")
}

/** Not while compiled code is made: it is valid only with the flags that V8 has at the end of that run. */
const resumeWork = (): void => {
  if (Number.parseInt(process.versions.node) > 24) return
  setTimeout(() => setFlagsFromString("--incremental-marking"), startUp).unref()
}

type Require = (id: string) => unknown
type Wrapped = (exports: unknown, require: Require, module: { readonly exports: unknown }, filename: string, dirname: string) => void

/** Loads a file of a bundle and the files that it requires. V8 recompiles what it rejects of the compiled code. */
export const load = (folder: string, entry: string, compiled: (file: string, script: Vm.Script) => void = () => {}): void => {
  // V8 compares all flags with those of the compiled code, so they are set before it is read and when it is made.
  deferWork()
  const elsewhere: Require = Module.createRequire(Path.join(folder, entry))
  const modules = new Map<string, { readonly exports: unknown }>()
  const require = (file: string): unknown => {
    const known = modules.get(file)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    modules.set(file, module)
    const cachedData = read(cacheOf(folder, file))
    // The bundle is ASCII, which Node decodes fastest as this.
    const source = readFileSync(file, "latin1")
    const script = new Vm.Script(`(function (exports, require, module, __filename, __dirname) {${source}\n})`, {
      // Kept with the compiled code, which is made in another folder than it is run from.
      filename: Path.relative(folder, file),
      ...(cachedData === undefined ? {} : { cachedData }),
      importModuleDynamically: Vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    })
    compiled(file, script)
    const dirname = Path.dirname(file)
    // The wrapper is the text above: a function of these five.
    const run = script.runInThisContext() as Wrapped
    run(module.exports, (id) => id.startsWith(".") ? require(Path.join(dirname, id)) : elsewhere(id), module, file, dirname)
    return module.exports
  }
  require(Path.join(folder, entry))
}

/** The user's cache folder, if there is one. */
const cacheHome = (): string | undefined => {
  const { HOME, XDG_CACHE_HOME } = process.env
  if (XDG_CACHE_HOME !== undefined && Path.isAbsolute(XDG_CACHE_HOME)) return XDG_CACHE_HOME
  return HOME === undefined || !Path.isAbsolute(HOME) ? undefined : Path.join(HOME, ".cache")
}

/** Loads the program with this entry file in the fastest way available. */
export const loadProgram = (folder: string, name: string, entry: string): void => {
  resumeWork()
  if (existsSync(cacheOf(folder, entry))) return load(folder, entry)
  deferWork()
  const home = cacheHome()
  if (home !== undefined) Module.enableCompileCache(Path.join(home, name))
  Module.createRequire(Path.join(folder, entry))(Path.join(folder, entry))
}
