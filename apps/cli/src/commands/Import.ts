/** The command that imports rows of a kind: `plaza stock import` and `plaza orders import`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { about } from "@plaza/cli-kit/Help"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { connect } from "../Connection.js"
import { count, flags, text, withOutput } from "../Flags.js"

const formats = ["csv", "json", "ndjson"] as const

const formatOf = (written: string) =>
  Option.match(Option.fromNullable(formats.find((format) => format === written.toLowerCase())), {
    onNone: () => Effect.fail(new UsageError({ message: `--format has to be one of ${formats.join(", ")}, and "${written}" is none` })),
    onSome: Effect.succeed
  })

const delimiterOf = (written: string) =>
  written === "tab" || written === "\\t"
    ? Effect.succeed("\t")
    : /^[^"\r\n]$/u.test(written)
    ? Effect.succeed(written)
    : Effect.fail(new UsageError({ message: `--delimiter has to be one character or tab, and "${written}" is neither` }))

const ifTold = <A, E>(option: Option.Option<string>, parse: (written: string) => Effect.Effect<A, E>): Effect.Effect<A | undefined, E> =>
  Option.match(option, { onNone: () => Effect.succeed(undefined), onSome: parse })

// Many answers of a slow service fit into the pause between two windows; more would only be on their way when something breaks.
const defaultConcurrency = 16

/** The import of a kind of rows. */
export const importOf = (kind: "stock" | "orders", columns: string, ...examples: readonly [string, ...ReadonlyArray<string>]) =>
  Command.make("import", {
    file: Args.text({ name: "FILE" }).pipe(Args.withDescription(`A CSV, JSON or NDJSON file with ${columns}; - for standard input.`)),
    dryRun: Options.boolean("dry-run").pipe(Options.withDescription("Check the file and print what would be sent, without sending it.")),
    again: Options.boolean("again").pipe(Options.withDescription("Send every row, also those that an earlier run sent.")),
    report: Options.optional(text("report", "FILE", "The file for rows that fail; it can be imported (default: beside the journal).")),
    concurrency: Options.optional(text("concurrency", "N", `Rows sent at the same time (default: ${defaultConcurrency}).`)),
    format: Options.optional(text("format", "FORMAT", "csv, json or ndjson (default: by the file's extension).")),
    delimiter: Options.optional(
      text("delimiter", "C", "The delimiter of CSV columns, a character or tab (default: detected from the header).")
    ),
    ...flags
  }, ({ again, concurrency, delimiter, dryRun, file, format, report, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const options = {
        file,
        dryRun,
        again,
        report: Option.getOrUndefined(report),
        concurrency: (yield* ifTold(concurrency, (written) => count("--concurrency", written))) ?? defaultConcurrency,
        format: yield* ifTold(format, formatOf),
        delimiter: yield* ifTold(delimiter, delimiterOf)
      }
      const { kinds, run } = yield* Effect.promise(() => import("../Import.js"))
      yield* run({ ...options, kind: kinds[kind] }, yield* connect(flags))
    }))).pipe(Command.withDescription(about(
      `Send the rows of a file, ${columns}. The file is checked first, and no row is sent while one is wrong. ` +
        "After an interruption, a kill or a used-up quota, the same command continues where it stopped.",
      ...examples
    )))
