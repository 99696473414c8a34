/**
 * Imports, in process: what is refused before the first request, what is sent, how it continues after any kind of end, and what it reports.
 */
import { describe, expect, it } from "@effect/vitest"
import * as ExitCode from "@plaza/cli-kit/ExitCode"
import * as Report from "@plaza/cli-kit/Report"
import { TestTime } from "@plaza/client"
import { OrderId, ProductId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import * as Workbooks from "@plaza/testing/Workbooks"
import { Effect, Exit, Fiber, FileSystem, Option, Random } from "effect"
import { HttpClient } from "effect/http"
import { execFileSync } from "node:child_process"
import { failureOf, home, inProcess, ordersOf, run, stockOf, summaryOf, write } from "./support/Importing.ts"

const ids = (count: number) => Array.from({ length: count }, (_, number) => `P-${number}`)
const products = (count: number) => ids(count).map((id) => ({ id, stock: 1_000 }))
const orders = (count: number) => ids(count).map((id) => ({ id }))
const rows = (count: number) => ids(count).map((id, number) => [id, number] as const)

const writes = Effect.map(Effect.flatMap(Sandbox.Sandbox, (sandbox) => sandbox.requests),
  (all) => all.filter(({ method }) => method !== "GET"))
const stockAt = (id: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), (state) =>
    state.products.find((one) => one.id === ProductId.make(id))?.stock)
const shipmentOf = (id: string) =>
  Effect.map(Effect.flatMap(Sandbox.Sandbox, ({ state }) => state), (state) =>
    state.orders.find((one) => one.id === OrderId.make(id))?.shipment)
/** The report beside the journal. */
const inState = /plaza\/imports\/stock-\w+\/\w+\.failed\.csv$/
const explained = (message: string) =>
  expect.objectContaining({
    _tag: "Explained",
    cause: expect.objectContaining({ message: expect.stringContaining(message) as unknown }) as unknown
  }) as unknown

describe("a workbook", () => {
  it.effect("is read by its content, and its rows are named as Excel numbers them", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const state = yield* home
      const file = `${state}/stock.xlsx`
      const header = ["productId", "stock"]
      const valid = Workbooks.sheet([header, ["P-0", 1], [Workbooks.styled(1, 1), 2]], { formats: ["\"P-\"0"] })
      yield* fs.writeFile(file, valid)
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ rows: 2, sent: 2, failed: 0 })
      expect(yield* stockAt("P-1")).toBe(2)
      yield* fs.writeFile(file, Workbooks.sheet([header, [], ["P-0", 0.5], ["P-1", 1], ["P-1", 1]]))
      expect((yield* run(state, "stock", file, { json: false })).stderr.replaceAll(file, "stock.xlsx").split("\n").slice(0, 2)).toEqual([
        "stock.xlsx, row 3: stock 0.5 is not a whole number",
        "stock.xlsx, row 5: productId \"P-1\" is also in row 4: keep one of them"
      ])
      expect(failureOf(yield* run(state, "stock", file, { report: `${state}/failed.xlsx` }))).toMatchObject({
        message: "--report can't write an Excel workbook: use a name that ends in .csv, .json or .ndjson"
      })
      yield* fs.writeFile(file,
        Workbooks.workbook({ sheets: [{ name: "Old", rows: [header, ["P-0", 9]] }, { name: "New", rows: [header, ["P-0", 8]] }] }))
      expect(failureOf(yield* run(state, "stock", file))).toMatchObject({
        message: `${file}: it has 2 sheets with content ("Old", "New"): name the one to read with --sheet; no row of it was used`
      })
      expect(summaryOf(yield* run(state, "stock", file, { sheet: Option.some("New") }))).toMatchObject({ sent: 1 })
      expect(yield* stockAt("P-0")).toBe(8)
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(2) } }))))
})

