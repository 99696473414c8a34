/** `plaza verify` as a whole: files, failures and exit codes, in virtual time; and the built program as far as it needs no minutes. */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { assert, describe, it, layer } from "@effect/vitest"
import { Settings, TestTime } from "@plaza-legacy/client"
import { Sandbox } from "@plaza-legacy/sandbox"
import { ExitCode, Output, Report as Failures, Streams } from "@plaza/cli-kit"
import { Effect, Fiber, Layer, Redacted, Schema } from "effect"
import * as Verify from "../src/verify/Verify.ts"
import { plaza, plazaWith, run } from "./support/Plaza.ts"
import { objects, settings } from "./support/Verifying.ts"
import * as WrongService from "./support/WrongService.ts"

const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "plaza-verify-" }))

const decodeReport = Schema.decodeUnknown(
  Schema.parseJson(Schema.Struct({ requests: Schema.Number, rules: Schema.Array(Schema.Struct({ detail: Schema.String })) }))
)

const noFiles: Verify.Files = { report: undefined, html: undefined, assumptions: undefined }

/** Runs the command in process. */
const verify = (files: Verify.Files, options: { readonly json?: boolean; readonly quiet?: boolean } = {}) =>
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
  it.scoped("writes its files, prints its progress, and exits with 0", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      const files = { report: `${cwd}/report.json`, html: `${cwd}/report.html`, assumptions: `${cwd}/service.json` }
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
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient({ latitude: { lastCursor: "omitted" } }), NodeContext.layer))))

  it.effect("exits with 1 and names the rules that are contradicted", () =>
    Effect.gen(function*() {
      const { exitCode, failure, stderr, stdout } = yield* verify(noFiles, { quiet: true })
      assert.strictEqual(exitCode, 1)
      assert.match(Failures.ofFailure(failure).message, /^the service contradicts 1 rule of \d+: endpoints\.getUserByUsername$/)
      assert.match(stdout, / 1 contradicted, /)
      assert.strictEqual(stderr, "")
    }).pipe(Effect.provide(Layer.merge(wrongProfile, NodeContext.layer))))

  for (
    const [status, code, exit, tag] of [
      [401, "INVALID_API_KEY", 4, "InvalidApiKey"],
      [429, "RATE_LIMITED", 6, "RateLimited"],
      [403, "DEVELOPER_ACCESS_REVOKED", 4, "DeveloperAccessRevoked"]
    ] as const
  ) {
    it.scoped(`exits with ${exit} on ${status} ${code}, with the report of what it learnt until then`, () =>
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
      }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeContext.layer))))
  }

  /** A run that is interrupted while its second request has no response. */
  const interrupted = (report: string, before: Effect.Effect<void, unknown, FileSystem.FileSystem>) =>
    Effect.gen(function*() {
      const { apiKey, addFault, baseUrl } = yield* Sandbox.Sandbox
      const stdout: Array<string> = []
      const stderr: Array<string> = []
      yield* addFault({ kind: "delay", when: "after", path: "/users/1001", millis: 3_600_000 })
      const running = yield* Effect.fork(
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

  it.scoped("reports what it has seen until it is interrupted, and that a request may have arrived", () =>
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
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeContext.layer))))

  it.scoped("says why it could not write the report when it is interrupted", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const report = `${yield* folder}/report.json`
      const { stderr, stdout } = yield* interrupted(report, fs.makeDirectory(report))
      assert.match(stdout, /by 2 requests\.\n$/)
      assert.match(stderr, /\nthe report was not written: .+report\.json.*\n$/)
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeContext.layer))))

  it.scoped("rejects a file that it can't write, before it sends a request", () =>
    Effect.gen(function*() {
      const { exitCode, failure } = yield* verify({ ...noFiles, html: `${yield* folder}/missing/report.html` })
      assert.strictEqual(exitCode, 2)
      assert.match(Failures.ofFailure(failure).message, /^--html \S+ can't be written: check that its folder exists and is writable$/)
      assert.deepStrictEqual(yield* Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), [])
      const isFolder = yield* verify({ ...noFiles, report: yield* folder })
      assert.strictEqual(isFolder.exitCode, 2)
      assert.match(Failures.ofFailure(isFolder.failure).message, /^--report \S+ can't be written: it is a folder$/)
      assert.deepStrictEqual(yield* Effect.flatMap(Sandbox.Sandbox, ({ requests }) => requests), [])
    }).pipe(Effect.provide(Layer.merge(Sandbox.layerHttpClient(), NodeContext.layer))))
})

layer(Layer.merge(Sandbox.layerServer(), NodeContext.layer), { excludeTestServices: true })("the built program", (it) => {
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

  it.scoped("stops on a rejected key, with the report and without the key", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folder
      const key = `key_${"z".repeat(40)}`
      const { code, stderr, stdout } = yield* plazaWith(["verify", "--report", "report.json"], { cwd, env: { PLAZA_API_KEY: key } })
      assert.strictEqual(code, 4)
      assert.match(stdout, / 0 contradicted, \d+ not observable, by 1 request\.\n$/)
      assert.match(stderr, /^1 of 28: GET \/me: 401 INVALID_API_KEY\nplaza: /)
      const report = yield* fs.readFileString(`${cwd}/report.json`)
      assert.notInclude(`${stdout}${stderr}${report}`, Redacted.value(Redacted.make(key)).slice(4))
    }))
})
