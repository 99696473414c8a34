/**
 * The common part of the list readers: reads a list to its end and measures time, CPU and memory, or reads it with a pause per page and
 * measures the time.
 */
import { onRequest } from "../ChildProtocol.ts"

export interface Task {
  readonly baseUrl: string
  readonly items: number
  /** Pause for each page, in milliseconds. If undefined, the items are read without a pause. */
  readonly workMillis?: number
}

export interface Reader {
  /** Reads the list and calls `onItem` for each item. */
  readonly items: (baseUrl: string, onItem: (item: { readonly id: string; readonly createdAt?: unknown }) => void) => Promise<void>
  /** Reads the list and pauses after each page. */
  readonly pages: (baseUrl: string, workMillis: number) => Promise<void>
}

/** Bytes that the process uses after a garbage collection. The resident memory also depends on how much Node lets its heap grow. */
const live = (): number => {
  // The first collection frees buffers in the background, the second one waits for it.
  globalThis.gc?.()
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

export const serve = ({ items, pages }: Reader): void =>
  onRequest(async (request) => {
    // The cast is true: only our parent process sends requests, and of this type.
    const task = request as Task
    const before = process.hrtime.bigint()
    const seconds = () => Number(process.hrtime.bigint() - before) / 1e9
    if (task.workMillis !== undefined) {
      await pages(task.baseUrl, task.workMillis)
      return { seconds: seconds() }
    }
    const cpuBefore = process.cpuUsage()
    let count = 0
    let liveWarm = 0
    await items(task.baseUrl, ({ id }) => {
      if (id !== "") count++
      // Memory is compared with that of a process that has warmed up.
      if (count === task.items / 10) liveWarm = live()
    })
    if (count !== task.items) throw new Error(`${count} of ${task.items} items`)
    const { system, user } = process.cpuUsage(cpuBefore)
    return { seconds: seconds(), cpu: (user + system) / 1e6, liveWarm, live: live(), peak: process.resourceUsage().maxRSS * 1_024 }
  })
