/**
 * Finds posts, and validates the fields of new and edited ones.
 *
 * Source: interface v1, "Endpoints".
 */
import type { NotFound, UserUnavailable, ValidationError } from "@plaza/domain/Errors"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { AccountPolicy } from "../../access/AccountPolicy.ts"
import { AccountsRepo } from "../../access/AccountsRepo.ts"
import { CurrentAssumptions } from "../../Assumptions.ts"
import { checkText, invalidField, notFound } from "../../Validation.ts"
import { MediaRepo } from "../media/MediaRepo.ts"
import type { Post } from "./PostsRepo.ts"
import { PostsRepo } from "./PostsRepo.ts"

interface PostFields {
  readonly text?: string | undefined
  readonly mediaIds?: ReadonlyArray<string> | undefined
}

export class PostsPolicy extends Context.Service<PostsPolicy>()("@plaza/sandbox/PostsPolicy", {
  make: Effect.gen(function*() {
    const posts = yield* PostsRepo
    const media = yield* MediaRepo
    const accounts = yield* AccountsRepo
    const { requireAvailable } = yield* AccountPolicy
    const { maxTextLength } = yield* CurrentAssumptions
    return {
      /** Validates fields of a post of an account: a post may name media of its author only. */
      checkFields: Effect.fnUntraced(
        function*({ mediaIds = [], text }: PostFields, authorId: string): Effect.fn.Return<void, ValidationError> {
          if (text !== undefined) {
            yield* checkText("text", text, maxTextLength)
          }
          const index = mediaIds.findIndex((id) => !media.isOwn(id, authorId))
          if (index !== -1) {
            return yield* invalidField(`mediaIds.${index}`, "is not the id of media that this account uploaded")
          }
        }
      ),

      /** A post whose author is available to the caller. */
      findVisible: Effect.fnUntraced(function*(id: string, callerId: string): Effect.fn.Return<Post, NotFound | UserUnavailable> {
        const post = posts.find(id)
        const author = post === undefined ? undefined : accounts.find(post.authorId)
        if (post === undefined || author === undefined) {
          return yield* notFound("post", id)
        }
        yield* requireAvailable(callerId, author)
        return post
      })
    }
  })
}) {
  static readonly layer = Layer.effect(PostsPolicy, PostsPolicy.make)
}
