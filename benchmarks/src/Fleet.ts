/** Benchmark `fleet`: what one runner of a fleet with many accounts costs. */
import { PgClient } from "@effect/sql-pg"
import type * as Postgres from "@plaza/testing/Postgres"
import { Effect, type FileSystem, Redacted } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { Reactivity } from "effect/reactivity"
import * as FleetRunner from "./FleetRunner.ts"
import { type BenchmarkFailed, type Form, format, type Row, row } from "./Harness.ts"
import { usageOf } from "./ProcessUsage.ts"
import type { ProgramFailed } from "./Programs.ts"
import { products } from "./programs/fleet/Task.ts"

const page = "docs/fleet.md#capacity"

export const report = (
  form: Form
): Effect.Effect<
  ReadonlyArray<Row>,
  BenchmarkFailed | ProgramFailed | PlatformError | Postgres.NoPostgres,
  FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const [accounts, poll, seconds, samples] = form === "full" ? [10_000, 60, 30, 4] as const : [10, 1, 1, 1] as const
    const fleet = yield* FleetRunner.make(accounts, `${poll}s`)
    const sql = yield* Effect.orDie(PgClient.make({ url: Redacted.make(fleet.database) }))
    const transactions = Effect.map(
      Effect.orDie(sql<{ n: number }>`SELECT xact_commit::float8 AS n FROM pg_stat_database WHERE datname = current_database()`),
      ([row]) => row?.n ?? 0
    )
    const title = `${accounts.toLocaleString("en")} accounts`
    // The first run loads all accounts; a restart is what operators see.
    const loaded = yield* Effect.scoped(Effect.andThen(fleet.runner, fleet.until(({ patches }) => patches >= products * accounts)))
    yield* fleet.give({ active: 0 })
    const { pid, ready } = yield* fleet.runner
    const read = yield* fleet.until(({ polled }) => polled === accounts)
    const sampled = (active: number) =>
      Effect.gen(function*() {
        yield* fleet.give({ active })
        // Until all accounts have been polled with their new feeds, and the changes were sent.
        yield* Effect.sleep(`${1.25 * poll} seconds`)
        const look = Effect.gen(function*() {
          return { ...usageOf(pid), ...(yield* fleet.counts), transactions: yield* transactions }
        })
        return yield* Effect.replicateEffect(
          Effect.gen(function*() {
            const first = yield* look
            yield* Effect.sleep(seconds * 1_000)
            const last = yield* look
            const perSecond = (of: "cpu" | "feeds" | "patches" | "transactions") => (last[of] - first[of]) / seconds
            return {
              memory: last.memory,
              cpu: perSecond("cpu"),
              rates: `${format(perSecond("feeds"), "")} polls, ${format(perSecond("patches"), "")} products sent and ${
                format(perSecond("transactions"), "")
              } transactions a second`
            }
          }),
          samples
        )
      })
    const idle = yield* sampled(0)
    const active = yield* sampled(Math.ceil(accounts / 100))
    return [
      row({
        claim: `a runner of ${title} restarts: until it is ready`,
        page,
        limit: { atMost: 10 },
        samples: [ready],
        unit: "s",
        beside: `all sources read after ${format(read, "s")} more; first load of all accounts: ${format(loaded, "s")}`
      }),
      row({
        claim: `memory of the runner with 1% of ${title} active`,
        page,
        limit: { atMost: 512 },
        samples: active.map(({ memory }) => memory),
        unit: "MiB",
        beside: active[0]?.rates ?? ""
      }),
      row({
        claim: `CPU of the runner with 1% of ${title} active, in cores`,
        page,
        limit: { atMost: 0.5 },
        samples: active.map(({ cpu }) => cpu),
        unit: "",
        beside: active[0]?.rates ?? ""
      }),
      row({
        claim: `the same with all ${title} idle`,
        page,
        limit: { atMost: 0.5 },
        samples: idle.map(({ cpu }) => cpu),
        unit: "",
        beside: idle[0]?.rates ?? ""
      })
    ]
  }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
