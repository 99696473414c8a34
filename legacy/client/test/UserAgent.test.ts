import { describe, expect, it } from "@effect/vitest"
import { Plaza, Profiles } from "@plaza-legacy/client"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { version } from "../src/internal/transport/UserAgent.ts"
import * as Fake from "./support/FakeService.ts"

const me = Effect.flatMap(Profiles, ({ me }) => me)

describe("User-Agent", () => {
  it("names the version of package.json", () => {
    const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))
    expect(manifest).toMatchObject({ version })
  })

  it.effect("names the application, if it has a name, and then this library", () =>
    Effect.gen(function*() {
      const cases = [[undefined, ""], ["stock-robot/1.2", "stock-robot/1.2 "], ["robot/1 (north shop)", "robot/1 (north shop) "]] as const
      for (const [application, before] of cases) {
        const { calls, layer } = Fake.scripted([Fake.json({ id: "1" })], { application })
        yield* Effect.provide(me, layer)
        expect(calls[0]?.headers["user-agent"]).toBe(`${before}plaza-client/${version}`)
      }
    }))

  it.effect("names the application with settings from the environment", () =>
    Effect.gen(function*() {
      const agents: Array<string | undefined> = []
      const layer = Plaza.layerConfigFor("stock-robot/1.2").pipe(
        Layer.provide(Fake.layerHttpClient(({ headers }) =>
          Effect.sync(() => {
            agents.push(headers["user-agent"])
            return Fake.json({ id: "1" })
          })
        )),
        Layer.provide(
          Layer.setConfigProvider(
            ConfigProvider.fromMap(new Map([["PLAZA_BASE_URL", Fake.baseUrl], ["PLAZA_API_KEY", Fake.key]]), { pathDelim: "_" })
          )
        )
      )
      yield* Effect.provide(me, layer)
      expect(agents).toEqual([`stock-robot/1.2 plaza-client/${version}`])
    }))

  it.effect("rejects a value that could inject a header", () =>
    Effect.gen(function*() {
      for (const application of ["", " ", "robot\r\nx: y", "robot ", " robot", "röbot", "robot/1/2", "robot (open", "a\u0000b", "a  b"]) {
        const layer = Plaza.layer({ baseUrl: Fake.baseUrl, apiKey: Redacted.make(Fake.key), application }).pipe(
          Layer.provide(Fake.layerHttpClient(() => Effect.dieMessage("nothing may be sent")))
        )
        expect(yield* Effect.flip(Effect.provide(me, layer))).toMatchObject({ _tag: "InvalidSettings", setting: "application" })
      }
    }))
})
