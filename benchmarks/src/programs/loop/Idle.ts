/** Measures the cost of an hour of the worker without changes. */
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Effect, Logger, LogLevel } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { onRequest } from "../ChildProtocol.js"
import * as SimulatedWorker from "./SimulatedWorker.js"

export interface Task {
  readonly place: string
  readonly products: number
  /** Share of the rate limit for re-sending confirmed stock. */
  readonly share: number
}

setFlagsFromString("--expose-gc")
const heap = () => {
  // Only a context that is created after the flag has this function.
  runInNewContext("gc()")
  return process.memoryUsage().heapUsed
}
const cpu = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

/** Prepares a ledger in which all products are confirmed. */
const prepared = ({ place, products }: Task) =>
  Effect.zipRight(
    Effect.scoped(Effect.flatMap(SimulatedWorker.opened(place), (ledger) =>
      ledger.applySnapshot({
        source: "memory",
        unit: "row",
        excluded: new Set(),
        rows: SimulatedWorker.rowsOf(Array.from({ length: products }, () => 5))
      }, SimulatedWorker.policy))),
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE product SET state = 'settled', confirmed = wanted, confirmed_at = since`),
      SqliteClient.layer({ filename: place })
    )
  )

const idle = (task: Task) =>
  Effect.gen(function*() {
    yield* prepared(task)
    const { layer, requests } = SimulatedWorker.service()
    const ledger = yield* SimulatedWorker.opened(task.place)
    return yield* Effect.gen(function*() {
      const feed = yield* SimulatedWorker.source(Array.from({ length: task.products }, () => 5))
      yield* Effect.forkScoped(SimulatedWorker.run(ledger, feed.service, task.share))
      // Until confirmations are old enough to be sent again, and the code is compiled.
      yield* Effect.sleep("2 hours")
      const before = { heap: heap(), cpu: cpu(), requests: requests.length }
      yield* Effect.sleep("1 hour")
      const seconds = cpu() - before.cpu
      return { requests: requests.length - before.requests, seconds, growth: heap() - before.heap, memory: process.memoryUsage().rss }
    }).pipe(Effect.provide(layer), Effect.scoped, SimulatedTime.run)
  }).pipe(Effect.scoped)

// The cast is true: only our parent process sends requests, and of this type.
onRequest((request) => Effect.runPromise(Logger.withMinimumLogLevel(idle(request as Task), LogLevel.None)))
