/** Queues calls in virtual time until all were accepted, and returns the CPU of this process for it. */
import * as Effect from "effect/Effect"
import { fixedTimes, measure } from "../../Allowance.ts"
import { limiters } from "../../Limiters.ts"
import { slidingLog } from "../../RateServers.ts"
import { onRequest } from "../ChildProtocol.ts"

const contenders = { ...limiters, "fixed times": fixedTimes }

export interface Task {
  readonly limiter: keyof typeof contenders
  readonly calls: number
}

onRequest(async (request) => {
  // The cast is true: only the benchmark `waiting` sends requests, and of this type.
  const { calls, limiter } = request as Task
  const before = process.cpuUsage()
  await Effect.runPromise(measure(contenders[limiter], slidingLog, calls, 1))
  const { system, user } = process.cpuUsage(before)
  return { seconds: (user + system) / 1e6 }
})
