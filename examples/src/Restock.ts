/** The program with Effect that README.md shows. */
import { Plaza, Store } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { ProductId } from "@plaza/domain"
import { Effect, Layer } from "effect"

const setStock = Effect.flatMap(Store, (store) => store.setStock(ProductId.make("MUG-BLUE-350"), 12))

// Reads PLAZA_BASE_URL and PLAZA_API_KEY. The type has every failure that can occur.
export const restock = Effect.provide(setStock, Layer.provide(Plaza.layerConfig, NodeClient.layer))
