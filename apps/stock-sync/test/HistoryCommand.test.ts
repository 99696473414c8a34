/** `history`, `retry` and `export` of products that the ledger does not have, and of an empty ledger. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { runIn } from "./support/command.ts"
import { account, parsed } from "./support/program.ts"
import { arrived, held } from "./support/sandbox.ts"
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

describe("an earlier snapshot", () => {
  it.live("is listed, restored and sent, and the source is held until it is right", () =>
    afterOnce((run, cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        const once = runIn(cwd, ["once", "--source", "stock.csv"], env)
        const wrong = { ...wanted, "SET #3": 0, "CAP/RED L": 0 }
        expect(yield* run("revert", "1")).toMatchObject({ status: 1, stdout: "" })
        yield* write(`${cwd}/stock.csv`, csv(wrong))
        expect(yield* once).toMatchObject({ status: 0 })
        expect(yield* held(...Object.keys(wanted))).toEqual(wrong)

        const list = yield* run("revert")
        expect(list).toMatchObject({ status: 0, stderr: "" })
        expect(list.stdout).toMatch(/^2\t\S+Z\t8\t2\tthe wanted stock now\t\n1\t\S+Z\t8\t8\t\t\n$/)
        const shown = yield* run("revert", "1", "--dry-run")
        expect(shown).toMatchObject({ status: 0 })
        expect(shown.stdout).toBe(
          "2 products would change.\n\nWould change\nproduct\tfrom\tto\timplausible\nCAP/RED L\t0\t7\t\nSET #3\t0\t2\t\n"
        )
        expect((yield* run("status")).stdout).not.toContain("reverted")

        const reverted = yield* run("revert", "1")
        expect(reverted).toMatchObject({ status: 0 })
        expect(reverted.stdout).toContain(" is wanted again: 2 products changed, as snapshot 3.")
        expect((yield* run("status")).stdout).toMatch(/\nreverted\tto snapshot 1, \S+Z\n/)
        expect(parsed((yield* run("status", "--json")).stdout)).toMatchObject({ reverted: { to: 1 }, held: null })
        // The wrong source is held, and what is wanted is sent all the same.
        const refused = yield* once
        expect(refused).toMatchObject({ status: 2 })
        expect(refused.stderr).toContain("is held as snapshot 4, because of 8 products, 2 get a stock that was reverted.")
        expect(yield* held(...Object.keys(wanted))).toEqual(wanted)
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, "SET #3": 1 }))
        expect(yield* once).toMatchObject({ status: 0 })
        expect(yield* held("SET #3")).toEqual({ "SET #3": 1 })
        expect((yield* run("status")).stdout).not.toContain("reverted")
        expect(parsed((yield* run("report", "--json")).stdout)).toMatchObject({ snapshots: { accepted: 3, held: 1, reverted: 1 } })
      })
    ))

  it.live("that is implausible by now is restored only if that is confirmed", () =>
    afterOnce((run, cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, "SET #3": 30 }))
        expect(yield* runIn(cwd, ["once", "--source", "stock.csv"], env)).toMatchObject({ status: 0 })
        const strict = { STOCK_SYNC_GUARD_SHARE: "0%", STOCK_SYNC_GUARD_COUNT: "0", STOCK_SYNC_GUARD_WINDOW: "1ms" }
        const refused = yield* runIn(cwd, ["revert", "1"], strict)
        expect(refused).toMatchObject({ status: 2 })
        expect(refused.stdout).toContain("SET #3\t30\t2\tfalls to a third or less\n")
        expect(refused.stderr).toContain(
          "nothing was changed: of 8 products, 1 fall to a third or less. If it is right, run `plaza-stock-sync revert 1 --confirm`"
        )
        const refusedJson = yield* runIn(cwd, ["revert", "1", "--json"], strict)
        expect(refusedJson).toMatchObject({ status: 2 })
        expect(parsed(refusedJson.stdout)).toMatchObject({
          snapshot: null,
          implausible: true,
          changes: [{ productId: "SET #3", from: 30, to: 2, implausible: "fell" }]
        })
        expect(parsed(refusedJson.stderr)).toMatchObject({ error: { tag: "RevertHeld" } })
        expect(yield* runIn(cwd, ["revert", "1", "--confirm", "--json"], strict)).toMatchObject({ status: 0 })
        expect(parsed((yield* run("status", "SET #3", "--json")).stdout)).toMatchObject({ wanted: 2 })
        expect(parsed((yield* run("revert", "--json")).stdout.split("\n")[0] ?? "")).toMatchObject({
          snapshot: 3,
          changed: 1,
          revertedTo: 1
        })
      })
    ))
})

describe("a product", () => {
  it.live("is sent again by hand, also if the service has confirmed it", () =>
    afterOnce((run, cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        const before = (yield* arrived).length
        expect(yield* run("resend", "007", "CAP/RED L")).toMatchObject({ status: 0, stdout: "due\t2\n", stderr: "" })
        expect(parsed((yield* run("status", "007", "--json")).stdout)).toMatchObject({ state: "pending", confirmed: null, ahead: 0 })
        expect(yield* runIn(cwd, ["once", "--source", "stock.csv"], env)).toMatchObject({ status: 0 })
        expect(yield* arrived).toHaveLength(before + 2)
        const unknown = yield* run("resend", "NOPE", "007")
        expect(unknown).toMatchObject({ status: 3, stdout: "due\t1\n" })
        expect(unknown.stderr).toContain("has no product \"NOPE\";")
        expect(yield* run("resend")).toMatchObject({ status: 2, stdout: "" })
      })
    ))

  it.live("that is a kit keeps no more than its known components allow, as its status says", () =>
    afterOnce((_, cwd) =>
      Effect.gen(function*() {
        const env = { ...(yield* account), STOCK_SYNC_SOURCE: "stock.csv", STOCK_SYNC_KITS: "kits.csv" }
        const kit = "50%-OFF-BOX"
        yield* write(`${cwd}/kits.csv`, `kit,component,quantity\n${kit},CAP/RED L,2\n${kit},MUG-BLUE-250,1\n`)
        expect(yield* runIn(cwd, ["once"], env)).toMatchObject({ status: 0 })
        expect(yield* held(kit)).toEqual({ [kit]: 3 })
        yield* write(`${cwd}/stock.csv`, csv({ ...wanted, "CAP/RED L": 0 }).replace("\"MUG-BLUE-250\",4", "\"MUG-BLUE-250\",x"))
        expect(yield* runIn(cwd, ["once"], env)).toMatchObject({ status: 1 })
        expect(yield* held("CAP/RED L", kit)).toEqual({ "CAP/RED L": 0, [kit]: 0 })
        const { stdout } = yield* runIn(cwd, ["status", kit], env)
        expect(stdout).toContain("\nwanted\t0\n")
        expect(stdout).toContain(
          "\nkit\tits component MUG-BLUE-250 is rejected, so the kit keeps its stock, but no more than the others allow: 0\n"
        )
        expect(stdout).toContain("\n2 x CAP/RED L\t0\n1 x MUG-BLUE-250\tnot known\n")
        expect(yield* runIn(cwd, ["resend", kit], env)).toMatchObject({ status: 0 })
        expect(yield* runIn(cwd, ["once"], env)).toMatchObject({ status: 1 })
        expect(yield* held(kit)).toEqual({ [kit]: 0 })
        // Without its kits, their own rows would be sent.
        yield* write(`${cwd}/kits.csv`, "kit,component,quantity\n")
        const refused = yield* runIn(cwd, ["once"], env)
        expect(refused).toMatchObject({ status: 2 })
        expect(refused.stderr).toContain("kits.csv: it has a header and no rows")
        expect(refused.stderr).toContain("omit --kits (STOCK_SYNC_KITS) to have none")
        expect(yield* held(kit)).toEqual({ [kit]: 0 })
      })
    ))

  it.live("has a status that says what the store has, why it is not sent, and which rows and rules are behind it", () =>
    afterOnce((run, cwd) =>
      Effect.gen(function*() {
        const env = yield* account
        const settled = yield* run("status", "007")
        expect(settled).toMatchObject({ status: 0 })
        expect(settled.stdout).toMatch(
          /^product\t007\nstate\tsettled\nwanted\t0\nconfirmed\t0 at \S+\nwhy\tthe store has the wanted stock\nsent next\twhen another stock is wanted\nlast request\t0 at \S+: confirmed\n/
        )
        expect(settled.stderr).toContain("set STOCK_SYNC_SOURCE")
        yield* write(`${cwd}/stock.csv`, `${csv({ ...wanted, NEW: 30 })}ODD,many\nPART,7\n`)
        yield* write(`${cwd}/kits.csv`, "kit,component,quantity\nSET,PART,2\n")
        const source = { STOCK_SYNC_SOURCE: "stock.csv", STOCK_SYNC_BUFFER: "10%", STOCK_SYNC_MAX: "20", STOCK_SYNC_KITS: "kits.csv" }
        yield* runIn(cwd, ["once"], { ...env, ...source })
        const refused = yield* runIn(cwd, ["status", "NEW"], source)
        expect(refused.stdout).toMatch(
          /\nwhy\tthe service refuses it: NOT_FOUND: .*\nsent next\t\S+, or after `plaza-stock-sync retry NEW`\n/
        )
        expect(refused.stdout).toMatch(/\nline \d+\tNEW: 30\nbuffer 10%\t27\nmax 20\t20\n/)
        expect(refused.stderr).toBe("")
        const kit = parsed((yield* runIn(cwd, ["status", "SET", "--json"], source)).stdout)
        expect(kit).toMatchObject({
          wanted: 2,
          source: {
            components: [{ productId: "PART", quantity: 2, stock: 6 }],
            rules: [{ rule: "possible kits", stock: 3 }, { rule: "buffer 10%", stock: 2 }, { rule: "max 20", stock: 2 }]
          }
        })
        const odd = yield* runIn(cwd, ["status", "ODD"], source)
        expect(odd).toMatchObject({ status: 0 })
        expect(odd.stdout).toMatch(
          /^product\tODD\nstate\tnot accepted yet\nlast request\tnone in the history\nline \d+\tstock "many" is not a number\n/
        )
        // A source that can't be read hides nothing of the ledger.
        const unreadable = yield* runIn(cwd, ["status", "007"], { STOCK_SYNC_SOURCE: "none.csv" })
        expect(unreadable).toMatchObject({ status: 0 })
        expect(unreadable.stdout).toContain("\nsource\tnone.csv: there is no such file")
        expect(yield* run("status", "NOPE")).toMatchObject({ status: 3, stdout: "" })
        yield* write(`${cwd}/many.csv`, `${csv({ ...wanted, NEW: 30 })}PART,7\n${"MANY,2\n".repeat(30)}`)
        const many = { ...source, STOCK_SYNC_SOURCE: "many.csv", STOCK_SYNC_DUPLICATES: "sum" }
        yield* runIn(cwd, ["once"], { ...env, ...many })
        const summed = yield* runIn(cwd, ["status", "MANY"], many)
        expect(summed.stdout).toContain("\nsum of its rows\t60\nbuffer 10%\t54\nmax 20\t20\n")
        expect(summed.stdout).toContain("\nfurther rows\t10\n")
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
