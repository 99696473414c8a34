/** Blank values, for example of an unset variable of a shell: one sentence, exit code 2, and no request. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { plaza } from "./support/InProcess.ts"

// A request would fail with another code, because nothing listens there.
const env = { XDG_STATE_HOME: "/dev/null/state", PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1", PLAZA_API_KEY: `key_${"0".repeat(40)}` }

const lines: ReadonlyArray<readonly [message: RegExp, ...argv: ReadonlyArray<string>]> = [
  [/^carrier must not be empty$/, "orders", "ship", "1", "--carrier", "", "--tracking-number", "1"],
  [/^trackingNumber must not be empty$/, "orders", "ship", "1", "--carrier", "DHL", "--tracking-number", " "],
  [/^--media requires a value, but it is empty: see plaza posts create --help$/, "posts", "create", "--text", "a", "--media", ""],
  [/^--media-id requires a value, but it is empty: see plaza posts create --help$/, "posts", "create", "--text", "a", "--media-id="],
  [/^--field requires a value, but it is empty: see plaza api --help$/, "api", "POST", "/me", "--field", ""],
  [/^--header requires a value, but it is empty: see plaza api --help$/, "api", "GET", "/me", "--header", ""],
  [/^the path of a file is empty: name a file$/, "media", "upload", ""],
  [/^--media-id requires the id of an uploaded file: it is empty$/, "posts", "create", "--text", "a", "--media-id", " "],
  [/^--report requires a file, but "" is none: name a file$/, "stock", "import", "s.csv", "--report", ""]
]

it.live("a blank value is refused in one sentence before anything is sent", () =>
  Effect.gen(function*() {
    for (const [message, ...argv] of lines) {
      const { code, stderr, stdout } = yield* plaza(argv, env)
      expect([argv, code, stdout]).toEqual([argv, 2, ""])
      expect(stderr.replace(/^plaza: /, "").trim()).toMatch(message)
    }
  }))
