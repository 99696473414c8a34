/**
 * The outermost part of a program on Node: starts its main effect, stops it on a signal, tells of its failure once and ends with the
 * status of the table. Knows nothing of what the program does.
 *
 * | status | when |
 * |---|---|
 * | 0 | done |
 * | 1 | anything not below |
 * | 2 | usage or invalid input |
 * | 3 | not found |
 * | 4 | key, scope, access, profile or permission |
 * | 5 | conflict |
 * | 6 | rate limit or quota beyond the maximum wait |
 * | 7 | service or network fault |
 * | 8 | outcome unknown |
 * | 130, 143 | interrupted by SIGINT, SIGTERM |
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
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Report from "./Report.js"
import { layer as layerStreams, Streams } from "./Streams.js"
import type { Medium } from "./Table.js"

export interface Options {
  /** The program's name, which begins what it says of a failure. */
  readonly name: string
  /** Failures as one JSON object instead of sentences. */
  readonly json: boolean
}

const unfitted: Medium = { isTerminal: false, colour: false, columns: () => 80 }

const runsUntilStopped = globalValue("@plaza/terminal/runsUntilStopped", () => FiberRef.unsafeMake(false))

/**
 * To be said by what runs until it is stopped, as a server does: a signal is then its end and not an interruption, and the status is
 * 0.
 */
export const untilStopped: Effect.Effect<void> = FiberRef.set(runsUntilStopped, true)

/** Log lines go to standard error, and only when PLAZA_LOG_LEVEL names a level: results and failures are no log lines. */
const layerLogger: Layer.Layer<never, ConfigError.ConfigError, Streams> = Layer.unwrapEffect(Effect.gen(function*() {
  const { stderr } = yield* Streams
  const level = yield* Config.withDefault(Config.logLevel("PLAZA_LOG_LEVEL"), LogLevel.None)
  const logger = Logger.map(Logger.logfmtLogger, (line) => {
    stderr.node?.write(`${line}\n`)
  })
  return Layer.merge(Logger.replace(Logger.defaultLogger, logger), Logger.minimumLogLevel(level))
}))

const tell = (cause: Cause.Cause<unknown>, signal: Report.Signal, options: Options): Effect.Effect<number, never, Streams> =>
  Effect.gen(function*() {
    const report = Report.ofCause(cause, signal, yield* Clock.currentTimeMillis)
    if (Option.isNone(report)) return 0
    const { exitCode, tag } = report.value
    const { stderr } = yield* Streams
    // Who pressed the keys knows; a program that reads JSON does not.
    const text = options.json ? Report.toJson(report.value) : tag === "Interrupted" ? "" : Report.toText(options.name, report.value, stderr)
    yield* Effect.ignore(stderr.write(text))
    const debug = yield* Effect.orElseSucceed(Config.withDefault(Config.string("PLAZA_DEBUG"), ""), () => "")
    if (debug !== "") yield* Effect.ignore(stderr.write(`${Cause.pretty(cause, { renderErrorCause: true })}\n`))
    return exitCode
  })

/**
 * The status that an effect ends with, after its failure was told. Never fails, and can't be interrupted in telling.
 */
export const exitCodeOf = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  options: Options & { readonly signal: () => Report.Signal }
): Effect.Effect<number, never, R | Streams> =>
  Effect.uninterruptible(
    Effect.flatMap(Effect.exit(Effect.interruptible(effect)), (exit) =>
      Exit.isSuccess(exit)
        ? Effect.succeed(0)
        : Effect.flatMap(FiberRef.get(runsUntilStopped), (stopped) =>
          stopped && Cause.isInterruptedOnly(exit.cause) ? Effect.succeed(0) : tell(exit.cause, options.signal(), options)))
  )

/** Runs a main effect and ends the process. */
export const run = <A, E>(effect: Effect.Effect<A, E, Streams>, options: Options): void => {
  let signal: Report.Signal = "SIGINT"
  process.once("SIGTERM", () => {
    signal = "SIGTERM"
  })
  // What a library throws outside of every fiber would print its stack.
  process.on("uncaughtException", (error: Error & { readonly code?: unknown }) => {
    if (error.code === "EPIPE") process.exit(0)
    const told = Report.ofCause(Cause.die(error), signal)
    const text = Option.match(told, { onNone: () => "", onSome: (report) => options.json ? Report.toJson(report) : Report.toText(options.name, report, unfitted) })
    process.stderr.write(text, () => process.exit(1))
  })
  const main = exitCodeOf(Effect.provide(effect, layerLogger), { ...options, signal: () => signal }).pipe(
    Effect.provide(layerStreams),
    // Everything was written and taken, so nothing is lost by not waiting for what a library may still hold open.
    Effect.tap((code) => Effect.sync(() => process.exit(code))),
    // An interruption has been answered by then; what follows it must not be cut off by the same one.
    Effect.uninterruptible
  )
  NodeRuntime.runMain(main, { disableErrorReporting: true, disablePrettyLogger: true })
}
