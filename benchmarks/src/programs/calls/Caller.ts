/** The common part of all callers: makes calls of `GET /me` and measures the CPU of this process. */
import { onRequest } from "../ChildProtocol.ts"

/** Makes a number of calls with a concurrency. */
export type Run = (calls: number, concurrency: number) => Promise<void>

/** The task of a caller. */
export interface Task {
  readonly address: string
  readonly calls: number
  readonly concurrency: number
}

/** Makes calls of promises in as many concurrent loops as the concurrency. */
export const inLoops = (once: () => Promise<unknown>): Run => async (calls, concurrency) => {
  let left = calls
  const loop = async () => {
    while (left > 0) {
      left--
      await once()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}

export const serve = (make: (baseUrl: string) => Run): void => {
  let run: Run | undefined
  onRequest(async (request) => {
    // The cast is true: only our parent process sends requests, and of this type.
    const { address, calls, concurrency } = request as Task
    run ??= make(`${address}/open/v1`)
    const cpuBefore = process.cpuUsage()
    const before = process.hrtime.bigint()
    await run(calls, concurrency)
    const nanos = Number(process.hrtime.bigint() - before)
    const { system, user } = process.cpuUsage(cpuBefore)
    return { cpu: (user + system) / calls, perSecond: calls / (nanos / 1e9) }
  })
}
