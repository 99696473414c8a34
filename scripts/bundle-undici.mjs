/**
 * Bundles the part of undici that the programs use: connections, pools and proxies for HTTP/1.1. The whole package takes longer to load
 * than a command takes to run, because it also loads HTTP/2, fetch and web sockets. Why: docs/decisions/036-program-modules.md.
 */
import * as Path from "node:path"

/** A CommonJS function that loads a module when it is first called. */
const deferred = (/** @type {string} */ id) => `function (...args) { return require(${JSON.stringify(id)}).call(this, ...args) }`

/** The exports of undici that the sources import, as in its `index.js`. */
const subset = `
const Dispatcher = require("./lib/dispatcher/dispatcher.js")
Dispatcher.prototype.request = ${deferred("./lib/api/api-request.js")}
Dispatcher.prototype.connect = ${deferred("./lib/api/api-connect.js")}
exports.Dispatcher = Dispatcher
exports.Agent = require("./lib/dispatcher/agent.js")
exports.Pool = require("./lib/dispatcher/pool.js")
exports.ProxyAgent = require("./lib/dispatcher/proxy-agent.js")
exports.buildConnector = require("./lib/core/connect.js")
exports.errors = require("./lib/core/errors.js")
`

// An assertion holds in almost every run, and node:assert creates standard error when it is loaded.
const assertion = `module.exports = (value, ...rest) => { if (!value) require("node:assert")(value, ...rest) }`

const prefix = "\0undici:"

/** @returns {import("rolldown").Plugin} */
export const undiciSubset = () => ({
  name: "undici-subset",
  resolveId: {
    filter: { id: /^(undici|node:assert)$/ },
    handler: async function(source, importer, options) {
      if (source === "undici") {
        const found = await this.resolve(source, importer, { ...options, skipSelf: true })
        return found === null ? null : Path.join(Path.dirname(found.id), "plaza-subset.cjs")
      }
      return importer !== undefined && /[\\/]undici[\\/]lib[\\/]/.test(importer) ? `${prefix}assert.cjs` : null
    }
  },
  load: {
    filter: { id: /plaza-subset\.cjs$|^\0undici:/ },
    handler: (id) => ({ code: id.startsWith(prefix) ? assertion : subset, moduleType: "js" })
  },
  transform: {
    filter: { id: /undici[\\/]lib[\\/]dispatcher[\\/]client\.js$/ },
    handler: (code) => {
      const eager = "const connectH2 = require('./client-h2.js')"
      if (!code.includes(eager)) throw new Error("undici loads HTTP/2 in another way than before: change scripts/bundle-undici.mjs")
      return { code: code.replace(eager, `const connectH2 = ${deferred("./client-h2.js")}`) }
    }
  }
})
