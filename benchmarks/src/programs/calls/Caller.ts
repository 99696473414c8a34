/**
 * The common part of all callers: makes calls and measures the CPU of this process, or takes a CPU profile.
 */
import { Session } from "node:inspector/promises"
import { onRequest } from "../ChildProtocol.js"
import { attribute } from "./ProfileShares.js"

export type CallName = "me" | "setStock"

/** Makes a number of calls with a concurrency. */
export type Run = (call: CallName, calls: number, concurrency: number) => Promise<void>

/** The task of a caller. */
export interface Task {
  readonly kind: "cost" | "profile"
  readonly address: string
  readonly call: CallName
  readonly calls: number
  readonly concurrency: number
}

/** The product and the stock that the calls send. */
export const stock = { id: "sku_1", stock: 12 }

/** Makes calls of promises in as many concurrent loops as the concurrency. */
export const inLoops = (once: Readonly<Record<CallName, () => Promise<unknown>>>): Run => async (call, calls, concurrency) => {
  let left = calls
  const loop = async () => {
    while (left > 0) {
      left--
      await once[call]()
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}

export const serve = (make: (baseUrl: string) => Run): void => {
  let run: Run | undefined
  onRequest(async (request) => {
    // The cast is true: only our parent process sends requests, and of this type.
    const { address, call, calls, concurrency, kind } = request as Task
    run ??= make(`${address}/open/v1`)
    if (kind === "profile") {
      const session = new Session()
      session.connect()
      await session.post("Profiler.enable")
      await session.post("Profiler.setSamplingInterval", { interval: 200 })
      await session.post("Profiler.start")
      await run(call, calls, concurrency)
      const { profile } = await session.post("Profiler.stop")
      session.disconnect()
      return attribute(profile)
    }
    const cpuBefore = process.cpuUsage()
    const before = process.hrtime.bigint()
    await run(call, calls, concurrency)
    const nanos = Number(process.hrtime.bigint() - before)
    const { system, user } = process.cpuUsage(cpuBefore)
    return { cpu: (user + system) / calls, perSecond: calls / (nanos / 1e9) }
  })
}
