/** What a bundle changes of the packages in it. Why: docs/decisions/053-command-on-effect-4.md. */

/**
 * Bundles undici itself where `@effect/platform-node` re-exports it: as the entry of a chunk, a re-exported CommonJS module loses its names.
 *
 * @returns {import("rolldown").Plugin}
 */
export const undici = () => ({
  name: "undici",
  resolveId: {
    filter: { id: /(?:^\.\/|@effect\/platform-node\/)Undici(?:\.[jt]s)?$/ },
    handler: function(_, importer, options) {
      return this.resolve("undici", importer, { ...options, skipSelf: true })
    }
  }
})

/**
 * Creates the segmenter of `effect/cli` on first use: to load the data of the language takes half as long as Node itself takes to start,
 * and only the platform's own help and prompts use it.
 *
 * @returns {import("rolldown").Plugin}
 */
export const lazySegmenter = () => ({
  name: "lazy-segmenter",
  transform: {
    filter: { id: /effect\/dist\/cli\/CliOutput\.js$/ },
    handler: (code) => {
      const eager = /= (?:\/\*#__PURE__\*\/\s*)?(new Intl\.Segmenter\([^)]*\))/
      if (!eager.test(code))
        throw new Error("effect/cli creates its segmenter in another way than before: change scripts/bundle-changes.mjs")
      return { code: code.replace(eager, "= { segment: (text) => $1.segment(text) }") }
    }
  }
})

/**
 * Loads `node:crypto` when the platform first uses it, which most commands don't.
 *
 * @returns {import("rolldown").Plugin}
 */
export const lazyCrypto = () => ({
  name: "lazy-crypto",
  transform: {
    filter: { id: /@effect\/platform-node(?:-shared)?\/dist\/[^/]+\.js$/, code: /import \* as \w+ from "node:crypto"/ },
    handler: (code) => ({
      code: code.replace(/import \* as (\w+) from "node:crypto"/,
        "const $1 = { get randomBytes() { return process.getBuiltinModule(\"node:crypto\").randomBytes } }")
    })
  }
})

const native = /(?:^cpu-features|\/sshcrypto\.node)$/

/**
 * Leaves the native parts of `ssh2` out, as on a machine that can't build them: it works without (docs/decisions/059-files-on-servers.md).
 *
 * @returns {import("rolldown").Plugin}
 */
export const withoutNativeSsh = () => ({
  name: "without-native-ssh",
  resolveId: { filter: { id: native }, handler: (id) => ({ id: `\0absent/${id}` }) },
  load: {
    filter: { id: /^\0absent\// },
    handler: () => ({ code: "module.exports = undefined\nthrow new Error(\"not in this bundle\")", moduleSideEffects: true })
  }
})
