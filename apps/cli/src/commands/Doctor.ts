/** `plaza doctor`: finds out why commands fail. */
import * as Command from "@effect/cli/Command"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { ChecksFailed } from "../Doctor/Check.js"
import { flags, withOutput } from "../Flags.js"

export const doctor = Command.make("doctor", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { run } = yield* Effect.promise(() => import("../Doctor.js"))
    const checks = yield* run(flags)
    const failed = checks.filter(({ status }) => status === "failed").map(({ name }) => name)
    const output = yield* Output
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
        message: `${failed.length === 1 ? "one check" : `${failed.length} checks`} of ${checks.length} failed: ${failed.join(", ")}`
      })
    }
  }))).pipe(Command.withDescription(about(
    "Check everything that a command needs: Node, the address, its host name and certificate, the service and its clock, the key and its account. Sends one request and writes nothing.",
    "doctor",
    "doctor --profile shop --json"
  )))
