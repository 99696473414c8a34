/** `retry`: makes quarantined products, or named uncertain ones, due at once. Sends nothing itself, and works beside a running worker. */
import { Output } from "@plaza-legacy/cli-kit/Output"
import { quoted } from "@plaza-legacy/tabular/Quoted"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "../ledger/Ledger.ts"

/** Some of the named products are neither quarantined nor uncertain, or the ledger does not contain them. */
export class NotQuarantined extends Data.TaggedError("NotQuarantined")<{
  readonly products: ReadonlyArray<string>
  readonly message: string
}> {}

/** Releases the named products; all quarantined ones if none is named. */
export const run = (products: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const released = yield* ledger.release(products.length === 0 ? Option.none() : Option.some(products))
    yield* output.one({ released }, [["released", released.length]])
    const found: ReadonlySet<string> = new Set(released)
    const missing = products.filter((product) => !found.has(product))
    if (missing.length > 0) {
      return yield* new NotQuarantined({
        products: missing,
        message: `${missing.map(quoted).join(", ")} ${
          missing.length === 1 ? "is" : "are"
        } neither quarantined nor uncertain; \`status\` lists those that are`
      })
    }
  })
