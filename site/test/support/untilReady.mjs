// Runs a program that serves until it is stopped: waits until it is ready, stops it, and exits with 0. Arguments: a text that the program
// prints when it is ready, the program, and its arguments. Its port is replaced by a free one.
import { spawn } from "node:child_process"
import { stderr } from "node:process"

const [ready = "", program = "", ...args] = process.argv.slice(2)
const port = args.indexOf("--port")
const free = [...(port < 0 ? args : args.toSpliced(port, 2)), "--port", "0"]
const child = spawn(process.execPath, [program, ...free], { stdio: ["ignore", "pipe", "pipe"] })
let output = ""
let isReady = false
/** @param {Buffer} bytes */
const read = (bytes) => {
  output += bytes.toString()
  if (isReady || !output.includes(ready)) return
  isReady = true
  child.kill("SIGTERM")
}
child.stdout.on("data", read)
child.stderr.on("data", read)
child.on("close", () => {
  if (!isReady) stderr.write(output)
  process.exitCode = isReady ? 0 : 1
})
