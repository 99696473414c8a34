/** The logger: one line for each event on standard error, as text or as JSON. */
import { Streams } from "@plaza/cli-kit/Streams"
import * as Text from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import { formatJson } from "effect/Formatter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as LogLevel from "effect/LogLevel"
import * as References from "effect/References"

export const formats = ["text", "json"] as const
export type Format = (typeof formats)[number]

export interface Options {
  readonly format: Format
  /** The least level that is logged. */
  readonly level: LogLevel.LogLevel
}

const loggers = {
  text: Logger.formatLogFmt,
  // `logLevel` is a documented field.
  json: Logger.map(Logger.formatStructured, ({ level, message, ...fields }) => formatJson({ message, logLevel: level, ...fields }))
}

/** Replaces all other loggers. */
export const layer = ({ format, level }: Options): Layer.Layer<never, never, Streams> =>
  Layer.unwrap(Effect.map(Streams, ({ stderr }) => {
    const logger = Logger.map(loggers[format], (line) => {
      // Not awaited: a blocked reader of the log must not block the worker. Ids and messages may contain escape sequences.
      Effect.runFork(Effect.ignore(stderr.write(`${Text.visible(line)}\n`)))
    })
    return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, level))
  }))
