/** Measures the cost of an hour of the engine without changes. */
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Effect } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { answering } from "../answering.js"
import * as Looping from "./Looping.js"

export interface Task {
  readonly place: string
  readonly products: number
  /** Of the allowance, for assertions. */
  readonly share: number
}

setFlagsFromString("--expose-gc")
const heap = () => {
  // A context that was made before has no such function.
  runInNewContext("gc()")
  return process.memoryUsage().heapUsed
}
const cpu = () => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

/** A ledger in which everything is confirmed. */
const prepared = ({ place, products }: Task) =>
  Effect.zipRight(
    Effect.scoped(Effect.flatMap(Looping.opened(place), (ledger) =>
      ledger.receive({
        source: "memory",
        unit: "row",
        excluded: new Set(),
        rows: Looping.rowsOf(Array.from({ length: products }, () => 5))
      }, Looping.policy))),
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE product SET state = 'settled', confirmed = wanted, confirmed_at = since`),
      SqliteClient.layer({ filename: place })
    )
  )

const idle = (task: Task) =>
  Effect.gen(function*() {
    yield* prepared(task)
    const { layer, requests } = Looping.service()
    const ledger = yield* Looping.opened(task.place)
    return yield* Effect.gen(function*() {
      const feed = yield* Looping.source(Array.from({ length: task.products }, () => 5))
      yield* Effect.forkScoped(Looping.loop(ledger, feed.service, task.share))
      // Until confirmations are old enough to be asserted, and everything is compiled.
      yield* Effect.sleep("2 hours")
      const before = { heap: heap(), cpu: cpu(), requests: requests.length }
      yield* Effect.sleep("1 hour")
      const seconds = cpu() - before.cpu
      return { requests: requests.length - before.requests, seconds, growth: heap() - before.heap, memory: process.memoryUsage().rss }
    }).pipe(Effect.provide(layer), Effect.scoped, SimulatedTime.run)
  }).pipe(Effect.scoped)

// The process that asks is ours and asks by this type.
answering((question) => Effect.runPromise(idle(question as Task)))
