/**
 * The common part of all list readers: reads a list to its end and measures time and memory, or reads it with a pause per page and
 * measures the time.
 */
import { onRequest } from "../ChildProtocol.js"

export interface Task {
  readonly baseUrl: string
  /** Pause for each page, in milliseconds. If undefined, the items are read without a pause. */
  readonly workMillis?: number
}

export interface Reader {
  /** Reads the list and calls `onItem` for each item. */
  readonly items: (baseUrl: string, onItem: (item: { readonly id: string; readonly createdAt?: unknown }) => void) => Promise<void>
  /** Reads the list and pauses after each page. */
  readonly pages: (baseUrl: string, workMillis: number) => Promise<void>
}

// Memory is compared with that after so many items, when the process has warmed up.
const warmItems = 100_000

export const serve = ({ items, pages }: Reader): void =>
  onRequest(async (request) => {
    // The cast is true: only our parent process sends requests, and of this type.
    const { baseUrl, workMillis } = request as Task
    const before = process.hrtime.bigint()
    const seconds = () => Number(process.hrtime.bigint() - before) / 1e9
    if (workMillis !== undefined) {
      await pages(baseUrl, workMillis)
      return { seconds: seconds() }
    }
    let count = 0
    let warmPeak = 0
    const cpuBefore = process.cpuUsage()
    await items(baseUrl, ({ id }) => {
      if (id !== "") count++
      if (count === warmItems) warmPeak = process.resourceUsage().maxRSS
    })
    const { system, user } = process.cpuUsage(cpuBefore)
    return {
      count,
      seconds: seconds(),
      cpu: (user + system) / 1e6,
      warmPeak: warmPeak * 1_024,
      peak: process.resourceUsage().maxRSS * 1_024
    }
  })
