// Records where a program connects to, one line each, in the file that CONNECTIONS names. Node loads it first, by --import.
import { Socket as Datagrams } from "node:dgram"
import { appendFileSync } from "node:fs"
import { Socket } from "node:net"
import { env } from "node:process"

/**
 * Records each call of a method.
 * @param {object} prototype
 * @param {string} name
 * @param {(args: ReadonlyArray<unknown>) => string} describe
 */
const observe = (prototype, name, describe) => {
  // The cast is true: Node documents them as methods.
  const method = /** @type {(...args: Array<unknown>) => unknown} */ (Reflect.get(prototype, name))
  const observed = new Proxy(method, {
    /** @param {typeof method} target @param {unknown} self @param {Array<unknown>} args */
    apply: (target, self, args) => {
      appendFileSync(env["CONNECTIONS"] ?? "", `${describe(args)}\n`)
      return Reflect.apply(target, self, args)
    }
  })
  Reflect.set(prototype, name, observed)
}

// `net`, `tls`, `http`, `https`, `fetch` and undici open their connections by this method. Node's modules pass the arguments as a list.
observe(Socket.prototype, "connect", ([first, ...others]) => {
  /** @type {ReadonlyArray<unknown>} */
  const all = Array.isArray(first) ? first : [first, ...others]
  const [options, host] = all
  if (typeof options !== "object" || options === null) return typeof options === "number" ? `${String(host)}:${options}` : String(options)
  if ("path" in options && typeof options.path === "string") return options.path
  return `${"host" in options ? String(options.host) : "localhost"}:${"port" in options ? String(options.port) : ""}`
})
observe(Datagrams.prototype, "send", () => "a datagram")
