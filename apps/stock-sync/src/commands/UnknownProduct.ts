/** Products that the command line names and the ledger does not have. */
import { quoted } from "@plaza/tabular/Quoted"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { Ledger } from "../ledger/Ledger.ts"

export class UnknownProduct extends Data.TaggedError("UnknownProduct")<{
  readonly products: ReadonlyArray<string>
  readonly message: string
}> {}

/** Fails if the ledger does not have one of these products. Reads the whole ledger, so it is for products of which nothing else is known. */
export const check = Effect.fnUntraced(function*(products: ReadonlyArray<string>) {
  const ledger = yield* Ledger
  const unknown = new Set(products)
  yield* ledger.all.pipe(
    Stream.takeUntil(({ productId }) => unknown.delete(productId) && unknown.size === 0),
    Stream.runDrain
  )
  if (unknown.size === 0) return
  return yield* new UnknownProduct({
    products: [...unknown],
    message: `the ledger ${ledger.path} has no product ${[...unknown].map(quoted).join(", ")}; \`export\` lists its products`
  })
})
