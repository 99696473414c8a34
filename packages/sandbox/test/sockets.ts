/**
 * Raw connections without an HTTP client.
 */
import { Sandbox } from "@plaza/sandbox"
import { Effect, Redacted } from "effect"
import { connect, type Socket } from "node:net"

/** A connection and everything that was received on it. */
export const open = Effect.flatMap(Sandbox.Sandbox, ({ baseUrl }) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly socket: Socket; readonly closed: Effect.Effect<string> }>((resume) => {
      let received = ""
      const { hostname, port } = new URL(baseUrl)
      const socket = connect(Number(port), hostname)
      const gone = new Promise<string>((tell) => {
        socket.on("data", (chunk) => {
          received += chunk.toString("latin1")
        }).on("error", () => {}).on("close", () => {
          tell(received)
        })
      })
      socket.once("connect", () => {
        resume(Effect.succeed({ socket, closed: Effect.promise(() => gone) }))
      })
    }),
    ({ socket }) => Effect.sync(() => socket.destroy())
  ))

/** The header that carries the seeded key. */
export const bearer = Effect.map(Sandbox.Sandbox, ({ apiKey }) => `authorization: Bearer ${Redacted.value(apiKey)}`)
/** Joins lines with CRLF. */
export const lines = (...all: ReadonlyArray<string>) => all.join("\r\n")

/** The status of the first response. */
export const statusOf = (received: string) => /^HTTP\/1\.1 (\d+)/.exec(received)?.[1]
/** Code and message of the envelope. */
export const errorOf = (received: string) => /"code":"(\w+)","message":"([^"]*)"/.exec(received)?.slice(1)
