/**
 * Excel workbooks as a source: files, addresses, and standard input of the built program.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { sheet, styled, workbook } from "@plaza/testing/Workbooks"
import { Duration, Effect, FileSystem, Option } from "effect"
import { createServer, type Server } from "node:http"
import * as Open from "../src/source/Open.ts"
import { account, run } from "./support/program.ts"
import { all, bad, good } from "./support/reading.ts"
import { held } from "./support/sandbox.ts"
import * as Shop from "./support/shop.ts"

const content = sheet([["productId", "stock"], [styled(1, 42), 12], ["SOCK", "soon"]], { formats: ["00000"] })
const rows = [good(2, "00042", 12), bad(3, "SOCK", "stock \"soon\" is not a number")]

const read = (source: string, more: Partial<Open.SourceOptions> = {}) =>
  Effect.gen(function*() {
    const { open } = yield* Open.make({
      source,
      idColumn: "productId",
      stockColumn: "stock",
      timeout: Duration.minutes(1),
      settle: Duration.zero,
      ...more
    })
    const snapshot = Option.getOrThrow(yield* open(Option.none()))
    return { unit: snapshot.unit, rows: yield* all(snapshot.rows) }
  }).pipe(Effect.scoped)

const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test).pipe(
    Effect.scoped,
    Effect.provide(NodeServices.layer)
  )
const write = (path: string, bytes: Uint8Array) => Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFile(path, bytes))

/** A server that closes the connection after the first `length` bytes, which is the only end of its response. */
const serving = (bytes: Uint8Array, type: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Server; readonly address: string }>((resume) => {
      const server = createServer((_, response) => {
        response.removeHeader("Transfer-Encoding")
        response.writeHead(200, { "Content-Type": type, Connection: "close" })
        response.useChunkedEncodingByDefault = false
        response.end(bytes)
      })
      server.listen(0, "127.0.0.1", () => {
        const at = server.address()
        resume(Effect.succeed({ server, address: `http://127.0.0.1:${typeof at === "object" ? at?.port : 0}/export` }))
      })
    }),
    ({ server }) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void)))
  )

describe("a workbook", () => {
  it.live("is read from a file, with the rows as Excel numbers them, and needs no line end", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        yield* write(`${folder}/Bestand.xlsx`, content)
        expect(yield* read(`${folder}/Bestand.xlsx`)).toEqual({ unit: "row", rows })
        yield* write(`${folder}/stock.csv`, content)
        expect((yield* read(`${folder}/stock.csv`)).rows).toEqual(rows)
      })
    ))

  it.live("is refused with the sheets that it has, and the option that selects one", () =>
    inFolder((folder) =>
      Effect.gen(function*() {
        const path = `${folder}/stock.xlsx`
        const stock = [["productId", "stock"], ["A", 1]]
        yield* write(path, workbook({ sheets: [{ name: "May", rows: stock }, { name: "June", rows: stock }] }))
        expect(yield* Effect.flip(read(path))).toMatchObject({
          message:
            `${path}: it has 2 sheets with content ("May", "June"): name the one to read with --sheet or STOCK_SYNC_SHEET; no row of it was used`
        })
        expect((yield* read(path, { sheet: "june" })).rows).toEqual([good(2, "A", 1)])
        yield* write(path, content.subarray(0, -100))
        expect(yield* Effect.flip(read(path))).toMatchObject({
          message:
            `${path}: it is an Excel workbook or another zip archive, and not complete: export or transfer it again; no row of it was used`
        })
      })
    ))

  it.live("is read from an address, whose response may have no length, and refused if the response is cut", () =>
    inFolder(() =>
      Effect.gen(function*() {
        const excel = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        const { address } = yield* serving(content, excel)
        expect(yield* read(address)).toEqual({ unit: "row", rows })
        const plain = yield* serving(content, "application/octet-stream")
        expect((yield* read(plain.address)).rows).toEqual(rows)
        const cut = yield* serving(content.subarray(0, 700), excel)
        expect((yield* Effect.flip(read(cut.address)))._tag).toBe("SourceError")
      })
    ))

  it.live("is read by the program from a file and from standard input", () =>
    Shop.inFolder((cwd) =>
      Effect.gen(function*() {
        const env = { ...yield* account, ...Shop.lateWrites }
        const cells = Object.entries(Shop.wanted).map(([id, stock]) => [id, stock])
        const bytes = workbook({
          sheets: [{ name: "Notes", rows: [["for Ann"]] }, { name: "Stock", rows: [["productId", "stock"], ...cells] }]
        })
        yield* write(`${cwd}/stock.xlsx`, bytes)
        const refused = yield* run(["once", "--source", "stock.xlsx"], { cwd, env })
        expect(refused).toMatchObject({ status: 2 })
        expect(refused.stderr).toContain("it has 2 sheets with content (\"Notes\", \"Stock\")")
        expect(yield* run(["once", "--source", "stock.xlsx"], { cwd, env: { ...env, STOCK_SYNC_SHEET: "Stock" } })).toMatchObject({
          status: 0
        })
        expect(yield* held(...Shop.ids)).toEqual(Shop.wanted)
        expect(yield* run(["plan", "--source", "-", "--sheet", "2"], { cwd, env, input: bytes })).toMatchObject({ status: 0 })
      })
    ), 60_000)
})
