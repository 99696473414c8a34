/**
 * How the built program ends: every status of the table, failures on standard error alone, and silence when the reader goes away or a
 * key is pressed.
 */
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { oldestNode } from "@plaza/testing/Nodes"
import * as SwallowedPackets from "@plaza/testing/SwallowedPackets"
import { Effect, Fiber } from "effect"
import { spawn } from "node:child_process"
import { expect } from "vitest"
import { dist, environment, finished, plaza, plazaWith, run, start } from "./support/Plaza.ts"

type Fault = Parameters<Sandbox.Sandbox["Service"]["addFault"]>[0]

const services = Sandbox.layerServer({ assumptions: { requestsPerWindow: 10_000 } })
const inSandbox = <A, E, R>(fault: Fault, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    yield* sandbox.addFault(fault)
    return yield* Effect.ensuring(effect, sandbox.clearFaults)
  })

/** The same failure as a sentence and as JSON. */
const both = (argv: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.all([plazaWith(argv, { env }), plazaWith([...argv, "--json"], { env })], { concurrency: 2 })

const errorOf = (stderr: string): unknown => {
  const parsed: unknown = JSON.parse(stderr)
  return typeof parsed === "object" && parsed !== null && "error" in parsed ? parsed.error : undefined
}

const key = `key_${"x".repeat(40)}`
const order = (id: string) => ["orders", "ship", id, "--carrier", "c", "--tracking-number", "1"]
const status = (status: number, more: Partial<Extract<Fault, { readonly kind: "status" }>> = {}): Fault => ({
  kind: "status",
  when: "before",
  status,
  times: 100,
  ...more
})

layer(services, { excludeTestServices: true })("plaza", (it) => {
  it.effect("ends with 2 for wrong words, wrong values and wrong settings, each with one sentence that names what to change", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [argv: ReadonlyArray<string>, env: Readonly<Record<string, string>>, sentence: string]> = [
        [["psots"], {}, `plaza: unknown command "plaza psots": did you mean plaza posts?`],
        [["stock", "set", "0042", "abc"], {}, `plaza: the stock must be a whole number of at least 0, not "abc"`],
        [["stories", "create", "--input", "no/such.json"], {}, "plaza: no/such.json does not exist: check the path"],
        [["me", "--base-url", "ftp://x"], {}, "plaza: --base-url must begin with http:// or https://"],
        [["me"], { PLAZA_BASE_URL: "host" }, "plaza: PLAZA_BASE_URL must be an address such as https://host/open/v1"],
        [
          ["me"],
          { PLAZA_API_KEY: "key_1 key_2" },
          "plaza: PLAZA_API_KEY is not a key: an API key is one word of printable ASCII characters, without spaces or line breaks"
        ],
        [
          ["me"],
          { PLAZA_LOG_LEVEL: "loud" },
          `plaza: PLAZA_LOG_LEVEL must be one of All, Fatal, Error, Warn, Info, Debug, Trace, None, not "loud"`
        ]
      ]
      const ends = yield* Effect.forEach(cases, ([argv, env]) => both(argv, env))
      for (const [index, [text, json]] of ends.entries()) {
        expect(text).toEqual({ code: 2, stdout: "", stderr: `${cases[index]?.[2]}\n` })
        expect({ code: json.code, stdout: json.stdout }).toEqual({ code: 2, stdout: "" })
        expect(errorOf(json.stderr)).toMatchObject({ code: null, status: null })
      }
    }))

  it.effect("ends with 2 when a variable is missing, and names it", () =>
    Effect.gen(function*() {
      const { PLAZA_BASE_URL } = yield* environment
      expect(yield* run(["me"])).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: no base URL is set: run plaza auth login, set PLAZA_BASE_URL or use --base-url\n"
      })
      expect(yield* run(["me"], { env: { PLAZA_BASE_URL } })).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: no API key is set: run plaza auth login, or set PLAZA_API_KEY or PLAZA_API_KEY_FILE\n"
      })
    }))

  it.effect("lets a flag beat the environment", () =>
    Effect.gen(function*() {
      const { PLAZA_BASE_URL } = yield* environment
      expect(yield* plazaWith(["me", "--base-url", PLAZA_BASE_URL], { env: { PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1" } }))
        .toMatchObject({ code: 0 })
    }))

  it.effect("ends with 2 when the service refuses a value, and names the field", () =>
    Effect.gen(function*() {
      const [text, json] = yield* both(["api", "PATCH", "/store/products/MUG-BLUE-350/stock", "--field", "stock:=-1"])
      expect(text).toMatchObject({ code: 2, stdout: "" })
      expect(text.stderr).toMatch(/^plaza: the service rejects a value\n {2}400 VALIDATION_ERROR: .+ \(field: stock, .+\)\n {2}.+\n$/)
      expect(json.code).toBe(2)
      expect(errorOf(json.stderr)).toMatchObject({
        tag: "ValidationError",
        code: "VALIDATION_ERROR",
        status: 400,
        details: { field: "stock" }
      })
    }))

  it.effect("ends with 3 when the service doesn't find it", () =>
    Effect.gen(function*() {
      const [text, json] = yield* both(["stock", "set", "NO-SUCH", "1"])
      expect(text).toMatchObject({ code: 3, stdout: "" })
      expect(json).toMatchObject({ code: 3, stdout: "" })
      expect(errorOf(json.stderr)).toMatchObject({ tag: "NotFound", code: "NOT_FOUND", status: 404 })
    }))

  it.effect("ends with 4 for a key, a scope, an access, a profile or a permission that is refused", () =>
    Effect.gen(function*() {
      const [text, json] = yield* both(["me"], { PLAZA_API_KEY: key })
      expect(text).toMatchObject({ code: 4, stdout: "" })
      expect(text.stderr).toMatch(/^plaza: the service rejects the API key\n {2}401 INVALID_API_KEY: .+\n {2}.+\n$/)
      expect(`${text.stderr}${json.stderr}`).not.toContain(key)
      expect(errorOf(json.stderr)).toMatchObject({ tag: "InvalidApiKey", code: "INVALID_API_KEY", status: 401 })
      for (const code of ["INSUFFICIENT_SCOPE", "DEVELOPER_ACCESS_REVOKED", "PROFILE_INCOMPLETE", "STORE_BLOCKED"]) {
        expect((yield* inSandbox(status(403, { code }), plaza("stock", "set", "0042", "1"))).code).toBe(4)
      }
    }))

  it.effect("ends with 5 when an order is shipped a second time", () =>
    Effect.gen(function*() {
      const { orders } = yield* Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
      const id = orders[0]?.id ?? ""
      expect((yield* plaza(...order(id))).code).toBe(0)
      const [text, json] = yield* both(order(id))
      expect(text).toMatchObject({ code: 5, stdout: "" })
      expect(errorOf(json.stderr)).toMatchObject({ tag: "Conflict", code: "CONFLICT", status: 409 })
    }))

  it.effect("ends with 6 at once when the service asks to wait longer than anyone would", () =>
    Effect.gen(function*() {
      const [text, json] = yield* inSandbox(status(429, { retryAfter: "86400" }), both(["me"]))
      expect(text).toMatchObject({ code: 6, stdout: "" })
      expect(text.stderr).toMatch(/^plaza: .+\n/)
      expect(json).toMatchObject({ code: 6, stdout: "" })
      expect(errorOf(json.stderr)).toMatchObject({ message: expect.any(String) as unknown })
    }))

  it.effect("ends with 7 when the service has a fault that stays, or can't be reached", () =>
    Effect.gen(function*() {
      const [text, json] = yield* inSandbox(status(500), both(["me"]))
      expect(text).toMatchObject({ code: 7, stdout: "" })
      expect(errorOf(json.stderr)).toMatchObject({ tag: "InternalError", code: "INTERNAL_ERROR", status: 500 })
      const unreachable = yield* plazaWith(["me"], { env: { PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1" } })
      expect(unreachable).toMatchObject({ code: 7, stdout: "" })
      expect(unreachable.stderr).toMatch(
        /^plaza: can't connect to the service.+\n {2}.*127\.0\.0\.1:1.*\n {2}Check the host and port .+\n$/
      )
      expect(yield* run(["sandbox", "reset"], { env: { PLAZA_BASE_URL: "http://127.0.0.1:1/open/v1" } })).toEqual({
        code: 7,
        stdout: "",
        stderr: expect.stringMatching(
          /^plaza: can't connect to the service; nothing was changed\n {2}no sandbox is running at http:\/\/127\.0\.0\.1:1: start one with plaza sandbox start, .+\n {2}.+\n$/
        ) as unknown
      })
    }))

  it.effect("ends with 8 when nobody can know whether a message was sent, and sends it once", () =>
    Effect.gen(function*() {
      const send = ["chat", "send", "conv_301", "--text", "once only"]
      const text = yield* inSandbox({ kind: "drop", when: "after" }, plaza(...send))
      const json = yield* inSandbox({ kind: "drop", when: "after" }, plaza(...send, "--json"))
      expect(text).toMatchObject({ code: 8, stdout: "" })
      expect(errorOf(json.stderr)).toMatchObject({ tag: "OutcomeUnknown" })
      const { messages } = yield* Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
      expect(messages.filter((message) => message.text === "once only").length).toBe(2)
    }))

  it.effect.each([["this", process.execPath], ["the oldest", oldestNode]] as const)(
    "ends with 7, not 8, when the network swallows what %s Node sends",
    ([, node]) =>
      Effect.gen(function*() {
        const env = {
          PLAZA_API_KEY: key,
          PLAZA_BASE_URL: `http://127.0.0.1:${yield* SwallowedPackets.port}/open/v1`,
          PLAZA_TIMEOUT: "200 millis"
        }
        const child = spawn(node, [`${dist}/plaza.cjs`, "chat", "send", "conv_301", "--text", "once only"], { env })
        child.stdin.end()
        const { code, stderr, stdout } = yield* finished(child)
        expect({ code, stdout }).toEqual({ code: 7, stdout: "" })
        expect(stderr).toMatch(/^plaza: can't connect to the service; nothing was changed\n/)
      })
  )

  it.effect("ends with 1 for what is in no other row: a list that goes round", () =>
    Effect.gen(function*() {
      const round = JSON.stringify({ data: [{ id: "conv_1" }], next_cursor: "again" })
      const fault = status(200, { method: "GET", path: "/conversations", body: round, contentType: "application/json" })
      const { code, stderr, stdout } = yield* inSandbox(fault, plaza("chat", "list", "--all", "--json"))
      expect({ code, error: errorOf(stderr) }).toMatchObject({ code: 1, error: { tag: "CursorRepeated" } })
      expect(stdout.split("\n").filter((line) => line !== "").every((line) => line === `{"id":"conv_1"}`)).toBe(true)
    }))

  it.effect.each([["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const)("ends with its status on %s, in silence",
    ([signal, code]) =>
      Effect.gen(function*() {
        const sandbox = yield* Sandbox.Sandbox
        yield* sandbox.addFault({ kind: "delay", when: "before", millis: 20_000, method: "GET", path: "/me" })
        const before = (yield* sandbox.faults)[0]?.hits ?? 0
        const child = yield* start(["me"], { env: yield* environment })
        const end = yield* Effect.forkChild(finished(child))
        // The request has come when the fault has hit it; then the program is in the middle of its work.
        yield* Effect.repeat(Effect.delay(sandbox.faults, "20 millis"), {
          until: (faults) => faults.length === 0 || (faults[0]?.hits ?? 0) > before
        })
        yield* Effect.sync(() => child.kill(signal))
        expect(yield* Fiber.join(end)).toEqual({ code, stdout: "", stderr: "" })
        yield* sandbox.clearFaults
      }))

  it.effect("says of an interrupted write that was sent that it may have been made", () =>
    Effect.gen(function*() {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.addFault({ kind: "delay", when: "after", millis: 20_000, method: "POST", path: "/conversations/conv_301/messages" })
      const child = yield* start(["chat", "send", "conv_301", "--text", "once"], { env: yield* environment })
      const end = yield* Effect.forkChild(finished(child))
      yield* Effect.repeat(Effect.delay(sandbox.faults, "20 millis"), {
        until: (faults) => faults.length === 0 || (faults[0]?.hits ?? 0) > 0
      })
      yield* Effect.sync(() => child.kill("SIGINT"))
      const { code, stderr } = yield* Fiber.join(end)
      expect(code).toBe(130)
      expect(stderr).toMatch(/^plaza: interrupted; the change may have been made\n {2}.+ before you run the command again\.\n$/)
      yield* sandbox.clearFaults
    }))

  it.effect("ends silently and well when its reader has enough", () =>
    Effect.gen(function*() {
      const many = JSON.stringify({
        data: Array.from({ length: 100 }, (_, id) => ({ id: `conv_${id}`, more: "x".repeat(500) })),
        next_cursor: null
      })
      const fault = status(200, { method: "GET", path: "/conversations", body: many, contentType: "application/json" })
      const env = yield* environment
      const shell = spawn("bash", [
        "--noprofile",
        "--norc",
        "-c",
        `set -o pipefail; "${process.execPath}" "${dist}/plaza.cjs" api GET /conversations --paginate | head -n 1`
      ], { env: { PATH: process.env["PATH"], ...env } })
      shell.stdin.end()
      const { code, stderr, stdout } = yield* inSandbox(fault, finished(shell))
      expect({ code, stderr, lines: stdout.split("\n").length }).toEqual({ code: 0, stderr: "", lines: 2 })
    }))

  it.effect.each([
    "--help",
    "--version",
    "help posts",
    "posts create --help",
    "posts",
    "version --json",
    "completions bash",
    "me",
    "me --json",
    "posts list --all",
    "posts list --all --json",
    "users get 1002",
    "sandbox faults list --quiet",
    "api GET /me --include"
  ])("ends silently and well when nobody reads what plaza %s says", (words) =>
    Effect.gen(function*() {
      // The reader is gone before the program begins.
      const line = `set -o pipefail; { sleep 0.1; exec "${process.execPath}" "${dist}/plaza.cjs" ${words}; } | true`
      const shell = spawn("bash", ["--noprofile", "--norc", "-c", line], { env: { PATH: process.env["PATH"], ...yield* environment } })
      shell.stdin.end()
      expect(yield* finished(shell)).toEqual({ code: 0, stdout: "", stderr: "" })
    }))

  it.effect("says why when what it says can't be written, and shows help and version as well as results", () =>
    Effect.gen(function*() {
      for (const words of ["--help", "--version", "me"]) {
        const shell = spawn("bash", ["--noprofile", "--norc", "-c", `"${process.execPath}" "${dist}/plaza.cjs" ${words} > /dev/full`], {
          env: { PATH: process.env["PATH"], ...yield* environment }
        })
        shell.stdin.end()
        expect(yield* finished(shell)).toEqual({
          code: 1,
          stdout: "",
          stderr: expect.stringMatching(/^plaza: the output can't be written: no space left on the device\n$/) as unknown
        })
      }
    }))

  it.effect("says that a change was made when its result can't be written", () =>
    Effect.gen(function*() {
      const words = "posts create --text unprinted > /dev/full"
      const shell = spawn("bash", ["--noprofile", "--norc", "-c", `"${process.execPath}" "${dist}/plaza.cjs" ${words}`], {
        env: { PATH: process.env["PATH"], ...yield* environment }
      })
      shell.stdin.end()
      const { code, stderr } = yield* finished(shell)
      expect(code).toBe(1)
      expect(stderr).toMatch(/^plaza: the output can't be written: no space left on the device; the change was made\n {2}Don't run .+\n$/)
      const { posts } = yield* Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.state)
      expect(posts.filter(({ text }) => text === "unprinted")).toHaveLength(1)
    }))

  it.effect("shows help and version on standard output", () =>
    Effect.gen(function*() {
      const [help, post, version] = yield* Effect.all([run([]), run(["posts", "create", "--help"]), run(["--version"])])
      expect(help).toMatchObject({ code: 0, stderr: "" })
      expect(help.stdout).toContain("Usage: plaza COMMAND")
      expect(post.stdout).toContain("Usage: plaza posts create [OPTION]...")
      expect(version).toMatchObject({ code: 0, stderr: "" })
      expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    }))

  it.effect("logs to standard error when PLAZA_LOG_LEVEL asks for it, and nothing of the key", () =>
    Effect.gen(function*() {
      const { code, stdout } = yield* plazaWith(["me", "--json"], { env: { PLAZA_LOG_LEVEL: "All", PLAZA_DEBUG: "1" } })
      expect({ code, stdout }).toEqual({ code: 0, stdout: `{"id":"1001","username":"corner-shop"}\n` })
      const failed = yield* plazaWith(["users", "get", "0"], { env: { PLAZA_LOG_LEVEL: "All", PLAZA_DEBUG: "1" } })
      expect(failed).toMatchObject({ code: 3, stdout: "" })
    }))
})
