/** What `plaza completions` does. */
import { Program } from "@plaza/cli-kit/CommandLine"
import * as Completions from "@plaza/cli-kit/Completions"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"

export const print = Effect.fnUntraced(function*({ shell }: { readonly shell: Completions.Shell }) {
  const { command, pages } = yield* Program
  const output = yield* Output
  const script = Completions.script(command, yield* pages, shell)
  yield* output.json ? output.value({ shell, script }) : output.text(script.trimEnd())
})
