/** Runs `plaza verify`: sends the requests of the plan, and writes what they show. */
import { Explained } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import * as Failures from "@plaza/cli-kit/Report"
import { Streams } from "@plaza/cli-kit/Streams"
import * as Table from "@plaza/cli-kit/Table"
import { count } from "@plaza/cli-kit/Text"
import { Settings } from "@plaza/client"
import { operations } from "@plaza/domain/Operations"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as OutputFile from "../OutputFile.ts"
import { assumptionsFile } from "./Findings.ts"
import { cut, describe, type Observation } from "./Observation.ts"
import * as Page from "./Page.ts"
import * as Plan from "./Plan.ts"
import * as Report from "./Report.ts"
import * as Run from "./Run.ts"

/** The service contradicts rules. The report is already printed. */
export class RulesContradicted extends Schema.TaggedError<RulesContradicted>()("RulesContradicted", {
  message: Schema.String,
  /** The ids of the rules. */
  rules: Schema.Array(Schema.String)
}) {}

/** What to print and write. */
export interface Options {
  /** Whether to print every rule, not only the contradicted ones. */
  readonly all: boolean
  /** The path of the report as JSON. */
  readonly report: string | undefined
  /** The path of the report as a page. */
  readonly html: string | undefined
  /** The path of the assumptions file. */
  readonly assumptions: string | undefined
}

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
        requests: steps.map(({ body, effect, hasKey = true, id, operation, path }) => ({
          id,
          method: operations[operation].method,
          path,
          hasKey,
          body: body ?? null,
          effect: effect ?? null
        }))
      })
    }
    yield* output.table(
      [{ head: "request", overflow: "wrap" }],
      steps.flatMap(({ body, effect, hasKey = true, operation, path }) => [
        [`${operations[operation].method} ${path}${hasKey ? "" : " (without the key)"}`],
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

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The files of the options, with their flags. */
const files = ({ assumptions, html, report }: Options): ReadonlyArray<{
  readonly flag: string
  readonly path: string
  readonly content: (report: Report.Report) => string
}> =>
  [
    { flag: "--report", path: report, content: json },
    { flag: "--html", path: html, content: Page.render },
    { flag: "--assumptions-out", path: assumptions, content: ({ learnt }: Report.Report) => json(assumptionsFile(learnt)) }
  ].flatMap(({ path, ...file }) => path === undefined ? [] : [{ ...file, path }])

/** Writes the files. One that can't be written is reported after the others are. */
const writeFiles = Effect.fnUntraced(function*(report: Report.Report, options: Options) {
  const [, failures] = yield* Effect.partition(files(options), ({ content, path }) => OutputFile.replace(path, content(report)))
  if (failures[0] !== undefined) return yield* failures[0]
})

/** Prints the report: the contradicted rules, with `all` every rule, by section; then what was learnt. */
export const print = (report: Report.Report, { all }: Pick<Options, "all">) =>
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
    for (const [title, rules] of Report.bySection(all ? report.rules : Report.contradictions(report))) {
      yield* section(title, [{ head: "status", whole: true }, { head: "rule", overflow: "wrap" }],
        rules.flatMap(({ detail, rule, status }) => [
          [Report.words[status], rule],
          ...(status === "confirmed" ? [] : [["", `-> ${detail}`]])
        ]))
    }
    yield* section("Learnt of the open points", [{ head: "point", whole: true }, { head: "value", overflow: "wrap" }],
      Report.learntEntries(report))
    yield* output.text(`${Report.summary(report)}, by ${count(report.requests, "request")}.`)
    if (!all) yield* output.note("--all prints every rule.")
  })

const progressLine = (step: number, steps: number, { request, result }: Observation): string =>
  `${step} of ${steps}: ${cut(request, 80)}: ${
    Result.match(result, { onFailure: (reason) => `no response (${reason})`, onSuccess: describe })
  }`

/** Verifies the service, and prints and writes the report. Fails if a rule is contradicted, or if the run stopped before its end. */
export const run = Effect.fnUntraced(function*(objects: Plan.Objects | undefined, options: Options) {
  yield* Effect.forEach(files(options), ({ flag, path }) => OutputFile.check(flag, path), { discard: true })
  const output = yield* Output
  const publish = (outcome: Run.Outcome) => {
    const report = Report.make(outcome)
    return Effect.as(Effect.andThen(print(report, options), writeFiles(report, options)), report)
  }
  const outcome = yield* Run.run({
    settings: yield* Settings.Settings,
    plan: Plan.make(objects),
    // What was seen, and above all what was written, is not lost with Ctrl-C.
    onInterrupt: (outcome) =>
      outcome.observations.sent.length === 0
        ? Effect.void
        : publish(outcome).pipe(
          Effect.catch((error) => output.note(`the report was not written: ${Failures.ofFailure(error).message}`))
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
