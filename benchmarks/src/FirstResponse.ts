/** The time from the start of `plaza sandbox start` to its first response. */
import { Clock, Effect, Schema } from "effect"
import { spawn } from "node:child_process"
import { BenchmarkFailed } from "./Harness.ts"
import { environment, plaza } from "./Processes.ts"

const Address = Schema.fromJsonString(Schema.Struct({ baseUrl: Schema.String, apiKey: Schema.String }))

const failed = (reason: string) => new BenchmarkFailed({ message: `plaza sandbox start ${reason}` })

/** Starts `plaza sandbox start` and returns the milliseconds to its first response. The sandbox is stopped afterwards. */
export const firstResponse: Effect.Effect<number, BenchmarkFailed> = Effect.scoped(Effect.gen(function*() {
  const before = yield* Clock.monotonicTimeNanos
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [plaza, "sandbox", "start", "--port", "0", "--json"], {
        env: environment,
        stdio: ["ignore", "pipe", "ignore"]
      })
    ),
    // Waits for the exit, so that this process does not disturb the next measurement.
    (child) =>
      Effect.callback<void>((resume) => {
        if (child.exitCode !== null) return resume(Effect.void)
        child.once("close", () => resume(Effect.void))
        child.kill("SIGTERM")
      })
  )
  const line = yield* Effect.callback<string, BenchmarkFailed>((resume) => {
    let written = ""
    child.once("close", () => resume(failed(`exited before it listened\n${written}`)))
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      written += text
      if (written.includes("\n")) resume(Effect.succeed(written))
    })
  })
  const { apiKey, baseUrl } = yield* Effect.mapError(Schema.decodeEffect(Address)(line), () => failed(`printed no address: ${line}`))
  const { status } = yield* Effect.tryPromise({
    try: () => fetch(`${baseUrl}/me`, { headers: { authorization: `Bearer ${apiKey}`, connection: "close" } }),
    catch: (cause) => failed(`did not respond: ${String(cause)}`)
  })
  const after = yield* Clock.monotonicTimeNanos
  return status === 200 ? Number(after - before) / 1e6 : yield* failed(`responded with ${status}`)
}))
