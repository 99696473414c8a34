/** The load generator: runs autocannon with the options of the request. */
import autocannon from "autocannon"
import { onRequest } from "../ChildProtocol.ts"

onRequest(async (request) => {
  // The cast is true: only `SandboxLoad` sends requests, and of this type.
  const before = performance.now()
  const result = await autocannon(request as autocannon.Options)
  return {
    perSecond: 1_000 * result["2xx"] / (performance.now() - before),
    succeeded: result["2xx"],
    others: result.non2xx + result.errors
  }
})