describe("a file", () => {
  it.effect("is checked whole before the first request, and every invalid row is reported with its line", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", "productId;stock\nA;1\nB;\nC;many\nA;2\n;4\n")
      const text = yield* run(state, "stock", file, { json: false })
      expect(failureOf(text)).toEqual(explained("4 of its 5 rows are invalid; nothing was sent"))
      expect(text).toMatchObject({ stdout: "" })
      expect(text.stderr.split("\n").map((line) => line.replace(file, "stock.csv"))).toEqual([
        "stock.csv, line 3: stock is empty, which does not count as zero",
        `stock.csv, line 4: stock "many" is not a number`,
        `stock.csv, line 5: productId "A" is also on line 2: keep one of them`,
        "stock.csv, line 6: productId is empty",
        ""
      ])
      const json = yield* run(state, "stock", file)
      expect(failureOf(json)).toMatchObject({ details: { rows: [{ line: 3 }, { line: 4 }, { line: 5 }, { line: 6 }] } })
      expect(json.stderr).toBe("")
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: [{ id: "A" }] } }))))

  it.effect("without rows is an empty day for orders and a broken export for stock", () =>
    Effect.gen(function*() {
      const state = yield* home
      expect(summaryOf(yield* run(state, "orders", yield* write(state, "orders.csv", "orderId,carrier,trackingNumber\n")))).toMatchObject({
        rows: 0,
        sent: 0
      })
      expect(failureOf(yield* run(state, "stock", yield* write(state, "stock.csv", "productId,stock\n")))).toMatchObject({
        _tag: "SourceError"
      })
    }).pipe(Effect.provide(inProcess())))

  it.effect("is never written over by its own report", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", stockOf(rows(1)))
      expect(failureOf(yield* run(state, "stock", file, { report: `${state}/../${state.split("/").at(-1)}/stock.csv` }))).toMatchObject({
        _tag: "UsageError"
      })
      execFileSync("mkfifo", [`${state}/pipe`])
      const streams = ["-", "/dev/stdout", "/dev/fd/1", "/dev/null", "/dev/full", `${state}/pipe`]
      for (const report of ["", " ", ".", "..", state, `${state}/`, `${state}/failed.csv/`, ...streams]) {
        const failure = failureOf(yield* run(state, "stock", file, { report }))
        expect(failure).toMatchObject({
          _tag: "UsageError",
          message: expect.stringMatching(/^--report requires a regular file, not "/) as unknown
        })
        expect(ExitCode.of(failure)).toBe(2)
      }
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess())))

  it.effect("that is a pipe is read once, and its report is beside the journal", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const pipe = `${state}/pipe`
      execFileSync("mkfifo", [pipe])
      const writing = yield* Effect.forkChild(fs.writeFileString(pipe, stockOf([["unknown", 1], ["P-0", 2]])))
      const ended = yield* run(state, "stock", pipe)
      yield* Fiber.join(writing)
      expect(summaryOf(ended)).toMatchObject({ rows: 2, sent: 1, failed: 1, report: expect.stringMatching(inState) as unknown })
      expect(failureOf(ended)).toMatchObject({
        explanation: expect.stringContaining(".failed.csv (a pipe has no folder). Correct") as unknown
      })
      // The same rows from a file continue the import.
      const file = yield* write(state, "stock.csv", stockOf([["unknown", 1], ["P-0", 2]]))
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ inPlace: 1, failed: 1 })
      yield* Effect.forkChild(fs.writeFileString(pipe, "productId,stock\nP-0,\n"))
      expect(failureOf(yield* run(state, "stock", pipe))).toEqual(explained("pipe can't be imported: its only row is invalid"))
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  it.effect("is sent without a home folder only in a dry run, because an import keeps a journal", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", stockOf(rows(2)))
      const { countRequests } = yield* Sandbox.Sandbox
      const env = { HOME: "relative" }
      expect(failureOf(yield* run(state, "stock", file, { env }))).toMatchObject({
        _tag: "UsageError",
        message: "this user has no home folder: set HOME or XDG_STATE_HOME to a folder"
      })
      expect(summaryOf(yield* run(state, "stock", file, { env, dryRun: true }))).toMatchObject({ rows: 2, inPlace: 0, send: [{}, {}] })
      expect(yield* countRequests()).toBe(0)
    }).pipe(Effect.provide(inProcess())))

  it.effect("is not sent with a report that can't be written, whoever the user is", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", stockOf(rows(1)))
      const cases = [
        [`${state}/missing/failed.csv`, "no such file or directory"],
        [`${file}/failed.csv`, "not a directory"],
        ["/proc/failed.csv", "no such file or directory"],
        [`${state}/${"x".repeat(300)}.csv`, "name too long"]
      ] as const
      for (const [report, reason] of cases) {
        expect(failureOf(yield* run(state, "stock", file, { report }))).toMatchObject({
          _tag: "UsageError",
          message: `--report can't be written to ${report}: ${reason}; use another file`
        })
      }
      expect(yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.readDirectory(state))).toEqual(["stock.csv"])
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  it.effect("has its report beside it, which replaces only a report, and goes when every row is in place unless somebody changed it", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const { addFault, setProduct } = yield* Sandbox.Sandbox
      const content = stockOf([["unknown", 1], ["P-0", 2]])
      const file = yield* write(state, "stock.tsv.gz", content)
      const beside = `${state}/stock.failed.csv`
      yield* fs.writeFileString(beside, "a file of the user")
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ report: expect.stringMatching(inState) as unknown })
      expect(yield* fs.readFileString(beside)).toBe("a file of the user")
      yield* fs.remove(beside)

      // A run replaces the report of an earlier one, but not a report that somebody corrected or that came from elsewhere.
      const report = `productId,stock,code,reason\nunknown,1,NOT_FOUND,`
      for (let round = 0; round < 2; round++) {
        expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ report: beside })
        expect(yield* fs.readFileString(beside)).toMatch(new RegExp(`^${report}`))
      }
      const own = yield* fs.readFileString(beside)
      for (const corrected of [own.replace("unknown,1", "unknown,7"), `${report}from elsewhere\n`, "productId,stock,code,reason\n"]) {
        yield* fs.writeFileString(beside, corrected)
        expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ report: expect.stringMatching(inState) as unknown })
        expect(yield* fs.readFileString(beside)).toBe(corrected)
      }
      yield* fs.remove(beside)
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ report: beside })

      yield* setProduct({ id: "unknown" })
      const text = yield* fs.readFileString(beside)
      yield* fs.writeFileString(beside, text.replace("unknown,1", "unknown,7"))
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 1, report: null })
      expect(yield* fs.readFileString(beside)).toContain("unknown,7")
      yield* fs.remove(beside)
      yield* addFault({ kind: "status", when: "before", status: 404, method: "PATCH", path: "*/unknown/stock" })
      expect(summaryOf(yield* run(state, "stock", file, { again: true }))).toMatchObject({ report: beside })
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 1, report: null })
      expect(yield* fs.exists(beside)).toBe(false)
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  it.effect("of failed rows has no control characters of the service", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({
        kind: "status",
        when: "before",
        status: 404,
        message: "\u001b[31mnone\n=2",
        method: "PATCH",
        path: "*/unknown/stock"
      })
      const file = yield* write(state, "stock.csv", stockOf([["unknown", 1], ["P-0", 2]]))
      yield* run(state, "stock", file)
      const fs = yield* FileSystem.FileSystem
      const lines = (yield* fs.readFileString(`${state}/stock.failed.csv`)).trimEnd().split("\n")
      expect(lines).toEqual(["productId,stock,code,reason", expect.stringMatching(/^unknown,1,NOT_FOUND,.*␛\[31mnone/)])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  it.effect("has its report elsewhere if it can't be written where it belongs, and the message says why", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const file = yield* write(state, "stock.csv", stockOf([["unknown", 1], ["P-0", 2]]))
      const [named, beside] = [`${state}/failed.csv`, `${state}/stock.failed.csv`]
      const imported = (isFull: (path: string) => boolean, report?: string) =>
        Effect.updateService(run(state, "stock", file, { report }), FileSystem.FileSystem, (fs): FileSystem.FileSystem => ({
          ...fs,
          open: (path, options) => isFull(path) ? fs.open("/dev/full", { flag: "a" }) : fs.open(path, options)
        }))
      const first = yield* imported((path) => path.includes("/failed.csv."), named)
      expect(summaryOf(first)).toMatchObject({ sent: 1, failed: 1, report: beside })
      expect(failureOf(first)).toMatchObject({
        cause: { _tag: "RowsFailed" },
        details: { failed: 1 },
        explanation: expect.stringContaining(
          `The failed rows and their reasons are in ${beside} (${named} can't be written: no space left on the device). Correct`
        ) as unknown
      })
      yield* fs.writeFileString(beside, "no report")
      const second = yield* imported((path) => path.includes("/failed.csv."), named)
      expect(summaryOf(second)).toMatchObject({ failed: 1, report: expect.stringMatching(inState) as unknown })
      expect(failureOf(second)).toMatchObject({
        explanation: expect.stringContaining(
          `.failed.csv (${named} can't be written: no space left on the device; ${beside} was written or changed by somebody else). Correct`
        ) as unknown
      })
      const lost = yield* imported((path) => path.includes(".csv."))
      expect(summaryOf(lost)).toMatchObject({ inPlace: 1, failed: 1, report: null })
      expect(failureOf(lost)).toMatchObject({
        cause: { _tag: "RowsFailed", message: expect.stringContaining("line 2") as unknown },
        explanation: expect.stringMatching(
          /^The failed rows could not be saved \(.+ was written or changed by somebody else; .+ can't be written: no space left on the device\): name a file with --report\. Run the same command again to retry them\.$/
        ) as unknown
      })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  it.effect("has a report that no spreadsheet takes for formulas beyond the rows of the user, which stay as they are", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const { addFault } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf([["-7", 1], ["=A1", 2]]))
      for (const message of [`=HYPERLINK("https://host")`, "@SUM(1)"])
        yield* addFault({ kind: "status", when: "before", status: 422, code: "+NEW", message, method: "PATCH" })
      expect(summaryOf(yield* run(state, "stock", file, { concurrency: 1 }))).toMatchObject({ failed: 2 })
      expect((yield* fs.readFileString(`${state}/stock.failed.csv`)).split("\n").slice(1)).toEqual([
        `-7,1,'+NEW,"'=HYPERLINK(""https://host"")"`,
        "=A1,2,'+NEW,'@SUM(1)",
        ""
      ])
      expect(summaryOf(yield* run(state, "stock", `${state}/stock.failed.csv`))).toMatchObject({ rows: 2 })
      yield* addFault({ kind: "status", when: "before", status: 422, code: "+NEW", message: "=1", method: "PATCH" })
      yield* run(state, "stock", file, { again: true, concurrency: 1, report: `${state}/failed.ndjson` })
      expect(yield* fs.readFileString(`${state}/failed.ndjson`)).toContain(`"code":"+NEW","reason":"=1"`)
    }).pipe(Effect.provide(inProcess())))
})

