/** A service that echoes the API key in any form and any place of a response: no command shows it, and the ledger does not store it. */
import { NodeServices } from "@effect/platform-node"
import { it } from "@effect/vitest"
import * as KeyEchoes from "@plaza/testing/KeyEchoes"
import { Effect, FileSystem } from "effect"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { expect } from "vitest"
import { runIn } from "./support/command.ts"

it.live("an echo of the key is in no output, and not in the ledger", () =>
  Effect.gen(function*() {
    const { baseUrl, respond } = yield* KeyEchoes.serve
    for (const { form, key, name } of KeyEchoes.keyed()) {
      const home = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "stock-sync-echo-" }))
      respond(404, form, 200)
      writeFileSync(`${home}/stock.csv`, "productId,stock\n1,2\n2,3\n")
      const env = { PLAZA_BASE_URL: baseUrl, PLAZA_API_KEY: key, PLAZA_LOG_LEVEL: "All" }
      const shown: Array<string> = []
      for (const argv of [["once", "--source", "stock.csv", "--json"], ["history", "--json"], ["status"]]) {
        const { stderr, stdout } = yield* runIn(home, argv, env)
        shown.push(stdout, stderr)
      }
      const stored = readdirSync(home).map((file) => readFileSync(`${home}/${file}`, "latin1"))
      const texts = [...shown, ...stored]
      expect({
        name,
        isShown: texts.some((text) => KeyEchoes.isLeaking(text, key)),
        isRedacted: texts.some((text) => text.includes("<redacted>"))
      }).toEqual({ name, isShown: false, isRedacted: true })
    }
  }).pipe(Effect.provide(NodeServices.layer)), 60_000)
