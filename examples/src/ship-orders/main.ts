/** Ships the orders of a CSV file, and prints what is not confirmed. Reads `PLAZA_BASE_URL` and `PLAZA_API_KEY`. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Plaza } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Sqlite from "@plaza/client/sqlite"
import { Config, Console, Effect, FileSystem, Layer } from "effect"
import * as ShipOrders from "./ShipOrders.ts"

const program = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const file = yield* Config.String("SHIPMENTS").pipe(Config.withDefault("shipments.csv"))
  const { changed, entries } = yield* ShipOrders.shipFile(yield* fs.readFileString(file))
  const shipped = entries.filter(({ state }) => state === "shipped")
  yield* Console.log(`shipped: ${shipped.length} of ${entries.length}`)
  yield* Effect.forEach(entries.filter((entry) => !shipped.includes(entry)),
    ({ detail, orderId, state }) =>
      Console.log(`${orderId}: ${state === "sending" ? "unknown, run the program again" : state} (${detail})`))
  yield* Effect.forEach(changed, (orderId) => Console.log(`${orderId}: the row has changed after the shipment`))
})

const live = Layer.mergeAll(
  Layer.provide(Plaza.layerConfig, NodeClient.layer),
  Layer.provide(
    ShipOrders.Journal.layer,
    Sqlite.layerConfig({ filename: Config.String("JOURNAL").pipe(Config.withDefault("shipments.sqlite")) })
  ),
  NodeServices.layer
)

program.pipe(Effect.provide(live), NodeRuntime.runMain)
