/** Handles failures by category, independent of their code. */
import { ClientError, Plaza, Posts } from "@plaza/client"
import { Effect, Option } from "effect"

/** Creates a post, or returns none if the service can't accept it within seconds. Every other failure stays in the error type. */
export const postIfPossible = (text: string) =>
  Effect.flatMap(Posts, (posts) => Effect.asSome(posts.create({ text }))).pipe(
    // The default is five minutes.
    Plaza.withMaxWait("5 seconds"),
    ClientError.catchCategory(["RateLimited", "ServiceFault"],
      (failure) => Effect.as(Effect.logWarning("posts.create_failed", failure.code), Option.none())),
    Effect.catchTag("RateLimitWaitExceeded", () => Effect.succeedNone)
  )
