/** Every invalid command line that can be derived from the commands: one sentence, exit code 2, and no request. */
import { it } from "@effect/vitest"
import * as InvalidCommandLines from "@plaza/testing/InvalidCommandLines"
import { Effect } from "effect"
import { createServer } from "node:http"
import { expect } from "vitest"
import { pages } from "../src/manual.ts"
import { plaza } from "./support/InProcess.ts"

it.live("an invalid command line is reported in one sentence, and sends nothing", () =>
  Effect.gen(function*() {
    let requests = 0
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((_, response) => {
          requests++
          response.end("{}")
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => server.close())
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const env = { PLAZA_BASE_URL: `http://127.0.0.1:${port}/open/v1`, PLAZA_API_KEY: `key_${"0".repeat(40)}` }
    const cases = InvalidCommandLines.all(pages, { METHOD: "GET", PATH: "/me", COMMAND: "me", WRITE: "createPost" })
    expect(cases.length).toBeGreaterThan(500)
    const complaints: Array<unknown> = []
    for (const line of cases) {
      const ended = yield* plaza(line.argv, env)
      const complaint = InvalidCommandLines.complaintOf("plaza", line, ended)
      if (complaint !== undefined)
        complaints.push({
          argv: line.argv.join(" ").slice(0, 150),
          complaint,
          stderr: ended.stderr.slice(0, 300)
        })
    }
    expect(complaints).toEqual([])
    expect(requests).toBe(0)
  }), 60_000)
