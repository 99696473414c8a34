/**
 * `plan`: what a pass would send and in which order. Asks nobody, sends nothing, and leaves the ledger as it is. Knows nothing of how
 * the plan is made.
 *
 * @since 0.1.0
 */
import { Output } from "@plaza/terminal/Output"
import * as Effect from "effect/Effect"
import { Ledger, type Terms } from "../Ledger.js"
import * as OpenLedger from "../Ledger/Open.js"
import * as Plan from "../Plan.js"
import * as Show from "../Show.js"
import * as Open from "../Source/Open.js"

/** @since 0.1.0 @category models */
export interface Options extends Open.SourceOptions {
  readonly ledger: string
  readonly terms: Terms
}

/** @since 0.1.0 @category commands */
export const run = (options: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    // On a copy, so what the brake would hold is shown instead.
    const { braked, damage, goneSpared } = yield* ledger.receive(Open.open(options), { ...options.terms, confirmed: true })
    const steps = yield* Plan.collect(ledger.unsettled)
    const counts = yield* ledger.counts
    const asides = yield* Show.asides(ledger)
    if (output.json) {
      return yield* output.value({
        send: steps.length,
        unchanged: counts.settled,
        setAside: asides.length,
        outOfSale: damage,
        braked,
        goneSpared,
        steps: steps.map(Show.stepJson),
        setAsideRows: asides
      })
    }
    yield* output.one({}, [["to send", steps.length], ["unchanged", counts.settled], ["set aside", asides.length]])
    if (goneSpared) yield* output.note(Show.goneSpared)
    if (braked) yield* output.note(`this would take ${Show.damageOf(damage)}: the brake holds it until it is confirmed with --confirm`)
    yield* Show.titled(
      "To send, in this order",
      [{ head: "product" }, { head: "from", align: "right" }, { head: "to", align: "right" }, { head: "why" }],
      steps.map((step) => [step.productId, step.from ?? "?", step.to, Show.why[step.reason]])
    )
    yield* Show.asideTable(asides)
  }).pipe(Effect.provide(OpenLedger.layerCopy(options.ledger)))
