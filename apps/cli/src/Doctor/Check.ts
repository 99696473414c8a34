/**
 * What a look at one thing shows. Knows nothing of what is looked at.
 *
 * @since 0.1.0
 */
import type { ClientError } from "@plaza/client"
import * as Data from "effect/Data"

/**
 * Something is not as it has to be; the checks themselves have told what.
 *
 * @since 0.1.0
 * @category errors
 */
export class ChecksFailed extends Data.TaggedError("ChecksFailed")<{ readonly message: string }> {
  readonly exitCode: ClientError.ExitCode = 1
}

/**
 * - `warning`: it works, and may not for long, or not as one would wish.
 * - `unknown`: it can't be told, because of an earlier failure or because the interface shows no way.
 *
 * @since 0.1.0
 * @category models
 */
export type Status = "ok" | "warning" | "failed" | "unknown"

/** @since 0.1.0 @category models */
export interface Check {
  readonly name: string
  readonly status: Status
  readonly message: string
  /** What to do; null where nothing has to be done. */
  readonly remedy: string | null
}

/** @since 0.1.0 @category constructors */
export const ok = (name: string, message: string): Check => ({ name, status: "ok", message, remedy: null })

/** @since 0.1.0 @category constructors */
export const warning = (name: string, message: string, remedy: string): Check => ({ name, status: "warning", message, remedy })

/** @since 0.1.0 @category constructors */
export const failed = (name: string, message: string, remedy: string): Check => ({ name, status: "failed", message, remedy })

/** @since 0.1.0 @category constructors */
export const unknown = (name: string, message: string, remedy: string | null = null): Check => ({ name, status: "unknown", message, remedy })
