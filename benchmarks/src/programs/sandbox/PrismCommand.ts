/** Prism as a command, mocking the same OpenAPI file. Its log is read and discarded. */
import { spawn } from "node:child_process"
import { createRequire } from "node:module"
import { apiKey } from "../ApiKey.ts"
import { onRequest } from "../ChildProtocol.ts"

// The package exports only its command.
const command = createRequire(import.meta.url).resolve("@stoplight/prism-cli/dist/index.js")
const child = spawn(process.execPath, [command, "mock", process.argv[2] ?? "", "--host", "127.0.0.1", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"]
})
process.on("exit", () => child.kill())
process.on("SIGTERM", () => process.exit())
process.on("disconnect", () => process.exit())

const address = await new Promise<string>((resolve, reject) => {
  let output = ""
  const read = (chunk: Buffer) => {
    output += chunk.toString()
    const found = /listening on (http:[\w/.:]+)/.exec(output)?.[1]
    if (found !== undefined) {
      child.stdout.off("data", read).resume()
      resolve(found)
    }
  }
  child.stdout.on("data", read)
  child.on("exit", () => reject(new Error(`Prism exited: ${output}`)))
})

onRequest(() => Promise.resolve({ address, key: apiKey, pid: child.pid }))
