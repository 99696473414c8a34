/** `confirm`: lets the next read accept a held snapshot. Works beside a running worker. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { Ledger } from "../ledger/Ledger.ts"
import * as Judge from "../ledger/snapshot/Judge.ts"

export const run = Effect.fnUntraced(function*(number: number) {
  const output = yield* Output
  const ledger = yield* Ledger
  const { figures } = yield* ledger.confirmHeld(number)
  yield* output.done(
    { confirmed: number, ...figures },
    `snapshot ${number} is confirmed (${Judge.describe(figures)}). A running worker accepts it at its next read, ` +
      "otherwise the next `once`, unless the source has further implausible changes by then."
  )
})
