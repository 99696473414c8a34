/**
 * Imports by the built program: from standard input, with their statuses and words, and with a bar at a terminal.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Duration, Effect, Fiber, FileSystem, Layer } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { expect } from "vitest"
import { home, ordersOf, stockOf, write } from "./support/Importing.ts"
import { dist, environment, finished, noProfiles, plazaWith, start } from "./support/Plaza.ts"
import * as Terminal from "./support/Terminal.ts"

const ids = Array.from({ length: 300 }, (_, number) => `P-${number}`)
const services = Layer.merge(
  Sandbox.layerServer({
    assumptions: { rateWindow: Duration.seconds(1), maxFileBytes: 1_000 },
    fixtures: { products: ids.map((id) => ({ id })), orders: ids.map((id) => ({ id })) }
  }),
  NodeFileSystem.layer
)
const quick = { PLAZA_RATE_WINDOW: "1 second" }

/** Runs `plaza` in a line of a shell. */
const shell = (line: string, env: Readonly<Record<string, string>>, cwd?: string) =>
  Effect.scoped(Effect.flatMap(environment, (account) =>
    Effect.flatMap(
      Effect.acquireRelease(
        Effect.sync(() =>
          spawn("bash", ["--norc", "-c", `plaza() { "${process.execPath}" "${dist}/plaza.cjs" "$@"; }\n${line}`], {
            cwd,
            env: { PATH: process.env["PATH"], XDG_CONFIG_HOME: noProfiles, ...account, ...env }
          })
        ),
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      ),
      finished
    )))

