/**
 * The client of one SQLite connection, which is given out at once unless a transaction holds it. The driver's own queues
 * for it every time, which costs each statement a turn of the scheduler. Knows nothing of tables.
 *
 * @since 0.1.0
 */
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Statement from "@effect/sql/Statement"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const make = (filename: string) =>
  Effect.gen(function*() {
    const driver = yield* SqliteClient.make({ filename })
    // Kept to the end, so that it is given out here alone.
    const connection = yield* driver.reserve
    const queue = yield* Effect.makeSemaphore(1)
    let isHeld = false
    const given = Effect.succeed(connection)
    const awaited = queue.withPermits(1)(given)
    return yield* SqlClient.make({
      acquirer: Effect.suspend(() => isHeld ? awaited : given),
      transactionAcquirer: Effect.as(
        Effect.acquireRelease(
          Effect.map(Effect.interruptible(queue.take(1)), () => {
            isHeld = true
          }),
          () =>
            Effect.suspend(() => {
              isHeld = false
              return queue.release(1)
            })
        ),
        connection
      ),
      compiler: Statement.makeCompilerSqlite(),
      spanAttributes: []
    })
  })

/**
 * Opens a file, or `:memory:`. The driver throws when it can't.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (filename: string): Layer.Layer<SqlClient.SqlClient> =>
  Layer.scoped(SqlClient.SqlClient, Effect.orDie(make(filename))).pipe(Layer.provide(Reactivity.layer))
