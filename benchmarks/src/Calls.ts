/**
 * Benchmark `calls`: the CPU of a call by Plaza and its peers, for a read and a write, one at a time and 64 at a time. Each caller is a
 * process of its own, against a minimal server on loopback.
 */
import { Effect, Schema } from "effect"
import { interleave, median, type Report, round } from "./Harness.js"
import { bundle, type Program, type ProgramFailed, service, start } from "./Programs.js"
import type { Task } from "./programs/calls/Caller.js"

const callers = {
  "bare fetch": "calls/BareFetch",
  "Plaza on undici": "calls/PlazaOnUndici",
  "Plaza on fetch": "calls/PlazaOnFetch",
  "bare undici.request": "calls/BareUndici",
  "openapi-fetch": "calls/OpenapiFetch",
  ky: "calls/Ky",
  got: "calls/Got",
  "@octokit/core, retry + throttling": "calls/Octokit"
}

/** The caller that the others are compared with. */
const base = "bare fetch"

const Sample = Schema.Struct({
  /** Microseconds of CPU of the calling process for one call, user and system. */
  cpu: Schema.Number,
  perSecond: Schema.Number
})

const workloads = [
  { call: "me", concurrency: 1 },
  { call: "me", concurrency: 64 },
  { call: "setStock", concurrency: 1 },
  { call: "setStock", concurrency: 64 }
] as const

// Calls before each measurement, twice: the first half connects and compiles, the second sets the number of calls of a sample.
const warmUp = 700
const sampleSeconds = 0.15
const compileCalls = 4_000

const titles = { me: "GET /me", setStock: "PATCH stock" }

const measure = (program: Program, task: Task) => program.ask(task, Sample)

export const report = (rounds: number): Effect.Effect<Report, ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["LocalService", ...Object.values(callers)])
    const address = yield* service(pathOf("LocalService"))
    const programs = yield* Effect.forEach(Object.entries(callers),
      ([name, path]) => Effect.map(start(pathOf(path)), (program) => [name, program] as const))
    // Compiles the code of all callers before the first measurement.
    yield* Effect.forEach(programs, ([, program]) =>
      Effect.forEach(["me", "setStock"] as const, (call) =>
        measure(program, { kind: "cost", address, call, calls: compileCalls, concurrency: 64 })), { discard: true })
    const rows = yield* Effect.forEach(workloads, (workload) =>
      Effect.gen(function*() {
        const task = { kind: "cost", address, ...workload } as const
        const measures = yield* Effect.forEach(programs, ([name, program]) =>
          Effect.gen(function*() {
            yield* measure(program, { ...task, calls: warmUp })
            const { perSecond } = yield* measure(program, { ...task, calls: warmUp })
            const calls = Math.max(workload.concurrency, Math.ceil(perSecond * sampleSeconds))
            return [name, measure(program, { ...task, calls })] as const
          }))
        const all = yield* interleave(Object.fromEntries(measures), rounds)
        const samples = [...all].map(([name, samples]) => ({
          name,
          cpu: median(samples.map(({ cpu }) => cpu)),
          perSecond: median(samples.map(({ perSecond }) => perSecond))
        }))
        const bare = samples.find(({ name }) => name === base)
        return samples.map(({ cpu, name, perSecond }) => [
          name,
          titles[workload.call],
          workload.concurrency,
          round(cpu, 0),
          `${round(cpu / (bare?.cpu ?? Number.NaN))}x`,
          round(perSecond, 0),
          `${round(perSecond / (bare?.perSecond ?? Number.NaN))}x`
        ])
      }))
    return {
      name: "calls",
      about: `one call on loopback, median of ${rounds} interleaved rounds; CPU of the calling process only`,
      columns: ["caller", "call", "at a time", "CPU us per call", "of fetch", "calls per s", "of fetch"],
      rows: rows.flat()
    }
  }).pipe(Effect.scoped)
