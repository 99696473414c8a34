/** Explains a 404 of `GET /me`, which every service has: the base URL is wrong. */
import { Explained } from "@plaza/cli-kit/CliError"
import { isServiceError } from "@plaza/cli-kit/ExitCode"
import * as Effect from "effect/Effect"

export const explained = <A, E, R>(me: Effect.Effect<A, E, R>): Effect.Effect<A, E | Explained, R> =>
  Effect.mapError(me, (cause) =>
    isServiceError(cause) && cause.status === 404 && cause.code !== undefined
      ? new Explained({ cause, explanation: "The base URL has no GET /me: check that it ends with /open/v1." })
      : cause)
