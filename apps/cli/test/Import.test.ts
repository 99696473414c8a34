/**
 * Imports, in process: what is refused before the first request, what is sent, how it goes on after an end of any kind, and what is told.
 */
import { FileSystem } from "@effect/platform"
import { describe, expect, it } from "@effect/vitest"
import { OrderId, ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Effect, Exit, Fiber } from "effect"
import { failureOf, home, inProcess, ordersOf, run, stockOf, summaryOf, write } from "./support/Importing.js"

const ids = (count: number) => Array.from({ length: count }, (_, number) => `P-${number}`)
const products = (count: number) => ids(count).map((id) => ({ id, stock: 1_000 }))
const orders = (count: number) => ids(count).map((id) => ({ id }))
const rows = (count: number) => ids(count).map((id, number) => [id, number] as const)

const writes = Effect.map(Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.requests), (all) => all.filter(({ method }) => method !== "GET"))
const stockAt = (id: string) => Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), (state) => state.products.find((one) => one.id === ProductId.make(id))?.stock)
const shipmentOf = (id: string) => Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), (state) => state.orders.find((one) => one.id === OrderId.make(id))?.shipment)
const explained = (message: string) => expect.objectContaining({ _tag: "Explained", cause: expect.objectContaining({ message: expect.stringContaining(message) as unknown }) as unknown }) as unknown

describe("a file", () => {
  it.scoped("is checked whole before the first request, and every row that is wrong is told with its line", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", "productId;stock\nA;1\nB;\nC;many\nA;2\n;4\n")
      const text = yield* run(state, "stock", file, { json: false })
      expect(failureOf(text)).toEqual(explained("4 of its 5 rows can't be used, and nothing was sent"))
      expect(text).toMatchObject({ stdout: "" })
      expect(text.stderr.split("\n").map((line) => line.replace(file, "stock.csv"))).toEqual([
        "stock.csv, line 3: stock is empty, which is not taken for zero",
        `stock.csv, line 4: stock "many" is not a number`,
        `stock.csv, line 5: productId "A" stands on line 2 already, and which of the two holds can't be told`,
        "stock.csv, line 6: productId is empty",
        ""
      ])
      const json = yield* run(state, "stock", file)
      expect(failureOf(json)).toMatchObject({ details: { rows: [{ line: 3 }, { line: 4 }, { line: 5 }, { line: 6 }] } })
      expect(json.stderr).toBe("")
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: [{ id: "A" }] } }))))

  it.scoped("without rows is an empty day for orders and a broken export for stock", () =>
    Effect.gen(function*() {
      const state = yield* home
      expect(summaryOf(yield* run(state, "orders", yield* write(state, "orders.csv", "orderId,carrier,trackingNumber\n")))).toMatchObject({ rows: 0, sent: 0 })
      expect(failureOf(yield* run(state, "stock", yield* write(state, "stock.csv", "productId,stock\n")))).toMatchObject({ _tag: "SourceRefused" })
    }).pipe(Effect.provide(inProcess())))

  it.scoped("is never written over by its own report", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", stockOf(rows(1)))
      expect(failureOf(yield* run(state, "stock", file, { report: `${state}/../${state.split("/").at(-1)}/stock.csv` }))).toMatchObject({ _tag: "UsageError" })
      expect(failureOf(yield* run(state, "stock", file, { report: `${state}/missing/failed.csv` }))).toMatchObject({ _tag: "SystemError", reason: "NotFound" })
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess())))
})

