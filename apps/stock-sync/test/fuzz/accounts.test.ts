/** Files with accounts of a fleet: a defect, a hang or a secret in an error is a mistake. */
import * as Fuzz from "@plaza/testing/Fuzz"
import { Duration, Effect, Exit, FileSystem, Option, Stream } from "effect"
import { expect, it } from "vitest"
import * as AccountFile from "../../src/fleet/AccountFile.ts"
import { AccountOptions, layer as layerOptions } from "../../src/fleet/AccountOptions.ts"
import * as FleetSecret from "../../src/fleet/FleetSecret.ts"
import * as OneFolder from "../support/oneFolder.ts"

const secret = "Zq7Rk2Vw9Xb4Nd6Tf8Gh1Jm3Lp5Sc0Yr7Ue2Ai4o"

// One for all runs, because the derivation of the cipher key is slow on purpose.
const options = Effect.runSync(Effect.cached(
  Effect.gen(function*() {
    const sealing = yield* FleetSecret.FleetSecret
    return yield* Effect.provide(
      AccountOptions,
      layerOptions(Option.some(sealing), {
        timeout: Duration.seconds(30),
        rateLimit: 120,
        rateWindow: Duration.minutes(1),
        allowInsecureHttp: false
      })
    )
  }).pipe(Effect.provide([FileSystem.layerNoop({}), FleetSecret.layer("a secret of the fuzz test")]))
))

it("accounts of a fleet are accepted or refused, and neither shows a key", () =>
  Fuzz.run({
    seeds: [
      `id,baseUrl,key,source,stock-column\nshop,https://host/open/v1,key_${secret},/stock.csv,stock\n`,
      `sep=;\r\nid;baseUrl;key;source;poll\r\nshop;https://host/open/v1;"key_${secret}";https://x/stock.csv;1 minute\r\n`,
      "id,baseUrl,key,source\nshop,https://host/open/v1,env:KEY,/stock.csv\nother,http://host,file:/k,-\n"
    ],
    words: ["env:", "file:", "sep=;", "stock-colum", "poll", "ledger", "\"\"\"", "postgres://u:p@h/d", "1 minute"],
    check: (bytes) =>
      Effect.gen(function*() {
        const { layer, write } = OneFolder.make()
        yield* write("accounts.csv", bytes)
        const rows = yield* Fuzz.outcome(Effect.provide(Stream.runCollect(AccountFile.read("accounts.csv")), layer))
        const { accept } = yield* options
        const shown = Exit.isFailure(rows) ?
          [Fuzz.shown(rows)] :
          yield* Effect.forEach(rows.value, (row) =>
            row._tag === "Rejected" ? Effect.succeed(row.reason) : Effect.map(
              Fuzz.outcome(accept(row.account)),
              // An accepted account shows all but its key: a mutation may have moved the key to another column.
              (exit) => Fuzz.shown(Exit.isSuccess(exit) ? exit.value.key : exit)
            ))
        expect([...shown].join("\n")).not.toContain(secret)
      })
  }))
