/**
 * What the doctor sees: each thing that can be wrong by itself, with what still can be looked at behind it, and never a guess.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { ConfigProvider, Effect, FileSystem, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { createServer, type RequestListener } from "node:http"
import { expect } from "vitest"
import type { Check } from "../src/doctor/Check.ts"
import * as Doctor from "../src/doctor/Doctor.ts"
import * as Local from "../src/doctor/LocalChecks.ts"
import * as Network from "../src/doctor/NetworkChecks.ts"
import { empty } from "../src/profiles/ConnectionSettings.ts"

const key = `key_${"d".repeat(36)}wxyz`
const now = Date.parse("2026-11-21T12:00:00.000Z")
const profile = JSON.stringify({ id: "1001", username: "corner-shop" })

/** A server of this machine's; what it answers with is its listener's business. */
const serve = (listener: RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const server = createServer(listener)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        resume(Effect.succeed({ port, close: () => void server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** The base address of a server that answers so. */
const answering = (status: number, body: string, date: number | undefined = now, seen: Array<string> = []) =>
  Effect.map(
    serve((request, response) => {
      seen.push(`${request.method} ${request.url}`)
      response.sendDate = false
      response.writeHead(status, date === undefined ? {} : { date: new Date(date).toUTCString() })
      response.end(body.replace("AUTHORIZATION", request.headers.authorization ?? "none"))
    }),
    ({ port }) => `http://127.0.0.1:${port}/open/v1`
  )

const diagnose = (env: Readonly<Record<string, string>>, flags: { readonly baseUrl?: string; readonly profile?: string } = {}) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(now)
    const config = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
    const checks = yield* Effect.provideService(
      Doctor.run({ baseUrl: Option.fromNullishOr(flags.baseUrl), profile: Option.fromNullishOr(flags.profile) }),
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { XDG_CONFIG_HOME: config, ...env } })
    )
    expect(JSON.stringify(checks)).not.toContain(key)
    for (const { message, remedy, status } of checks) {
      expect(message).not.toBe("")
      // What failed or may fail says what to do.
      if (status === "failed" || status === "warning") expect(remedy).toMatch(/^[A-Z].+\.$/)
    }
    return checks
  })

const statuses = (checks: ReadonlyArray<Check>) => Object.fromEntries(checks.map(({ name, status }) => [name, status]))
const of = (checks: ReadonlyArray<Check>, name: string) => checks.find((check) => check.name === name)

const good = {
  node: "ok",
  profile: "ok",
  address: "ok",
  key: "ok",
  allowance: "ok",
  proxy: "ok",
  dns: "ok",
  service: "ok",
  clock: "ok",
  account: "ok",
  writes: "unknown"
}

