/** `plaza verify` as a whole: files, failures and exit codes, in virtual time; and the built program as far as it needs no minutes. */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as Output from "@plaza/cli-kit/Output"
import * as Failures from "@plaza/cli-kit/Report"
import * as Streams from "@plaza/cli-kit/Streams"
import { Settings, TestTime } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, FileSystem, Layer, Redacted, Schema } from "effect"
import { spawnSync } from "node:child_process"
import * as Verify from "../src/verify/Verify.ts"
import { dist, environment, plaza, plazaWith, run } from "./support/Plaza.ts"
import { objects, settings } from "./support/Verifying.ts"
import * as WrongService from "./support/WrongService.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-verify-" }))

const decodeReport = Schema.decodeUnknownEffect(
  Schema.fromJsonString(Schema.Struct({ requests: Schema.Number, rules: Schema.Array(Schema.Struct({ detail: Schema.String })) }))
)

const noFiles: Verify.Options = { all: false, report: undefined, html: undefined, assumptions: undefined }

/** Runs the command in process. */
const verify = (files: Verify.Options, options: { readonly json?: boolean; readonly quiet?: boolean } = {}) =>
  Effect.gen(function*() {
    const stdout: Array<string> = []
    const stderr: Array<string> = []
    const { apiKey, baseUrl } = yield* Sandbox.Sandbox
    const output = Output.layer({ json: options.json ?? false, quiet: options.quiet ?? false })
    const failure = yield* TestTime.advancing(Effect.flip(Verify.run(undefined, files))).pipe(
      Effect.orElseSucceed(() => undefined),
      Effect.provide(Layer.merge(
        Layer.provideMerge(output, Streams.layerTest({ stdout, stderr, columns: 80 })),
        Layer.effect(Settings.Settings, Effect.orDie(settings(apiKey, baseUrl)))
      ))
    )
    return { failure, exitCode: failure === undefined ? 0 : ExitCode.of(failure), stdout: stdout.join(""), stderr: stderr.join("") }
  })

const wrongProfile = WrongService.sandbox(({ body, path }) =>
  path === "/users/by-username/corner-shop" ? { body: body.replace("corner-shop", "other") } : undefined
)

