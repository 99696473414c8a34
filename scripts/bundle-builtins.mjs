/**
 * Loads a module of Node when a program first calls one of its functions. A library that imports node:crypto for one function would
 * otherwise load it at every start. Why: docs/decisions/036-program-modules.md.
 */

/** Those that take milliseconds to load, and that most commands do not call. */
const deferred = /^node:(child_process|crypto|dns\/promises|http|https|readline|tls|zlib)$/
const prefix = "\0deferred:"

/**
 * A class must be the same value everywhere, and a symbol gives a function further meaning, so only plain functions are deferred.
 * @param {unknown} value
 */
const isPlainFunction = (value) => {
  if (typeof value !== "function" || Object.getOwnPropertySymbols(value).length > 0) return false
  const prototype = /** @type {unknown} */ (value.prototype)
  return typeof prototype !== "object" || prototype === null ||
    (Object.getPrototypeOf(prototype) === Object.prototype && Reflect.ownKeys(prototype).length <= 1)
}

/** @param {string} id */
const sourceOf = async (id) => {
  const module = /** @type {Readonly<Record<string, unknown>>} */ (await import(id))
  const names = Object.keys(module).filter((name) => name !== "default")
  const builtin = `process.getBuiltinModule(${JSON.stringify(id)})`
  return [
    // Unused ones are removed, and with the last of them the import.
    ...names.map((name) =>
      isPlainFunction(module[name])
        ? `export const ${name} = (...args) => ${builtin}.${name}(...args)`
        : `export { ${name} } from ${JSON.stringify(id)}`
    ),
    `export default { ${names.map((name) => `get ${name}() { return ${builtin}.${name} }`).join(", ")} }`
  ].join("\n")
}

/** @returns {import("rolldown").Plugin} */
export const deferredBuiltins = () => ({
  name: "deferred-builtins",
  resolveId: {
    filter: { id: deferred },
    handler: (source, importer, { kind }) =>
      kind === "import-statement" && importer?.startsWith(prefix) !== true ? `${prefix}${source}` : null
  },
  load: {
    filter: { id: /^\0deferred:/ },
    handler: async (id) => ({ code: await sourceOf(id.slice(prefix.length)), moduleType: "js", moduleSideEffects: false })
  }
})
