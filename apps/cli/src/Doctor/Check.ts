/** What a look at one thing shows. Knows nothing of what is looked at. */
import type { ClientError } from "@plaza/client"
import * as Data from "effect/Data"

/** Something is not as it has to be; the checks themselves have told what. */
export class ChecksFailed extends Data.TaggedError("ChecksFailed")<{ readonly message: string }> {
  readonly exitCode: ClientError.ExitCode = 1
}

/**
 * - `warning`: it works, and may not for long, or not as one would wish.
 * - `unknown`: it can't be told, because of an earlier failure or because the interface shows no way.
 */
export type Status = "ok" | "warning" | "failed" | "unknown"

export interface Check {
  readonly name: string
  readonly status: Status
  readonly message: string
  /** What to do; null where nothing has to be done. */
  readonly remedy: string | null
}

export const ok = (name: string, message: string): Check => ({ name, status: "ok", message, remedy: null })

export const warning = (name: string, message: string, remedy: string): Check => ({ name, status: "warning", message, remedy })

export const failed = (name: string, message: string, remedy: string): Check => ({ name, status: "failed", message, remedy })

export const unknown = (name: string, message: string, remedy: string | null = null): Check => ({ name, status: "unknown", message, remedy })
