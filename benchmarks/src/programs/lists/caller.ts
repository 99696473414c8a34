/**
 * What all readers of a list share: read it to the end and measure time and process size, or do some work for each
 * page and measure the time.
 */
import { answering } from "../answering.js"

export interface Task {
  readonly baseUrl: string
  /** Pause for each page; undefined to go through the items as fast as can be. */
  readonly workMillis?: number
}

export interface Reader {
  /** Calls back for each item. */
  readonly items: (baseUrl: string, onItem: (item: { readonly id: string; readonly createdAt?: unknown }) => void) => Promise<void>
  /** Waits so long for each page before the next is asked for by the one who reads. */
  readonly pages: (baseUrl: string, workMillis: number) => Promise<void>
}

// The list is as long as its address says; where it begins to count is when the process has warmed up.
const warmItems = 100_000

export const serve = ({ items, pages }: Reader): void =>
  answering(async (question) => {
    // The process that asks is ours and asks by this type.
    const { baseUrl, workMillis } = question as Task
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
