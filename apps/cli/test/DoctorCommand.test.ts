/**
 * `plaza doctor` as it is run: its statuses, its output, and certificates, which a process trusts from its start on.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Redacted } from "effect"
import { spawnSync } from "node:child_process"
import * as Http from "node:http"
import * as Https from "node:https"
import { expect } from "vitest"
import * as Certificates from "./support/Certificates.ts"
import { dist, environment, plaza, plazaWith, run } from "./support/Plaza.ts"

const services = Layer.merge(Sandbox.layerServer(), NodeFileSystem.layer)
const key = `key_${"d".repeat(40)}`

/** The port of a server that takes everybody for the shop. */
const serve = (server: Http.Server, host = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      server.on("request", (_request, response: Http.ServerResponse) => response.end(`{"id":"1001"}`))
      server.listen(0, host, () => {
        const address = server.address()
        resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
      })
    }),
    () => Effect.sync(() => server.close())
  )
const secure = (cert: string) => Https.createServer({ cert, key: Certificates.key })

const trusted = (cert: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = `${yield* fs.makeTempDirectoryScoped()}/trusted.pem`
    yield* fs.writeFileString(path, cert)
    return { NODE_EXTRA_CA_CERTS: path }
  })

const diagnose = (baseUrl: string, env: Readonly<Record<string, string>> = {}) =>
  Effect.map(run(["doctor", "--json"], { env: { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: key, ...env } }), ({ code, stderr, stdout }) => {
    expect(`${stdout}${stderr}`).not.toContain(key)
    return { code, said: JSON.parse(stdout) as unknown, stderr }
  })

const check = (name: string, status: string, message: RegExp | string = /./) =>
  expect.objectContaining({ name, status, message: expect.stringMatching(message) as unknown }) as unknown
const failing = (code: string) => ({
  code: 1,
  said: {
    ok: false,
    checks: expect.arrayContaining([
      check("dns", "ok"),
      check("tls", "failed", code),
      check("service", "unknown"),
      check("clock", "unknown"),
      check("account", "unknown")
    ]) as unknown
  },
  stderr: expect.stringMatching(
    /^\{"error":\{"tag":"ChecksFailed","code":null,"status":null,"message":"1 check of 12 failed: tls","details":\{\}\}\}\n$/
  ) as unknown
})

layer(services, { excludeTestServices: true })("plaza doctor", (it) => {
  it.effect("ends with 0 where nothing failed, and prints a line for each check", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* plaza("doctor")
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
      expect(stdout.split("\n").flatMap((line) => line.startsWith("\t") || line === "" ? [] : [line.split("\t").slice(0, 2).join(" ")]))
        .toEqual([
          "ok node",
          "ok profile",
          "ok address",
          "ok key",
          "ok allowance",
          "ok proxy",
          "ok dns",
          "ok service",
          "ok clock",
          "ok account",
          "unknown writes"
        ])
    }))

  it.effect("ends with 1 where something failed, says in a sentence what, and what to do under each", () =>
    Effect.gen(function*() {
      const { createKey, revokeKey } = yield* Sandbox.Sandbox
      const { apiKey, id } = yield* Effect.orDie(createKey("1001"))
      yield* Effect.orDie(revokeKey(id))
      const { code, stderr, stdout } = yield* plazaWith(["doctor"], {
        env: { PLAZA_API_KEY: Redacted.value(apiKey), PLAZA_RATE_LIMIT: "0" }
      })
      expect({ code, stderr }).toEqual({ code: 1, stderr: "plaza: 2 checks of 11 failed: allowance, account\n" })
      expect(stdout).toMatch(
        /\nfailed\taccount\tthe service rejects the API key: 401 INVALID_API_KEY: .+\n\t\t-> Use an active key\. .+\n/
      )
    }))

  it.effect("reads the certificate of an https address", () =>
    Effect.gen(function*() {
      const port = yield* serve(secure(Certificates.valid))
      const env = yield* trusted(Certificates.valid)
      expect(yield* diagnose(`https://localhost:${port}/open/v1`, env)).toEqual({
        code: 0,
        said: {
          ok: true,
          checks: expect.arrayContaining([
            check("tls", "ok", "^certificate of localhost, valid until 2126-01-01T00:00:00.000Z$"),
            check("service", "ok"),
            check("account", "ok")
          ]) as unknown
        },
        stderr: ""
      })
      expect(yield* diagnose(`https://127.0.0.1:${port}/open/v1`)).toEqual(
        failing("valid until 2126-.+ is not trusted \\(DEPTH_ZERO_SELF_SIGNED_CERT\\)")
      )
      const unchecked = yield* diagnose(`https://localhost:${port}/open/v1`, { NODE_TLS_REJECT_UNAUTHORIZED: "0", NODE_NO_WARNINGS: "1" })
      expect(unchecked).toMatchObject({
        code: 0,
        said: { checks: expect.arrayContaining([check("tls", "warning", "NODE_TLS_REJECT_UNAUTHORIZED=0")]) as unknown }
      })
    }))

  it.effect("tells a certificate that has expired, one of another host, and none at all", () =>
    Effect.gen(function*() {
      const env = yield* trusted(`${Certificates.valid}${Certificates.expired}`)
      const old = yield* serve(secure(Certificates.expired))
      expect(yield* diagnose(`https://localhost:${old}/open/v1`, env)).toEqual(
        failing("valid until 2019-01-01.+ is not trusted \\(CERT_HAS_EXPIRED\\)")
      )
      const other = yield* serve(secure(Certificates.valid), "127.0.0.2")
      expect(yield* diagnose(`https://127.0.0.2:${other}/open/v1`, env)).toEqual(
        failing("is not trusted \\(ERR_TLS_CERT_ALTNAME_INVALID\\)")
      )
      const plain = yield* serve(Http.createServer())
      expect(yield* diagnose(`https://localhost:${plain}/open/v1`, env)).toEqual(failing("does not speak TLS \\(\\w+\\)"))
    }))

  it.effect("runs in a folder that was removed", () =>
    Effect.gen(function*() {
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      const script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\""
      const { stderr, stdout } = yield* Effect.sync(() =>
        spawnSync("sh", ["-c", script, "sh", process.execPath, `${dist}/plaza.cjs`, "doctor"], { cwd: folder, env: {}, encoding: "utf8" })
      )
      expect(stderr).toBe("plaza: 2 checks of 11 failed: address, key\n")
      expect(stdout).toContain("\nok\tprofile\tno profile is used\n")
    }))

  it.effect("is as good with a flag as with a variable", () =>
    Effect.gen(function*() {
      const { PLAZA_API_KEY, PLAZA_BASE_URL } = yield* environment
      const { code, stdout } = yield* plazaWith(["doctor", "--base-url", PLAZA_BASE_URL], {
        env: { PLAZA_API_KEY, PLAZA_BASE_URL: "nowhere" }
      })
      expect({ code, printed: stdout.includes(`${PLAZA_BASE_URL} from --base-url`) }).toEqual({ code: 0, printed: true })
    }))
})
