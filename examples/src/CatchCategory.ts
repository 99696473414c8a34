/** Handles failures by category, independent of their code. */
import { ClientError, FailureScope, Plaza, Posts } from "@plaza/client"
import { Effect, Option } from "effect"

/** The service did nothing, and may accept the call later. */
const isTemporary = (failure: ClientError.Failure) =>
  !FailureScope.mayHaveHappened(failure) && ["RateLimited", "ServiceFault"].includes(ClientError.categoryOf(failure))

/** Creates a post, or returns none if the service can't accept it within seconds and none exists. Every other failure stays an error. */
export const postIfPossible = (text: string) =>
  Effect.flatMap(Posts, (posts) => Effect.asSome(posts.create({ text }))).pipe(
    // The default is five minutes.
    Plaza.withMaxWait("5 seconds"),
    Effect.catchIf(isTemporary, (failure) => Effect.as(Effect.logWarning("posts.create_failed", failure.message), Option.none()))
  )
