/**
 * Loads the files of a `dist` folder that are not in a folder: they are assets of an executable, or are read while its compiled code is
 * made. `scripts/executable.mjs` writes this text into the main module of an executable, in front of a call of `start`.
 */
"use strict"

/**
 * @typedef {{
 *   readonly read: (file: string) => string | undefined,
 *   readonly compiled?: (file: string) => Buffer | undefined,
 *   readonly onScript?: (file: string, script: import("node:vm").Script) => void
 * }} Files
 */

/** The text of a module as an expression: a function of what Node gives to a module. @param {string} code */
const wrapped = (code) => `(function(exports,require,module,__filename,__dirname){${code}\n})`

/**
 * Runs `program.cjs`, or another program of the folder: `EXECUTABLE internal:FILE` is what `node FILE` is without an executable.
 *
 * @param {Files} files
 */
const start = ({ compiled, onScript, read }) => {
  const path = require("node:path").posix
  const { Script } = require("node:vm")
  /** @type {Map<string, { exports: unknown }>} */
  const modules = new Map()

  /** @param {string} file @returns {unknown} */
  const load = (file) => {
    const loaded = modules.get(file)
    if (loaded !== undefined) return loaded.exports
    const module = { exports: /** @type {unknown} */ ({}) }
    modules.set(file, module)
    const code = read(file)
    if (code === undefined) throw new Error(`${file} is no file of this program`)
    const cachedData = compiled === undefined ? undefined : compiled(file)
    const script = new Script(wrapped(code), { filename: file, ...cachedData === undefined ? {} : { cachedData } })
    if (onScript !== undefined) onScript(file, script)
    const folder = path.dirname(file)
    /** @param {string} name @returns {unknown} */
    const requireFrom = (name) => name.startsWith(".") ? load(path.join(folder, name)) : require(name)
    // The cast is true: the text is the expression of such a function.
    const run = /** @type {(...values: ReadonlyArray<unknown>) => void} */ (/** @type {unknown} */ (script.runInThisContext()))
    run(module.exports, requireFrom, module, path.resolve("/", file), path.resolve("/", folder))
    return module.exports
  }

  const [, , first = ""] = process.argv
  if (first.startsWith("internal:")) return void load(first.slice("internal:".length))
  // As in the launcher of scripts/bundle.mjs: a signal that arrives while modules load waits for the listeners of the program.
  const signals = ["SIGHUP", "SIGINT", "SIGTERM"]
  const wait = () => {}
  for (const signal of signals) process.on(signal, wait)
  load("program.cjs")
  for (const signal of signals) process.removeListener(signal, wait)
}

module.exports = { start, wrapped }
