/** The time from the start of `plaza sandbox start` to its first response. */
import { Clock, Data, Effect } from "effect"
import { spawn } from "node:child_process"

export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly message: string }> {}

interface Address {
  readonly baseUrl: string
  readonly apiKey: string
}

const isAddress = (value: unknown): value is Address =>
  typeof value === "object" && value !== null && "baseUrl" in value && "apiKey" in value && typeof value.baseUrl === "string" &&
  typeof value.apiKey === "string"

/** Milliseconds to the first answer of a sandbox that a program starts, which is ended afterwards. */
export const firstAnswer = (program: string, env: NodeJS.ProcessEnv): Effect.Effect<number, NoAnswer> =>
  Effect.scoped(Effect.gen(function*() {
    const before = yield* Clock.currentTimeNanos
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [program, "sandbox", "start", "--port", "0", "--json"], { env, stdio: ["ignore", "pipe", "ignore"] })
      ),
      // The next one is measured when this one is gone.
      (child) =>
        Effect.async<void>((resume) => {
          if (child.exitCode !== null) return resume(Effect.void)
          child.once("close", () => resume(Effect.void))
          child.kill("SIGTERM")
        })
    )
    const line = yield* Effect.async<string, NoAnswer>((resume) => {
      let written = ""
      child.once("close", () =>
        resume(
          new NoAnswer({
            message: `plaza sandbox start ended before it listened; build the programs with \`pnpm build\` first\n${written}`
          })
        ))
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        written += text
        if (written.includes("\n"))
          resume(Effect.succeed(written))
      })
    })
    const address: unknown = JSON.parse(line)
    if (!isAddress(address)) return yield* new NoAnswer({ message: `plaza sandbox start printed no address: ${line}` })
    const { status } = yield* Effect.tryPromise({
      try: () => fetch(`${address.baseUrl}/me`, { headers: { authorization: `Bearer ${address.apiKey}`, connection: "close" } }),
      catch: (cause) => new NoAnswer({ message: `the sandbox doesn't answer: ${String(cause)}` })
    })
    const after = yield* Clock.currentTimeNanos
    return status === 200 ? Number(after - before) / 1e6 : yield* new NoAnswer({ message: `the sandbox answered ${status}` })
  }))
