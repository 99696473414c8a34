/** The common part of all programs that upload a file: measures time, CPU and growth of the process. */
import { onRequest } from "../ChildProtocol.js"

export interface Task {
  readonly address: string
  readonly path: string
}

/** A client that is ready to upload. */
export interface Uploader {
  /** Uploads the file and returns the number of bytes that the server received. */
  readonly upload: () => Promise<number>
  readonly close: () => Promise<void>
}

const sampleMillis = 10

const largest = (sizes: ReadonlyArray<number>) => sizes.reduce((most, size) => Math.max(most, size), 0)

export const serve = (make: (task: Task) => Promise<Uploader>): void =>
  onRequest(async (request) => {
    // The cast is true: only our parent process sends requests, and of this type.
    const { close, upload } = await make(request as Task)
    const idle = process.memoryUsage.rss()
    const sizes: Array<number> = []
    const sampler = setInterval(() => sizes.push(process.memoryUsage.rss()), sampleMillis)
    const cpuBefore = process.cpuUsage()
    const before = process.hrtime.bigint()
    const bytes = await upload()
    const seconds = Number(process.hrtime.bigint() - before) / 1e9
    const { system, user } = process.cpuUsage(cpuBefore)
    clearInterval(sampler)
    await close()
    return {
      bytes,
      seconds,
      cpu: (user + system) / 1e6,
      growth: largest(sizes) - idle,
      growthInHalf: largest(sizes.slice(0, sizes.length / 2)) - idle
    }
  })
