import { Effect } from "effect"
import { createServer } from "node:net"

/** A port of this machine that nobody listens on. For a server that can't choose one itself. */
export const freePort = Effect.callback<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    server.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})
