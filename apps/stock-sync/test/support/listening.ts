/** HTTP servers of tests. */
import { Effect, type Scope } from "effect"
import type { Server } from "node:http"
import type { AddressInfo } from "node:net"

/** Listens on a free port of this machine until the scope ends. */
export const listening = (server: Server): Effect.Effect<number, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        // The address of a server on a port is no text.
        resume(Effect.succeed((server.address() as AddressInfo).port))
      })
    }),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
