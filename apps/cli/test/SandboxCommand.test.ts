/**
 * `plaza sandbox start` from a copy of the built folder alone, with nothing installed beside it.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Latitude } from "@plaza/sandbox"
import { Effect, Fiber, FileSystem, Schedule } from "effect"
import { execFileSync } from "node:child_process"
import { closeSync, constants, cpSync, openSync } from "node:fs"
import { createServer, get, type RequestListener, type Server } from "node:http"
import { expect } from "vitest"
import { dist, finished, run, start, written } from "./support/Plaza.ts"

/** The built folder, copied to an empty one. */
const moved = Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-moved-" })
  cpSync(dist, `${folder}/dist`, { recursive: true })
  return folder
})

const exported = (text: string) => {
  const [, PLAZA_BASE_URL = "", PLAZA_API_KEY = ""] = /^export PLAZA_BASE_URL=(\S+) PLAZA_API_KEY=(\S+)\n$/.exec(text) ?? []
  return { PLAZA_BASE_URL, PLAZA_API_KEY }
}

interface Address {
  readonly baseUrl: string
  readonly controlUrl: string
  readonly webUrl: string
  readonly apiKey: string
}

const isAddress = (value: unknown): value is Address =>
  typeof value === "object" && value !== null && ["baseUrl", "controlUrl", "webUrl", "apiKey"].every((name) => name in value)

/** A server that is no sandbox, and its origin. */
const serverWith = (listener: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() =>
        new Promise<Server>((resolve) => {
          const server = createServer(listener).listen(0, "127.0.0.1", () => resolve(server))
        })
      ),
      (server) => Effect.sync(() => server.close())
    ),
    (server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
    }
  )

