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
export type Details = Readonly<Record<string, unknown>>

export interface Check {
  readonly name: string
  readonly status: Status
  readonly message: string
  /** What to do; null if nothing. */
  readonly remedy: string | null
  readonly details: Details
}

export const ok = (name: string, message: string, details: Details = {}): Check => ({ name, status: "ok", message, remedy: null, details })

export const warning = (name: string, message: string, remedy: string, details: Details = {}): Check => ({
  name,
  status: "warning",
  message,
  remedy,
  details
})

export const failed = (name: string, message: string, remedy: string, details: Details = {}): Check => ({
  name,
  status: "failed",
  message,
  remedy,
  details
})

export const unknown = (name: string, message: string, remedy: string | null = null, details: Details = {}): Check => ({
  name,
  status: "unknown",
  message,
  remedy,
  details
})
