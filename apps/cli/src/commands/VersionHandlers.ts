/** What `plaza version` does. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { version } from "../version.ts"

export const print = Effect.fnUntraced(function*() {
  const output = yield* Output
  yield* output.json ? output.value({ version }) : output.text(version)
})
