/**
 * Benchmark `workbook`: time and memory of 300,000 rows of an Excel workbook with 10 columns, of which three have texts that differ in every row.
 * The same rows in CSV are measured beside it, and the whole worker with its ledger.
 */
import { declaration, main, workbook } from "@plaza/testing/Workbooks"
import { Effect, FileSystem, Schema } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { type BenchmarkFailed, type Form, format, median, type Row, row } from "./Harness.ts"
import { run, stockSync } from "./Processes.ts"
import { bundle, type ProgramFailed, start } from "./Programs.ts"
import type { Task } from "./programs/workbook/Task.ts"

const Received = Schema.Struct({ rows: Schema.Number, seconds: Schema.Number, peak: Schema.Number })

const page = "docs/guides/excel-and-text-files.md#excel-workbooks"
const names = ["productId", "stock", "name", "description", "price", "a", "b", "c", "d", "e"]

const texts = (index: number) => [
  `SKU-${index}-${(index * 7_919) % 100_003}`,
  `Wool sock number ${index} in colour ${(index * 31) % 977}`,
  `A longer description of article ${index} with some words in it, soft and warm`
]
const numbers = (index: number) => [(index % 1_000) / 10 + 0.99, ...Array.from({ length: 5 }, (_, factor) => (index * factor) % 1_000)]
const stockOf = (index: number) => (index * 13) % 500

const csv = (rows: number): string =>
  [
    names.join(","),
    ...Array.from({ length: rows }, (_, index) => {
      const [id = "", name = "", description = ""] = texts(index)
      return [id, stockOf(index), name, `"${description}"`, ...numbers(index)].join(",")
    })
  ].map((line) => `${line}\n`).join("")

const xlsx = (rows: number): Uint8Array => {
  const shared = [names, ...Array.from({ length: rows }, (_, index) => texts(index))].flat().map((text) => `<t>${text}</t>`)
  const cell = (reference: string, value: number, type = "") => `<c r="${reference}"${type}><v>${value}</v></c>`
  const text = (reference: string, index: number) => cell(reference, index, " t=\"s\"")
  const header = names.map((_, column) => text(`${String.fromCharCode(65 + column)}1`, column)).join("")
  const body = Array.from({ length: rows }, (_, index) => {
    const [number, first] = [index + 2, names.length + 3 * index]
    const others = numbers(index).map((value, column) => cell(`${String.fromCharCode(69 + column)}${number}`, value)).join("")
    return `<row r="${number}" spans="1:10">${text(`A${number}`, first)}${cell(`B${number}`, stockOf(index))}${
      text(`C${number}`, first + 1)
    }${text(`D${number}`, first + 2)}${others}</row>`
  })
  const xml = `${declaration}<worksheet xmlns="${main}"><sheetData><row r="1">${header}</row>${body.join("")}</sheetData></worksheet>`
  return workbook({ sheets: [{ name: "Stock", xml }], shared })
}

// `maxRSS` counts the memory of the parent at the start.
const writePeak = `process.on("exit", () => {
  const { readFileSync, writeFileSync } = require("node:fs")
  writeFileSync(process.env.PEAK, /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1])
})`

export const report = (
  form: Form
): Effect.Effect<ReadonlyArray<Row>, BenchmarkFailed | ProgramFailed | PlatformError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const [rows, runs] = form === "full" ? [300_000, 5] : [2_000, 1]
    const program = (yield* bundle(["workbook/Read"]))("workbook/Read")
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped()
    yield* files.writeFile(`${folder}/stock.xlsx`, xlsx(rows))
    yield* files.writeFileString(`${folder}/stock.csv`, csv(rows))
    // A new process for each run, so that its largest memory is that of this run.
    const read = (task: Task) => Effect.scoped(Effect.flatMap(start(program), ({ ask }) => ask({ ...task }, Received)))
    const measure = (name: string) => Effect.replicateEffect(read({ path: `${folder}/${name}`, rows }), runs)
    const workbooks = yield* measure("stock.xlsx")
    const texts = yield* measure("stock.csv")
    yield* files.writeFileString(`${folder}/peak.cjs`, writePeak)
    const plan = (name: string) =>
      Effect.gen(function*() {
        const ledger = yield* files.makeTempDirectory({ directory: folder })
        const args = [
          "--require",
          `${folder}/peak.cjs`,
          stockSync,
          "plan",
          "--source",
          `${folder}/${name}`,
          "--ledger",
          `${ledger}/l.sqlite`
        ]
        yield* run(args, { PEAK: `${ledger}/peak` })
        return Number(yield* files.readFileString(`${ledger}/peak`)) / 1_024
      })
    const plans = yield* Effect.replicateEffect(plan("stock.xlsx"), runs)
    const textPlans = yield* Effect.replicateEffect(plan("stock.csv"), runs)
    const seconds = (samples: typeof texts) => samples.map(({ seconds }) => seconds)
    const peak = (samples: typeof texts) => samples.map(({ peak }) => peak)
    const title = `${rows.toLocaleString("en")} rows of an Excel workbook with 10 columns`
    return [
      row({
        claim: `time to read ${title}, of the time for the same rows of CSV`,
        page,
        limit: { atMost: 4 },
        samples: seconds(workbooks).map((time) => time / median(seconds(texts))),
        unit: "x",
        beside: `${format(median(seconds(workbooks)), "s")}, CSV ${format(median(seconds(texts)), "s")}`
      }),
      row({
        claim: `largest memory of a process that reads ${title}`,
        page,
        limit: { atMost: 256 },
        samples: peak(workbooks),
        unit: "MiB",
        beside: `CSV ${format(median(peak(texts)), "MiB")}`
      }),
      row({
        claim: `largest memory of \`plaza-stock-sync plan\` with ${title}`,
        page,
        limit: { atMost: 256 },
        samples: plans,
        unit: "MiB",
        beside: `CSV ${format(median(textPlans), "MiB")}`
      })
    ]
  }).pipe(Effect.scoped)
