/** Follows the write of a command, so that the report of an interruption or of a full disk says what became of it. */
import * as WriteOutcome from "@plaza/cli-kit/WriteOutcome"
import { FailureScope, Plaza, TransportReason } from "@plaza/client"
import type { WriteName } from "@plaza/domain/Operations"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type { Transform } from "../profiles/Connection.ts"

/** Records when the request of a write is sent. */
export const observed: Transform = HttpClient.transform((response, { method }) =>
  method === "GET"
    ? response
    : Effect.andThen(
      WriteOutcome.sent,
      Effect.onInterrupt(response,
        () => Effect.flatMap(TransportReason.isConnected, (isConnected) => isConnected === false ? WriteOutcome.refused : Effect.void))
    )
)

/** Follows a call of an operation; `request` is that of `plaza api`. */
export const follow = (operation: WriteName | "request") => <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Plaza.onAttempt((attempt) =>
    // The search for a post reads.
    attempt.operation !== operation || attempt.failure === undefined
      ? Effect.void
      : FailureScope.mayHaveHappened(attempt.failure)
      ? WriteOutcome.doubtful
      : WriteOutcome.refused
  )(Effect.andThen(WriteOutcome.begin(operation), Effect.tap(call, WriteOutcome.done)))
