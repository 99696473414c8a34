/** Blank values, for example of an unset variable of a shell: a blank argument is refused before a request, a blank variable is unset. */
import { it, layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect } from "effect"
import { expect } from "vitest"
import { pages } from "../src/manual.ts"
import { plaza } from "./support/InProcess.ts"
import { environment, run } from "./support/Plaza.ts"

// A request would fail with another code, because nothing listens there.
const env = { XDG_STATE_HOME: "/dev/null/state", PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1", PLAZA_API_KEY: `key_${"0".repeat(40)}` }

const emptyOf = (option: string) => new RegExp(`^${option} requires a value, but it is empty: remove the option, or give it a value$`)

const lines: ReadonlyArray<readonly [message: RegExp, ...argv: ReadonlyArray<string>]> = [
  [/^carrier must not be empty$/, "orders", "ship", "1", "--carrier", "", "--tracking-number", "1"],
  [/^trackingNumber must not be empty$/, "orders", "ship", "1", "--carrier", "DHL", "--tracking-number", " "],
  [emptyOf("--media"), "posts", "create", "--text", "a", "--media", ""],
  [emptyOf("--media-id"), "posts", "create", "--text", "a", "--media-id="],
  [emptyOf("--field"), "api", "POST", "/me", "--field", ""],
  [emptyOf("--header"), "api", "GET", "/me", "--header", ""],
  [/^the path of a file is empty: name a file$/, "media", "upload", ""],
  [/^--media-id requires the id of an uploaded file: it is empty$/, "posts", "create", "--text", "a", "--media-id", " "],
  [/^--report requires a regular file, not ""$/, "stock", "import", "s.csv", "--report", ""],
  [/^ID must not be empty: see plaza sandbox faults list$/, "sandbox", "faults", "remove", " "],
  [/^NAME must not be empty: see plaza sandbox snapshot list$/, "sandbox", "snapshot", "restore", ""],
  [/^--fields requires names, such as id,text$/, "me", "--json", "--fields", " , "],
  [/^unknown command "plaza ": use one of auth, me, /, ""]
]

it.live("a blank value is refused in one sentence before anything is sent", () =>
  Effect.gen(function*() {
    for (const [message, ...argv] of lines) {
      const { code, stderr, stdout } = yield* plaza(argv, env)
      const text = argv.includes("--json") ? (JSON.parse(stderr) as { readonly error: { readonly message: string } }).error.message : stderr
      expect([argv, code, stdout]).toEqual([argv, 2, ""])
      expect(text.replace(/^plaza: /, "").trim()).toMatch(message)
    }
  }))

const documented = pages[0].sections.flatMap(({ entries, title }) =>
  title === "Environment" ? entries.flatMap(({ name }) => name.split(", ")) : []
)

it("the help names variables", () => {
  expect(documented).toEqual(expect.arrayContaining(["PLAZA_BASE_URL", "PLAZA_TIMEOUT", "HTTPS_PROXY", "NO_COLOR"]))
})

layer(Sandbox.layerServer(), { excludeTestServices: true })("a blank variable counts as not set:", (it) => {
  it.effect.each([...documented, "https_proxy", "http_proxy", "no_proxy", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME"])(
    "%s",
    (name) =>
      Effect.gen(function*() {
        const { [name]: _, ...others }: Readonly<Record<string, string>> = yield* environment
        for (const argv of [["me"], ["posts", "list", "--limit", "0"]]) {
          const [unset, ...blank] = yield* Effect.forEach([undefined, "", " ", "\t"],
            (value) => run(argv, { env: value === undefined ? others : { ...others, [name]: value } }), { concurrency: 2 })
          expect(blank).toEqual(blank.map(() => unset))
        }
      })
  )
})
