/** Every invalid command line that can be derived from the commands: one sentence and exit code 2. */
import { it } from "@effect/vitest"
import * as InvalidCommandLines from "@plaza-legacy/testing/InvalidCommandLines"
import { Effect } from "effect"
import { expect } from "vitest"
import { manual } from "../src/manual.ts"
import { run } from "./support/command.ts"

it.effect("an invalid command line is reported in one sentence", () =>
  Effect.gen(function*() {
    const cases = InvalidCommandLines.all(manual.page)
    expect(cases.length).toBeGreaterThan(500)
    const complaints: Array<unknown> = []
    for (const line of cases) {
      const { status, stderr, stdout } = yield* run(line.argv, {})
      const complaint = InvalidCommandLines.complaintOf("plaza-stock-sync", line, { code: status, stderr, stdout })
      if (complaint !== undefined) complaints.push({ argv: line.argv.join(" ").slice(0, 150), complaint, stderr: stderr.slice(0, 300) })
    }
    expect(complaints).toEqual([])
  }), 60_000)
