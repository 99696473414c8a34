import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles, TestTime } from "@plaza/client"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { inspect } from "node:util"
import * as Fake from "./support/FakeService.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)

const fromEnvironment = (variables: Record<string, string>, answer: Fake.Reply = Fake.json({ id: "1" })) => {
  const calls: Array<Fake.Call> = []
  const layer = Plaza.layerConfig.pipe(
    Layer.provide(Fake.layerHttpClient((call) =>
      Effect.sync(() => {
        calls.push(call)
        return answer
      })
    )),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(variables)))
  )
  return { calls, run: TestTime.advancing(Effect.provide(me, layer)) }
}

const right = { PLAZA_BASE_URL: Fake.baseUrl, PLAZA_API_KEY: Fake.key }

describe("the settings of the environment", () => {
  it.effect("are a base URL, with or without a trailing slash, and a key", () =>
    Effect.gen(function*() {
      for (const PLAZA_BASE_URL of [Fake.baseUrl, `${Fake.baseUrl}/`]) {
        const { calls, run } = fromEnvironment({ ...right, PLAZA_BASE_URL })
        expect(yield* run).toEqual({ id: "1" })
        expect(calls[0]?.path).toBe("/me")
      }
    }))

  const wrong: ReadonlyArray<readonly [string, string | undefined]> = [
    ["PLAZA_BASE_URL", undefined],
    ["PLAZA_BASE_URL", "service.test/open/v1"],
    ["PLAZA_BASE_URL", "ftp://service.test/open/v1"],
    ["PLAZA_BASE_URL", "https://user:secret@service.test/open/v1"],
    ["PLAZA_BASE_URL", "https://service.test/open/v1?x=1"],
    ["PLAZA_BASE_URL", "http://service.test/open/v1"],
    ["PLAZA_ALLOW_INSECURE_HTTP", "perhaps"],
    ["PLAZA_API_KEY", undefined],
    ["PLAZA_API_KEY", ""],
    ["PLAZA_BASE_URL", ""],
    ["PLAZA_API_KEY", `${Fake.key}\n`],
    ["PLAZA_API_KEY", `${Fake.key}x y`],
    ["PLAZA_TIMEOUT", "soon"],
    ["PLAZA_TIMEOUT", "0 seconds"],
    ["PLAZA_RATE_LIMIT", "0"],
    ["PLAZA_RATE_LIMIT", "many"],
    ["PLAZA_RATE_LIMIT", "1.5"],
    ["PLAZA_RATE_WINDOW", "a minute or so"]
  ]
  for (const [name, value] of wrong) {
    it.effect(`name ${name} when it is ${value === undefined ? "missing" : `"${value.replace(Fake.key, "<key>")}"`}`, () =>
      Effect.gen(function*() {
        const variables: Record<string, string> = { ...right }
        delete variables[name]
        const { calls, run } = fromEnvironment(value === undefined ? variables : { ...variables, [name]: value })
        const failure = yield* Effect.flip(run)
        expect(failure.message).toMatch(
          value === undefined || value === "" ? `${name} is not set` : new RegExp(`${name} (must|is not a key)`)
        )
        expect(inspect(failure)).toContain(name)
        expect(inspect(failure)).not.toContain(Fake.key)
        expect(calls).toHaveLength(0)
      }))
  }

  it.effect("have their defaults if a variable is blank", () =>
    Effect.gen(function*() {
      for (const blank of ["", " ", "\t\n"]) {
        const names = ["PLAZA_TIMEOUT", "PLAZA_RATE_LIMIT", "PLAZA_RATE_WINDOW", "PLAZA_ALLOW_INSECURE_HTTP"]
        const variables = Object.fromEntries(names.map((name) => [name, blank]))
        expect(yield* fromEnvironment({ ...right, ...variables }).run).toEqual({ id: "1" })
        for (const name of ["PLAZA_BASE_URL", "PLAZA_API_KEY"]) {
          expect((yield* Effect.flip(fromEnvironment({ ...right, [name]: blank }).run)).message).toContain(`${name} is not set`)
        }
      }
    }))

  it.effect("allow plain http to another machine with a variable", () =>
    Effect.gen(function*() {
      const http = { ...right, PLAZA_BASE_URL: "http://service.test/open/v1" }
      for (const yes of ["true", "yes", "on", "1", "y"]) {
        expect(yield* fromEnvironment({ ...http, PLAZA_ALLOW_INSECURE_HTTP: yes }).run).toEqual({ id: "1" })
      }
      for (const no of ["false", "no", "off", "0", "n"]) {
        const failure = yield* Effect.flip(fromEnvironment({ ...http, PLAZA_ALLOW_INSECURE_HTTP: no }).run)
        expect(failure.message).toContain("PLAZA_BASE_URL")
      }
      const failure = yield* Effect.flip(fromEnvironment({ ...http, PLAZA_ALLOW_INSECURE_HTTP: "maybe" }).run)
      expect(failure.message).toContain("PLAZA_ALLOW_INSECURE_HTTP must be true or false")
    }))

  it.effect("set the timeout of one attempt and the allowance", () =>
    Effect.gen(function*() {
      const { run } = fromEnvironment({ ...right, PLAZA_TIMEOUT: "3 seconds" }, "hang")
      expect(yield* Effect.flip(run)).toMatchObject({ _tag: "AttemptTimeout", timeout: { value: { millis: 3_000 } } })
      const allowance = fromEnvironment({ ...right, PLAZA_RATE_LIMIT: "1", PLAZA_RATE_WINDOW: "10 minutes" }, Fake.refused)
      // The second attempt would have to wait longer than anyone's maxWait.
      expect(yield* Effect.flip(allowance.run)).toMatchObject({ _tag: "RateLimitWaitExceeded" })
      expect(allowance.calls).toHaveLength(1)
    }))
})

describe("the options of a layer", () => {
  it.effect("fail with their name if they are invalid", () =>
    Effect.gen(function*() {
      const options = { baseUrl: Fake.baseUrl, apiKey: Redacted.make(Fake.key) }
      const wrong = {
        baseUrl: { baseUrl: "nowhere" },
        apiKey: { apiKey: Redacted.make("key_secret but with spaces") },
        timeout: { timeout: 0 },
        rateLimit: { rateLimit: 0.5 },
        rateWindow: { rateWindow: 0 }
      }
      for (const [setting, change] of Object.entries(wrong)) {
        const layer = Plaza.layer({ ...options, ...change }).pipe(
          Layer.provide(Fake.layerHttpClient(() => Effect.succeed(Fake.json({}))))
        )
        const failure = yield* Effect.flip(Effect.provide(me, layer))
        expect(failure).toMatchObject({ _tag: "InvalidSettings", setting })
        expect(failure.message).not.toContain("secret")
      }
    }))
})