describe("an import", () => {
  it.effect("sends every row, and sends nothing when it is run again, whatever the file, order and format of the rows", () =>
    Effect.gen(function*() {
      const state = yield* home
      const first = yield* run(state, "stock", yield* write(state, "stock.csv", stockOf(rows(20))))
      expect(summaryOf(first)).toEqual({
        import: "stock",
        rows: 20,
        inPlace: 0,
        sent: 20,
        alreadyShipped: [],
        unverified: [],
        failed: 0,
        left: 0,
        report: null
      })
      expect(yield* stockAt("P-19")).toBe(19)
      expect((yield* writes).length).toBe(20)
      const others = rows(20).toReversed().map(([productId, stock]) => JSON.stringify({ stock, productId }))
      const again = yield* run(state, "stock", yield* write(state, "other.ndjson", others.join("\n")), { json: false })
      expect(again.stdout).toBe("0 of 20 rows sent, 20 in place since an earlier run.\n")
      expect(again.stderr).toMatch(/^Every row is in place since \d{4}-.+Z\. Nothing was sent\. Use --again .+\n$/)
      expect((yield* writes).length).toBe(20)
      expect(summaryOf(yield* run(state, "stock", `${state}/stock.csv`, { again: true }))).toMatchObject({ sent: 20, inPlace: 0 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(20) } }))))

  it.effect("of stock sends what is sold out first and what may be there already last, and otherwise goes by the file", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv",
        stockOf([["P-0", 1], ["P-1", 0], ["P-2", 2], ["P-3", 3], ["P-4", 0], ["P-5", 4], ["P-6", 0]]))
      const sent = Effect.map(writes, (all) => all.map(({ params }) => params["id"]))
      // Two that may have arrived, one of them sold out.
      for (const id of ["P-2", "P-4"])
        yield* addFault({ kind: "status", when: "before", status: 200, body: "<html>", method: "PATCH", path: `*/${id}/stock` })
      for (const id of ["P-0", "P-1", "P-3", "P-5", "P-6"])
        yield* addFault({ kind: "status", when: "before", status: 404, method: "PATCH", path: `*/${id}/stock` })
      expect(summaryOf(yield* run(state, "stock", file, { concurrency: 1 }))).toMatchObject({ sent: 0, failed: 7 })
      expect(yield* sent).toEqual(["P-1", "P-4", "P-6", "P-0", "P-2", "P-3", "P-5"])
      yield* clearFaults
      expect(summaryOf(yield* run(state, "stock", file, { concurrency: 1 }))).toMatchObject({ sent: 7 })
      expect((yield* sent).slice(7)).toEqual(["P-1", "P-4", "P-6", "P-0", "P-3", "P-5", "P-2"])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(7) } }))))

  it.effect("of stock is not in place any more once some of its products got another stock by another import", () =>
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

  it.effect("goes on with another key of the account; a key that can't see its account goes on with itself alone", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { createKey } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(ids(2)))
      yield* run(state, "orders", file)
      const second = yield* createKey("1001", { name: "second" })
      expect(summaryOf(yield* run(state, "orders", file, { apiKey: second.apiKey }))).toMatchObject({ inPlace: 2 })
      const narrow = yield* createKey("1001", { name: "narrow", scopes: ["orders:write"] })
      expect(summaryOf(yield* run(state, "orders", file, { apiKey: narrow.apiKey }))).toMatchObject({
        inPlace: 0,
        sent: 0,
        alreadyShipped: ["P-0", "P-1"]
      })
      expect(summaryOf(yield* run(state, "orders", file, { apiKey: narrow.apiKey }))).toMatchObject({ inPlace: 2 })
    }).pipe(Effect.provide(inProcess({ fixtures: { orders: orders(2) } }))))

  it.effect("tells in a dry run what would be sent and what is in place, and sends nothing", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(3)))
      expect(summaryOf(yield* run(state, "stock", file, { dryRun: true }))).toMatchObject({
        dryRun: true,
        rows: 3,
        inPlace: 0,
        send: [{ productId: "P-0", stock: "0" }, {}, {}]
      })
      expect(yield* writes).toEqual([])
      yield* addFault({ kind: "status", when: "before", status: 404, method: "PATCH", path: "*/P-1/stock" })
      yield* run(state, "stock", file)
      const before = (yield* writes).length
      const text = yield* run(state, "stock", file, { dryRun: true, json: false })
      expect(text).toMatchObject({ stdout: "P-1\t1\n", stderr: "1 of 3 rows would be sent. 2 are in place since an earlier run.\n" })
      const one = yield* write(state, "one.csv", stockOf(rows(1)))
      expect((yield* run(state, "stock", one, { dryRun: true, json: false })).stderr).toBe(
        "1 of 1 row would be sent. 0 are in place since an earlier run.\n"
      )
      expect((yield* writes).length).toBe(before)
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(3) } }))))

  it.effect("is alone: a second one for the account is refused with the lock owner", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, requests } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "delay", when: "before", millis: 600_000, method: "PATCH" })
      const file = yield* write(state, "stock.csv", stockOf(rows(1)))
      const other = yield* write(state, "other.csv", stockOf([["P-0", 7]]))
      const running = yield* Effect.forkChild(run(state, "stock", file))
      yield* Effect.repeat(Effect.yieldNow, { until: () => Effect.map(requests, (all) => all.some(({ method }) => method === "PATCH")) })
      expect(failureOf(yield* run(state, "stock", other))).toMatchObject({
        _tag: "UsageError",
        message: expect.stringMatching(
          /another import of this kind is running for this account \(process \d+ on .+, since .+Z\)/
        ) as unknown
      })
      // A dry run doesn't count the row in flight among those of an earlier run.
      expect(summaryOf(yield* run(state, "stock", file, { dryRun: true }))).toMatchObject({ isRunning: true, doubtful: 1 })
      expect((yield* run(state, "stock", file, { dryRun: true, json: false })).stderr).toMatch(
        /^1 of 1 row would be sent\. 0 are in place\. The outcome of 1 row is unknown\. An import is running \(process \d+ on .+Z\), which may be sending rows of this file\.\n$/
      )
      yield* Fiber.interrupt(running)
      expect(summaryOf(yield* run(state, "stock", file, { dryRun: true }))).toMatchObject({ isRunning: false })
      // What ends gives the place free, however it ended.
      expect(summaryOf(yield* run(state, "stock", other))).toMatchObject({ sent: 1 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))
})

