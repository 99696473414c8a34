/** What `plaza doctor` does. */
import { Output } from "@plaza/cli-kit/Output"
import { count } from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import { ChecksFailed } from "../doctor/Check.ts"
import * as Doctor from "../doctor/Doctor.ts"
import { connection } from "../Globals.ts"

export const doctor = Effect.fnUntraced(function*(_: object) {
  const output = yield* Output
  const checks = yield* Doctor.run(yield* connection)
  const failed = checks.filter(({ status }) => status === "failed").map(({ name }) => name)
  yield* output.json
    ? output.value({ ok: failed.length === 0, checks })
    : output.table(
      [{ head: "status", whole: true }, { head: "check", whole: true }, { head: "result", overflow: "wrap" }],
      checks.flatMap((
        { message, name, remedy, status }
      ) => [[status, name, message], ...(remedy === null ? [] : [["", "", `-> ${remedy}`]])])
    )
  if (failed.length > 0) {
    return yield* new ChecksFailed({
      message: `${count(failed.length, "check")} of ${checks.length} failed: ${failed.join(", ")}`
    })
  }
})
