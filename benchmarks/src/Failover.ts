/** Benchmark `failover`: the time from the kill of one of two runners until all accounts of the fleet are served again. */
import type * as Postgres from "@plaza/testing/Postgres"
import { Effect, type FileSystem } from "effect"
import type { PlatformError } from "effect/PlatformError"
import * as FleetRunner from "./FleetRunner.ts"
import { type BenchmarkFailed, type Form, type Row, row } from "./Harness.ts"
import type { ProgramFailed } from "./Programs.ts"
import { products } from "./programs/fleet/Task.ts"

export const report = (
  form: Form
): Effect.Effect<
  ReadonlyArray<Row>,
  BenchmarkFailed | ProgramFailed | PlatformError | Postgres.NoPostgres,
  FileSystem.FileSystem
> =>
  Effect.gen(function*() {
    const [accounts, rounds] = form === "full" ? [200, 5] : [12, 1]
    const fleet = yield* FleetRunner.make(accounts, "1s")
    // The other runner serves its own accounts all the time, and those of the killed one after it has taken them over.
    yield* fleet.runner
    yield* fleet.until(({ patches }) => patches >= products * accounts)
    const round = Effect.scoped(Effect.gen(function*() {
      const { kill } = yield* fleet.runner
      // Both serve a share of the accounts.
      yield* Effect.repeat(Effect.delay(fleet.shares, "1 second"), {
        until: (shares) => shares.length === 2 && shares.every((accounts) => accounts > 0)
      })
      yield* kill
      yield* fleet.give({ active: 0 })
      return yield* fleet.until(({ polled }) => polled === accounts)
    }))
    return [
      row({
        claim: `one of two runners is killed: until each of ${accounts} accounts, polled every second, is served again`,
        page: "docs/fleet.md#limits",
        limit: { atMost: 10 },
        samples: yield* Effect.replicateEffect(round, rounds),
        unit: "s"
      })
    ]
  }).pipe(Effect.scoped)
