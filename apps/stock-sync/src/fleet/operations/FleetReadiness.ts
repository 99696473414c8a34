/** Why a runner does not serve accounts, for `/readyz`, the pages and `fleet status`. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as StatusText from "../../observability/StatusText.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import { FleetRunner, type RunnerState } from "../FleetRunner.ts"

export const Reason = Schema.Struct({
  /** `databaseUnreachable`, `loopStuck`, `noShards` or `stopping`. A later version may have others. */
  reason: Schema.String,
  /** A sentence without its full stop. */
  message: Schema.String
})
export type Reason = typeof Reason.Type

/** The loop has a turn each second, and another one may take over thousands of accounts. Others own the shards by then. */
const staleAfter = Duration.seconds(10)

const isStale = Duration.isGreaterThan(staleAfter)

/** The reasons, none if the runner is ready. A stuck loop does not reach the database either: only the loop is reported then. */
const reasonsOf = ({ loop, shards, stopping }: RunnerState, now: MonotonicClock.MonotonicMillis): ReadonlyArray<Reason> => {
  const sinceTurn = Duration.millis(now - loop.lastTurnAt)
  const sinceReached = Duration.millis(now - loop.lastReachedAt)
  return [
    ...(stopping ? [{ reason: "stopping", message: "the runner is stopping" }] : []),
    ...(isStale(sinceTurn)
      ? [{ reason: "loopStuck", message: `the runner has been stuck for ${StatusText.duration(sinceTurn)}: restart it` }]
      : isStale(sinceReached)
      ? [{
        reason: "databaseUnreachable",
        message: `the runner has not reached the database for ${StatusText.duration(sinceReached)}: look at the database and the network`
      }]
      : []),
    ...(shards === 0 && !stopping
      ? [{
        reason: "noShards",
        message: "the runner owns no shards yet, or has lost its lease: it gets its share within seconds while it reaches the database"
      }]
      : [])
  ]
}

/** The state of this runner, with the reasons why it is not ready. */
export const current = Effect.gen(function*() {
  const state = yield* Effect.flatMap(FleetRunner, ({ state }) => state)
  const now = yield* MonotonicClock.now
  return { state, reasons: reasonsOf(state, now), now }
})