layer(NodeFileSystem.layer)("the doctor", (it) => {
  it.effect("names a proxy variable that is invalid, without its password", () =>
    Effect.gen(function*() {
      const checks = yield* diagnose({
        PLAZA_BASE_URL: yield* answering(200, profile),
        PLAZA_API_KEY: key,
        HTTPS_PROXY: "ftp://user:secret@proxy"
      })
      expect(of(checks, "proxy")).toMatchObject({
        status: "failed",
        message: expect.stringContaining("HTTPS_PROXY must be the address of a proxy") as unknown,
        details: { proxy: null, variable: "HTTPS_PROXY" }
      })
      expect(of(checks, "service")).toMatchObject({ status: "unknown" })
      expect(JSON.stringify(checks)).not.toContain("secret")
    }))

  it.effect("shows the proxy that connects, which looks up the host and sees its certificate", () =>
    Effect.gen(function*() {
      const { port } = yield* serve((_, response) => response.end())
      const checks = yield* diagnose({
        PLAZA_BASE_URL: "https://service.test/open/v1",
        PLAZA_API_KEY: key,
        HTTPS_PROXY: `user:secret@127.0.0.1:${port}`
      })
      expect(of(checks, "proxy")).toEqual({
        name: "proxy",
        status: "ok",
        message: `service.test is reached through http://127.0.0.1:${port} from HTTPS_PROXY`,
        remedy: null,
        details: { proxy: `http://127.0.0.1:${port}`, variable: "HTTPS_PROXY" }
      })
      expect(statuses(checks)).toMatchObject({ dns: "unknown", tls: "unknown", service: "failed" })
      expect(of(checks, "service")).toMatchObject({ remedy: expect.stringContaining("HTTPS_PROXY") as unknown })
      expect(JSON.stringify(checks)).not.toContain("secret")
    }))

  it.effect("names a proxy variable that is invalid although there is no base URL", () =>
    Effect.gen(function*() {
      const checks = yield* diagnose({ https_proxy: "http://[" })
      expect(of(checks, "proxy")).toMatchObject({
        status: "failed",
        message: expect.stringContaining("https_proxy must be the address of a proxy") as unknown,
        details: { variable: "https_proxy" }
      })
      expect(of(checks, "dns")).toMatchObject({ status: "unknown", message: "not checked: there is no base URL" })
    }))

  it.effect.each([
    ["http://service.test/open/v1", { HTTPS_PROXY: "a:1", HTTP_PROXY: "b:2" }, "through http://b:2 from HTTP_PROXY", "HTTP_PROXY"],
    ["https://service.test/open/v1", { HTTP_PROXY: "b:2" }, "through http://b:2 from HTTP_PROXY", "HTTP_PROXY"],
    ["https://service.test/open/v1", { HTTPS_PROXY: "a:1", https_proxy: "c:3" }, "through http://c:3 from https_proxy", "https_proxy"],
    ["http://service.test/open/v1", { HTTPS_PROXY: "a:1" }, "without a proxy", null],
    ["https://service.test/open/v1", {}, "without a proxy", null],
    [
      "https://service.test/open/v1",
      { HTTPS_PROXY: "a:1", no_proxy: ".test" },
      "without a proxy: no_proxy excepts it from HTTPS_PROXY",
      "HTTPS_PROXY"
    ],
    ["https://localhost/open/v1", { HTTPS_PROXY: "a:1" }, "without a proxy: it is this machine", "HTTPS_PROXY"]
  ] as const)("reaches %s with %j %s", ([address, env, message, variable]) =>
    Effect.gen(function*() {
      const [check, proxy] = yield* Effect.provideService(
        Network.proxy(new URL(address)),
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env })
      )
      expect(check).toMatchObject({ status: "ok", message: `${new URL(address).host} is reached ${message}` })
      expect(check.details).toEqual({ proxy: proxy ?? null, variable })
    }))

  it.effect("has the facts of each check as details, without the key", () =>
    Effect.gen(function*() {
      const baseUrl = yield* answering(200, profile, now + 20_000)
      const checks = yield* diagnose({ PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: key, PLAZA_RATE_LIMIT: "60" })
      expect(Object.fromEntries(checks.map(({ details, name }) => [name, details]))).toEqual({
        node: { version: process.versions.node },
        profile: { profile: null },
        address: { baseUrl, from: "PLAZA_BASE_URL" },
        key: { from: "PLAZA_API_KEY", masked: "****wxyz" },
        allowance: { rateLimit: 60, rateWindowMillis: 60_000, timeoutMillis: 30_000 },
        proxy: { proxy: null, variable: null },
        dns: { host: "127.0.0.1", addresses: ["127.0.0.1"] },
        service: { status: 200, milliseconds: 0 },
        clock: { clockOffsetMillis: 20_000 },
        account: { id: "1001", username: "corner-shop" },
        writes: {}
      })
    }))

  it.effect("works for a user without a home folder", () =>
    Effect.gen(function*() {
      const checks = yield* Effect.provideService(
        Doctor.run({ baseUrl: Option.none(), profile: Option.some("shop") }),
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({ env: { HOME: "nowhere" } })
      )
      expect(of(checks, "profile")).toMatchObject({
        status: "failed",
        message: expect.stringContaining(`profile "shop" does not exist`) as unknown
      })
    }))

  it.effect("finds nothing wrong where nothing is, with one request, and doesn't pretend to know what nobody tells", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const checks = yield* diagnose({ PLAZA_BASE_URL: yield* answering(200, profile, now, seen), PLAZA_API_KEY: key })
      expect(statuses(checks)).toEqual(good)
      expect(of(checks, "account")?.message).toBe("corner-shop (account 1001)")
      expect(of(checks, "key")?.message).toBe("****wxyz from PLAZA_API_KEY")
      expect(of(checks, "writes")?.message).toMatch(/shows neither/)
      expect(seen).toEqual(["GET /open/v1/me"])
    }))

  it.effect("tells a port where nothing listens", () =>
    Effect.gen(function*() {
      const { close, port } = yield* serve(() => {})
      close()
      const checks = yield* diagnose({ PLAZA_BASE_URL: `http://localhost:${port}/open/v1`, PLAZA_API_KEY: key })
      expect(statuses(checks)).toEqual({ ...good, service: "failed", clock: "unknown", account: "unknown" })
      expect(of(checks, "service")).toMatchObject({
        message: `no response from localhost:${port} (ECONNREFUSED)`,
        details: { reason: "ECONNREFUSED" },
        remedy: expect.stringContaining("Check the host and port") as unknown
      })
    }))

  it.effect.each([
    ["HTML at a wrong path", 404, "<html><title>Not Found</title></html>", "the response is not from the service: 404: ", "Not Found"],
    ["HTML with 200", 200, "<html><title>Sign in</title></html>", "the response with status 200 is not from the service", ""],
    [
      "a key that is revoked",
      401,
      `{"error":{"code":"INVALID_API_KEY","message":"it is revoked"}}`,
      "the service rejects the API key: 401 INVALID_API_KEY: it is revoked",
      ""
    ],
    [
      "an account without access",
      403,
      `{"error":{"code":"DEVELOPER_ACCESS_REVOKED","message":"suspended"}}`,
      "developer access of the account is suspended or revoked: 403",
      ""
    ],
    ["an echo of the request", 500, "got AUTHORIZATION", "a gateway can't reach the service: 500", ""],
    ["JSON that is no object", 200, `["x"]`, "the response with status 200 is not from the service", ""]
  ] as const)("tells %s", ([_, status, body, message, more]) =>
    Effect.gen(function*() {
      const checks = yield* diagnose({ PLAZA_BASE_URL: yield* answering(status, body), PLAZA_API_KEY: key })
      expect(statuses(checks)).toEqual({ ...good, account: "failed" })
      expect(of(checks, "account")?.message).toContain(message)
      expect(of(checks, "account")?.message).toContain(more)
    }))

  it.effect.each([
    [`{"username":"corner-shop"}`, "corner-shop"],
    [`{"id":"1001"}`, "account 1001"],
    ["{}", "the service accepts the key, but returns neither id nor username"]
  ] as const)("accepts a profile such as %s, of which the document requires no field", ([body, message]) =>
    Effect.gen(function*() {
      const checks = yield* diagnose({ PLAZA_BASE_URL: yield* answering(200, body), PLAZA_API_KEY: key })
      expect(of(checks, "account")).toMatchObject({ status: "ok", message })
    }))

  it.effect.each([
    [3_600_000, "warning", "this machine's clock is 3,600 seconds behind the service's"],
    [-3_600_000, "warning", "this machine's clock is 3,599 seconds ahead of the service's"],
    [20_000, "ok", "this machine's clock is 20 seconds behind the service's"],
    [-1_000, "ok", "in sync with the service"],
    [undefined, "unknown", "the service does not send its time"]
  ] as const)("tells a clock that is %i ms away", ([away, status, message]) =>
    Effect.gen(function*() {
      const date = away === undefined ? undefined : now + away
      const base = away === undefined
        ? Effect.map(serve((_, response) => {
          response.sendDate = false
          response.end(profile)
        }), ({ port }) => `http://127.0.0.1:${port}/open/v1`)
        : answering(200, profile, date)
      const checks = yield* diagnose({ PLAZA_BASE_URL: yield* base, PLAZA_API_KEY: key })
      expect(of(checks, "clock")).toMatchObject({ status, message })
      expect(of(checks, "account")?.status).toBe("ok")
    }))

  it.effect("looks at all that it can without a key, and sends none", () =>
    Effect.gen(function*() {
      const base = yield* answering(401, `{"error":{"code":"INVALID_API_KEY","message":"AUTHORIZATION"}}`)
      const without = { ...good, key: "failed", account: "unknown", writes: "unknown" }
      expect(statuses(yield* diagnose({ PLAZA_BASE_URL: base }))).toEqual(without)
      const unsafe = yield* diagnose({ PLAZA_BASE_URL: base, PLAZA_API_KEY: "key_secret with a space" })
      expect(statuses(unsafe)).toEqual(without)
      expect(JSON.stringify(unsafe)).not.toContain("secret")
      expect(of(unsafe, "key")?.message).toContain("the API key from PLAZA_API_KEY is invalid")
    }))

  it.effect("says what is missing without any settings", () =>
    Effect.gen(function*() {
      const checks = yield* diagnose({})
      expect(statuses(checks)).toEqual({
        ...good,
        address: "failed",
        key: "failed",
        proxy: "unknown",
        dns: "unknown",
        service: "unknown",
        clock: "unknown",
        account: "unknown"
      })
    }))

  it.effect("goes on with what the environment tells when the profiles can't be read", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const config = yield* fs.makeTempDirectoryScoped()
      yield* fs.makeDirectory(`${config}/plaza`)
      yield* fs.writeFileString(`${config}/plaza/config.json`, "{}", { mode: 0o644 })
      const checks = yield* diagnose({ XDG_CONFIG_HOME: config, PLAZA_BASE_URL: yield* answering(401, "") })
      expect(statuses(checks)).toEqual({ ...good, profile: "failed", key: "failed", account: "unknown" })
      expect(of(checks, "profile")?.message).toContain(`run chmod 600 ${config}/plaza/config.json`)
      const nobody = yield* diagnose({}, { profile: "nobody", baseUrl: yield* answering(401, "") })
      expect(of(nobody, "profile")?.message).toContain(`profile "nobody" does not exist`)
      expect(of(nobody, "service")?.status).toBe("ok")
    }))

  it.effect("tells a name that no host has", () =>
    Effect.gen(function*() {
      // Too long to be asked for anywhere.
      const checks = yield* diagnose({ PLAZA_BASE_URL: `https://${"x".repeat(64)}.localhost/open/v1`, PLAZA_API_KEY: key })
      expect(statuses(checks)).toEqual({ ...good, dns: "failed", tls: "unknown", service: "unknown", clock: "unknown", account: "unknown" })
    }))

  it.effect.each([
    [{ PLAZA_RATE_LIMIT: "121" }, "warning"],
    [{ PLAZA_RATE_WINDOW: "59 seconds" }, "warning"],
    [{ PLAZA_RATE_LIMIT: "60", PLAZA_RATE_WINDOW: "30 seconds" }, "ok"],
    [{ PLAZA_RATE_LIMIT: "none" }, "failed"],
    [{ PLAZA_TIMEOUT: "0 seconds" }, "failed"]
  ] as const)("tells what %j means", ([env, status]) =>
    Effect.gen(function*() {
      const check = of(yield* diagnose(env), "allowance")
      expect(check?.status).toBe(status)
      if (status === "failed") expect(check?.message).toMatch(/^PLAZA_(RATE_LIMIT|TIMEOUT) must be a /)
    }))
})

