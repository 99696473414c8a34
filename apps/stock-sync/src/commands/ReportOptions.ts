/** The options of `report`. */
import * as Flags from "@plaza/cli-kit/Flags"
import { excerpt } from "@plaza/cli-kit/Text"
import { Durations } from "@plaza/client"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"

/** A duration before now, or a time. */
export type Since = { readonly before: Duration.Duration } | { readonly at: DateTime.Utc }

const zoned = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

const parseSince = (written: string): Result.Result<Since, string> => {
  const text = written.trim()
  const before = Option.filter(Durations.fromText(text), Duration.isGreaterThan(Duration.zero))
  if (Option.isSome(before)) return Result.succeed({ before: before.value })
  const [date = ""] = text.split("T", 1)
  // JavaScript takes 30 February for a day of March.
  const isDay = Option.exists(DateTime.make(date), (day) => DateTime.formatIsoDateUtc(day) === date)
  const at = zoned.test(text) && isDay ? DateTime.make(text) : Option.none()
  return Option.isSome(at)
    ? Result.succeed({ at: DateTime.toUtc(at.value) })
    : Result.fail(
      `--since must be a duration such as 24h, a day such as 2026-03-01, or a time such as 2026-03-01T08:00:00Z, not "${excerpt(written)}"`
    )
}

const formats = ["text", "json", "html"] as const
export type Format = (typeof formats)[number]

const parseFormat = (written: string): Result.Result<Format, string> => {
  const format = formats.find((each) => each === written.trim().toLowerCase())
  return format === undefined
    ? Result.fail(`--format must be text, json or html, not "${excerpt(written)}"`)
    : Result.succeed(format)
}

export interface Options {
  readonly since: Since
  readonly format: Format
}

const lastDay: Since = { before: Duration.hours(24) }

/** The flags of `report` and of `fleet report`. */
export const flags = {
  since: Flag.withDefault(
    Flags.parsed("since", "DURATION|TIME", "The beginning: a duration before now, a day, or a time with its zone (default: 24h).",
      parseSince),
    lastDay
  ),
  format: Flag.withDefault(
    Flags.parsed("format", "text|json|html", "Format of the report (default: text).", parseFormat),
    "text" as const
  )
}
