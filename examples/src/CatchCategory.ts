/**
 * Handles failures by what they mean, whatever their code.
 */
import { Failures, Posts } from "@plaza/client"
import { Effect, Option } from "effect"

/** The post, or none when the service can't take it now. Every other failure stays in the error type. */
export const postIfPossible = (text: string) =>
  Effect.flatMap(Posts, (posts) => Effect.asSome(posts.create({ text }))).pipe(
    Failures.catchCategory(["RateLimited", "ServiceFault"], (failure) =>
      Effect.as(Effect.logWarning("not posted", failure.code), Option.none()))
  )
