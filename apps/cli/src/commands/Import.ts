/** `plaza stock import` and `plaza orders import`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { describe } from "@plaza/cli-kit/Help"
import * as Text from "@plaza/cli-kit/Text"
import * as Values from "@plaza/cli-kit/Values"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { commonOptions, text, wholeNumber, withClient } from "./CommonOptions.ts"

const formats = ["csv", "json", "ndjson"] as const

const parseFormat = (written: string) =>
  Either.fromNullable(
    formats.find((format) => format === written.toLowerCase()),
    () => `--format must be one of ${formats.join(", ")}, not "${Text.excerpt(written)}"`
  )

const parseDelimiter = (written: string) =>
  written === "tab" || written === "\\t"
    ? Either.right("\t")
    : /^[^"\r\n]$/u.test(written)
    ? Either.right(written)
    : Either.left(`--delimiter must be one character or tab, not "${Text.excerpt(written)}"`)

// Enough to use the whole window at a slow service. More rows would only be in flight when something fails.
const defaultConcurrency = 16

/** The import of one kind of rows. */
export const importOf = (kind: "stock" | "orders", columns: string, ...examples: readonly [string, ...ReadonlyArray<string>]) =>
  Command.make("import", {
    file: Args.text({ name: "FILE" }).pipe(Args.withDescription("A CSV, JSON or NDJSON file; - for standard input.")),
    dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Validate the file and print the rows to send, without sending them.")),
    again: Options.boolean("again").pipe(Options.withDescription("Send every row, including rows that an earlier run sent.")),
    report: Options.optional(text("report", "FILE", "Write failed rows to this file (default: a file beside the journal).")),
    concurrency: wholeNumber("concurrency", { min: 1, description: `Rows in flight at the same time (default: ${defaultConcurrency}).` })
      .pipe(
        Options.withDefault(defaultConcurrency)
      ),
    format: Options.optional(
      text("format", "FORMAT", "csv, json or ndjson (default: by the file's extension).").pipe(Values.option(parseFormat))
    ),
    delimiter: Options.optional(
      text("delimiter", "CHAR", "The delimiter of CSV columns: one character or tab (default: detected from the header).").pipe(
        Values.option(parseDelimiter)
      )
    ),
    ...commonOptions
  }, ({ again, concurrency, delimiter, dryRun, file, format, report, ...flags }) =>
    withClient(flags, Effect.gen(function*() {
      const Import = yield* Effect.promise(() => import("../import/Import.ts"))
      yield* Import.run({
        kind: Import.kinds[kind],
        file,
        dryRun,
        again,
        concurrency,
        report: Option.getOrUndefined(report),
        format: Option.getOrUndefined(format),
        delimiter: Option.getOrUndefined(delimiter)
      })
    }), { hasBar: true })).pipe(Command.withDescription(describe({
      summary: kind === "stock" ? "Set the stock of every product in a file." : "Ship every order in a file.",
      details: [
        `The file has the columns ${columns}. It is validated first: if a row is invalid, nothing is sent.`,
        "After an interruption, run the same command again to continue the import."
      ],
      examples
    })))
