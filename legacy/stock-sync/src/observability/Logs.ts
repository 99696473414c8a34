/** The logger: one line for each event on standard error, as text or as JSON. */
import { Streams } from "@plaza-legacy/cli-kit/Streams"
import * as Text from "@plaza-legacy/cli-kit/Text"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"

export const formats = ["text", "json"] as const
export type Format = (typeof formats)[number]

export interface Options {
  readonly format: Format
  /** The least level that is logged. */
  readonly level: LogLevel.LogLevel
}

const loggers = { text: Logger.logfmtLogger, json: Logger.jsonLogger }

/** Replaces all other loggers. */
export const layer = ({ format, level }: Options): Layer.Layer<never, never, Streams> =>
  Layer.unwrapEffect(Effect.map(Streams, ({ stderr }) => {
    const logger = Logger.map(loggers[format], (line) => {
      // Not awaited: a blocked reader of the log must not block the worker. Ids and messages may contain escape sequences.
      Effect.runFork(Effect.ignore(stderr.write(`${Text.visible(line)}\n`)))
    })
    return Layer.merge(Layer.locallyScoped<HashSet.HashSet<Logger.Logger<unknown, unknown>>>(FiberRef.currentLoggers, HashSet.make(logger)),
      Logger.minimumLogLevel(level))
  }))