describe("plaza verify", () => {
  it.effect("writes its files, prints its progress, and exits with 0", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      const files = { all: false, report: `${cwd}/report.json`, html: `${cwd}/report.html`, assumptions: `${cwd}/service.json` }
      const { exitCode, stderr, stdout } = yield* verify(files)
      assert.strictEqual(exitCode, 0)
      assert.match(stdout, / 0 contradicted, /)
      assert.match(stderr, /^1 of 28: GET \/me: 200\n2 of 28: GET \/me: 401 INVALID_API_KEY\n/)
      const report: unknown = JSON.parse(yield* fs.readFileString(files.report))
      assert.containsAllKeys(report, ["baseUrl", "startedAt", "requests", "rules", "learnt"])
      assert.match(yield* fs.readFileString(files.html), /^<!doctype html>/)
      const { latitude } = yield* Effect.provide(
        Effect.flatMap(Sandbox.Sandbox, ({ latitude }) => Effect.map(latitude, (latitude) => ({ latitude }))),
        Sandbox.layerHttpClient({ assumptionsFile: files.assumptions })
      )
      assert.strictEqual(latitude.lastCursor, "omitted")
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient({ latitude: { lastCursor: "omitted" } }), NodeFileSystem.layer))))

  it.effect("exits with 1 and names the rules that are contradicted", () =>
    Effect.gen(function*() {
      const { exitCode, failure, stderr, stdout } = yield* verify(noFiles, { quiet: true })
      assert.strictEqual(exitCode, 1)
      assert.match(Failures.ofFailure(failure).message, /^the service contradicts 1 rule of \d+: endpoints\.getUserByUsername$/)
      assert.match(stdout, / 1 contradicted, /)
      assert.strictEqual(stderr, "")
    }).pipe(Effect.provide(Layer.merge(wrongProfile, NodeFileSystem.layer))))

  for (
    const [status, code, exit, tag] of [
      [401, "INVALID_API_KEY", 4, "InvalidApiKey"],
      [429, "RATE_LIMITED", 6, "RateLimited"],
      [403, "DEVELOPER_ACCESS_REVOKED", 4, "DeveloperAccessRevoked"]
    ] as const
  ) {
    it.effect(`exits with ${exit} on ${status} ${code}, with the report of what it learnt until then`, () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const report = `${yield* folder}/report.json`
        const { addFault } = yield* Sandbox.Sandbox
        yield* addFault({ kind: "status", when: "before", status, code, path: "/conversations" })
        const { exitCode, failure, stderr, stdout } = yield* verify({ ...noFiles, report }, { json: true })
        assert.strictEqual(exitCode, exit)
        const { remediation, tag: reported } = Failures.ofFailure(failure)
        assert.strictEqual(reported, tag)
        assert.strictEqual(remediation[0], "The run stopped after 16 requests. The report has what it showed until then.")
        assert.strictEqual(stderr, "")
        assert.deepStrictEqual(JSON.parse(stdout), JSON.parse(yield* fs.readFileString(report)))
        assert.include(stdout, `"listPosts":"succeeded"`)
      }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))
  }

  /** A run that is interrupted while its second request has no response. */
  const interrupted = (report: string, before: Effect.Effect<void, unknown, FileSystem.FileSystem>) =>
    Effect.gen(function*() {
      const { apiKey, addFault, baseUrl } = yield* Sandbox.Sandbox
      const stdout: Array<string> = []
      const stderr: Array<string> = []
      yield* addFault({ kind: "delay", when: "after", path: "/users/1001", millis: 3_600_000 })
      const running = yield* Effect.forkChild(
        Verify.run(undefined, { ...noFiles, report }).pipe(Effect.provide(Layer.merge(
          Layer.provideMerge(Output.layer({ json: false, quiet: false }), Streams.layerTest({ stdout, stderr, columns: 80 })),
          Layer.effect(Settings.Settings, Effect.orDie(settings(apiKey, baseUrl)))
        )))
      )
      yield* TestTime.advancing(Effect.flatMap(Sandbox.Sandbox, ({ countRequests }) =>
        Effect.repeat(Effect.delay(countRequests({ path: "/users/1001" }), "1 second"), {
          until: (count) => count === 1
        })))
      yield* before
      yield* Fiber.interrupt(running)
      return { stdout: stdout.join(""), stderr: stderr.join("") }
    })

  it.effect("reports what it has seen until it is interrupted, and that a request may have arrived", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const report = `${yield* folder}/report.json`
      const { stdout } = yield* interrupted(report, Effect.void)
      const written = yield* decodeReport(yield* fs.readFileString(report))
      assert.strictEqual(written.requests, 2)
      const details = written.rules.map(({ detail }) => detail)
      assert.include(details, "the run stopped before its response")
      assert.include(details, "the run stopped before this request")
      assert.match(stdout, /by 2 requests\.\n$/)
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))

  it.effect("says why it could not write the report when it is interrupted", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const report = `${yield* folder}/report.json`
      const { stderr, stdout } = yield* interrupted(report, fs.makeDirectory(report))
      assert.match(stdout, /by 2 requests\.\n$/)
      assert.match(stderr, /\nthe report was not written: .+report\.json.*\n$/)
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))

  for (
    const [flag, name, path, reason] of [
      [
        "--html",
        "html",
        "missing/report.html",
        /^--html can't be written to \S+\/missing\/report\.html: no such file or directory; use another file$/
      ],
      ["--report", "report", "", /^--report requires a regular file, not "\S+"$/],
      [
        "--report",
        "report",
        "file/report.json",
        /^--report can't be written to \S+\/file\/report\.json: not a directory; use another file$/
      ],
      ["--assumptions-out", "assumptions", "link", /^--assumptions-out can't be written to \S+\/link: .+; use another file$/]
    ] as const
  ) {
    it.effect(`rejects ${flag} at ${path === "" ? "a folder" : path}, before it sends a request`, () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const cwd = yield* folder
        yield* fs.writeFileString(`${cwd}/file`, "")
        yield* fs.symlink(`${cwd}/missing/target`, `${cwd}/link`)
        const { exitCode, failure } = yield* verify({ ...noFiles, [name]: `${cwd}/${path}` })
        assert.strictEqual(exitCode, 2)
        assert.match(Failures.ofFailure(failure).message, reason)
        assert.deepStrictEqual(yield* Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), [])
        assert.deepStrictEqual(yield* fs.readDirectory(cwd), ["file", "link"])
      }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))
  }

  it.effect("leaves an existing file unchanged until it has a report", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const report = `${yield* folder}/report.json`
      yield* fs.writeFileString(report, "earlier")
      const { exitCode } = yield* verify({ ...noFiles, report, html: `${report}/page.html` })
      assert.strictEqual(exitCode, 2)
      assert.strictEqual(yield* fs.readFileString(report), "earlier")
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))

  it.effect("says that the disk is full, after it printed the report and wrote the other files", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      const [report, assumptions] = [`${cwd}/report.json`, `${cwd}/service.json`]
      const { exitCode, failure, stdout } = yield* Effect.provideService(verify({ ...noFiles, report, assumptions }), FileSystem.FileSystem,
        {
          ...fs,
          open: (path, options) => path.includes("report.json") ? fs.open("/dev/full", { flag: "a" }) : fs.open(path, options)
        })
      assert.strictEqual(exitCode, 1)
      assert.strictEqual(Failures.ofFailure(failure).message, `${report}: no space left on the device`)
      assert.match(stdout, /by \d+ requests\.\n$/)
      assert.include(yield* fs.readFileString(assumptions), "defaultPageSize")
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeFileSystem.layer))))
})

