/** An address on this machine whose packets are lost, as behind a firewall that drops them: nobody refuses a connection, and none opens. */
import { Effect, Schedule, type Scope } from "effect"
import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { connect, type Socket } from "node:net"

// Never accepts a connection.
const listener = `
require("node:net").createServer().listen({ port: 0, host: "127.0.0.1", backlog: 1 }, function () {
  require("node:fs").writeSync(1, String(this.address().port) + "\\n")
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})`

// More than the queue of the listener holds.
const queued = 8

/** Whether the system waits for the response to the first packet of a connection to a port. */
const isWaiting = (port: number): boolean =>
  new RegExp(`: \\S+ \\S+:${port.toString(16).toUpperCase().padStart(4, "0")} 02 `).test(readFileSync("/proc/net/tcp", "utf8"))

/**
 * The port. A listener doesn't accept, and its queue is full, so the system drops the packets of further connections. Only on Linux.
 */
export const port: Effect.Effect<number, never, Scope.Scope> = Effect.gen(function*() {
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(process.execPath, ["--eval", listener], { stdio: ["ignore", "pipe", "inherit"] })),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  const port = yield* Effect.callback<number>((resume) => {
    child.stdout.setEncoding("utf8").once("data", (line: string) => resume(Effect.succeed(Number(line))))
  })
  yield* Effect.acquireRelease(
    Effect.sync(() => Array.from({ length: queued }, (): Socket => connect(port, "127.0.0.1").on("error", () => {}))),
    (sockets) => Effect.sync(() => sockets.forEach((socket) => socket.destroy()))
  )
  yield* Effect.repeat(Effect.sync(() => isWaiting(port)), { until: (waits) => waits, schedule: Schedule.spaced("5 millis") })
  return port
})
