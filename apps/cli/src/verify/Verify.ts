/** Runs `plaza verify`: sends the requests of the plan, and writes what they show. */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import { Settings } from "@plaza-legacy/client"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Table from "@plaza/cli-kit/Table"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { assumptionsFile } from "./Learnt.ts"
import { describe, type Observation } from "./Observation.ts"
import * as Page from "./Page.ts"
import * as Plan from "./Plan.ts"
import * as Report from "./Report.ts"
import * as Run from "./Run.ts"

/** The service contradicts rules. The report is already printed. */
export class RulesContradicted extends Data.TaggedError("RulesContradicted")<{
  readonly message: string
  /** The ids of the rules. */
  readonly rules: ReadonlyArray<string>
}> {}

/** Paths of files to write. */
export interface Files {
  readonly report: string | undefined
  readonly html: string | undefined
  readonly assumptions: string | undefined
}

const count = (number: number, noun: string): string => number === 1 ? `1 ${noun}` : `${number} ${noun}s`

/** `--plan`: prints the requests without sending any. */
export const showPlan = (objects: Plan.Objects | undefined) =>
  Effect.gen(function*() {
    const output = yield* Output
    const steps = Plan.make(objects)
    const interval = Run.interval(yield* Settings.sharedConfig)
    if (output.json) {
      return yield* output.value({
        intervalMillis: Duration.toMillis(interval),
        maxAttempts: Run.maxAttempts,
        requests: steps.map(({ body, effect, hasKey = true, id, method, path }) => ({
          id,
          method,
          path,
          hasKey,
          body: body ?? null,
          effect: effect ?? null
        }))
      })
    }
    yield* output.table(
      [{ head: "request", overflow: "wrap" }],
      steps.flatMap(({ body, effect, hasKey = true, method, path }) => [
        [`${method} ${path}${hasKey ? "" : " (without the key)"}`],
        ...(body === undefined ? [] : [[`-> body ${body}`]]),
        ...(effect === undefined ? [] : [[`-> ${effect}`]])
      ])
    )
    yield* output.note(
      `At most ${count(steps.length, "request")}, one every ${Duration.format(interval)}: about ` +
        `${
          count(Math.ceil(Duration.toMinutes(interval) * steps.length), "minute")
        }. A read that fails is sent up to ${Run.maxAttempts} times. ` +
        "--plan sends nothing."
    )
  })

// A long run must not end with a file that can't be written.
const checkFiles = (files: Files) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    for (const [option, file] of [["--report", files.report], ["--html", files.html], ["--assumptions-out", files.assumptions]] as const) {
      if (file !== undefined) {
        const rejected = (reason: string) => new UsageError({ message: `${option} ${file} can't be written: ${reason}` })
        const existing = yield* Effect.option(fs.stat(file))
        if (Option.isNone(existing)) {
          yield* Effect.mapError(fs.access(path.dirname(path.resolve(file)), { writable: true }),
            () => rejected("check that its folder exists and is writable"))
        } else if (existing.value.type === "Directory") {
          return yield* rejected("it is a folder")
        } else {
          yield* Effect.mapError(fs.access(file, { writable: true }), () => rejected("check its permissions"))
        }
      }
    }
  })

const writeFiles = (files: Files, report: Report.Report) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`
    if (files.report !== undefined) yield* fs.writeFileString(files.report, json(report))
    if (files.html !== undefined) yield* fs.writeFileString(files.html, Page.render(report))
    if (files.assumptions !== undefined) yield* fs.writeFileString(files.assumptions, json(assumptionsFile(report.learnt)))
  })

/** Prints the report: the rules of each section, then what was learnt. */
export const print = (report: Report.Report) =>
  Effect.gen(function*() {
    const output = yield* Output
    if (output.json) return yield* output.value(report)
    const { stdout } = yield* Streams
    const section = (title: string, columns: ReadonlyArray<Table.Column>, rows: ReadonlyArray<Table.Row>) =>
      output.text([
        stdout.colour ? `\u001b[1m${title}\u001b[22m` : title,
        ...Table.lines(columns, rows, stdout, { head: false }),
        ""
      ].join("\n"))
    for (const [title, rules] of Report.bySection(report)) {
      yield* section(title, [{ head: "status", whole: true }, { head: "rule", overflow: "wrap" }],
        rules.flatMap(({ detail, rule, status }) => [
          [Report.words[status], rule],
          ...(status === "confirmed" ? [] : [["", `-> ${detail}`]])
        ]))
    }
    yield* section("Learnt of the open points", [{ head: "point", whole: true }, { head: "value", overflow: "wrap" }],
      Report.learntEntries(report))
    yield* output.text(`${Report.summary(report)}, by ${count(report.requests, "request")}.`)
  })

const progressLine = (step: number, steps: number, { request, result }: Observation): string => {
  const short = request.length > 80 ? `${request.slice(0, 80)}...` : request
  return `${step} of ${steps}: ${short}: ${Either.match(result, { onLeft: (reason) => `no response (${reason})`, onRight: describe })}`
}

/** Verifies the service, and prints and writes the report. Fails if a rule is contradicted, or if the run stopped before its end. */
export const run = (objects: Plan.Objects | undefined, files: Files) =>
  Effect.gen(function*() {
    yield* checkFiles(files)
    const output = yield* Output
    const settings = yield* Settings.Settings
    const plan = Plan.make(objects)
    const publish = (outcome: Run.Outcome) => {
      const report = Report.make(outcome)
      return Effect.as(Effect.zipRight(print(report), writeFiles(files, report)), report)
    }
    const context = yield* Effect.context<FileSystem.FileSystem | Output | Streams>()
    const outcome = yield* Run.run({
      settings,
      plan,
      // What was seen, and above all what was written, is not lost with Ctrl-C.
      onInterrupt: (outcome) =>
        outcome.observations.sent.length === 0
          ? Effect.void
          : Effect.provide(
            Effect.catchAll(publish(outcome), ({ message }) => output.note(`the report was not written: ${message}`)),
            context
          ),
      // With --json standard error has one object, the failure.
      onProgress: ({ observation, step, steps }) => output.json ? Effect.void : output.note(progressLine(step, steps, observation))
    })
    const report = yield* publish(outcome)
    if (Option.isSome(outcome.stopped)) {
      return yield* new Explained({
        cause: outcome.stopped.value,
        explanation: `The run stopped after ${count(report.requests, "request")}. The report has what it showed until then.`
      })
    }
    const contradicted = Report.contradictions(report).map(({ id }) => id)
    if (contradicted.length > 0) {
      return yield* new RulesContradicted({
        message: `the service contradicts ${count(contradicted.length, "rule")} of ${report.rules.length}: ${contradicted.join(", ")}`,
        rules: contradicted
      })
    }
  })
