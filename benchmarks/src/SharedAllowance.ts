/**
 * Benchmark `shared`: the share of a key's rate limit that four processes use together when they share it through Postgres: in virtual time with
 * each kind of window and several seeds, and as processes in real time.
 */
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Schema } from "effect"
import { servers } from "./Allowance.ts"
import { type Form, type Row, row } from "./Harness.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"
import type { Task } from "./programs/limits/SharingProcess.ts"
import * as RateServers from "./RateServers.ts"
import * as SharedOnPostgres from "./SharedOnPostgres.ts"

const processes = 4
const page = "docs/concepts/rate-limit.md#shared-allowance"

const Service = Schema.Struct({ port: Schema.Number, arrivals: Schema.Array(Schema.Number) })

const simulated = (form: Form) =>
  Effect.gen(function*() {
    const [calls, seeds] = form === "full" ? [1_200, [1, 2, 3, 4, 5]] : [240, [1]]
    const database = yield* Effect.catchTag(SharedOnPostgres.database, "SqlError", Effect.die)
    return yield* Effect.forEach(Object.entries(servers), ([server, serverAt]) =>
      Effect.gen(function*() {
        const outcomes = yield* Effect.forEach(seeds, (seed) => SharedOnPostgres.measure(database, serverAt, { processes, calls, seed }))
        return row({
          claim: `share of one key's rate limit that ${processes} simulated processes use together through Postgres, with a ${server}`,
          page,
          limit: { atLeast: 98 },
          samples: outcomes.map(({ used }) => 100 * used),
          unit: "%",
          beside: `${Math.max(...outcomes.map(({ refused }) => refused))} responses 429 at most`
        })
      }))
  }).pipe(Effect.scoped)

const inRealTime = (form: Form) =>
  Effect.gen(function*() {
    const [limit, windowMillis, windows] = form === "full" ? [120, 60_000, 5] : [20, 1_000, 2]
    const { url } = yield* Postgres.scoped
    const pathOf = yield* bundle(["limits/SharingProcess", "limits/Arrivals"])
    const service = yield* start(pathOf("limits/Arrivals"))
    const { port } = yield* service.ask("port", Service)
    const task: Task = { database: url, address: `http://127.0.0.1:${port}`, limit, windowMillis }
    yield* Effect.forEach(Array.from({ length: processes }),
      () => Effect.flatMap(start(pathOf("limits/SharingProcess")), ({ ask }) => ask({ ...task }, Schema.Undefined)), { discard: true })
    const enough = ({ arrivals }: typeof Service.Type) => arrivals.length > windows * limit
    const { arrivals } = yield* Effect.repeat(Effect.delay(service.ask("arrivals", Service), "500 millis"), { until: enough })
    const first = arrivals[0] ?? 0
    // Fixed windows that begin at any time, a sliding one, and a bucket, each with the requests that it would have refused.
    const offsets = Array.from({ length: 12 }, (_, index) => index * windowMillis / 12)
    const { fixedWindow, slidingLog, tokenBucket } = RateServers.of(limit, windowMillis)
    const servers = [...offsets.map(fixedWindow), slidingLog(), tokenBucket()]
    const refused = servers.map((server) => arrivals.filter((at) => server(at - first) > 0).length)
    const used = Array.from({ length: windows }, (_, index) => {
      const [from = 0, to = 0] = [arrivals[index * limit], arrivals[(index + 1) * limit]]
      return 100 * windowMillis / (to - from)
    })
    return [
      row({
        claim: `the same for ${processes} processes in real time, in each of ${windows} windows`,
        page,
        limit: { atLeast: 98 },
        samples: used,
        unit: "%"
      }),
      row({
        claim: "requests of these that a service with a fixed window, a sliding window or a token bucket would refuse",
        page,
        limit: { atMost: 0 },
        samples: [Math.max(...refused)],
        unit: ""
      })
    ]
  }).pipe(Effect.scoped)

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed | Postgres.NoPostgres> =>
  Effect.zipWith(simulated(form), inRealTime(form), (simulated, real) => [...simulated, ...real])
