// Records where a program connects to, one line each, in the file that CONNECTIONS names. Node loads it first, by --import.
import { Socket as Datagrams } from "node:dgram"
import { appendFileSync } from "node:fs"
import { Socket } from "node:net"
import { env } from "node:process"

/** @param {unknown} target */
const record = (target) => appendFileSync(env["CONNECTIONS"] ?? "", `${String(target)}\n`)

// `net`, `tls`, `http`, `https`, `fetch` and undici open their connections by this method.
const { connect } = Socket.prototype
/** @param {ReadonlyArray<any>} args Node's modules pass the arguments as a list. */
Socket.prototype.connect = function(...args) {
  const [options, host] = Array.isArray(args[0]) ? args[0] : args
  if (typeof options === "object") record(options.path ?? `${options.host ?? "localhost"}:${options.port}`)
  else record(typeof options === "number" ? `${host ?? "localhost"}:${options}` : options)
  return Reflect.apply(connect, this, args)
}

const { send } = Datagrams.prototype
/** @param {ReadonlyArray<any>} args */
Datagrams.prototype.send = function(...args) {
  record("a datagram")
  return Reflect.apply(send, this, args)
}
