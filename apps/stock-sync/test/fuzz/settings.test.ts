/**
 * Files of plaza-stock-sync: a defect, a hang or a secret in an error is a mistake.
 */
import * as Fuzz from "@plaza/testing/Fuzz"
import { Effect, Exit, FileSystem } from "effect"
import { describe, expect, it } from "vitest"
import * as ConfigFile from "../../src/config/ConfigFile.ts"

const secret = "Zq7Rk2Vw9Xb4Nd6Tf8Gh1Jm3Lp5Sc0Yr7Ue2Ai4o"

const names: ConfigFile.Names = {
  variables: new Map([["source", "STOCK_SYNC_SOURCE"], ["poll", "STOCK_SYNC_POLL"], ["port", "STOCK_SYNC_PORT"]]),
  refused: new Map([["api-key", "set PLAZA_API_KEY"]])
}

describe.each([
  ["config.toml", `# stock\nsource = "postgres://shop:${secret}@db/stock"\npoll = "30 seconds"\nport = 9464\n`],
  ["config.json", JSON.stringify({ source: `postgres://shop:${secret}@db/stock`, poll: "30 seconds", port: 9464 })]
])("%s", (path, seed) => {
  it("has settings, or an error without its text", () =>
    Fuzz.run({
      seeds: [seed],
      words: ["\"\"\"", "'''", "[[a]]", "[a.b]", "= ", "1979-05-27T07:32:00Z", "0x", "inf", "\\u", "api-key = ", "\"api-key\":"],
      check: (bytes) =>
        Effect.gen(function*() {
          const files = FileSystem.layerNoop({ readFile: () => Effect.succeed(bytes) })
          const exit = yield* Fuzz.outcome(Effect.provide(ConfigFile.read(path, names), files))
          expect(Exit.isFailure(exit) ? Fuzz.shown(exit) : "").not.toContain(secret)
        })
    }))
})
