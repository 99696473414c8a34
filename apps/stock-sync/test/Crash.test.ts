/**
 * The built program, killed at random moments while its source changes, the service fails and writes land late, on every kind
 * of ledger. `PLAZA_KILLS` is the number of kills (default: 10), `PLAZA_CRASH_SEED` the seed (default: 1).
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, FileSystem, Random } from "effect"
import { env, stdout } from "node:process"
import * as Feed from "./support/crash/Feed.ts"
import * as Kills from "./support/crash/Kills.ts"

const kills = Number(env["PLAZA_KILLS"] ?? 10)
const seed = Number(env["PLAZA_CRASH_SEED"] ?? 1)
const fewer = Math.max(3, Math.ceil(kills / 5))

const crash = (kills: number, ledger: string) =>
  Effect.gen(function*() {
    const { figures, ...found } = yield* Random.withSeed(Kills.run({ kills, products: 150, ledger }), seed)
    stdout.write(`killed with seed ${seed}: ${JSON.stringify(figures)}\n`)
    expect(found).toEqual({
      ends: [],
      untrue: [],
      outOfOrder: [],
      different: [],
      needless: [],
      atRest: ["GET /me"],
      stops: [0, 0, 0]
    })
    // Otherwise nothing of the above means anything.
    expect(figures.writes).toBeGreaterThan(kills)
    if (kills >= 10) expect(figures.late).toBeGreaterThan(0)
  }).pipe(Effect.provide(NodeServices.layer))

const atMost = (kills: number) => 180_000 + kills * 10_000

describe("the changing source", () => {
  it.effect("recognises a value that is older than one before it, and one that it never had", () =>
    Effect.gen(function*() {
      const path = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/stock.csv`
      const feed = yield* Feed.make(path, ["A"])
      const versions: Array<number> = []
      while (versions.length < 4) {
        yield* feed.change
        const stock = feed.wanted("A")
        if (stock !== undefined && stock !== 0 && stock !== versions.at(-1)) versions.push(stock)
      }
      const [first = 0, second = 0, third = 0] = versions
      const outOfOrder = (...stock: ReadonlyArray<number>) =>
        feed.outOfOrder(stock.map((stock, at) => ({ product: "A", stock, at, isLate: false }))).map(({ at }) => at)
      expect(outOfOrder(first, first, third, third)).toEqual([])
      expect(outOfOrder(first, second, first, third)).toEqual([2])
      expect(outOfOrder(third, second, 1_000_000)).toEqual([1, 2])
    }).pipe(Effect.provide(NodeServices.layer)))
})

describe("a worker that is killed repeatedly while the source changes, the service fails and writes are late", () => {
  it.live(
    `${kills} times with a ledger in a file, it sends no older value after a newer one, its ledger is correct and the store ends equal to the source`,
    () => crash(kills, "ledger.sqlite"),
    atMost(kills)
  )

  it.live(`${fewer} times with a ledger in a Postgres, the same`,
    () => Effect.scoped(Effect.flatMap(Postgres.scoped, ({ url }) => crash(fewer, `${url}?schema=crashes`))), atMost(fewer))
})
