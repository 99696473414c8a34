/** Prism as a library, mocking the same OpenAPI file, without its command line and log. */
import { createLogger } from "@stoplight/prism-core"
import { getHttpOperationsFromSpec } from "@stoplight/prism-http"
import { createServer } from "@stoplight/prism-http-server"
import { apiKey } from "../ApiKey.js"
import { onRequest } from "../ChildProtocol.js"

const server = createServer(await getHttpOperationsFromSpec(process.argv[2] ?? ""), {
  cors: false,
  components: { logger: createLogger("prism", { level: "silent" }) },
  config: {
    isProxy: false,
    upstreamProxy: undefined,
    checkSecurity: true,
    validateRequest: true,
    validateResponse: true,
    errors: false,
    mock: { dynamic: false }
  }
})
const address = await server.listen(0, "127.0.0.1")
onRequest(() => Promise.resolve({ address, key: apiKey, pid: process.pid }))
