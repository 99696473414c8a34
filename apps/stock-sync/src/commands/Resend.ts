/** `resend`: makes named products due whatever the service confirmed. Sends nothing itself, and works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import { quoted } from "@plaza/tabular/Quoted"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "../ledger/Ledger.ts"
import * as UnknownProduct from "./UnknownProduct.ts"

/** Some of the named products can't be sent again now. */
export class NotResent extends Data.TaggedError("NotResent")<{
  readonly products: ReadonlyArray<string>
  readonly message: string
}> {}

export const run = Effect.fnUntraced(function*(products: ReadonlyArray<string>) {
  const output = yield* Output
  const ledger = yield* Ledger
  const resent = yield* ledger.resend(products)
  yield* output.one({ due: resent }, [["due", resent.length]])
  const due: ReadonlySet<string> = new Set(resent)
  const others = products.filter((product) => !due.has(product))
  if (others.length === 0) return
  const found = yield* Effect.forEach(others, (product) => Effect.map(ledger.product(product), (status) => [product, status] as const))
  const unknown = found.flatMap(([product, status]) => Option.isNone(status) ? [product] : [])
  if (unknown.length > 0) return yield* UnknownProduct.failure(unknown)
  return yield* new NotResent({
    products: others,
    message: found.flatMap(([product, status]) =>
      Option.isNone(status)
        ? []
        : [`${quoted(product)} is ${status.value.listing === "excluded" ? "excluded by a rule" : "being sent"}`]
    ).join("; ")
  })
})
