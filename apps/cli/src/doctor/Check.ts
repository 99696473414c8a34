/** The result of a check. */
import * as Schema from "effect/Schema"

/** Some checks failed. They are already printed. */
export class ChecksFailed extends Schema.TaggedError<ChecksFailed>()("ChecksFailed", { message: Schema.String }) {}

/**
 * - `warning`: works, but may stop working or is not recommended.
 * - `unknown`: not checked, because of an earlier failure or because the interface doesn't show it.
 */
export type Status = "ok" | "warning" | "failed" | "unknown"

/** The facts of a check for programs, such as addresses and milliseconds. Never the key. */
type Details = Readonly<Record<string, unknown>>

export interface Check {
  readonly name: string
  readonly status: Status
  readonly message: string
  /** What to do; null if nothing. */
  readonly remedy: string | null
  readonly details: Details
}

const make = (status: Status) => (name: string, message: string, remedy: string | null = null, details: Details = {}): Check => ({
  name,
  status,
  message,
  remedy,
  details
})

export const ok = (name: string, message: string, details?: Details): Check => make("ok")(name, message, null, details)
export const warning = make("warning")
export const failed = make("failed")
export const unknown = make("unknown")
