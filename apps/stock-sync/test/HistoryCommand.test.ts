/** `history`, `retry` and `export` of products that the ledger does not have, and of an empty ledger. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { runIn } from "./support/command.ts"
import { account, parsed } from "./support/program.ts"
import { csv, inFolder, wanted, write } from "./support/shop.ts"

/** A folder whose ledger has the products of the shop. */
const afterOnce = <A, E, R>(
  test: (run: (...args: ReadonlyArray<string>) => ReturnType<typeof runIn>, cwd: string) => Effect.Effect<A, E, R>
) =>
  inFolder((cwd) =>
    Effect.gen(function*() {
      const env = yield* account
      yield* write(`${cwd}/stock.csv`, csv(wanted))
      expect(yield* runIn(cwd, ["once", "--source", "stock.csv"], env)).toMatchObject({ status: 0 })
      return yield* test((...args) => runIn(cwd, args, {}), cwd)
    })
  )

describe("a product that the ledger does not have", () => {
  it.live("has no history: exit code 3 and a sentence", () =>
    afterOnce((run) =>
      Effect.gen(function*() {
        const unknown = "the ledger plaza-stock-sync.sqlite has no product \"NOPE\"; `export` lists its products"
        expect(yield* run("history", "NOPE")).toEqual({ status: 3, stdout: "", stderr: `plaza-stock-sync: ${unknown}\n` })
        const json = yield* run("history", "NOPE", "--json")
        expect(json).toMatchObject({ status: 3, stdout: "" })
        expect(parsed(json.stderr)).toMatchObject({ error: { tag: "UnknownProduct", message: unknown } })
      })
    ))

  it.live("can't be retried: exit code 3, and those that can be are released", () =>
    afterOnce((run, cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, NEW: 3 }))
        expect(yield* runIn(cwd, ["once", "--source", "stock.csv"], env)).toMatchObject({ status: 1 })
        const retry = yield* run("retry", "NOPE", "007", "NEW")
        expect(retry).toMatchObject({ status: 3, stdout: "released\t1\n" })
        expect(retry.stderr).toContain("has no product \"NOPE\";")
        expect(yield* run("retry", "007")).toMatchObject({
          status: 1,
          stdout: "released\t0\n",
          stderr: "plaza-stock-sync: \"007\" is neither quarantined nor uncertain; `status` lists those that are\n"
        })
      })
    ))
})

describe("the history", () => {
  it.live("of a product, and of all, is the latest requests", () =>
    afterOnce((run) =>
      Effect.gen(function*() {
        const one = yield* run("history", "007")
        expect(one).toMatchObject({ status: 0, stderr: "" })
        expect(one.stdout).toMatch(/\t007\t0\tsoldOut\tconfirmed\t/)
        const two = yield* run("history", "--limit", "2", "--json")
        expect(two.stdout.trimEnd().split("\n").map(parsed)).toEqual([
          expect.objectContaining({ outcome: "confirmed", code: null, message: null }),
          expect.objectContaining({ outcome: "confirmed" })
        ])
      })
    ))

  it.live("that is empty is a note, and with --json nothing", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        // A source without rows is refused, and the ledger stays empty.
        yield* write(`${cwd}/stock.csv`, "productId,stock\n")
        expect(yield* runIn(cwd, ["once", "--source", "stock.csv"], env)).toMatchObject({ status: 2 })
        expect(yield* runIn(cwd, ["history"], {})).toEqual({ status: 0, stdout: "", stderr: "There are no requests in the history.\n" })
        expect(yield* runIn(cwd, ["history", "--json"], {})).toEqual({ status: 0, stdout: "", stderr: "" })
        expect(yield* runIn(cwd, ["export"], {})).toEqual({
          status: 0,
          stdout: "",
          stderr: "There are no products in the ledger plaza-stock-sync.sqlite.\n"
        })
        expect(yield* runIn(cwd, ["export", "--quiet"], {})).toEqual({ status: 0, stdout: "", stderr: "" })
      })
    ))

  it.live("has a limit of at least 1", () =>
    Effect.gen(function*() {
      for (const limit of ["-1", "0", "1.5", "many"]) {
        expect(yield* runIn(".", ["history", `--limit=${limit}`], {})).toEqual({
          status: 2,
          stdout: "",
          stderr: `plaza-stock-sync: --limit must be a whole number of at least 1, not "${limit}"\n`
        })
      }
    }))
})
