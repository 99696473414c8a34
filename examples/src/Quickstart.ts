/**
 * A whole program: settings from the environment, HTTP from Node. `Effect.runPromise(quickstart)` runs it.
 */
import { Plaza, Store } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { ProductId } from "@plaza/domain"
import { Effect, Layer } from "effect"

const restock = Effect.flatMap(Store, (store) => store.setStock(ProductId.make("MUG-BLUE-350"), 12))

// Reads PLAZA_BASE_URL and PLAZA_API_KEY. The type has every failure that can occur.
export const quickstart = Effect.provide(restock, Layer.provide(Plaza.layerConfig, NodeClient.layer))
