/** Keeps the row of this runner in the database, so that a status on any machine shows which runners are alive and what they do. */
import * as Cause from "effect/Cause"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { disconnect } from "../../sync/Disconnect.ts"
import { version } from "../../version.ts"
import { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetRunner } from "../FleetRunner.ts"
import * as OwnershipCluster from "../OwnershipCluster.ts"
import * as FleetReadiness from "./FleetReadiness.ts"
import * as RepeatedFailure from "./RepeatedFailure.ts"
import * as StatusTables from "./StatusTables.ts"

const interval = Duration.seconds(2)

/** A runner counts as alive for as long as its shards would stay with it without the database. */
export const aliveFor: Duration.Duration = OwnershipCluster.lockExpiration

// A runner that was killed stays visible for this time.
const keptFor = Duration.hours(1)

/** A statement that hangs is abandoned. */
const limited = <A, E, R>(statement: Effect.Effect<A, E, R>) => Effect.timeout(disconnect(statement), "5 seconds")

const write = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const { reasons, state: { accounts, runner, shards, startedAt } } = yield* FleetReadiness.current
  const now = sql.literal(StatusTables.now)
  // Sorted, because two statements that lock the same rows in different orders would fail each other.
  yield* run(sql`
    WITH forgotten AS (
      DELETE FROM fleet_runner WHERE name IN (
        SELECT name FROM fleet_runner WHERE seen_at < ${now} - ${Duration.toMillis(keptFor)} ORDER BY name FOR UPDATE SKIP LOCKED))
    INSERT INTO fleet_runner (name, version, started_at, seen_at, shards, active, reading, waiting_to_read, failing, reasons)
    VALUES (${runner}, ${version}, ${DateTime.toEpochMillis(startedAt)}, ${now}, ${shards}, ${accounts.active}, ${accounts.reading},
      ${accounts.waitingToRead}, ${accounts.failing}, ${JSON.stringify(reasons)}::text::jsonb)
    ON CONFLICT (name) DO UPDATE SET seen_at = excluded.seen_at, shards = excluded.shards, active = excluded.active,
      reading = excluded.reading, waiting_to_read = excluded.waiting_to_read, failing = excluded.failing, reasons = excluded.reasons`)
})

const remove = Effect.gen(function*() {
  const { run, sql } = yield* FleetDatabase
  const { state: { runner } } = yield* FleetReadiness.current
  yield* run(sql`DELETE FROM fleet_runner WHERE name = ${runner}`)
})

/** Writes until the scope closes, and then removes the row. */
export const layer: Layer.Layer<never, never, FleetDatabase | FleetRunner> = Layer.effectDiscard(Effect.gen(function*() {
  yield* Effect.addFinalizer(() => Effect.ignore(limited(remove)))
  yield* limited(write).pipe(
    RepeatedFailure.logged("runner.unrecorded"),
    Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("fleet.defect", cause)),
    Effect.repeat(Schedule.spaced(interval)),
    Effect.forkScoped
  )
}))