describe("an import", () => {
  it.scoped("sends every row, and sends nothing when it is run again, whatever the file, order and format of the rows", () =>
    Effect.gen(function*() {
      const state = yield* home
      const first = yield* run(state, "stock", yield* write(state, "stock.csv", stockOf(rows(20))))
      expect(summaryOf(first)).toEqual({ import: "stock", rows: 20, inPlace: 0, sent: 20, alreadyShipped: [], unverified: [], failed: 0, left: 0, report: null })
      expect(yield* stockAt("P-19")).toBe(19)
      expect((yield* writes).length).toBe(20)
      const others = rows(20).toReversed().map(([productId, stock]) => JSON.stringify({ stock, productId }))
      const again = yield* run(state, "stock", yield* write(state, "other.ndjson", others.join("\n")), { json: false })
      expect(again.stdout).toBe("0 of 20 rows sent, 20 in place since an earlier run.\n")
      expect(again.stderr).toMatch(/^Everything is in place since \d{4}-.+Z, and nothing is sent\. .+--again sends it anew\.\n$/)
      expect((yield* writes).length).toBe(20)
      expect(summaryOf(yield* run(state, "stock", `${state}/stock.csv`, { again: true }))).toMatchObject({ sent: 20, inPlace: 0 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(20) } }))))

  it.scoped("of stock is not in place any more once some of its products got another stock by another import", () =>
    Effect.gen(function*() {
      const state = yield* home
      const one = yield* write(state, "one.csv", stockOf([["P-0", 1], ["P-1", 1]]))
      const two = yield* write(state, "two.csv", stockOf([["P-0", 2]]))
      const apart = yield* write(state, "apart.csv", stockOf([["P-2", 2]]))
      yield* run(state, "stock", one)
      yield* run(state, "stock", apart)
      expect(summaryOf(yield* run(state, "stock", one))).toMatchObject({ sent: 0, inPlace: 2 })
      yield* run(state, "stock", two)
      expect(summaryOf(yield* run(state, "stock", one))).toMatchObject({ sent: 2, inPlace: 0 })
      expect(yield* stockAt("P-0")).toBe(1)
      expect(summaryOf(yield* run(state, "stock", apart))).toMatchObject({ sent: 0, inPlace: 1 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(3) } }))))

  it.scoped("goes on with another key of the account; a key that can't see its account goes on with itself alone", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { createKey } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(ids(2)))
      yield* run(state, "orders", file)
      const second = yield* createKey("1001", { name: "second" })
      expect(summaryOf(yield* run(state, "orders", file, { apiKey: second.apiKey }))).toMatchObject({ inPlace: 2 })
      const narrow = yield* createKey("1001", { name: "narrow", scopes: ["orders:write"] })
      expect(summaryOf(yield* run(state, "orders", file, { apiKey: narrow.apiKey }))).toMatchObject({ inPlace: 0, sent: 0, alreadyShipped: ["P-0", "P-1"] })
      expect(summaryOf(yield* run(state, "orders", file, { apiKey: narrow.apiKey }))).toMatchObject({ inPlace: 2 })
    }).pipe(Effect.provide(inProcess({ fixtures: { orders: orders(2) } }))))

  it.scoped("tells in a dry run what would be sent and what is in place, and sends nothing", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(3)))
      expect(summaryOf(yield* run(state, "stock", file, { dryRun: true }))).toMatchObject({ dryRun: true, rows: 3, inPlace: 0, send: [{ productId: "P-0", stock: "0" }, {}, {}] })
      expect(yield* writes).toEqual([])
      yield* addFault({ kind: "status", when: "before", status: 404, method: "PATCH", path: "*/P-1/stock" })
      yield* run(state, "stock", file)
      const before = (yield* writes).length
      const text = yield* run(state, "stock", file, { dryRun: true, json: false })
      expect(text).toMatchObject({ stdout: "P-1\t1\n", stderr: "1 of 3 rows would be sent, and 2 are in place since an earlier run.\n" })
      expect((yield* writes).length).toBe(before)
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(3) } }))))

  it.scoped("is alone: a second one for the account is told who is in its way", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, requests } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "before", millis: 600_000, method: "PATCH" })
      const file = yield* write(state, "stock.csv", stockOf(rows(1)))
      const other = yield* write(state, "other.csv", stockOf([["P-0", 7]]))
      const running = yield* Effect.fork(run(state, "stock", file))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => Effect.map(requests, (all) => all.some(({ method }) => method === "PATCH")) })
      expect(failureOf(yield* run(state, "stock", other))).toMatchObject({
        _tag: "UsageError",
        message: expect.stringMatching(/another import of this kind runs for this account \(process \d+ on .+, since .+Z\)/) as unknown
      })
      yield* Fiber.interrupt(running)
      // What ends gives the place free, however it ended.
      expect(summaryOf(yield* run(state, "stock", other))).toMatchObject({ sent: 1 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))
})

