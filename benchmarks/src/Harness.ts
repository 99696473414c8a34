/** Interleaved runs of contenders, medians, and a report as a table and as JSON, for all benchmarks. */
import { FileSystem, Path } from "@effect/platform"
import { DateTime, Effect } from "effect"
import { arch, cpus, platform } from "node:os"

export interface Report {
  /** Also the name of its file. */
  readonly name: string
  /** One sentence that describes the workload. */
  readonly about: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string | number>>
  /** Totals that belong to no row, one line each. */
  readonly notes?: ReadonlyArray<string>
}

/** The median, which one slow run doesn't change. */
export const median = (figures: ReadonlyArray<number>): number => {
  const sorted = figures.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Rounds to a few digits: the figures of one machine are not more exact. */
export const round = (figure: number, digits = 2): number => Number(figure.toFixed(digits))

/**
 * Measures every contender once in each round. Each round begins with another contender, so that other load on the machine affects all
 * of them equally.
 */
export const interleave = <Name extends string, A, E, R>(
  contenders: Readonly<Record<Name, Effect.Effect<A, E, R>>>,
  rounds: number
): Effect.Effect<ReadonlyMap<Name, ReadonlyArray<A>>, E, R> => {
  // The cast is true: `Object.entries` widens the keys of the record to string.
  const entries = Object.entries(contenders) as Array<[Name, Effect.Effect<A, E, R>]>
  const samples = new Map<Name, Array<A>>(entries.map(([name]) => [name, []]))
  return Effect.forEach(Array.from({ length: rounds }, (_, index) => index % entries.length),
    (first) =>
      Effect.forEach([...entries.slice(first), ...entries.slice(0, first)], ([name, measure]) =>
        Effect.map(measure, (sample) => samples.get(name)?.push(sample)), { discard: true }), { discard: true }).pipe(
      Effect.as(samples)
    )
}

/** Formats a report as a table of plain text. */
export const table = ({ about, columns, name, notes = [], rows }: Report): string => {
  const lines = [columns, ...rows].map((row) => row.map(String))
  const widths = columns.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const [head = "", ...body] = lines.map((line) =>
    line.map((cell, column) => column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)).join("  ").trimEnd()
  )
  return [`${name}: ${about}`, "", head, widths.map((width) => "-".repeat(width)).join("  "), ...body, ...notes, ""].join("\n")
}

/** Writes a report to a folder as JSON, with a description of the machine. */
export const save = (report: Report, folder: string) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const at = DateTime.formatIso(yield* DateTime.now)
    const machine = { node: process.version, platform: `${platform()} ${arch()}`, cores: cpus().length, cpu: cpus()[0]?.model ?? "unknown" }
    yield* files.makeDirectory(folder, { recursive: true })
    yield* files.writeFileString(path.join(folder, `${report.name}.json`), `${JSON.stringify({ ...report, at, machine }, undefined, 2)}\n`)
  })
