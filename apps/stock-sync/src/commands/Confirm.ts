/** `confirm`: has a held snapshot taken that somebody has looked at. Works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { forReading } from "../config/LedgerSettings.js"
import * as ApplySnapshot from "../ledger/ApplySnapshot.js"
import { Ledger } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"

export interface Options {
  readonly ledger: string
  readonly number: number
}

export const run = ({ ledger: place, number }: Options) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const { figures } = yield* ledger.confirmHeld(number)
    yield* output.done(
      { confirmed: number, ...figures },
      `snapshot ${number} is confirmed (${
        ApplySnapshot.heldText(figures)
      }): a running worker takes it within seconds, \`once\` when it runs next, if the ` +
        "source still has no other implausible changes."
    )
  }).pipe(Effect.provide(OpenLedger.layerBeside(place, forReading)))
