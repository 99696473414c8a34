/**
 * What a call costs: `GET /me` by the client on undici beside a bare `fetch` with `JSON.parse`, against a bare server on
 * loopback, one call at a time and 64 at a time.
 *
 * @since 0.1.0
 */
import { Plaza, Profiles } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Clock, Data, Effect, Layer, ManagedRuntime, Redacted, type Scope } from "effect"
import { type ChildProcess, fork } from "node:child_process"
import { interleave, median, type Report, round } from "./Harness.js"

/** @since 0.1.0 @category errors */
export class CallsFailed extends Data.TaggedError("CallsFailed")<{ readonly cause: unknown }> {
  override get message(): string {
    return `the calls did not come through: ${String(this.cause)}`
  }
}

const apiKey = Redacted.make(`bench_${"0".repeat(40)}`)

/** Makes so many calls, so many of them at a time. */
type Caller = (calls: number, concurrency: number) => Effect.Effect<void, CallsFailed>

const server: Effect.Effect<string, CallsFailed, Scope.Scope> = Effect.acquireRelease(
  Effect.sync(() => fork(new URL("./MeServer.ts", import.meta.url))),
  (child) => Effect.sync(() => child.kill())
).pipe(
  Effect.flatMap((child: ChildProcess) =>
    Effect.async<string, CallsFailed>((resume) => {
      child.once("message", (port) => resume(Effect.succeed(`http://127.0.0.1:${Number(port)}/open/v1`)))
      child.once("exit", (code) => resume(new CallsFailed({ cause: `the server ended with ${String(code)} before it listened` })))
    })
  )
)

const client = (baseUrl: string): Effect.Effect<Caller, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      // Every slot is taken and accounted for, but none is waited for.
      Effect.sync(() => ManagedRuntime.make(Layer.provide(Plaza.layer({ baseUrl, apiKey, rateLimit: 10_000_000 }), NodeClient.layer))),
      (runtime) => runtime.disposeEffect
    ),
    (runtime) => (calls, concurrency) =>
      Effect.tryPromise({
        try: () => runtime.runPromise(Effect.flatMap(Profiles, ({ me }) => Effect.replicateEffect(me, calls, { concurrency, discard: true }))),
        catch: (cause) => new CallsFailed({ cause })
      })
  )

const bareFetch = (baseUrl: string): Caller => (calls, concurrency) => {
  const headers = { authorization: `Bearer ${Redacted.value(apiKey)}`, accept: "application/json" }
  let left = calls
  const worker = async () => {
    while (left > 0) {
      left--
      const response = await fetch(`${baseUrl}/me`, { headers })
      if (response.status !== 200) throw new Error(`status ${response.status}`)
      JSON.parse(await response.text())
    }
  }
  return Effect.asVoid(Effect.tryPromise({
    try: () => Promise.all(Array.from({ length: concurrency }, worker)),
    catch: (cause) => new CallsFailed({ cause })
  }))
}

interface Sample {
  /** Microseconds of this process for one call, user and system. */
  readonly cpu: number
  readonly perSecond: number
}

const measure = (caller: Caller, calls: number, concurrency: number): Effect.Effect<Sample, CallsFailed> =>
  Effect.gen(function*() {
    const cpuBefore = process.cpuUsage()
    const before = yield* Clock.currentTimeNanos
    yield* caller(calls, concurrency)
    const after = yield* Clock.currentTimeNanos
    const { system, user } = process.cpuUsage(cpuBefore)
    return { cpu: (user + system) / calls, perSecond: calls / (Number(after - before) / 1e9) }
  })

/** @since 0.1.0 @category reports */
export const report = (rounds: number): Effect.Effect<Report, CallsFailed> =>
  Effect.gen(function*() {
    const baseUrl = yield* server
    const callers = { "bare fetch + JSON.parse": bareFetch(baseUrl), "Plaza on undici": yield* client(baseUrl) }
    const rows = yield* Effect.forEach([{ concurrency: 1, calls: 1_000 }, { concurrency: 64, calls: 4_000 }], ({ calls, concurrency }) =>
      Effect.gen(function*() {
        const measures = Object.fromEntries(Object.entries(callers).map(([name, caller]) => [name, measure(caller, calls, concurrency)]))
        // Until both are compiled and connected.
        yield* interleave(measures, 3)
        const samples = [...yield* interleave(measures, rounds)].map(([name, all]) => ({
          name,
          cpu: median(all.map((sample) => sample.cpu)),
          perSecond: median(all.map((sample) => sample.perSecond))
        }))
        const [base] = samples
        return samples.map(({ cpu, name, perSecond }) => [
          name,
          concurrency,
          round(cpu, 0),
          `${round(cpu / (base?.cpu ?? Number.NaN))}x`,
          round(perSecond, 0),
          `${round(perSecond / (base?.perSecond ?? Number.NaN))}x`
        ])
      }))
    return {
      name: "calls",
      about: `GET /me on loopback, median of ${rounds} interleaved rounds; CPU of the calling process alone`,
      columns: ["caller", "at a time", "CPU us a call", "of fetch", "calls a second", "of fetch"],
      rows: rows.flat()
    }
  }).pipe(Effect.scoped)
