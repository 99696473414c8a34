/** `confirm`: lets the next read accept a held snapshot. Works beside a running worker. */
import { Output } from "@plaza-legacy/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as HeldSnapshots from "../ledger/HeldSnapshots.ts"
import { Ledger } from "../ledger/Ledger.ts"

/** `otherwise` says when a snapshot is accepted without a running worker. */
export const run = (number: number, otherwise = "otherwise the next `once`, ") =>
  Effect.gen(function*() {
    const output = yield* Output
    const ledger = yield* Ledger
    const { figures } = yield* ledger.confirmHeld(number)
    yield* output.done(
      { confirmed: number, ...figures },
      `snapshot ${number} is confirmed (${HeldSnapshots.describe(figures)}). A running worker accepts it at its next read, ` +
        `${otherwise}unless the source has further implausible changes by then.`
    )
  })