layer(services, { excludeTestServices: true })("plaza import", (it) => {
  it.effect("reads standard input in any format", () =>
    Effect.gen(function*() {
      const env = { ...quick, XDG_STATE_HOME: yield* home }
      const run = (stdin: string, ...options: ReadonlyArray<string>) => plazaWith(["stock", "import", "-", ...options], { env, stdin })
      const done = { code: 0, stdout: "2 of 2 rows sent.\n", stderr: "" }
      expect(yield* run("stock|productId\n1|P-0\n2|P-1\n", "--delimiter", "|")).toEqual(done)
      expect(yield* run(`[{"productId":"P-0","stock":3},{"productId":"P-1","stock":4}]`, "--format", "json")).toEqual(done)
      expect(yield* run(`{"productId":"P-0","stock":5}\n{"productId":"P-1","stock":6}\n`, "--format=ndjson", "--concurrency", "1")).toEqual(
        done
      )
    }))

  it.effect("against a sandbox keeps its report, and names none that goes with the sandbox", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* home
      const file = yield* write(cwd, "stock.csv", stockOf([["unknown", 1]]))
      const sandboxed = (...argv: ReadonlyArray<string>) =>
        Effect.map(shell(`plaza stock import ${argv.join(" ")} --sandbox --json`, { PLAZA_BASE_URL: "", PLAZA_API_KEY: "" }, cwd),
          ({ stderr }) => /"report":(?:"([^"]*)"|null)/.exec(stderr)?.[1])
      for (const argv of [[file], ["-", "<", file]]) {
        const report = yield* sandboxed(...argv)
        expect(report).toBe(`${cwd}/stock.failed.csv`)
        expect(yield* fs.readFileString(report ?? "")).toContain("NOT_FOUND")
        yield* fs.remove(report ?? "")
      }
      yield* fs.writeFileString(`${cwd}/stock.failed.csv`, "no report")
      expect(yield* sandboxed(file)).toBeUndefined()
    }))

  it.effect("reads a pipe like a file", () =>
    Effect.gen(function*() {
      const env = { ...quick, XDG_STATE_HOME: yield* home }
      const done = { code: 0, stdout: "1 of 1 row sent.\n", stderr: "" }
      const row = (stock: number) => `printf 'productId,stock\\nP-0,${stock}\\n'`
      for (const file of [`<(${row(1)})`, `/dev/fd/7 7< <(${row(2)})`, `/dev/stdin < <(${row(3)})`, `- < <(${row(4)})`]) {
        expect(yield* shell(`plaza stock import ${file}`, env)).toEqual(done)
      }
      // A child of Node has a socket as standard input.
      expect(yield* plazaWith(["stock", "import", "/dev/stdin"], { env, stdin: "productId,stock\nP-0,5\n" })).toEqual(done)
      const upload = yield* shell(`plaza media upload <(printf abc) <(printf defg)`, env)
      expect(upload).toMatchObject({ code: 0, stderr: "", stdout: expect.stringMatching(/^(media-\d+\t\/dev\/fd\/\d+\n){2}$/) as unknown })
      const key = (yield* environment).PLAZA_API_KEY
      expect(yield* shell(`env -u PLAZA_API_KEY PLAZA_API_KEY_FILE=<(echo ${key}) "${process.execPath}" "${dist}/plaza.cjs" me -j`, env))
        .toMatchObject(
          { code: 0, stderr: "" }
        )
    }))

  it.effect("that waits for a pipe ends at a signal", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const state = yield* home
      execFileSync("mkfifo", [`${state}/pipe`])
      const child = yield* start(["stock", "import", `${state}/pipe`], { env: { ...(yield* environment), XDG_STATE_HOME: state } })
      const end = yield* Effect.forkChild(finished(child))
      // Opened as soon as the program has opened the other end.
      yield* fs.open(`${state}/pipe`, { flag: "a" })
      child.kill("SIGTERM")
      expect(yield* Fiber.join(end)).toMatchObject({ code: 143, stdout: "" })
    }))

  it.effect("in a folder that is gone reads a file by its whole path, and tells what is missing of another one", () =>
    Effect.gen(function*() {
      const state = yield* home
      const env = { ...quick, XDG_STATE_HOME: state }
      const file = yield* write(state, "stock.csv", stockOf([["P-0", 1], ["gone", 1]]))
      const inNoFolder = (command: string) => shell(`mkdir gone && cd gone && rmdir ../gone && ${command}`, env, state)
      const whole = yield* inNoFolder(`plaza stock import ${file} --json`)
      expect(JSON.parse(whole.stdout)).toMatchObject({ sent: 1, failed: 1, report: `${state}/stock.failed.csv` })
      expect(yield* inNoFolder(`plaza stock import stock.csv`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("plaza: stock.csv does not exist: check the path") as unknown
      })
      expect(yield* inNoFolder(`plaza stock import ${file} --report failed.csv`)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(
          "plaza: --report can't be written to failed.csv: no such file or directory; use another file"
        ) as unknown
      })
      expect(yield* shell(`plaza stock import ${file}`, { ...env, XDG_STATE_HOME: "", HOME: "relative" })).toMatchObject({
        code: 2,
        stderr: "plaza: this user has no home folder: set HOME or XDG_STATE_HOME to a folder\n"
      })
    }))

  it.effect("ends with 2 for wrong words and wrong files, and nothing is sent", () =>
    Effect.gen(function*() {
      const env = { XDG_STATE_HOME: yield* home }
      const cases = [
        [["--format", "xml"], `plaza: --format must be one of csv, json, ndjson, xlsx, not "xml"\n`],
        [["--delimiter", "||"], `plaza: --delimiter must be one character or tab, not "||"\n`],
        [["--concurrency", "0"], `plaza: --concurrency must be a whole number of at least 1, not "0"\n`],
        [
          ["--format", "json"],
          "plaza: standard input: it starts with neither [ nor {: this is not a JSON document with rows; no row of it was used\n"
        ],
        [
          [],
          `standard input, line 2: stock "x" is not a number\nplaza: standard input can't be imported: its only row is invalid; nothing was sent\n  Correct the listed rows and run the command again.\n`
        ]
      ] as const
      for (const [options, stderr] of cases) {
        expect(yield* plazaWith(["stock", "import", "-", ...options], { env, stdin: "productId,stock\nP-0,x\n" })).toEqual({
          code: 2,
          stdout: "",
          stderr
        })
      }
      expect(yield* plazaWith(["orders", "import", "no/such.csv"], { env })).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: no/such.csv does not exist: check the path\n"
      })
    }))

  it.effect("ends with the status of the worst row, and says where the rows are that failed", () =>
    Effect.gen(function*() {
      const state = yield* home
      const env = { ...quick, XDG_STATE_HOME: state }
      const file = yield* write(state, "orders.csv", ordersOf(["P-0", "gone", "P-1"]))
      const text = yield* plazaWith(["orders", "import", file, "--report", `${state}/failed.csv`], { env })
      expect(text).toEqual({
        code: 3,
        stdout: "2 of 3 rows sent, 1 failed.\n",
        stderr:
          `plaza: 1 row of 3 failed: line 3: there is no order "gone", or this account can't see it\n  The failed rows and their reasons are in ${state}/failed.csv. Correct and import that file, or run the same command again to retry them.\n`
      })
      const json = yield* plazaWith(["orders", "import", file, "--json"], { env })
      expect(json.code).toBe(3)
      expect(JSON.parse(json.stdout)).toMatchObject({ rows: 3, inPlace: 2, failed: 1 })
      expect(JSON.parse(json.stderr)).toMatchObject({ error: { tag: "RowsFailed", code: null, details: { rows: 3, failed: 1, left: 0 } } })
    }))

  it.effect("ends with 6 where a quota is used up, and tells when to go on", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(ids.map((id) => [id, 1])))
      yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "43200", method: "PATCH", times: 1_000 })
      const { code, stderr, stdout } = yield* plazaWith(["stock", "import", file], { env: { ...quick, XDG_STATE_HOME: state } })
      yield* clearFaults
      expect({ code, stdout }).toEqual({ code: 6, stdout: "0 of 300 rows sent, 300 not attempted.\n" })
      expect(stderr).toContain("0 of 300 rows are in place. Run the same command again to continue.")
      expect(stderr).toMatch(/Run the command again in 12 hours, at \d{4}-\d\d-\d\dT/)
    }))

  it.effect("ends with 4 after a handful of rows where the store refuses every one", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults, requests } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(ids.map((id) => [id, 1])))
      const before = (yield* requests).length
      yield* addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", method: "PATCH", times: 1_000 })
      const { code, stderr, stdout } = yield* plazaWith(["stock", "import", file, "--concurrency", "4"], {
        env: { ...quick, XDG_STATE_HOME: state }
      })
      yield* clearFaults
      expect({ code, stdout }).toEqual({ code: 4, stdout: "0 of 300 rows sent, 300 not attempted.\n" })
      expect(stderr).toContain("0 of 300 rows are in place. Run the same command again to continue.")
      expect((yield* requests).length - before).toBeLessThanOrEqual(12)
    }))

  it.effect("shows at a terminal how fast it goes, how long it takes and what failed, and leaves nothing of it", () =>
    Effect.gen(function*() {
      const state = yield* home
      const env = { ...(yield* environment), ...quick, XDG_STATE_HOME: state }
      const file = yield* write(state, "stock.csv", stockOf([["gone", 1] as const, ...ids.map((id) => [id, 1] as const)]))
      const terminal = yield* Terminal.open(["stock", "import", file], { env, columns: 100 })
      yield* terminal.shows(/^Importing stock █*░+ \d+ of 301 · \d+ per minute · \d s left · 1 failed$/m)
      const { code, screen } = yield* terminal.ended
      expect(code).toBe(3)
      expect(screen).toMatch(/^300 of 301 rows sent, 1 failed\.\nplaza: 1 row of 301 failed: line 2: /)
    }))

  it.effect("of files shows one bar for all of them beside the results, and tells what failed at the end", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "after", millis: 1_500, method: "POST", path: "/media" })
      const [a, b, large] = [
        yield* write(state, "a.png", "a"),
        yield* write(state, "b.png", "b"),
        yield* write(state, "large.png", "x".repeat(2_000))
      ]
      const terminal = yield* Terminal.open(["media", "upload", a, b, large], { env: yield* environment, columns: 160 })
      yield* terminal.shows(/^Uploading 3 files █+░* .+ of 2\.0 kB.*$/m)
      const { code, screen } = yield* terminal.ended
      expect(code).toBe(2)
      expect(screen).not.toContain("Uploading")
      expect(screen.match(/\/(a|b)\.png/g)?.length).toBeGreaterThanOrEqual(2)
      expect(screen).toContain("large.png was not uploaded.")
    }))
})
