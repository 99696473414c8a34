/** A key that was typed in place of another word: no failure repeats it. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { expect } from "vitest"
import { plaza } from "./support/InProcess.ts"

const secret = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz34"
// Of the documented form; with a longer secret; and the key in use, of another form.
const documented = [`key_${secret}`, `plz_${secret}${secret}wxyz`]
const opaque = "opaque-service-token-without-the-form"
// Nothing listens there.
const env = {
  XDG_CONFIG_HOME: "/dev/null/config",
  XDG_STATE_HOME: "/dev/null/state",
  PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1",
  PLAZA_API_KEY: opaque,
  PLAZA_TIMEOUT: "100 millis"
}

const linesWith = (key: string): ReadonlyArray<ReadonlyArray<string>> => [
  ["auth", "login", key],
  ["me", key],
  ["me", "--profile", key],
  ["me", `--profile=${key}`],
  ["me", "-p", key],
  ["me", "--json", "--fields", key],
  ["auth", "use", key],
  ["auth", "login", "--base-url", key],
  [key],
  ["help", key],
  [`--${key}`],
  ["me", `--json=${key}`],
  ["stock", "set", "A", key],
  ["stock", "import", key],
  ["stock", "import", "a.csv", "--delimiter", key],
  ["stock", "import", "a.csv", "--format", key],
  ["posts", "list", "--limit", key],
  ["posts", "create", "--media", key],
  ["media", "upload", key],
  ["media", "upload", `${key}.png`],
  ["stories", "create", "--input", key],
  ["api", key, "/me"],
  ["api", "GET", "/me", "--field", key],
  ["api", "GET", "/me", "--header", key],
  ["api", "POST", "/me", "--field", `a:=${key}`],
  ["schema", key],
  ["mcp", "--allow-writes", key],
  ["mcp", key],
  ["completions", key],
  ["version", key],
  ["sandbox", "start", "--port", key],
  ["sandbox", "start", "--freeze-at", key],
  ["sandbox", "faults", "add", key],
  ["verify", "--report", `${key}/x/y`]
]

/** The longest part of the key that a text contains. */
const shownOf = (text: string, key: string): number => {
  let longest = 0
  for (let from = 0; from < key.length; from++) {
    while (from + longest < key.length && text.includes(key.slice(from, from + longest + 1))) longest++
  }
  return longest
}

it.live("a key among the arguments is masked in every failure, as text and as JSON", () =>
  Effect.gen(function*() {
    const leaks: Array<unknown> = []
    for (const key of [...documented, opaque]) {
      for (const line of linesWith(key)) {
        for (const argv of [line, [...line, "--json"]]) {
          const { code, stderr, stdout } = yield* plaza(argv, { ...env, PLAZA_DEBUG: "1" })
          const shown = shownOf(`${stdout}${stderr}`, key)
          if (code === 0 || shown > 7) leaks.push({ argv, code, shown, stderr: stderr.slice(0, 300) })
        }
      }
    }
    expect(leaks).toEqual([])
  }), 120_000)

it.live("the last four characters of a long key are shown", () =>
  Effect.gen(function*() {
    const { stderr } = yield* plaza(["stock", "set", "A", `key_${secret}`], env)
    expect(stderr).toContain("****Yz34")
  }))

it.effect("a key of a profile is masked where it is known", () =>
  Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(Effect.sync(() => mkdtempSync(`${tmpdir()}/plaza-keys-`)),
      (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })))
    const profile = { baseUrl: "http://127.0.0.1:1/open/v1", apiKey: opaque, account: {} }
    yield* Effect.promise(() => import("node:fs/promises").then((fs) => fs.mkdir(`${folder}/plaza`)))
    writeFileSync(`${folder}/plaza/config.json`, JSON.stringify({ version: 1, default: "a", profiles: { a: profile } }), { mode: 0o600 })
    const { code, stderr } = yield* plaza(["media", "upload", opaque], { XDG_CONFIG_HOME: folder })
    expect([code, stderr]).toEqual([2, "plaza: ****form does not exist: check the path\n"])
  }))
