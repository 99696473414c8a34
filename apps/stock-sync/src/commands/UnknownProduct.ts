/** Products that the command line names and the ledger does not have. */
import { quoted } from "@plaza/tabular/Quoted"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "../ledger/Ledger.ts"

export class UnknownProduct extends Data.TaggedError("UnknownProduct")<{
  readonly products: ReadonlyArray<string>
  readonly message: string
}> {}

export const failure = (products: ReadonlyArray<string>): Effect.Effect<never, UnknownProduct, Ledger> =>
  Effect.flatMap(Ledger, ({ path }) =>
    new UnknownProduct({
      products,
      message: `the ledger ${path} has no product ${products.map(quoted).join(", ")}; \`export\` lists its products`
    }))

/** Fails if the ledger does not have one of these products. */
export const check = Effect.fnUntraced(function*(products: ReadonlyArray<string>) {
  const ledger = yield* Ledger
  const unknown = yield* Effect.filter(products, (product) => Effect.map(ledger.product(product), Option.isNone))
  if (unknown.length > 0) return yield* failure(unknown)
})
