/** What `plaza skills` does. */
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Skills from "../skills/Install.ts"

export const install = Effect.fnUntraced(function*({ folder, force }: { readonly folder: string; readonly force: boolean }) {
  const installed = yield* Skills.install(folder, { force })
  const output = yield* Output
  yield* output.list(
    Stream.fromIterable(installed),
    [{ head: "skill", whole: true }, { head: "file" }],
    ({ file, skill }) => [skill, file],
    { empty: undefined }
  )
})
