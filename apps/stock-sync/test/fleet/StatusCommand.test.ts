/** What `fleet status` prints. */
import { describe, expect, it } from "@effect/vitest"
import * as Output from "@plaza/cli-kit/Output"
import * as Streams from "@plaza/cli-kit/Streams"
import { Effect, Layer, Option, Schema } from "effect"
import { readFileSync } from "node:fs"
import * as Status from "../../src/commands/fleet/Status.ts"
import * as FleetLedger from "../../src/fleet/FleetLedger.ts"
import * as Support from "../support/fleetStatus.ts"

const { accounts, heldSnapshot, products, runnerRow, sharedKey } = Support

const inFleet = Support.fleets()

/** Standard output of the command. */
const printed = (id: Option.Option<string>, json: boolean) =>
  Effect.suspend(() => {
    const stdout: Array<string> = []
    return Status.run(id).pipe(
      Effect.provide(Layer.merge(
        Layer.provideMerge(Output.layer({ json, quiet: false }), Streams.layerTest({ stdout, stderr: [] })),
        FleetLedger.layer
      )),
      Effect.map(() => stdout.join(""))
    )
  })

const json = (id: Option.Option<string>) => Effect.map(printed(id, true), Schema.decodeSync(Schema.fromJsonString(Schema.Unknown)))

const some = Effect.gen(function*() {
  yield* runnerRow("one")
  yield* runnerRow("two", 0, [{ reason: "loopStuck", message: "the runner has been stuck for 1 min: restart it" }])
  yield* runnerRow("three", 60_000)
  yield* accounts({
    alpha: { runner: "one", source: "https://user:hunter2@shop.example/stock.json?token=hunter2" },
    beta: { runner: "two", source: `sealed:${Support.sealed} postgres://db.example/shop`, problem: "the variable KEY is not set" },
    gamma: { paused: true },
    delta: { runner: "three" }
  })
  yield* products("alpha", [{ as: "soldOut", count: 2, since: 1_000 }, { as: "settled", count: 3 }, { as: "quarantined", count: 1 }])
  yield* products("delta", [{ as: "falling", count: 1 }])
  yield* heldSnapshot("delta", 5_000)
  yield* sharedKey(["beta", "gamma"], "a fingerprint")
})

describe("fleet status", () => {
  it.effect("prints the fleet as JSON", () =>
    inFleet(Effect.gen(function*() {
      yield* some
      expect(yield* json(Option.none())).toEqual({
        runners: [
          expect.objectContaining({ name: "one", alive: true, ready: true, reasons: [], shards: 100, accounts: 1, active: 1, failing: 4 }),
          expect.objectContaining({ name: "three", alive: false, ready: false, accounts: 1 }),
          expect.objectContaining({
            name: "two",
            alive: true,
            ready: false,
            reasons: [{ reason: "loopStuck", message: "the runner has been stuck for 1 min: restart it" }]
          })
        ],
        accounts: { total: 4, running: 2, paused: 1, pending: 1, failing: 1, held: 1 },
        products: {
          waiting: { soldOut: 2, falling: 1, backInStock: 0, rest: 0, doubtful: 0 },
          sending: 0,
          doubtful: 0,
          uncertain: 0,
          quarantined: 1
        },
        oldestSoldOut: { account: "alpha", productId: "soldOut-1", since: "1970-01-01T00:00:01.001Z" },
        accountsWithBacklog: 2,
        longestBacklogs: [
          { account: "alpha", products: 2, soldOut: 2, since: "1970-01-01T00:00:01.001Z" },
          { account: "delta", products: 1, soldOut: 0, since: "1970-01-01T00:00:00.001Z" }
        ],
        problems: [{ account: "beta", problem: "the variable KEY is not set", since: "1970-01-01T00:00:00.000Z" }],
        heldSnapshots: [{ account: "delta", snapshot: 3, since: "1970-01-01T00:00:05.000Z" }],
        sharedKeys: [["beta", "gamma"]],
        paused: ["gamma"]
      })
    })))

  it.effect("prints the fields of docs/fleet.md as JSON", () =>
    inFleet(Effect.gen(function*() {
      const page = readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8")
      const [, table = ""] = page.split("\n| field | content |\n")
      const rows = (table.split("\n\n")[0] ?? "").split("\n").map((row) => row.split("|")[1] ?? "")
      const documented = rows.flatMap((names) => Array.from(names.matchAll(/`(\w+)`/g), ([, name = ""]) => name))
      expect(Object.keys(Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Unknown))(yield* json(Option.none()))).toSorted())
        .toEqual(documented.toSorted())
    })))

  it.effect("prints the fleet as tables", () =>
    inFleet(Effect.gen(function*() {
      yield* some
      const text = yield* printed(Option.none(), false)
      for (
        const line of [
          /^running\t2$/m,
          /^pending\t1$/m,
          /^runners\t2$/m,
          /^waits longest\tsoldOut-1 of account alpha, since 1970-01-01T00:00:01Z$/m,
          /^two\tnot ready\t100\t1\t.*the runner has been stuck/m,
          /^three\tlost\t/m,
          /^alpha\t2\t2\t/m,
          /^beta\t1970-01-01T00:00:00Z\tthe variable KEY is not set$/m,
          /^delta\t3\t1970-01-01T00:00:05Z$/m,
          /^Accounts with the same key: give each its own\nbeta, gamma$/m,
          /^Paused accounts\ngamma$/m
        ]
      ) expect(text).toMatch(line)
    })))

  it.effect("prints an account with its runner and what the status of a single store shows", () =>
    inFleet(Effect.gen(function*() {
      yield* some
      expect(yield* json(Option.some("alpha"))).toMatchObject({
        id: "alpha",
        state: "running",
        runner: "one",
        epoch: 1,
        problem: null,
        source: "https://shop.example/stock.json",
        status: {
          counts: { settled: 3, pending: 2, quarantined: 1 },
          waiting: { soldOut: 2 },
          products: [{ productId: "quarantined-1" }, { productId: "soldOut-1" }, { productId: "soldOut-2" }]
        }
      })
      const text = yield* printed(Option.some("alpha"), false)
      for (const line of [/^runner\tone$/m, /^state\trunning$/m, /^quarantined\t1$/m, /^soldOut-1\tpending\t0\t5/m])
        expect(text).toMatch(
          line
        )
      const held = yield* printed(Option.some("delta"), false)
      expect(held).toMatch(/^held\tsnapshot 3/m)
      expect(yield* json(Option.some("beta"))).toMatchObject({ source: "postgres://db.example/shop" })
      expect(yield* printed(Option.some("beta"), false)).toMatch(/^problem\tthe variable KEY is not set$/m)
      expect(yield* Effect.flip(Effect.asVoid(printed(Option.some("nobody"), true)))).toMatchObject({
        _tag: "AccountNotFound",
        id: "nobody"
      })
    })))

  it.effect("prints no key, password or parameter of a source", () =>
    inFleet(Effect.gen(function*() {
      yield* some
      for (const id of [Option.none(), Option.some("alpha"), Option.some("beta")]) {
        for (const asJson of [true, false]) {
          const text = yield* printed(id, asJson)
          expect(text).not.toContain(Support.sealed)
          expect(text).not.toContain("hunter2")
        }
      }
    })))
})