describe("what fails", () => {
  it.effect("is put into a file with its reason, which can be imported as it is, in any format", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const { setProduct } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf([["P-0", 1], [`"a,""b"";c"`, 2], ["gone", 3]]))
      for (const name of ["failed.csv", "failed.json", "failed.ndjson"]) {
        const report = `${state}/${name}`
        const ended = yield* run(state, "stock", file, { report, again: true })
        expect(summaryOf(ended)).toMatchObject({ sent: 1, failed: 2, left: 0, report })
        expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: "RowsFailed" } })
        expect(ExitCode.of(failureOf(ended))).toBe(3)
        expect(yield* fs.readFileString(report)).toContain("NOT_FOUND")
        expect(summaryOf(yield* run(state, "stock", report, { dryRun: true }))).toMatchObject({
          send: [{ productId: `a,"b";c`, stock: "2" }, { productId: "gone", stock: "3" }]
        })
      }
      yield* setProduct({ id: "gone" })
      // Rows that failed are tried again.
      const unnamed = yield* run(state, "stock", file)
      expect(summaryOf(unnamed)).toMatchObject({
        inPlace: 1,
        sent: 1,
        failed: 1,
        report: `${state}/stock.failed.csv`
      })
      yield* setProduct({ id: `a,"b";c` })
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ inPlace: 2, sent: 1, failed: 0, report: null })
      const left = yield* fs.readDirectory(state, { recursive: true })
      expect(left.filter((name) => name.endsWith(".failed.csv"))).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(1) } }))))

  const ofOneRow = [
    ["a new code", { status: 403, code: "PRODUCT_LOCKED" }, 4],
    ["a conflict", { status: 409, code: "CONFLICT" }, 5],
    ["a blocked store", { status: 403, code: "STORE_BLOCKED" }, 4],
    ["a refused key, while the account is not refused", { status: 401, code: "INVALID_API_KEY" }, 4],
    ["a fault for ever", { status: 500, code: "INTERNAL_ERROR" }, 7],
    ["a redirect", { status: 302, code: "302" }, 2]
  ] as const

  for (const [name, fault, exitCode] of ofOneRow) {
    for (const [failing, concurrency] of [[["P-3"], 1], [["P-0"], 16], [["P-0", "P-1", "P-2"], 2]] as const) {
      it.effect(`for ${failing.length} of eleven rows with ${name} fails no other, ${concurrency} at a time`, () =>
        Effect.gen(function*() {
          const state = yield* home
          const fs = yield* FileSystem.FileSystem
          const { addFault, clearFaults } = yield* Sandbox.Sandbox
          const file = yield* write(state, "stock.csv", stockOf(rows(11)))
          for (const id of failing)
            yield* addFault({ kind: "status", when: "before", ...fault, method: "PATCH", path: `*/${id}/stock`, times: 1_000 })
          const report = `${state}/failed.ndjson`
          const ended = yield* run(state, "stock", file, { concurrency, report })
          expect(summaryOf(ended)).toMatchObject({ sent: 11 - failing.length, failed: failing.length, left: 0 })
          expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: "RowsFailed" } })
          expect(ExitCode.of(failureOf(ended))).toBe(exitCode)
          const listed = (yield* fs.readFileString(report)).trim().split("\n").map((line): unknown => JSON.parse(line))
          expect(listed).toMatchObject(failing.map((productId) => ({ productId })))
          yield* clearFaults
          expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ inPlace: 11 - failing.length, sent: failing.length })
        }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(11) } })), TestTime.advancing))
    }
  }

  it.effect("for half of the rows for the same reason, in any order, fails no other", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const [bad, good] = [ids(200).filter((id) => /[02468]$/.test(id)), ids(200).filter((id) => /[13579]$/.test(id))]
      for (const id of bad)
        yield* addFault({
          kind: "status",
          when: "before",
          status: 403,
          code: "FORBIDDEN",
          method: "PATCH",
          path: `*/${id}/stock`,
          times: 1_000
        })
      const sorted = [...good.slice(0, 1), ...bad, ...good.slice(1)]
      for (const order of [sorted, [...(yield* Random.shuffle(ids(200)))]]) {
        const state = yield* home
        const file = yield* write(state, "stock.csv", stockOf(order.map((id) => [id, 1] as const)))
        expect(summaryOf(yield* run(state, "stock", file, { concurrency: 4 }))).toMatchObject({ sent: 100, failed: 100, left: 0 })
      }
    }).pipe(Random.withSeed("half"), Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(200) } })),
      TestTime.advancing))

  it.effect("because no row is of this shop ends the import, which asks whether the file belongs to another one", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults, setProduct } = yield* Sandbox.Sandbox
      const fs = yield* FileSystem.FileSystem
      const file = yield* write(state, "stock.csv", stockOf(rows(110)))
      for (const concurrency of [1, 4, 16, 110]) {
        const before = (yield* writes).length
        const ended = yield* run(state, "stock", file, { concurrency })
        const sent = (yield* writes).length - before
        expect(sent).toBe(20)
        expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 20, left: 90, report: `${state}/stock.failed.csv` })
        expect(ExitCode.of(failureOf(ended))).toBe(3)
        expect(failureOf(ended)).toMatchObject({
          cause: { _tag: "RowsFailed", message: expect.stringMatching("^20 rows of 110 failed, and no row worked: line ") as unknown },
          explanation:
            `Does the file belong to another shop? plaza me shows the account. The failed rows and their reasons are in ${state}/` +
            "stock.failed.csv. Correct and import that file, or run the same command again to retry them."
        })
        expect((yield* fs.readFileString(`${state}/stock.failed.csv`)).trimEnd().split("\n")).toHaveLength(21)
      }
      // A file that worked once is of this shop.
      yield* setProduct({ id: "P-0" })
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 1, failed: 109, left: 0 })
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ inPlace: 1, failed: 109, left: 0 })
      // Refusals of the account end it as always.
      yield* addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", method: "PATCH", times: 1_000 })
      const other = yield* write(state, "other.csv", stockOf(rows(40)))
      expect(failureOf(yield* run(state, "stock", other, { concurrency: 16, again: true }))).toMatchObject({
        cause: { code: "STORE_BLOCKED" }
      })
      yield* clearFaults
    }).pipe(Effect.provide(inProcess({ assumptions: { requestsPerWindow: 10_000 } }))))

  it.effect("at the beginning of a file, such as discontinued products, ends no import of a shop that has the others", () =>
    Effect.gen(function*() {
      const state = yield* home
      const gone = Array.from({ length: 100 }, (_, number) => [`gone-${number}`, 0] as const)
      const file = yield* write(state, "stock.csv", stockOf([...gone, ...rows(100)]))
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 100, failed: 100, left: 0 })
    }).pipe(
      Random.withSeed("gone"),
      Effect.provide(inProcess({ fixtures: { products: products(100) }, assumptions: { requestsPerWindow: 10_000 } })),
      TestTime.advancing
    ))

  it.effect("for every row ends the import after a handful: a store, a scope, a profile, a new code", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(40)))
      for (const code of ["STORE_BLOCKED", "INSUFFICIENT_SCOPE", "PROFILE_INCOMPLETE", "DEVELOPER_PAUSED"]) {
        for (const concurrency of [1, 4, 16]) {
          const before = (yield* writes).length
          yield* addFault({ kind: "status", when: "before", status: 403, code, method: "PATCH", times: 1_000 })
          const ended = yield* run(state, "stock", file, { concurrency })
          expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 0, left: 40, report: null })
          expect(failureOf(ended)).toMatchObject({
            _tag: "Explained",
            cause: { code, status: 403 },
            explanation: "0 of 40 rows are in place. Run the same command again to continue."
          })
          const sent = (yield* writes).length - before
          expect(sent).toBeGreaterThan(3)
          // Three that show it and three trials, beside those that were on their way.
          expect(sent).toBeLessThanOrEqual(6 + concurrency)
          yield* clearFaults
        }
      }
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 40 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(40) }, assumptions: { requestsPerWindow: 10_000 } }))))

  it.effect("by the key ends the import at once, as soon as the account says so as well", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(40)))
      for (const [status, code] of [[401, "INVALID_API_KEY"], [403, "DEVELOPER_ACCESS_REVOKED"]] as const) {
        const before = (yield* writes).length
        let asked = 0
        // The account is asked for its id first, when the key still holds.
        const through = (client: HttpClient.HttpClient) =>
          HttpClient.transform(client, (answer, { method }) =>
            method === "GET" && asked++ === 0
              ? Effect.tap(answer, () => Effect.orDie(addFault({ kind: "status", when: "before", status, code, times: 1_000 })))
              : answer)
        const ended = yield* run(state, "stock", file, { concurrency: 4, through })
        expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 0, left: 40 })
        expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { code } })
        expect((yield* writes).length - before).toBeLessThanOrEqual(4)
        expect(asked).toBe(2)
        yield* clearFaults
      }
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 40 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(40) }, assumptions: { requestsPerWindow: 10_000 } }))))

  it.effect("for a quota of half a day ends the import at once", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(40)))
      yield* addFault({ kind: "status", when: "before", status: 429, method: "PATCH", times: 1_000, retryAfter: "43200" })
      const ended = yield* run(state, "stock", file, { concurrency: 4 })
      expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 0, left: 40 })
      expect(failureOf(ended)).toMatchObject({
        _tag: "Explained",
        cause: { _tag: "RateLimited" },
        explanation: "0 of 40 rows are in place. Run the same command again to continue."
      })
      expect((yield* writes).length).toBeLessThanOrEqual(4)
      yield* clearFaults
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 40 })
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(40) } }))))
})

