/** autocannon, in a process of its own: as many requests of one kind as an address answers in a while. */
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
