/** A server on this machine that a test writes. */
import { Effect } from "effect"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"

type Respond = (url: URL, response: ServerResponse, request: IncomingMessage) => void

/** A server, its origin, and the paths with parameters that were requested. */
export const serving = (respond: Respond) =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const server = yield* Effect.acquireRelease(
      Effect.callback<Server>((resume) => {
        const made = createServer((request, response) => {
          asked.push(request.url ?? "")
          respond(new URL(request.url ?? "", "http://server"), response, request)
        })
        made.listen(0, "127.0.0.1", () => resume(Effect.succeed(made)))
      }),
      (made) =>
        Effect.callback<void>((resume) => {
          made.close(() => resume(Effect.void))
          made.closeAllConnections()
        })
    )
    const at = server.address()
    return { asked, origin: `http://127.0.0.1:${typeof at === "object" && at !== null ? at.port : 0}` }
  })
