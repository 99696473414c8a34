/** A key that was typed in place of another word: no failure repeats it. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { run } from "./support/command.ts"

const secret = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz34"
const opaque = "opaque-service-token-without-the-form"

it.live("a key among the arguments is masked in every failure", () =>
  Effect.gen(function*() {
    for (const key of [`key_${secret}`, opaque]) {
      for (
        const line of [
          [key],
          ["once", key],
          ["once", `--json=${key}`],
          ["confirm", key],
          ["history", "--limit", key],
          ["fleet", key]
        ]
      ) {
        for (const argv of [line, [...line, "--json"]]) {
          const { status, stderr, stdout } = yield* run(argv, {
            PLAZA_API_KEY: opaque,
            PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1",
            XDG_STATE_HOME: "/nowhere"
          })
          expect([argv, status === 0, `${stdout}${stderr}`.includes(key.slice(0, 20)), stderr]).toEqual([argv, false, false, stderr])
        }
      }
    }
  }), 60_000)
