/** The result of a check. */
import * as Data from "effect/Data"

/** Some checks failed. They are already printed. */
export class ChecksFailed extends Data.TaggedError("ChecksFailed")<{ readonly message: string }> {}

/**
 * - `warning`: works, but may stop working or is not recommended.
 * - `unknown`: not checked, because of an earlier failure or because the interface doesn't show it.
 */
export type Status = "ok" | "warning" | "failed" | "unknown"

export interface Check {
  readonly name: string
  readonly status: Status
  readonly message: string
  /** What to do; null if nothing. */
  readonly remedy: string | null
}

export const ok = (name: string, message: string): Check => ({ name, status: "ok", message, remedy: null })

export const warning = (name: string, message: string, remedy: string): Check => ({ name, status: "warning", message, remedy })

export const failed = (name: string, message: string, remedy: string): Check => ({ name, status: "failed", message, remedy })

export const unknown = (name: string, message: string, remedy: string | null = null): Check => ({
  name,
  status: "unknown",
  message,
  remedy
})