layer(Layer.merge(Sandbox.layerServer(), NodeFileSystem.layer), { excludeTestServices: true })("the built program", (it) => {
  it.effect("prints the plan without a key, and what each write changes", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* run(["verify", "--plan"])
      assert.strictEqual(code, 0)
      assert.match(stdout, /^GET \/me\nGET \/me \(without the key\)\n/)
      assert.notMatch(stdout, /POST|PATCH/)
      assert.match(stderr, /^At most 28 requests, one every 5s: about 3 minutes\./)
      const writes = yield* plaza("verify", "--plan", "--write", "--order", objects.order ?? "", "--product", "a/b", "--stock", "7")
      assert.strictEqual(writes.code, 0)
      assert.include(writes.stdout, `PATCH /store/products/a%2Fb/stock\n-> body {"stock":7}\n-> Sets the stock of product a/b to 7. `)
      assert.include(writes.stdout, "It can't be undone.")
      const json: unknown = JSON.parse((yield* plaza("verify", "--plan", "--json")).stdout)
      assert.containsAllKeys(json, ["intervalMillis", "maxAttempts", "requests"])
      assert.deepStrictEqual(yield* Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), [])
    }))

  for (
    const [argv, message] of [
      [["--write"], "--write changes only test objects: name one with --product, --order, --conversation, --user, --post"],
      [["--order", "1"], "--order names a test object to change: add --write, or remove it"],
      [["--write", "--post", ".."], `--post must be an id: not empty, and not "." or ".."`],
      [["--write", "--user", "1", "--stock", "1"], "--stock is the stock of a test product: add --product, or remove it"]
    ] as const
  ) {
    it.effect(`rejects ${argv.join(" ")}`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* plaza("verify", ...argv), { code: 2, stdout: "", stderr: `plaza: ${message}\n` })
      }))
  }

  it.effect("rejects a file in a folder that was removed", () =>
    Effect.gen(function*() {
      const script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\""
      const program = [process.execPath, `${dist}/plaza.cjs`, "verify", "--report", "report.json"]
      const env = yield* environment
      const cwd = yield* folder
      const { status, stderr } = yield* Effect.sync(() => spawnSync("sh", ["-c", script, "sh", ...program], { cwd, env, encoding: "utf8" }))
      assert.strictEqual(status, 2)
      assert.strictEqual(stderr, "plaza: --report can't be written to report.json: no such file or directory; use another file\n")
    }))

  it.effect("stops on a rejected key, with the report and without the key", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      const key = `key_${"z".repeat(40)}`
      const { code, stderr, stdout } = yield* plazaWith(["verify", "--report", "report.json"], { cwd, env: { PLAZA_API_KEY: key } })
      assert.strictEqual(code, 4)
      assert.match(stdout, / 0 contradicted, \d+ not observable, by 1 request\.\n$/)
      assert.match(stderr, /^1 of 28: GET \/me: 401 INVALID_API_KEY\n--all prints every rule\.\nplaza: /)
      const report = yield* fs.readFileString(`${cwd}/report.json`)
      assert.notInclude(`${stdout}${stderr}${report}`, Redacted.value(Redacted.make(key)).slice(4))
    }))
})
