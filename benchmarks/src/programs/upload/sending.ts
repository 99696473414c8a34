/** What all senders of a file measure: time, CPU and growth of the process. */
import { answering } from "../answering.js"

export interface Task {
  readonly address: string
  readonly path: string
}

/** A sender that is ready, and what ends it. */
export interface Sender {
  /** Tells how many bytes arrived. */
  readonly upload: () => Promise<number>
  readonly end: () => Promise<void>
}

const sampleMillis = 10

const largest = (sizes: ReadonlyArray<number>) => sizes.reduce((most, size) => Math.max(most, size), 0)

export const sending = (make: (task: Task) => Promise<Sender>): void =>
  answering(async (question) => {
    // The process that asks is ours and asks by this type.
    const { end, upload } = await make(question as Task)
    const idle = process.memoryUsage.rss()
    const sizes: Array<number> = []
    const sampler = setInterval(() => sizes.push(process.memoryUsage.rss()), sampleMillis)
    const cpuBefore = process.cpuUsage()
    const before = process.hrtime.bigint()
    const bytes = await upload()
    const seconds = Number(process.hrtime.bigint() - before) / 1e9
    const { system, user } = process.cpuUsage(cpuBefore)
    clearInterval(sampler)
    await end()
    return {
      bytes,
      seconds,
      cpu: (user + system) / 1e6,
      growth: largest(sizes) - idle,
      growthInHalf: largest(sizes.slice(0, sizes.length / 2)) - idle
    }
  })