describe("what fails", () => {
  it.scoped("is put into a file with its reason, which can be imported as it is, in any format", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const { setProduct } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf([["P-0", 1], [`"a,""b"";c"`, 2], ["gone", 3]]))
      for (const name of ["failed.csv", "failed.json", "failed.ndjson"]) {
        const report = `${state}/${name}`
        const ended = yield* run(state, "stock", file, { report, again: true })
        expect(summaryOf(ended)).toMatchObject({ sent: 1, failed: 2, left: 0, report })
        expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: "RowsFailed", exitCode: 3 } })
        expect(yield* fs.readFileString(report)).toContain("NOT_FOUND")
        expect(summaryOf(yield* run(state, "stock", report, { dryRun: true }))).toMatchObject({ send: [{ productId: `a,"b";c`, stock: "2" }, { productId: "gone", stock: "3" }] })
      }
      yield* setProduct({ id: "gone" })
      // Rows that failed are tried again.
      const unnamed = yield* run(state, "stock", file)
      expect(summaryOf(unnamed)).toMatchObject({ inPlace: 1, sent: 1, failed: 1, report: expect.stringMatching(/plaza\/imports\/stock-\w+\/\w+\.failed\.csv$/) as unknown })
      yield* setProduct({ id: `a,"b";c` })
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ inPlace: 2, sent: 1, failed: 0, report: null })
      const left = yield* fs.readDirectory(state, { recursive: true })
      expect(left.filter((name) => name.endsWith(".failed.csv"))).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  it.scoped("for every row ends the import at once: a key, an access, a profile, a quota", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(40)))
      for (const [status, code, tag] of [[401, "INVALID_API_KEY", "InvalidApiKey"], [403, "STORE_BLOCKED", "StoreBlocked"], [429, "RATE_LIMITED", "RateLimited"]] as const) {
        const before = (yield* writes).length
        yield* addFault({ kind: "status", when: "before", status, code, method: "PATCH", times: 1_000, retryAfter: "43200" })
        const ended = yield* run(state, "stock", file, { concurrency: 4 })
        expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 0, left: 40 })
        expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: tag }, advice: "0 of 40 rows are in place: run the same command to go on." })
        expect((yield* writes).length - before).toBeLessThanOrEqual(4)
        yield* clearFaults
      }
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 40 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(40) }, assumptions: { requestsPerWindow: 1_000 } }))))
})

