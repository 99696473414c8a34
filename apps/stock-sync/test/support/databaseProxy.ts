/** The network between one runner and the database: it can be cut, stall, or be slow. */
import { Deferred, type Duration, Effect, type Scope } from "effect"
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net"

/**
 * `stalled` keeps connections open and forwards nothing until it ends, as a lost link does; `unanswered` forwards what the client sends, and
 * nothing of the server. `cut` closes connections and accepts none. `forgotten` never forwards anything of the connections that it has, as a
 * firewall does that was restarted, and is open for others.
 */
export type State = "open" | "slow" | "stalled" | "unanswered" | "cut" | "forgotten"

/** `latency` is that of a slow network, each way. `folder`: of the socket file, instead of a port. */
interface Options {
  readonly latency?: Duration.Input
  readonly folder?: string
}

export interface DatabaseProxy {
  /** The address of the database through it. */
  readonly url: string
  readonly set: (state: State) => Effect.Effect<void>
}

/** A network to a database, until the scope ends. */
export const start = (url: string, { folder, latency = "100 millis" }: Options = {}): Effect.Effect<DatabaseProxy, never, Scope.Scope> =>
  Effect.gen(function*() {
    const address = new URL(url)
    const sockets = new Set<Socket>()
    let network: State = "open"
    let reopened = yield* Deferred.make<void>()
    let forgotten = new WeakSet<Socket>()

    const ready = (stalls: (network: State) => boolean): Effect.Effect<void> =>
      Effect.suspend(() =>
        stalls(network)
          ? Effect.andThen(Deferred.await(reopened), ready(stalls))
          : network === "slow"
          ? Effect.sleep(latency)
          : Effect.void
      )

    /** Forwards what one socket receives to the other, in order. */
    const forward = (from: Socket, to: Socket, stalls: (network: State) => boolean) => {
      let earlier = Promise.resolve()
      const inOrder = (then: () => void) => {
        earlier = earlier.then(() => Effect.runPromise(ready(stalls))).then(() => forgotten.has(from) ? undefined : then())
      }
      from.on("data", (bytes) => inOrder(() => void to.write(bytes)))
      from.on("close", () => inOrder(() => to.destroy()))
      from.on("error", () => undefined)
      sockets.add(from)
      from.on("close", () => sockets.delete(from))
    }

    const server = createServer((socket) => {
      if (network === "cut") {
        socket.destroy()
        return
      }
      const upstream = createConnection({ host: address.hostname, port: Number(address.port) })
      forward(socket, upstream, (network) => network === "stalled")
      forward(upstream, socket, (network) => network === "stalled" || network === "unanswered")
    })
    const place = yield* Effect.acquireRelease(
      Effect.callback<Partial<URL>>((resume) => {
        if (folder === undefined) {
          // The address of a server on a port is no text.
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed({ port: String((server.address() as AddressInfo).port) })))
        } else {
          server.listen(`${folder}/.s.PGSQL.5432`, () => resume(Effect.succeed({ host: `${encodeURIComponent(folder)}:5432` })))
        }
      }),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )

    return {
      url: Object.assign(new URL(url), place).href,
      set: (next: State) =>
        Effect.gen(function*() {
          network = next
          if (next === "cut") { for (const socket of sockets) socket.destroy() }
          if (next === "forgotten") forgotten = new WeakSet(sockets)
          const before = reopened
          reopened = yield* Deferred.make<void>()
          yield* Deferred.succeed(before, undefined)
        })
    }
  })
