/** Sends the stock of the database `DATABASE_URL`. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. */
import { NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { Config, Console, Effect, Layer } from "effect"
import { sendStock } from "./StockFromPostgres.ts"

const live = Layer.merge(
  Layer.provide(Plaza.layerConfig, NodeClient.layer),
  PgClient.layerConfig({ url: Config.Redacted("DATABASE_URL") })
)

const program = Effect.flatMap(sendStock, ({ refused, sent }) =>
  Effect.andThen(
    Console.log(`confirmed: ${sent - refused.length} of ${sent}`),
    Effect.forEach(refused, ({ reason, sku }) => Console.log(`${sku}: refused (${reason})`))
  ))

program.pipe(Effect.provide(live), NodeRuntime.runMain)
