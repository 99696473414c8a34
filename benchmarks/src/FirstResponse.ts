/** The time from the start of `plaza sandbox start` to its first response. */
import { Clock, Data, Effect } from "effect"
import { spawn } from "node:child_process"

export class NoResponse extends Data.TaggedError("NoResponse")<{ readonly message: string }> {}

interface Address {
  readonly baseUrl: string
  readonly apiKey: string
}

const isAddress = (value: unknown): value is Address =>
  typeof value === "object" && value !== null && "baseUrl" in value && "apiKey" in value && typeof value.baseUrl === "string" &&
  typeof value.apiKey === "string"

/** Starts `plaza sandbox start` and returns the milliseconds to its first response. The sandbox is stopped afterwards. */
export const firstResponse = (program: string, env: NodeJS.ProcessEnv): Effect.Effect<number, NoResponse> =>
  Effect.scoped(Effect.gen(function*() {
    const before = yield* Clock.currentTimeNanos
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program, "sandbox", "start", "--port", "0", "--json"], { env, stdio: ["ignore", "pipe", "ignore"] })
      ),
      // Waits for the exit, so that this process does not disturb the next measurement.
      (child) =>
        Effect.async<void>((resume) => {
          if (child.exitCode !== null) return resume(Effect.void)
          child.once("close", () => resume(Effect.void))
          child.kill("SIGTERM")
        })
    )
    const line = yield* Effect.async<string, NoResponse>((resume) => {
      let written = ""
      child.once("close", () =>
        resume(
          new NoResponse({
            message: `plaza sandbox start exited before it listened; build the programs with \`pnpm build\` first\n${written}`
          })
        ))
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        written += text
        if (written.includes("\n"))
          resume(Effect.succeed(written))
      })
    })
    const address: unknown = JSON.parse(line)
    if (!isAddress(address)) return yield* new NoResponse({ message: `plaza sandbox start printed no address: ${line}` })
    const { status } = yield* Effect.tryPromise({
      try: () => fetch(`${address.baseUrl}/me`, { headers: { authorization: `Bearer ${address.apiKey}`, connection: "close" } }),
      catch: (cause) => new NoResponse({ message: `no response from the sandbox: ${String(cause)}` })
    })
    const after = yield* Clock.currentTimeNanos
    return status === 200 ? Number(after - before) / 1e6 : yield* new NoResponse({ message: `the sandbox responded with ${status}` })
  }))
