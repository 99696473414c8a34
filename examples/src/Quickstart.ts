/**
 * A whole program: settings from the environment, HTTP from Node. `Effect.runPromise(quickstart)` runs it.
 */
import { Plaza, Posts, Store } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import { ProductId } from "@plaza/domain"
import { Effect, Layer } from "effect"

const restock = Effect.gen(function*() {
  const store = yield* Store
  const posts = yield* Posts
  const product = yield* store.setStock(ProductId.make("MUG-BLUE-350"), 12)
  const post = yield* posts.create({ text: "The blue mugs are back." })
  return { product, post }
})

// Reads PLAZA_BASE_URL and PLAZA_API_KEY.
export const quickstart = Effect.provide(restock, Layer.provide(Plaza.layerConfig, NodeClient.layer))
