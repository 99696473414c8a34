/** The built program with a source that is only a part: nothing of it is sent and nothing is set to 0, unless the part is accepted. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { account, run } from "./support/program.ts"
import { arrived, held } from "./support/sandbox.ts"
import { ids, inFolder, wanted, write } from "./support/shop.ts"

const items = ids.map((productId) => ({ productId, stock: 5 }))
const whole = JSON.stringify({ data: items, total: items.length, has_more: false, errors: [] })
const part = (fields: object) => JSON.stringify({ data: items.slice(0, 2).map((item) => ({ ...item, stock: 6 })), ...fields })

describe("a source that is only a part", () => {
  it.live("is refused by once and plan, and sells nothing out, until its field is accepted",
    () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const env = { ...yield* account, STOCK_SYNC_GONE: "zero", STOCK_SYNC_SOURCE: "stock.json" }
          yield* write(`${cwd}/stock.json`, whole)
          expect(yield* run(["once"], { cwd, env })).toMatchObject({ status: 0 })
          const before = yield* held(...ids)
          const sent = (yield* arrived).length
          yield* write(`${cwd}/stock.json`, part({ total: items.length, meta: { "next-page": 2 } }))
          for (const command of ["once", "plan"]) {
            const refused = yield* run([command, "--accept-partial", "meta.next_page"], { cwd, env })
            expect(refused.status).toBe(2)
            expect(refused.stderr).toContain(
              `stock.json: it is one page of several: total is ${items.length}, and it has 2 items. Provide a document with all items, or accept it with ` +
                "--accept-partial total (STOCK_SYNC_ACCEPT_PARTIAL); no row of it was used"
            )
          }
          expect(yield* held(...ids)).toEqual(before)
          expect(yield* arrived).toHaveLength(sent)
          for (
            const [args, more] of [
              [["--accept-partial", "total", "--accept-partial", "META.nextPage"], {}],
              [["--accept-partial", "total,meta.next_page"], {}],
              [[], { STOCK_SYNC_ACCEPT_PARTIAL: "total, meta.next-page" }]
            ] as const
          ) {
            expect(yield* run(["plan", ...args], { cwd, env: { ...env, ...more } })).toMatchObject({ status: 0 })
          }
        })
      ), 60_000)

  it.live("is refused on standard input if its last line has no line end, is no row, or is an error message",
    () =>
      inFolder((cwd) =>
        Effect.gen(function*() {
          const env = { ...yield* account, STOCK_SYNC_GONE: "zero", STOCK_SYNC_GUARD_SHARE: "100%" }
          const rows = Object.entries(wanted).map(([id, stock]) => `"${id}",${stock}\n`)
          const complete = `productId,stock\n${rows.join("")}`
          expect(yield* run(["once", "--source", "-"], { cwd, env, input: complete })).toMatchObject({ status: 0 })
          const sent = (yield* arrived).length
          const first = `productId,stock\n${rows[0]}`
          for (
            const [end, mark] of [
              ["\"007\",1", "line-end"],
              ["\"007\"\n", "last-row"],
              ["\"007\",1\nmysqldump: Error 2013: Lost connection to MySQL server during query\n", "error-text"]
            ] as const
          ) {
            const refused = yield* run(["once", "--source", "-"], { cwd, env, input: `${first}${end}` })
            expect(refused.status).toBe(2)
            expect(refused.stderr).toContain(`--accept-partial ${mark} (STOCK_SYNC_ACCEPT_PARTIAL)`)
            const accepted = yield* run(["plan", "--source", "-", "--accept-partial", mark], { cwd, env, input: `${first}${end}` })
            expect(accepted.status).toBe(0)
          }
          expect(yield* arrived).toHaveLength(sent)
          expect(yield* held(...ids)).toEqual(wanted)
        })
      ), 60_000)
})
