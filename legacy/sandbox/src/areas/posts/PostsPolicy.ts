/**
 * Finds posts, and validates the fields of new and edited ones.
 *
 * Source: interface v1, "Endpoints".
 *
 * @since 0.1.0
 */
import type { NotFound, UserUnavailable, ValidationError } from "@plaza-legacy/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { AccountPolicy } from "../../access/AccountPolicy.ts"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../../Assumptions.ts"
import * as Envelope from "../../http/Envelope.ts"
import { MediaRepo } from "../media/MediaRepo.ts"
import { checkText } from "../Validation.ts"
import type { Post } from "./PostsRepo.ts"
import { PostsRepo } from "./PostsRepo.ts"

interface PostFields {
  readonly text?: string | undefined
  readonly mediaIds?: ReadonlyArray<string> | undefined
}

/** @since 0.1.0 @category constructors */
export const make = Effect.gen(function*() {
  const posts = yield* PostsRepo
  const media = yield* MediaRepo
  const accounts = yield* AccountsRepo
  const { requireAvailable } = yield* AccountPolicy
  const { maxTextLength } = yield* CurrentAssumptions
  return {
    /** Validates fields of a post of an account: a post may name media of its author only. */
    checkFields: ({ mediaIds = [], text }: PostFields, authorId: string): Effect.Effect<void, ValidationError> =>
      Effect.gen(function*() {
        if (text !== undefined) {
          yield* checkText("text", text, maxTextLength)
        }
        for (const [index, id] of mediaIds.entries()) {
          if (!(yield* media.isOwn(id, authorId))) {
            return yield* Envelope.invalidField(`mediaIds.${index}`, "is not the id of media that this account uploaded")
          }
        }
      }),

    /** A post whose author is available to the caller. */
    findVisible: (id: string, callerId: string): Effect.Effect<Post, NotFound | UserUnavailable> =>
      Effect.gen(function*() {
        const post = yield* posts.find(id)
        if (Option.isNone(post)) {
          return yield* Envelope.notFound("post", id)
        }
        // A post always has an author.
        const author = Option.getOrThrow(yield* accounts.find(post.value.authorId))
        yield* requireAvailable(callerId, author)
        return post.value
      })
  }
})

/** @since 0.1.0 @category services */
export class PostsPolicy extends Context.Tag("@plaza-legacy/sandbox/PostsPolicy")<PostsPolicy, Effect.Effect.Success<typeof make>>() {}
