/**
 * The built program, killed at random moments amid changes of its source and failures of the service, on every kind of ledger.
 * `PLAZA_KILLS` says how often, `PLAZA_CRASH_SEED` with which seed.
 */
import { FileSystem } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, Random } from "effect"
import { env, stdout } from "node:process"
import * as Feed from "./support/crash/Feed.js"
import * as Show from "./support/crash/Show.js"

const kills = Number(env["PLAZA_KILLS"] ?? 10)
const seed = Number(env["PLAZA_CRASH_SEED"] ?? 1)
const inShort = Math.max(3, Math.ceil(kills / 5))

const crash = (kills: number, ledger: string) =>
  Effect.gen(function*() {
    const { figures, ...shown } = yield* Effect.withRandom(Show.run({ kills, products: 150, ledger }), Random.make(seed))
    stdout.write(`killed with seed ${seed}: ${JSON.stringify(figures)}\n`)
    expect(shown).toEqual({
      ends: [],
      untrue: [],
      outOfOrder: [],
      different: [],
      needless: [],
      atRest: ["GET /me"],
      stops: [143, 143, 143]
    })
    // Else nothing of the above says anything.
    expect(figures.applied).toBeGreaterThan(kills)
  }).pipe(Effect.provide(NodeContext.layer))

const atMost = (kills: number) => 180_000 + kills * 10_000

describe("the source of the show", () => {
  it.scoped("tells a value that is older than one before it, or was never told", () =>
    Effect.gen(function*() {
      const path = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/stock.csv`
      const feed = yield* Feed.make(path, ["A"])
      const told: Array<number> = []
      while (told.length < 4) {
        yield* feed.change
        const stock = feed.wanted("A")
        if (stock !== undefined && stock !== 0 && stock !== told.at(-1)) told.push(stock)
      }
      const [first = 0, second = 0, third = 0] = told
      const outOfOrder = (...stock: ReadonlyArray<number>) =>
        feed.outOfOrder(stock.map((stock, at) => ({ product: "A", stock, at }))).map(({ at }) => at)
      expect(outOfOrder(first, first, third, third)).toEqual([])
      expect(outOfOrder(first, second, first, third)).toEqual([2])
      expect(outOfOrder(third, second, 1_000_000)).toEqual([1, 2])
    }).pipe(Effect.provide(NodeContext.layer)))
})

describe("killed again and again while the source changes and the service fails", () => {
  it.live(`${kills} times with a ledger in a file, it writes nothing older over newer, tells no lie and comes to equal the source`, () =>
    crash(kills, "ledger.sqlite"), atMost(kills))

  it.live(`${inShort} times with a ledger in a Postgres, the same`, () =>
    Effect.scoped(Effect.flatMap(Postgres.scoped, ({ url }) => crash(inShort, `${url}?schema=crashes`))), atMost(inShort))
})
