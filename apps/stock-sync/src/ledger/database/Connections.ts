/** Connections to a Postgres that can be ended while its server is silent: the driver would wait for it, also to close them. */
import * as PgTypes from "@effect/sql-pg/PgTypes"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import { createConnection, type Socket } from "node:net"

/** The integers of these tables are exact in JavaScript. By default the driver returns those of 64 bits as `bigint`. */
export const types: PgTypes.Registry = PgTypes.makeRegistry()
types.register(20, {
  encode: (value: number) => {
    const bytes = new Uint8Array(8)
    new DataView(bytes.buffer).setBigInt64(0, BigInt(value))
    return Result.succeed(bytes)
  },
  decode: (bytes: Uint8Array) => Result.succeed(Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0)))
})

export interface Sockets {
  /** The option of the driver for connections to the address. */
  readonly stream: () => Socket
  /** Ends all connections. */
  readonly cut: Effect.Effect<void>
  /** Ends all connections, and further ones at once. */
  readonly abandon: Effect.Effect<void>
  /** How many are open, and how many were opened. */
  readonly count: () => number
  readonly opened: () => number
}

/** The sockets of a client. `silence`: one on which nothing comes or goes for so long is ended (default: none is). */
export const makeSockets = (url: string, silence?: Duration.Duration): Sockets => {
  const { hostname, port, searchParams } = new URL(url)
  // As the driver reads them.
  const host = searchParams.get("host") ?? (decodeURIComponent(hostname).replace(/^\[|\]$/g, "") || "localhost")
  const portOrDefault = Number(searchParams.get("port") ?? (port === "" ? 5432 : port))
  const address = host.startsWith("/") ? { path: `${host}/.s.PGSQL.${portOrDefault}` } : { host, port: portOrDefault, noDelay: true }
  const open = new Set<Socket>()
  let opened = 0
  let isAbandoned = false
  const end = (socket: Socket) => socket.destroy(new Error("the server is silent"))
  const stream = () => {
    const socket = createConnection(address)
    open.add(socket)
    opened++
    if (isAbandoned) end(socket)
    if (silence !== undefined) socket.setTimeout(Duration.toMillis(silence), () => end(socket))
    return socket.once("close", () => open.delete(socket))
  }
  return {
    stream,
    cut: Effect.sync(() => open.forEach(end)),
    abandon: Effect.sync(() => {
      isAbandoned = true
      open.forEach(end)
    }),
    count: () => open.size,
    opened: () => opened
  }
}

/** Runs an effect, and stops waiting for it after a time, whether it can be interrupted or not. */
export const within = <A, E, R>(effect: Effect.Effect<A, E, R>, duration: Duration.Duration): Effect.Effect<Option.Option<A>, E, R> =>
  Effect.flatMap(
    Effect.forkDetach(effect, { startImmediately: true }),
    (fiber) => Effect.timeoutOption(Fiber.join(fiber), duration)
  )

/** A scope that is closed within a time. Then its connections are cut. */
export const closedWithin = (longest: Duration.Duration, cut: Effect.Effect<void>): Effect.Effect<Scope.Scope, never, Scope.Scope> =>
  Effect.acquireRelease(Scope.make(), (scope, exit) => Effect.andThen(Effect.ignore(within(Scope.close(scope, exit), longest)), cut))
