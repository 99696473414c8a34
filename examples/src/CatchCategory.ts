/** Handles failures by category, independent of their code. */
import { ClientError, Posts } from "@plaza/client"
import { Effect, Option } from "effect"

/** Creates a post, or returns none if the service can't accept it now. Every other failure stays in the error type. */
export const postIfPossible = (text: string) =>
  Effect.flatMap(Posts, (posts) => Effect.asSome(posts.create({ text }))).pipe(
    ClientError.catchCategory(["RateLimited", "ServiceFault"],
      (failure) => Effect.as(Effect.logWarning("posts.create_failed", failure.code), Option.none()))
  )