describe("trouble on the way", () => {
  it.effect("of the allowance is waited for, however often, and fails no row", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(10)))
      yield* addFault({ kind: "status", when: "before", status: 429, retryAfter: "60", method: "PATCH", times: 60 })
      yield* addFault({ kind: "status", when: "after", status: 429, method: "PATCH", times: 60 })
      expect(summaryOf(yield* run(state, "stock", file, { concurrency: 4 }))).toMatchObject({ sent: 10, failed: 0, left: 0 })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(10) } })), TestTime.advancing))

  it.effect("of the service that stays ends the import, and the attempts are reported", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(100)))
      yield* addFault({ kind: "status", when: "after", status: 503, method: "PATCH", times: 10_000 })
      const ended = yield* run(state, "stock", file, { concurrency: 2 })
      expect(summaryOf(ended)).toMatchObject({ sent: 0, report: expect.stringContaining(".failed.csv") as unknown })
      expect(failureOf(ended)).toMatchObject({
        cause: { _tag: "UnrecognizedError", category: "ServiceFault" },
        details: { failed: expect.toSatisfy((failed) => failed === 8 || failed === 9) as unknown }
      })
      yield* clearFaults
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 100 })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(100) } })), TestTime.advancing))

  it.effect("that claims success without a response of the service puts no row in place, and ends the import when it goes on", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(20)))
      const bodies = [["<html>Sign in to the network</html>", "text/html"], [
        `{"error":{"code":"NOT_FOUND","message":"no"}}`,
        "application/json"
      ]] as const
      for (const [body, contentType] of bodies) {
        yield* addFault({ kind: "status", when: "before", status: 200, body, contentType, method: "PATCH", path: "*/P-0/stock" })
        const one = yield* run(state, "stock", yield* write(state, "one.csv", stockOf([["P-0", 7]])), { again: true })
        expect(summaryOf(one)).toMatchObject({ sent: 0, failed: 1, left: 0 })
        expect(failureOf(one)).toMatchObject({ cause: { _tag: "RowsFailed" } })
        expect(ExitCode.of(failureOf(one))).toBe(8)
        yield* addFault({ kind: "status", when: "before", status: 200, body, contentType, method: "PATCH", times: 1_000 })
        const ended = yield* run(state, "stock", file, { concurrency: 1 })
        expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 8, left: 12 })
        expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: "UnreadableSuccess" } })
        yield* clearFaults
      }
      expect(yield* stockAt("P-0")).toBe(1_000)
      expect(summaryOf(yield* run(state, "stock", file))).toMatchObject({ sent: 20, inPlace: 0 })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(20) } })), TestTime.advancing))

  it.effect("of a few rows in a row ends nothing, where a later one is accepted", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault } = yield* Sandbox.Sandbox
      const file = yield* write(state, "stock.csv", stockOf(rows(20)))
      for (const id of ids(7))
        yield* addFault({
          kind: "status",
          when: "before",
          status: 503,
          method: "PATCH",
          path: `*/${id}/stock`,
          times: 1_000
        })
      expect(summaryOf(yield* run(state, "stock", file, { concurrency: 1 }))).toMatchObject({ sent: 13, failed: 7, left: 0 })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { products: products(20) } })), TestTime.advancing))

  it.effect("that leaves an order unknown is reported as that, and the next run resolves it", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(["P-0"]))
      yield* addFault({ kind: "drop", when: "after", method: "POST" })
      yield* addFault({ kind: "drop", when: "before", method: "POST", times: 100 })
      const ended = yield* run(state, "orders", file)
      expect(failureOf(ended)).toMatchObject({ cause: { _tag: "RowsFailed" } })
      expect(ExitCode.of(failureOf(ended))).toBe(8)
      yield* clearFaults
      expect(summaryOf(yield* run(state, "orders", file))).toMatchObject({ sent: 0, alreadyShipped: [], unverified: ["P-0"] })
    }).pipe(Effect.scoped, Effect.provide(inProcess({ fixtures: { orders: orders(1) } })), TestTime.advancing))

  it.effect("of a row that may be in place all the same says so in the message and in the report, and the next run resolves it", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const { addFault } = yield* Sandbox.Sandbox
      const doubt = "(the service may have carried it out all the same)"
      const refused = { kind: "status", when: "before", status: 404 } as const
      const byProxy = { kind: "status", when: "after", status: 404, body: "<html>" } as const
      // A refusal after a lost response, a page of a proxy, a refusal.
      yield* addFault({ kind: "sequence", method: "PATCH", path: "*/P-0/stock", outcomes: [{ kind: "drop", when: "after" }, refused] })
      yield* addFault({ ...byProxy, method: "PATCH", path: "*/P-1/stock" })
      yield* addFault({ ...refused, method: "PATCH", path: "*/P-2/stock" })
      const report = `${state}/failed.csv`
      const ended = yield* run(state, "stock", yield* write(state, "stock.csv", stockOf(rows(3))), { report, concurrency: 1 })
      expect(ExitCode.of(failureOf(ended))).toBe(3)
      const reported = (yield* fs.readFileString(report)).trimEnd().split("\n").slice(1)
      expect(reported.map((line) => line.includes(doubt))).toEqual([true, true, false])
      expect(failureOf(ended)).toMatchObject({ cause: { message: expect.stringContaining(doubt) as unknown } })
      expect([yield* stockAt("P-0"), yield* stockAt("P-1"), yield* stockAt("P-2")]).toEqual([0, 1, 1_000])

      yield* addFault({ ...byProxy, method: "POST" })
      const file = yield* write(state, "orders.csv", ordersOf(["P-0"]))
      expect(ExitCode.of(failureOf(yield* run(state, "orders", file)))).toBe(3)
      expect(summaryOf(yield* run(state, "orders", file))).toMatchObject({ sent: 0, alreadyShipped: [], unverified: ["P-0"] })
    }).pipe(
      Effect.scoped,
      Effect.provide(inProcess({ fixtures: { products: products(3), orders: orders(1) } })),
      TestTime.advancing
    ))

  it.effect("of a row that was sent before a quota ended the import is reported, and the next run resolves it", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const { addFault, clearFaults, reset } = yield* Sandbox.Sandbox
      const quota = { kind: "status", when: "before", status: 429, retryAfter: "80000" } as const
      const pages = { kind: "status", when: "after", status: 429, retryAfter: "80000", body: "<html>" } as const
      const cases = [
        { kind: "stock", method: "PATCH", file: stockOf(rows(2)), outcomes: [{ kind: "status", when: "after", status: 503 }, quota] },
        { kind: "orders", method: "POST", file: ordersOf(ids(2)), outcomes: [{ kind: "status", when: "after", status: 503 }, quota] },
        { kind: "stock", method: "PATCH", file: stockOf(rows(2)), outcomes: [pages, quota] },
        { kind: "orders", method: "POST", file: ordersOf(ids(2)), outcomes: [pages, quota] }
      ] as const
      for (const { file: content, kind, method, outcomes } of cases) {
        yield* reset
        const state = yield* home
        const report = `${state}/failed.csv`
        const file = yield* write(state, `${kind}.csv`, content)
        yield* addFault({ kind: "sequence", method, outcomes })
        const ended = yield* run(state, kind, file, { report, concurrency: 1 })
        expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 1, left: 1, report })
        expect(failureOf(ended)).toMatchObject({
          explanation: expect.stringContaining("The outcome of 1 row is unknown") as unknown,
          details: { failed: 1, left: 1, report }
        })
        const reported = (yield* fs.readFileString(report)).trimEnd().split("\n").slice(1)
        expect(reported).toHaveLength(1)
        expect(reported[0]).toMatch(/^P-0,.*(may have carried it out all the same|may or may not have succeeded)/)
        expect(yield* run(state, kind, file, { dryRun: true }).pipe(Effect.map(summaryOf))).toMatchObject({ doubtful: 1 })
        yield* clearFaults
        expect(summaryOf(yield* run(state, kind, file))).toMatchObject(
          kind === "stock" ? { sent: 2, failed: 0, left: 0 } : { sent: 1, unverified: ["P-0"], failed: 0, left: 0 }
        )
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(inProcess({ fixtures: { products: products(2), orders: orders(2) } })),
      TestTime.advancing
    ))

  it.effect("with a full disk ends the import in words, before a row that the journal couldn't remember", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "stock.csv", stockOf(rows(3)))
      const full = (fs: FileSystem.FileSystem): FileSystem.FileSystem => ({
        ...fs,
        open: (path, options) => fs.open(path.endsWith(".ndjson") ? "/dev/full" : path, options)
      })
      const ended = yield* Effect.updateService(run(state, "stock", file), FileSystem.FileSystem, full)
      expect(Report.ofFailure(failureOf(ended))).toMatchObject({
        tag: "FileError",
        summary: expect.stringMatching(/imports\/stock-\w+\/\w+\.ndjson: no space left on the device$/) as unknown
      })
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(3) } }))))

  it.effect("with the journal ends the import before anything that it couldn't remember", () =>
    Effect.gen(function*() {
      const state = yield* home
      const fs = yield* FileSystem.FileSystem
      const file = yield* write(state, "stock.csv", stockOf(rows(3)))
      yield* fs.writeFileString(`${state}/plaza`, "in the way")
      expect(failureOf(yield* run(state, "stock", file))).toMatchObject({
        _tag: "Explained",
        explanation: expect.stringContaining("XDG_STATE_HOME") as unknown
      })
      expect(yield* writes).toEqual([])
    }).pipe(Effect.provide(inProcess({ fixtures: { products: products(3) } }))))
})

