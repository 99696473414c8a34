/** Runs autocannon in its own process: as many requests of one kind as possible in a time. */
import autocannon from "autocannon"
import { answering } from "../answering.js"

answering(async (question) => {
  // Asked by `SandboxLoad` alone.
  const result = await autocannon(question as autocannon.Options)
  return {
    perSecond: result.requests.total / result.duration,
    p99: result.latency.p99,
    answered: result["2xx"],
    others: result.non2xx + result.errors
  }
})
