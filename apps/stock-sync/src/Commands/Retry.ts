/**
 * `retry`: lets products be sent again that the service refused, once what it refused them for is mended. Sends nothing, and may be used
 * while a pass runs. Knows nothing of how the ledger is kept.
 *
 * @since 0.1.0
 */
import { quoted } from "@plaza/rows/Quoted"
import { Output } from "@plaza/terminal/Output"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Ledger } from "../Ledger.js"
import * as OpenLedger from "../Ledger/Open.js"

/** @since 0.1.0 @category models */
export interface Options {
  readonly ledger: string
  /** None: all that are quarantined. */
  readonly products: ReadonlyArray<string>
}

/**
 * Some of the products that were named are not quarantined, or not known at all.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotQuarantined extends Data.TaggedError("NotQuarantined")<{
  readonly products: ReadonlyArray<string>
  readonly message: string
}> {
  readonly exitCode = 1
}

/** @since 0.1.0 @category commands */
export const run = ({ ledger: place, products }: Options) =>
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
        message: `${missing.map(quoted).join(", ")} ${missing.length === 1 ? "is" : "are"} not quarantined; \`status\` tells what is`
      })
    }
  }).pipe(Effect.provide(OpenLedger.layerBeside(place)))
