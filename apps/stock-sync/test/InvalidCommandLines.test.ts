/** Every invalid command line that can be derived from the commands: one sentence and exit code 2. */
import { it } from "@effect/vitest"
import * as InvalidCommandLines from "@plaza/testing/InvalidCommandLines"
import { Effect } from "effect"
import { expect } from "vitest"
import { pages } from "../src/manual.ts"
import { run } from "./support/command.ts"

it.live("an invalid command line is reported in one sentence", () =>
  Effect.gen(function*() {
    const cases = InvalidCommandLines.all(pages, { SNAPSHOT: "1" }).filter(({ argv, hasInvalidValue }) =>
      // The values of settings are read after the command line, and by the fleet's own program.
      (hasInvalidValue !== true || argv[0] === "history" || argv[0] === "confirm") &&
      // These may be given several times.
      !["--accept-partial", "--unset"].some((flag) => argv.filter((word) => word === flag).length > 1)
    )
    expect(cases.length).toBeGreaterThan(500)
    const complaints: Array<unknown> = []
    for (const line of cases) {
      const { status, stderr, stdout } = yield* run(line.argv, {})
      const complaint = InvalidCommandLines.complaintOf("plaza-stock-sync", line, { code: status, stderr, stdout })
      if (complaint !== undefined) complaints.push({ argv: line.argv.join(" ").slice(0, 150), complaint, stderr: stderr.slice(0, 300) })
    }
    expect(complaints).toEqual([])
  }), 60_000)