describe("trouble on the way", () => {
  it.live("of the allowance is waited for, however often, and fails no row", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(10)))
      yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "60", method: "PATCH", times: 60 })
      yield* addFault({ kind: "status", when: "after", status: 429, method: "PATCH", times: 60 })
      expect(summaryOf(yield* run(state, "stock", file, { concurrency: 4 }))).toMatchObject({ sent: 10, failed: 0, left: 0 })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(10) } })), SimulatedTime.run))

  it.live("of the service that stays ends the import, and what was tried is told", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(100)))
      yield* addFault({ kind: "status", when: "after", status: 503, method: "PATCH", times: 10_000 })
      const ended = yield* run(state, "stock", file, { concurrency: 2 })
      expect(summaryOf(ended)).toMatchObject({ sent: 0, report: expect.stringContaining(".failed.csv") as unknown })
      expect(failureOf(ended)).toMatchObject({ cause: { _tag: "UnrecognizedError", category: "ServiceFault" }, details: { failed: expect.toSatisfy((failed) => failed === 5 || failed === 6) as unknown } })
      yield* clearFaults
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 100 })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(100) } })), SimulatedTime.run))

  it.scoped("that claims success without a response of the service puts no row in place, and ends the import when it goes on", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(20)))
      const bodies = [["<html>Sign in to the network</html>", "text/html"], [`{"error":{"code":"NOT_FOUND","message":"no"}}`, "application/json"]] as const
      for (const [body, contentType] of bodies) {
        yield* addFault({ kind: "status", when: "before", status: 200, body, contentType, method: "PATCH", path: "*/P-0/stock" })
        const one = yield* run(state, "stock", yield* write(state, "one.csv", stockOf([["P-0", 7]])), { again: true })
        expect(summaryOf(one)).toMatchObject({ sent: 0, failed: 1, left: 0 })
        expect(failureOf(one)).toMatchObject({ cause: { _tag: "RowsFailed", exitCode: 8 } })
        yield* addFault({ kind: "status", when: "before", status: 200, body, contentType, method: "PATCH", times: 1_000 })
        const ended = yield* run(state, "stock", file, { concurrency: 1 })
        expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 5, left: 15 })
        expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: "UnreadableSuccess" } })
        yield* clearFaults
      }
      expect(yield* stockAt("P-0")).toBe(1_000)
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 20, inPlace: 0 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(20) } }))))

  it.live("that leaves an order unknown is told as that, and the next run finds out", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(["P-0"]))
      yield* addFault({ kind: "drop", when: "after", method: "POST" })
      yield* addFault({ kind: "drop", when: "before", method: "POST", times: 100 })
      const ended = yield* run(state, "orders", file)
      expect(failureOf(ended)).toMatchObject({ cause: { _tag: "RowsFailed", exitCode: 8 } })
      yield* clearFaults
      expect(summaryOf(yield* run(state, "orders", file))).toMatchObject({ sent: 0, alreadyShipped: [], unverified: ["P-0"] })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { orders: orders(1) } })), SimulatedTime.run))

  it.scoped("with the journal ends the import before anything that it couldn't remember", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const file = yield* write(state, "stock.csv", stockOf(rows(3)))
      yield* fs.writeFileString(`${state}/plaza`, "in the way")
      expect(failureOf(yield* run(state, "stock", file))).toMatchObject({ _tag: "Explained", advice: expect.stringContaining("XDG_STATE_HOME") as unknown })
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(3) } }))))
})

describe("an order", () => {
  it.scoped("that is shipped already is told, and no failure", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "orders.csv", ordersOf(["P-0", "P-1"]))
      const ended = yield* run(state, "orders", file)
      expect(Exit.isSuccess(ended.exit)).toBe(true)
      expect(summaryOf(ended)).toMatchObject({ sent: 1, alreadyShipped: ["P-1"], failed: 0 })
      expect(yield* shipmentOf("P-1")).toEqual({ carrier: "UPS", trackingNumber: "1" })
    }).pipe(Effect.provide(inProcess({ fixtures: { orders: [{ id: "P-0" }, { id: "P-1", shipment: { carrier: "UPS", trackingNumber: "1" } }] } }))))

  it.scoped("that was being shipped when the import ended is shipped, not verified, once the repeat is a conflict", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults, requests } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(["P-0"]))
      yield* addFault({ kind: "delay", when: "after", millis: 600_000, method: "POST" })
      const running = yield* Effect.fork(run(state, "orders", file))
      yield* Effect.repeat(Effect.yieldNow(), { until: () => Effect.map(requests, (all) => all.some(({ method, status }) => method === "POST" && status === 200)) })
      yield* Fiber.interrupt(running)
      yield* clearFaults
      expect(summaryOf(yield* run(state, "orders", file, { dryRun: true }))).toMatchObject({ doubtful: 1, inPlace: 0 })
      expect(summaryOf(yield* run(state, "orders", file))).toMatchObject({ sent: 0, alreadyShipped: [], unverified: ["P-0"] })
    }).pipe(Effect.provide(inProcess({ fixtures: { orders: orders(1) } }))))
})
