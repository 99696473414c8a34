/** Which command lines of `plaza mcp` offer no write by mistake. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { plaza } from "../support/InProcess.ts"

const env = { XDG_STATE_HOME: "/dev/null/state", PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1", PLAZA_API_KEY: `key_${"0".repeat(40)}` }

it.effect("a list of writes without a name is refused, and does not offer every write", () =>
  Effect.gen(function*() {
    for (const words of [[""], [","], [",,"], ["", ","], [" "], [" , "]]) {
      for (
        const argv of [["mcp", "--allow-writes", ...words], ["mcp", ...words, "--allow-writes"], ["mcp", "--allow-writes", "--", ...words]]
      ) {
        const { code, stderr, stdout } = yield* plaza(argv, env)
        expect([argv, code, stdout]).toEqual([argv, 2, ""])
        expect(stderr).toMatch(/^plaza: "[ ,]*" (names no write|is not a write): [^.]*\n$/)
      }
    }
  }))