describe("an order", () => {
  it.effect("that is shipped already is reported, and is no failure", () =>
    Effect.gen(function*() {
      const state = yield* home
      const file = yield* write(state, "orders.csv", ordersOf(["P-0", "P-1"]))
      const ended = yield* run(state, "orders", file)
      expect(Exit.isSuccess(ended.exit)).toBe(true)
      expect(summaryOf(ended)).toMatchObject({ sent: 1, alreadyShipped: ["P-1"], failed: 0 })
      expect(yield* shipmentOf("P-1")).toEqual({ carrier: "UPS", trackingNumber: "1" })
    }).pipe(
      Effect.provide(inProcess({ fixtures: { orders: [{ id: "P-0" }, { id: "P-1", shipment: { carrier: "UPS", trackingNumber: "1" } }] } }))
    ))

  it.effect("that was being shipped when the import ended is shipped, not verified, once the repeat is a conflict", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults, requests } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(["P-0"]))
      yield* addFault({ kind: "delay", when: "after", millis: 600_000, method: "POST" })
      const running = yield* Effect.forkChild(run(state, "orders", file))
      yield* Effect.repeat(Effect.yieldNow, {
        until: () => Effect.map(requests, (all) => all.some(({ method, status }) => method === "POST" && status === 200))
      })
      yield* Fiber.interrupt(running)
      yield* clearFaults
      expect(summaryOf(yield* run(state, "orders", file, { dryRun: true }))).toMatchObject({ doubtful: 1, inPlace: 0 })
      expect(summaryOf(yield* run(state, "orders", file))).toMatchObject({ sent: 0, alreadyShipped: [], unverified: ["P-0"] })
    }).pipe(Effect.provide(inProcess({ fixtures: { orders: orders(1) } }))))

  it.effect("that may be shipped by an earlier run stays so in the journal of a run that could not send it", () =>
    Effect.gen(function*() {
      const state = yield* home
      const { addFault, clearFaults, requests } = yield* Sandbox.Sandbox
      const file = yield* write(state, "orders.csv", ordersOf(["P-0"]))
      yield* addFault({ kind: "delay", when: "after", millis: 600_000, method: "POST" })
      const running = yield* Effect.forkChild(run(state, "orders", file))
      yield* Effect.repeat(Effect.yieldNow, {
        until: () => Effect.map(requests, (all) => all.some(({ method, status }) => method === "POST" && status === 200))
      })
      yield* Fiber.interrupt(running)
      yield* clearFaults
      // The only slot of an hour goes to the question whose key it is.
      const ended = yield* run(state, "orders", file, { rateLimit: 1, rateWindow: "1 hour" })
      expect(failureOf(ended)).toMatchObject({ _tag: "Explained", cause: { _tag: "RateLimitWaitExceeded" } })
      expect(summaryOf(ended)).toMatchObject({ sent: 0, failed: 0, left: 1 })
      expect(summaryOf(yield* run(state, "orders", file))).toMatchObject({ alreadyShipped: [], unverified: ["P-0"] })
    }).pipe(Effect.provide(inProcess({ fixtures: { orders: orders(1) } }))))
})
