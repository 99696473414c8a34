/** A file sent by Node alone, for comparison: `fs.read` and `socket.write` in turn, with one buffer and without an HTTP client. */
import { open } from "node:fs/promises"
import { connect } from "node:net"
import { apiKey } from "../ApiKey.ts"
import { onRequest } from "../ChildProtocol.ts"

const length = 1024 * 1024

onRequest(async (request) => {
  // The cast is true: only the benchmark `upload` sends requests, and of this type.
  const { address, path } = request as { readonly address: string; readonly path: string }
  const { host, hostname, port } = new URL(address)
  const cpuBefore = process.cpuUsage()
  const before = process.hrtime.bigint()
  const file = await open(path)
  const { size } = await file.stat()
  const socket = connect(Number(port), hostname)
  const response = new Promise<string>((resolve, reject) => {
    socket.once("data", (data) => resolve(data.toString())).once("error", reject)
  })
  socket.write(`POST /open/v1/media HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${apiKey}\r\ncontent-length: ${size}\r\n\r\n`)
  const buffer = Buffer.allocUnsafeSlow(length)
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, length)
    if (bytesRead === 0) break
    await new Promise((resolve) => socket.write(buffer.subarray(0, bytesRead), resolve))
  }
  const bytes = Number(/"mediaId":"(\d+)"/.exec(await response)?.[1])
  const seconds = Number(process.hrtime.bigint() - before) / 1e9
  const { system, user } = process.cpuUsage(cpuBefore)
  socket.destroy()
  await file.close()
  return { bytes, seconds, cpu: (user + system) / 1e6, growth: 0 }
})
