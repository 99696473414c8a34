/** Benchmark `profile`: the CPU time of calls by Plaza on undici, by package and by function. */
import { Effect, Schema } from "effect"
import { type Report, round } from "./Harness.js"
import { bundle, type ProgramFailed, service, start } from "./Programs.js"
import type { Task } from "./programs/calls/Caller.js"

const Shares = Schema.Array(Schema.Tuple(Schema.String, Schema.Number))
const Profile = Schema.Struct({ parts: Shares, functions: Shares })

const caller = "calls/PlazaOnUndici"

export const report = (calls: number): Effect.Effect<Report, ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["LocalService", caller])
    const address = yield* service(pathOf("LocalService"))
    const { ask } = yield* start(pathOf(caller))
    const task: Omit<Task, "kind"> = { address, call: "me", calls, concurrency: 64 }
    yield* ask({ ...task, kind: "cost" }, Schema.Unknown)
    const { functions, parts } = yield* ask({ ...task, kind: "profile" }, Profile)
    const rows = (kind: string, shares: typeof Shares.Type) => shares.map(([name, share]) => [kind, name, `${round(100 * share, 1)}%`])
    return {
      name: "profile",
      about: `share of CPU time of ${calls} calls of GET /me by Plaza on undici, 64 at a time, by package and by function`,
      columns: ["kind", "name", "self time"],
      rows: [...rows("package", parts), ...rows("function", functions)]
    }
  }).pipe(Effect.scoped)
