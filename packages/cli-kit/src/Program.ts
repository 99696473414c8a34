/**
 * Runs the main effect of a program on Node: interrupts it on a signal, reports its failure once and exits with a code of
 * `ExitCode`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as References from "effect/References"
import * as ConfigIssue from "./ConfigIssue.ts"
import * as ExitCode from "./ExitCode.ts"
import * as KeyMask from "./KeyMask.ts"
import type * as Remediation from "./Remediation.ts"
import { make as makeStreams, Streams } from "./Streams.ts"
import type { Medium } from "./Table.ts"
import { excerpt } from "./Text.ts"
import * as WriteOutcome from "./WriteOutcome.ts"

export interface Options {
  /** The program's name, the prefix of its error messages. */
  readonly name: string
  /** Reports failures as one JSON object. */
  readonly json: boolean
  /** The program's own instructions after a failure. */
  readonly remediation?: Remediation.Overrides
  /** The exit codes of the program's own errors. */
  readonly exitCodes?: ExitCode.Lookup
}

const plain: Medium = { isTerminal: false, colour: false, columns: () => 80 }

class RunsUntilStopped extends Context.Reference<Ref.Ref<boolean>>("@plaza/cli-kit/RunsUntilStopped", {
  defaultValue: () => Ref.makeUnsafe(false)
}) {}

/** Marks a program that runs until it is stopped, such as a server. A signal then ends it with exit code 0. */
export const untilStopped: Effect.Effect<void> = Effect.flatMap(RunsUntilStopped, Ref.set(true))

/** Hides blank variables: a blank variable counts as not set, everywhere. */
const withoutBlanks = Effect.map(ConfigProvider.ConfigProvider,
  (environment) =>
    ConfigProvider.make((path) =>
      Effect.map(environment.load(path), (node) => node?._tag === "Value" && node.value.trim() === "" ? undefined : node)
    ))

const logLevelName = "PLAZA_LOG_LEVEL"

const logLevel = Effect.flatMap(Config.withDefault(Config.String(logLevelName), "None"), (written) => {
  const level = LogLevel.values.find((level) => level.toLowerCase() === written.toLowerCase())
  return level === undefined
    ? Effect.fail(
      ConfigIssue.refuse(logLevelName, `${logLevelName} must be one of ${LogLevel.values.join(", ")}, not "${excerpt(written)}"`)
    )
    : Effect.succeed(level)
})

/** Logs to standard error at the level of PLAZA_LOG_LEVEL (default: none). Results and failures are not logged. */
const withLogger = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Config.ConfigError, R | Streams> =>
  Effect.gen(function*() {
    const { stderr } = yield* Streams
    const level = yield* logLevel
    const logger = Logger.map(Logger.formatLogFmt, (line) => {
      stderr.node?.write(`${line}\n`)
    })
    return yield* effect.pipe(
      Effect.provideService(References.CurrentLoggers, new Set([logger])),
      Effect.provideService(References.MinimumLogLevel, level)
    )
  })

// Loaded when there is something to report: it names every operation and error of the interface.
const loadReport = () => import("./Report.ts")

const reportFailure = (cause: Cause.Cause<unknown>, signal: ExitCode.Signal, options: Options): Effect.Effect<number, never, Streams> =>
  Effect.gen(function*() {
    const { remediation = {} } = options
    const Report = yield* Effect.promise(loadReport)
    const write = yield* WriteOutcome.current
    const unmasked = Report.ofCause(cause, { now: yield* Clock.currentTimeMillis, remediation, write })
    if (Option.isNone(unmasked)) return 0
    const report = yield* KeyMask.report(unmasked.value)
    const { tag } = report
    const { stderr } = yield* Streams
    // A person who pressed Ctrl-C needs no message, except about a write. A program that reads JSON does.
    const text = options.json
      ? Report.toJson(report)
      : tag === "Interrupted" && write === undefined
      ? ""
      : Report.toText(options.name, report, stderr)
    yield* Effect.ignore(stderr.write(text))
    const debug = yield* Effect.orElseSucceed(Config.withDefault(Config.String("PLAZA_DEBUG"), ""), () => "")
    if (debug !== "") yield* Effect.ignore(stderr.write(yield* KeyMask.text(`${Cause.pretty(cause)}\n`)))
    if (tag === "Interrupted") return ExitCode.bySignal[signal]
    return Option.match(Cause.findErrorOption(cause), { onNone: () => 1, onSome: (error) => ExitCode.of(error, options.exitCodes) })
  })

/** Runs an effect, reports its failure and returns the exit code. Never fails; the report can't be interrupted. */
export const exitCodeOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: Options & { readonly signal: () => ExitCode.Signal }
): Effect.Effect<number, never, R | Streams> =>
  Effect.uninterruptible(Effect.gen(function*() {
    const exit = yield* Effect.exit(Effect.interruptible(effect))
    if (Exit.isSuccess(exit)) return 0
    const isStopped = Cause.hasInterruptsOnly(exit.cause) && (yield* Effect.flatMap(RunsUntilStopped, Ref.get))
    return isStopped ? 0 : yield* reportFailure(exit.cause, options.signal(), options)
  })).pipe(
    KeyMask.scoped,
    WriteOutcome.scoped,
    Effect.provideServiceEffect(RunsUntilStopped, Ref.make(false)),
    Effect.provideServiceEffect(ConfigProvider.ConfigProvider, withoutBlanks)
  )

/** Runs a main effect and ends the process. */
export const run = <A, E>(effect: Effect.Effect<A, E, Streams>, options: Options): void => {
  let signal: ExitCode.Signal | undefined
  process.once("SIGTERM", () => {
    signal ??= "SIGTERM"
  })
  // A closed terminal. The platform interrupts on the other two only.
  process.once("SIGHUP", () => {
    signal ??= "SIGHUP"
    process.emit("SIGTERM")
  })
  // Without this, an exception of a library outside of any fiber prints its stack.
  process.on("uncaughtException", (error: Error & { readonly code?: unknown }) => {
    if (error.code === "EPIPE") process.exit(0)
    void loadReport().then((Report) => {
      const text = Option.match(Report.ofCause(Cause.die(error)), {
        onNone: () => "",
        onSome: (report) => options.json ? Report.toJson(report) : Report.toText(options.name, report, plain)
      })
      process.stderr.write(text, () => process.exit(1))
    })
  })
  const main = exitCodeOf(withLogger(effect), { ...options, signal: () => signal ?? "SIGINT" }).pipe(
    Effect.provideServiceEffect(Streams, Effect.provideServiceEffect(makeStreams, ConfigProvider.ConfigProvider, withoutBlanks)),
    // All output is flushed. A library may hold handles open, so don't wait for them.
    Effect.tap((code) => Effect.sync(() => process.exit(code))),
    // `exitCodeOf` has handled the interruption.
    Effect.uninterruptible
  )
  NodeRuntime.runMain(main, { disableErrorReporting: true })
}
