/** `confirm`: lets the next read accept a held snapshot. Works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as HeldSnapshots from "../ledger/HeldSnapshots.js"
import { Ledger } from "../ledger/Ledger.js"

export const run = (number: number) =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const { figures } = yield* ledger.confirmHeld(number)
    yield* output.done(
      { confirmed: number, ...figures },
      `snapshot ${number} is confirmed (${HeldSnapshots.describe(figures)}). A running worker accepts it within seconds, ` +
        "otherwise the next `once`, unless the source has further implausible changes by then."
    )
  })