layer(NodeFileSystem.layer)("the doctor on", (it) => {
  const targetOf = (value: string) => ({ ...empty, baseUrl: { value, from: "PLAZA_BASE_URL" } })

  it.effect.each([
    ["https://host/open/v1", "ok"],
    ["https://host/open/v1/", "ok"],
    ["http://localhost:4010/open/v1", "ok"],
    ["http://127.9.9.9/open/v1", "ok"],
    ["http://[::1]:1/open/v1", "ok"],
    ["http://shop.localhost/open/v1", "ok"],
    ["http://host/open/v1", "failed"],
    ["http://127.0.0.1.evil.example/open/v1", "failed"],
    ["https://host", "failed"],
    ["https://host/open/v2", "failed"],
    ["host/open/v1", "failed"],
    ["ftp://host/open/v1", "failed"],
    ["https://a:b@host/open/v1", "failed"],
    ["", "failed"]
  ] as const)("the address %s: %s",
    ([address, status]) => Effect.sync(() => expect(Local.address(targetOf(address), false)[0].status).toBe(status)))

  it.effect.each(["http://host/open/v1", "http://127.0.0.1.evil.example/open/v1"])("the address %s, where plain http is allowed: warning",
    (address) => Effect.sync(() => expect(Local.address(targetOf(address), true)[0].status).toBe("warning")))

  it.effect("a key of a profile that is sent to another address", () =>
    Effect.sync(() => {
      const other = {
        ...targetOf("https://other/open/v1"),
        profile: "shop",
        profileBaseUrl: "https://host/open/v1",
        apiKey: { value: Redacted.make(key), from: "profile shop" }
      }
      expect(Local.address(other, false)[0]).toMatchObject({
        status: "warning",
        message: expect.stringContaining("the key of profile shop was created for https://host/open/v1") as unknown
      })
      expect(Local.address({ ...other, profileBaseUrl: "https://other/open/v1/" }, false)[0].status).toBe("ok")
    }))

  it.effect.each([
    [undefined, 15, false, "ok"],
    [undefined, 13, false, "warning"],
    ["CERT_HAS_EXPIRED", -1, false, "failed"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", 100, false, "failed"],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", 100, true, "warning"]
  ] as const)("a certificate with error %s, valid for %i days, check disabled %j: %s",
    ([error, days, isDisabled, status]) =>
      Effect.sync(() =>
        expect(Network.checkCertificate({ error, validTo: now + days * 86_400_000, subject: "host" }, now, isDisabled).status).toBe(status)
      ))
})
