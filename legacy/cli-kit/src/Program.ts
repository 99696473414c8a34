/**
 * Runs the main effect of a program on Node: interrupts it on a signal, reports its failure once and exits with a code of
 * `ExitCode`.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import { globalValue } from "effect/GlobalValue"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as ExitCode from "./errors/ExitCode.ts"
import * as KeyMask from "./errors/KeyMask.ts"
import type * as Remediation from "./errors/Remediation.ts"
import * as Report from "./errors/Report.ts"
import { make as makeStreams, Streams } from "./output/Streams.ts"
import type { Medium } from "./output/Table.ts"

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

const runsUntilStopped = globalValue("@plaza-legacy/cli-kit/runsUntilStopped", () => FiberRef.unsafeMake(false))

/** Marks a program that runs until it is stopped, such as a server. A signal then ends it with exit code 0. */
export const untilStopped: Effect.Effect<void> = FiberRef.set(runsUntilStopped, true)

/** Logs to standard error at the level of PLAZA_LOG_LEVEL (default: none). Results and failures are not logged. */
const withLogger = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | ConfigError.ConfigError, R | Streams> =>
  Effect.gen(function*() {
    const { stderr } = yield* Streams
    const level = yield* Config.withDefault(Config.logLevel("PLAZA_LOG_LEVEL"), LogLevel.None)
    const logger = Logger.map(Logger.logfmtLogger, (line) => {
      stderr.node?.write(`${line}\n`)
    })
    return yield* effect.pipe(
      Effect.provide(Logger.replace(Logger.defaultLogger, logger)),
      Logger.withMinimumLogLevel(level)
    )
  })

const reportFailure = (cause: Cause.Cause<unknown>, signal: ExitCode.Signal, options: Options): Effect.Effect<number, never, Streams> =>
  Effect.gen(function*() {
    const { remediation = {} } = options
    const unmasked = Report.ofCause(cause, { now: yield* Clock.currentTimeMillis, remediation })
    if (Option.isNone(unmasked)) return 0
    const report = yield* KeyMask.report(unmasked.value)
    const { tag } = report
    const { stderr } = yield* Streams
    // A person who pressed Ctrl-C needs no message. A program that reads JSON does.
    const text = options.json ? Report.toJson(report) : tag === "Interrupted" ? "" : Report.toText(options.name, report, stderr)
    yield* Effect.ignore(stderr.write(text))
    const debug = yield* Effect.orElseSucceed(Config.withDefault(Config.string("PLAZA_DEBUG"), ""), () => "")
    if (debug !== "") yield* Effect.ignore(stderr.write(yield* KeyMask.text(`${Cause.pretty(cause, { renderErrorCause: true })}\n`)))
    if (tag === "Interrupted") return ExitCode.bySignal[signal]
    return Option.match(Cause.failureOption(cause), { onNone: () => 1, onSome: (error) => ExitCode.of(error, options.exitCodes) })
  })

/** Runs an effect, reports its failure and returns the exit code. Never fails; the report can't be interrupted. */
export const exitCodeOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: Options & { readonly signal: () => ExitCode.Signal }
): Effect.Effect<number, never, R | Streams> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.exit(Effect.interruptible(effect)), (exit) =>
      Exit.isSuccess(exit)
        ? Effect.succeed(0)
        : Effect.flatMap(FiberRef.get(runsUntilStopped),
          (stopped) =>
            stopped && Cause.isInterruptedOnly(exit.cause) ? Effect.succeed(0) : reportFailure(exit.cause, options.signal(), options)))
  )

/** Runs a main effect and ends the process. */
export const run = <A, E>(effect: Effect.Effect<A, E, Streams>, options: Options): void => {
  let signal: ExitCode.Signal = "SIGINT"
  process.once("SIGTERM", () => {
    signal = "SIGTERM"
  })
  // Without this, an exception of a library outside of any fiber prints its stack.
  process.on("uncaughtException", (error: Error & { readonly code?: unknown }) => {
    if (error.code === "EPIPE") process.exit(0)
    const crash = Report.ofCause(Cause.die(error))
    const text = Option.match(crash, {
      onNone: () => "",
      onSome: (report) => options.json ? Report.toJson(report) : Report.toText(options.name, report, plain)
    })
    process.stderr.write(text, () => process.exit(1))
  })
  const main = exitCodeOf(withLogger(effect), { ...options, signal: () => signal }).pipe(
    Effect.provideServiceEffect(Streams, makeStreams),
    // All output is flushed. A library may hold handles open, so don't wait for them.
    Effect.tap((code) => Effect.sync(() => process.exit(code))),
    // `exitCodeOf` has handled the interruption.
    Effect.uninterruptible
  )
  NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
}
