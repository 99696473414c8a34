/** The demonstration ends with the stock of the file in the shop, and its file has the expected rows. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, FileSystem, Layer, Path, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { readInventory } from "../src/inventory.ts"

const here = (relative: string) => Effect.flatMap(Path.Path, (path) => path.fromFileUrl(new URL(relative, import.meta.url)))

describe("examples/inventory.csv", () => {
  it.effect("has a hundred rows, two of them bad, and names one product that the shop doesn't have", () =>
    Effect.gen(function*() {
      const rows = readInventory(yield* (yield* FileSystem.FileSystem).readFileString(yield* here("../inventory.csv")))
      const { products } = yield* (yield* Sandbox.Sandbox).state
      const known = new Set<string>(products.map(({ id }) => id))
      expect(rows).toHaveLength(100)
      expect(new Set(rows.map(({ productId }) => productId)).size).toBe(100)
      expect(rows.filter(({ stock }) => stock === undefined)).toHaveLength(2)
      expect(rows.filter(({ productId }) => !known.has(productId)).map(({ productId }) => productId)).toEqual(["SOAP-PINE"])
      expect(rows.filter(({ stock }) => stock === 0).length).toBeGreaterThan(3)
    }).pipe(Effect.provide(Layer.merge(NodeServices.layer, Sandbox.layerHttpClient()))))
})

/** Runs `start.ts` as the start command does. Without a terminal. */
const start = Effect.fnUntraced(function*(folder: string) {
  const child = yield* ChildProcess.make(
    process.execPath,
    ["--conditions=@plaza/source", yield* here("../src/start.ts"), folder],
    { cwd: yield* here("../..") }
  )
  const [output, errors, status] = yield* Effect.all(
    [Stream.mkString(Stream.decodeText(child.stdout)), Stream.mkString(Stream.decodeText(child.stderr)), child.exitCode],
    { concurrency: "unbounded" }
  )
  return { errors, output, status }
})

describe("the demonstration", () => {
  it.live("brings shop and file to agree, finds them agreed when it is run again, and begins anew beside a new shop",
    () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        const run = (confirmed: number) =>
          Effect.map(start(folder), ({ errors, output, status }) => {
            expect(errors).toBe(
              "plaza-stock-sync: 2 rows of the source rejected, 1 product refused by the service: correct them, and run it again\n"
            )
            expect(output).toContain(`confirmed\t${confirmed}\nunchanged\t${97 - confirmed}\nrows rejected\t2\nquarantined\t1\n`)
            expect(output).toMatch(/^Rows that were rejected or changed\nwhere\tproduct\treason\nline 30\tTEA-MINT-250G\t/m)
            expect(output).toMatch(/^Quarantined products\nproduct\twanted\tretried at\tresponse\nSOAP-PINE\t24\t/m)
            expect(output).toContain("shop and file agree in all 97 products")
            expect(output).toMatch(/^Next: change a stock in examples\/inventory\.csv and run the command again: /m)
            for (const rejected of ["line 30, TEA-MINT-250G", "line 50, CANDLE-LINEN-S", "line 76, SOAP-PINE"])
              expect(output).toContain(rejected)
            expect(status).toBe(0)
          })
        yield* run(97)
        yield* run(0)
        for (const name of yield* fs.readDirectory(folder))
          if (name.startsWith("shop.sqlite")) yield* fs.remove(`${folder}/${name}`, { recursive: true })
        yield* run(97)
      }).pipe(Effect.provide(NodeServices.layer)), 600_000)
})
