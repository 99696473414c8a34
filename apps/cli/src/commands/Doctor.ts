/** `plaza doctor`: checks what commands need. */
import * as Command from "@effect/cli/Command"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Effect from "effect/Effect"
import { ChecksFailed } from "../doctor/Check.ts"
import { commonOptions, withOutput } from "./CommonOptions.ts"

export const doctor = Command.make("doctor", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { run } = yield* Effect.promise(() => import("../doctor/Doctor.ts"))
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
        message: `${failed.length === 1 ? "1 check" : `${failed.length} checks`} of ${checks.length} failed: ${failed.join(", ")}`
      })
    }
  }))).pipe(Command.withDescription(describe({
    summary: "Check the configuration and the connection to the service.",
    details: [
      "Checks Node, the profile, the base URL, the API key, the rate limit, the proxy, DNS, TLS, the service, its clock and the account. " +
      "Sends one request, GET /me, and changes nothing. Exits with 1 if a check fails."
    ],
    examples: ["doctor", "doctor --profile shop --json"]
  })))
