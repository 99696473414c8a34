/** `plaza stock import` and `plaza orders import`. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Text from "@plaza/cli-kit/Text"
import * as Flag from "effect/cli/Flag"
import * as Result from "effect/Result"
import { command } from "./Definition.ts"

const formats = ["csv", "json", "ndjson", "xlsx"] as const

const parseFormat: Flags.Parse<(typeof formats)[number]> = (written) =>
  Result.fromNullishOr(
    formats.find((format) => format === written.toLowerCase()),
    () => `--format must be one of ${formats.join(", ")}, not "${Text.excerpt(written)}"`
  )

const parseDelimiter: Flags.Parse<string> = (written) =>
  written === "tab" || written === "\\t"
    ? Result.succeed("\t")
    : /^[^"\r\n]$/u.test(written)
    ? Result.succeed(written)
    : Result.fail(`--delimiter must be one character or tab, not "${Text.excerpt(written)}"`)

// Enough to use the whole window at a slow service. More rows would only be in flight when something fails.
const defaultConcurrency = 16

/** The import of one kind of rows. */
export const importOf = (kind: "stock" | "orders", columns: string, ...examples: readonly [string, ...ReadonlyArray<string>]) =>
  command(
    "import",
    {
      summary: kind === "stock" ? "Set the stock of every product in a file." : "Ship every order in a file.",
      details: [
        `The file has the columns ${columns}. It is validated first: if a row is invalid, nothing is sent.`,
        "After an interruption, run the same command again to continue the import."
      ],
      examples,
      output: kind === "stock" ? "stockImport" : "ordersImport"
    },
    {
      file: Flags.argument("FILE", "A CSV, JSON or NDJSON file, an Excel workbook, or a pipe; - for standard input."),
      dryRun: Flags.boolean("dry-run", "Validate the file and print the rows to send, without sending them."),
      again: Flags.boolean("again", "Send every row, including rows that an earlier run sent."),
      report: Flag.optional(
        Flags.text("report", "FILE", `Write failed rows to this file (default: beside FILE, as ${kind}.failed.csv).`)
      ),
      concurrency: Flags.wholeNumber("concurrency", {
        min: 1,
        description: "Rows in flight at the same time.",
        default: defaultConcurrency
      }),
      format: Flag.optional(Flags.parsed("format", "FORMAT", "csv, json, ndjson or xlsx (default: by the file's extension).", parseFormat)),
      delimiter: Flag.optional(Flags.parsed(
        "delimiter",
        "CHAR",
        "The delimiter of CSV columns: one character or tab (default: detected from the header).",
        parseDelimiter
      )),
      sheet: Flag.optional(Flags.text(
        "sheet",
        "NAME|N",
        "The sheet of a workbook: its name, or the number of its tab from 1 (default: the only visible one with content)."
      ))
    },
    () => import("./ImportHandlers.ts").then((handlers) => handlers[kind])
  )