layer(NodeFileSystem.layer, { excludeTestServices: true })("plaza sandbox start", (it) => {
  it.effect("ends with 0 when its standard input ends, if it is asked to, and no sooner", () =>
    Effect.gen(function*() {
      const cwd = yield* moved
      const options = { dist: `${cwd}/dist`, cwd }
      const sandbox = yield* start(["sandbox", "start", "--port", "0", "--json", "--exit-with-stdin"], { ...options, stdin: "open" })
      const address: unknown = JSON.parse(yield* written(sandbox, /\n/))
      const end = yield* Effect.forkChild(finished(sandbox))
      const { baseUrl, controlUrl } = address as Address
      const status = yield* Effect.promise(() => fetch(`${controlUrl}/health`).then(({ status }) => status))
      expect([status, end.pollUnsafe()]).toEqual([200, undefined])
      // Commands reach a world by its base URL.
      const made = yield* Effect.promise(() =>
        fetch(`${controlUrl}/worlds`, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })
          .then((response) => response.json() as Promise<Address>)
      )
      expect(yield* run(["--base-url", made.baseUrl, "sandbox", "faults", "add", "outage"], options)).toMatchObject({ code: 0 })
      const faults = (base: string) => run(["--base-url", base, "--json", "sandbox", "faults", "list"], options)
      expect((yield* faults(made.baseUrl)).stdout).toContain("503")
      expect((yield* faults(baseUrl)).stdout).not.toContain("503")
      yield* Effect.sync(() => sandbox.stdin.end())
      expect(yield* Fiber.join(end)).toMatchObject({ code: 0 })
    }), 60_000)

  it.effect("prints what leads to it, serves, and ends well on a signal; its file keeps state and key", () =>
    Effect.gen(function*() {
      const cwd = yield* moved
      const options = { dist: `${cwd}/dist`, cwd }
      const fs = yield* FileSystem.FileSystem
      yield* fs.writeFileString(`${cwd}/shop.yaml`, "generate: { people: 3 }\nproducts: [{ id: MARTINI, stock: 7 }]\n")
      const argv = ["sandbox", "start", "--port", "0", "--data", "shop.sqlite", "--fixtures", "shop.yaml"]

      const first = yield* start(argv, options)
      const env = exported(yield* written(first, /\n/))
      const end = yield* Effect.forkChild(finished(first))
      expect(yield* run(["me"], { ...options, env })).toEqual({ code: 0, stdout: "id\t1001\nusername\tcorner-shop\n", stderr: "" })
      expect(yield* run(["stock", "set", "0042", "77"], { ...options, env })).toMatchObject({ code: 0 })
      yield* Effect.sync(() => first.kill("SIGINT"))
      expect(yield* Fiber.join(end)).toMatchObject({ code: 0, stdout: "" })

      const second = yield* start([...argv, "--json"], options)
      const address: unknown = JSON.parse(yield* written(second, /\n/))
      expect(isAddress(address) ? address.apiKey : undefined).toBe(env.PLAZA_API_KEY)
      const state = yield* Effect.promise(() =>
        fetch(`${isAddress(address) ? address.controlUrl : ""}/state`).then((answer) => answer.text())
      )
      expect(state).toContain(`"stock":77`)
      expect(state).toContain(`"id":"MARTINI"`)
      const page = yield* Effect.promise(() => fetch(isAddress(address) ? address.webUrl : "").then((answer) => answer.text()))
      expect(page).toContain("/settings/developers")
      const secondEnd = yield* Effect.forkChild(finished(second))
      yield* Effect.sync(() => second.kill("SIGTERM"))
      expect(yield* Fiber.join(secondEnd)).toEqual({
        code: 0,
        stdout: "",
        stderr: expect.stringMatching(/Press Ctrl-C to stop it\.\nOpen http:\S+\/ in/) as unknown
      })
    }))

  it.effect("answers what is assumed, unless it is asked for the document only", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" })
      const read = (...argv: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const running = yield* start(["sandbox", "start", "--port", "0", "--quiet", ...argv], { cwd })
          const env = exported(yield* written(running, /\n/))
          return yield* run(["api", "GET", "/store", "--json"], { cwd, env })
        })
      expect(yield* read()).toMatchObject({ code: 0, stdout: expect.stringContaining(`"ownerId":"1001"`) as unknown })
      expect(yield* read("--document-only")).toMatchObject({ code: 3, stdout: "" })
    }))

  it.effect("takes a latitude as a number or as a file of fields, and says what is wrong with one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" })
      yield* fs.writeFileString(`${cwd}/odd.json`, `{"keyPrefix":"sk-live_","listOrder":"oldestFirst"}`)
      yield* fs.writeFileString(`${cwd}/unknown.json`, `{"listLag":700}`)
      yield* fs.writeFileString(`${cwd}/wrong.json`, `{"listOrder":"random"}`)
      yield* fs.writeFileString(`${cwd}/list.json`, `[]`)
      const read = (latitude: string) =>
        Effect.gen(function*() {
          const running = yield* start(["sandbox", "start", "--port", "0", "--quiet", "--latitude", latitude], { cwd })
          const { PLAZA_API_KEY, PLAZA_BASE_URL } = exported(yield* written(running, /\n/))
          const inForce: unknown = yield* Effect.promise(() =>
            fetch(PLAZA_BASE_URL.replace("/open/v1", "/sandbox/latitude")).then((answer) => answer.json())
          )
          return { PLAZA_API_KEY, inForce }
        })
      const set = yield* read("odd.json")
      expect(set.PLAZA_API_KEY).toMatch(/^sk-live_/)
      expect(set.inForce).toEqual({ ...Latitude.defaults, keyPrefix: "sk-live_", listOrder: "oldestFirst" })
      expect((yield* read("42")).inForce).toEqual(Latitude.fromSeed(42))

      const ends = yield* Effect.forEach(["unknown.json", "wrong.json", "list.json", "missing.json", "1.5"],
        (latitude) => run(["sandbox", "start", "--port", "0", "--latitude", latitude], { cwd }))
      for (const { code, stderr, stdout } of ends) {
        expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
        expect(stderr).toMatch(/^plaza: .+\n$/)
      }
      expect(ends.map(({ stderr }) => stderr).join("")).toMatch(
        /unknown\.json.*"listLag" is not one of its fields\n.*wrong\.json.*"listOrder" must be one of newestFirst, oldestFirst, shuffled\n.*list\.json.*\n.*missing\.json can't be read: no such file or directory; .*\n.*1\.5.*\n/
      )
    }))

  it.effect("reset says what is at a URL that leads to no sandbox", () =>
    Effect.gen(function*() {
      const resetAt = (listener: RequestListener) =>
        Effect.gen(function*() {
          const url = yield* serverWith(listener)
          const { code, stderr } = yield* run(["sandbox", "reset", "--base-url", `${url}/open/v1`], {})
          return { code, stderr: stderr.replaceAll(url, "URL") }
        })
      expect(yield* resetAt((_, response) => response.writeHead(404).end("<h1>Not found</h1>"))).toEqual({
        code: 2,
        stderr: "plaza: the server at URL is not a sandbox of this version: check --base-url and PLAZA_BASE_URL\n"
      })
      expect(yield* resetAt((request) => request.socket.destroy())).toEqual({
        code: 7,
        stderr: expect.stringMatching(
          /\n {2}the sandbox at URL did not respond \([A-Z_]+\): start one with plaza sandbox start, /
        ) as unknown
      })
    }))

  it.effect("reads its files from pipes, and can be stopped while it waits for one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" })
      const read = (stdin: string, option: string, path: string) =>
        Effect.gen(function*() {
          const running = yield* start(["sandbox", "start", "--port", "0", "--quiet", option, "/dev/stdin"], { cwd, stdin })
          const { PLAZA_BASE_URL } = exported(yield* written(running, /\n/))
          return yield* Effect.promise(() => fetch(PLAZA_BASE_URL.replace("/open/v1", path)).then((answer) => answer.text()))
        })
      expect(yield* read("products: [{ id: MARTINI, stock: 7 }]\n", "--fixtures", "/sandbox/state")).toContain(`"id":"MARTINI"`)
      for (
        const [option, json] of [["--latitude", `{"keyPrefix":"sk-live_"}`], [
          "--assumptions",
          `{"latitude":{"keyPrefix":"sk-live_"}}`
        ]] as const
      ) {
        expect(yield* read(json, option, "/sandbox/latitude")).toContain(`"keyPrefix":"sk-live_"`)
      }

      execFileSync("mkfifo", [`${cwd}/pipe`])
      for (const option of ["--fixtures", "--latitude", "--assumptions"]) {
        const waiting = yield* start(["sandbox", "start", "--port", "0", option, "pipe"], { cwd })
        const end = yield* Effect.forkChild(finished(waiting))
        // Fails until the program has opened the pipe.
        const writer = yield* Effect.retry(
          Effect.try(() => openSync(`${cwd}/pipe`, constants.O_WRONLY | constants.O_NONBLOCK)),
          Schedule.spaced("20 millis")
        )
        yield* Effect.sync(() => waiting.kill("SIGINT"))
        expect(yield* Fiber.join(end)).toEqual({ code: 0, stdout: "", stderr: "" })
        closeSync(writer)
      }
    }))

  it.effect("freezes its clock, at a time of its own or at a given one", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" })
      const clockOf = (...argv: ReadonlyArray<string>) =>
        Effect.gen(function*() {
          const running = yield* start(["sandbox", "start", "--port", "0", "--json", ...argv], { cwd })
          const address: unknown = JSON.parse(yield* written(running, /\n/))
          return yield* Effect.promise(() =>
            fetch(`${isAddress(address) ? address.controlUrl : ""}/clock`).then((answer) => answer.json() as Promise<unknown>)
          )
        })
      expect(yield* clockOf("--freeze-clock")).toEqual({ now: "2026-01-01T00:00:00.000Z", aheadMillis: 0, frozen: true })
      expect(yield* clockOf("--freeze-at", "2030-05-06T07:08:09+02:00")).toEqual({
        now: "2030-05-06T05:08:09.000Z",
        aheadMillis: 0,
        frozen: true
      })
      for (const time of ["noon", "1969-01-01"]) {
        const wrong = yield* run(["sandbox", "start", "--port", "0", "--freeze-at", time], { cwd })
        expect(wrong).toMatchObject({ code: 2, stdout: "" })
        expect(wrong.stderr).toMatch(/^plaza: .*\n$/)
      }
    }))

  it.effect("listens on the address it is given, and answers for the hosts that are allowed only", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" })
      const running = yield* start([
        "sandbox",
        "start",
        "--port",
        "0",
        "--quiet",
        "--host",
        "0.0.0.0",
        "--allow-host",
        "sandbox",
        "--allow-host",
        "192.168.0.7"
      ], { cwd })
      const env = exported(yield* written(running, /\n/))
      expect(yield* run(["me"], { cwd, env })).toMatchObject({ code: 0 })
      const { port } = new URL(env.PLAZA_BASE_URL)
      const statusFor = (host: string) =>
        Effect.callback<number | undefined>((resume) => {
          get({ host: "127.0.0.1", port, path: "/sandbox/health", headers: { host } }, (response) => {
            response.resume()
            resume(Effect.succeed(response.statusCode))
          })
        })
      expect(yield* Effect.forEach(["sandbox", "192.168.0.7:80", "localhost", "evil.example"], statusFor)).toEqual([200, 200, 200, 403])
      const control = yield* run(["sandbox", "start", "--port", "0", "--control", "everyone"], { cwd })
      expect(control).toMatchObject({ code: 2, stdout: "", stderr: `plaza: --control must be loopback or anyone, not "everyone"\n` })
      const wrong = yield* run(["sandbox", "start", "--port", "0", "--allow-host", "http://sandbox"], { cwd })
      expect(wrong).toMatchObject({ code: 2, stdout: "" })
      expect(wrong.stderr).toMatch(/^plaza: .*"http:\/\/sandbox".*\n$/)
    }))

  it.effect("says what to change when the port is taken, the file is none of its own or a number is none", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-cli-" })
      yield* fs.writeFileString(`${cwd}/notes.txt`, "not a database ".repeat(1_000))
      yield* fs.writeFileString(`${cwd}/misspelt.json`, `{ "maxStok": 1 }`)
      yield* fs.writeFileString(`${cwd}/wrong.json`, `{ "maxStock": "many" }`)
      const running = yield* start(["sandbox", "start", "--port", "0", "--quiet"], { cwd })
      const port = new URL(exported(yield* written(running, /\n/)).PLAZA_BASE_URL).port

      const ends = yield* Effect.forEach(
        [
          ["--port", port],
          ["--port", "0", "--data", "notes.txt"],
          ["--port", "0", "--data", "no/such/folder/x.sqlite"],
          ["--port", "0", "--fixtures", "notes.txt"],
          ["--port", "70000"],
          ["--seed", "one"],
          ["--port", "0", "--assumptions", "misspelt.json"],
          ["--port", "0", "--assumptions", "wrong.json"]
        ],
        (argv) => run(["sandbox", "start", ...argv], { cwd }),
        { concurrency: 2 }
      )
      for (const { code, stderr, stdout } of ends) {
        expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
        expect(stderr).toMatch(/^plaza: .+\n$/)
      }
      expect(ends.map(({ stderr }) => stderr).join("")).toMatch(
        new RegExp(
          `${port}.*\n.*notes\\.txt.*\n.*no/such/folder.*\n.*fixtures notes\\.txt.*\n.*--port.*\n.*--seed.*\n.*"maxStok".*\n.*"maxStock".*\n`
        )
      )
    }))
})
