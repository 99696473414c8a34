/** What all benchmarks share: interleaved runs of the contenders, medians, and a report as a table and as JSON. */
import { FileSystem, Path } from "@effect/platform"
import { DateTime, Effect } from "effect"
import { arch, cpus, platform } from "node:os"

export interface Report {
  /** Also the name of its file. */
  readonly name: string
  /** One sentence on what was done. */
  readonly about: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string | number>>
}

/** The middle of some figures, which one slow run doesn't move. */
export const median = (figures: ReadonlyArray<number>): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** A few digits are all that a figure of one machine is worth. */
export const round = (figure: number, digits = 2): number => Number(figure.toFixed(digits))

/**
 * Measures every contender once a round, each round beginning with another one: what the machine does besides hits all
 * of them alike.
 */
export const interleave = <Name extends string, A, E, R>(
  contenders: Readonly<Record<Name, Effect.Effect<A, E, R>>>,
  rounds: number
): Effect.Effect<ReadonlyMap<Name, ReadonlyArray<A>>, E, R> => {
  // `Object.entries` forgets the names that the type of the record knows.
  const entries = Object.entries(contenders) as Array<[Name, Effect.Effect<A, E, R>]>
  const samples = new Map<Name, Array<A>>(entries.map(([name]) => [name, []]))
  return Effect.forEach(Array.from({ length: rounds }, (_, index) => index % entries.length),
    (first) =>
      Effect.forEach([...entries.slice(first), ...entries.slice(0, first)], ([name, measure]) =>
        Effect.map(measure, (sample) => samples.get(name)?.push(sample)), { discard: true }), { discard: true }).pipe(
      Effect.as(samples)
    )
}

/** A report as a table of plain text. */
export const table = ({ about, columns, name, rows }: Report): string => {
  const lines = [columns, ...rows].map((row) => row.map(String))
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const [head = "", ...body] = lines.map((line) =>
    line.map((cell, column) => column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)).join("  ").trimEnd()
  )
  return [`${name}: ${about}`, "", head, widths.map((width) => "-".repeat(width)).join("  "), ...body, ""].join("\n")
}

/** Keeps a report under `results`, with the machine that it was made on. */
export const keep = (report: Report, folder: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const at = DateTime.formatIso(yield* DateTime.now)
    const machine = { node: process.version, platform: `${platform()} ${arch()}`, cores: cpus().length, cpu: cpus()[0]?.model ?? "unknown" }
    yield* files.makeDirectory(folder, { recursive: true })
    yield* files.writeFileString(path.join(folder, `${report.name}.json`), `${JSON.stringify({ ...report, at, machine }, undefined, 2)}\n`)
  })
