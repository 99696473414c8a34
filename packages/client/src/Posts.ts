/**
 * Posts, and what people do to them: comments and likes.
 *
 * @since 0.1.0
 */
import type { PostId } from "@plaza/domain/Ids"
import type { NewPost } from "@plaza/domain/Requests"
import type { Comment, Page, Post } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as RcMap from "effect/RcMap"
import type * as Stream from "effect/Stream"
import type { FailureOf } from "./Contract.js"
import { Operations } from "./Operations.js"
import * as Pagination from "./Pagination.js"
import type { ListFailure, ListOptions, PageRequest } from "./Pagination.js"
import * as PostCheck from "./PostCheck.js"
import { checkText } from "./Written.js"

/** @since 0.1.0 @category services */
export class Posts extends Context.Tag("@plaza/client/Posts")<Posts, {
  /**
   * Creates a post. Checkable: after an ambiguous failure the account's posts are read, and it is sent again only if it
   * isn't among them. Two calls with equal content make two posts, one after the other. Without media the text is all
   * there is of a post, so an empty one is refused as `InvalidInput` before anything is sent.
   * Source: interface v1, "Endpoints", POST /posts.
   */
  readonly create: (post: NewPost) => Effect.Effect<Post, FailureOf<"createPost">>
  /**
   * The account's posts.
   * Source: interface v1, "Endpoints", GET /me/posts.
   */
  readonly list: (options?: ListOptions) => Stream.Stream<Post, FailureOf<"listPosts"> | ListFailure>
  /** The same, a page at a time. */
  readonly pages: (options?: ListOptions) => Stream.Stream<Page<Post>, FailureOf<"listPosts"> | ListFailure>
  /**
   * Comments on a post. Once: never sent again after an ambiguous failure, which ends in `OutcomeUnknown`. The
   * text is all that the document knows of a comment, so an empty one is refused as `InvalidInput` before anything is
   * sent.
   * Source: interface v1, "Endpoints", POST /posts/{id}/comments.
   */
  readonly comment: (id: PostId, text: string) => Effect.Effect<Comment, FailureOf<"createComment">>
  /**
   * Likes a post. Repeatable: sent again after an ambiguous failure.
   * Source: interface v1, "Endpoints", POST /posts/{id}/like.
   */
  readonly like: (id: PostId) => Effect.Effect<void, FailureOf<"likePost">>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Posts, never, Operations> = Layer.scoped(
  Posts,
  Effect.gen(function*() {
    const { clockLead, send } = yield* Operations
    const claims = PostCheck.makeClaims()
    // Of posts with equal content one is under way at a time: while another's answer is still out, nobody can tell
    // whose a post in the list is.
    const turns = yield* RcMap.make({ lookup: (_content: string) => Effect.makeSemaphore(1) })

    const listPosts = (urlParams: PageRequest) => send("listPosts", { urlParams })
    const pages = (options?: ListOptions) => Pagination.pages("listPosts", listPosts, options)

    const inTurn = <A, E>(post: NewPost, create: Effect.Effect<A, E>) =>
      Effect.scoped(Effect.flatMap(
        RcMap.get(turns, JSON.stringify([post.text, post.mediaIds ?? []])),
        (turn) => turn.withPermits(1)(create)
      ))

    const create = (post: NewPost) =>
      Effect.gen(function*() {
        const startedAt = yield* Clock.currentTimeMillis
        const lookUp = PostCheck.find({ post, startedAt, claims, listPosts, clockLead })
        const created = yield* send("createPost", { payload: post }, { check: { lookUp } })
        claims.claim(created.id, yield* Clock.currentTimeMillis)
        return created
      })

    return {
      create: (post) =>
        Effect.zipRight(
          (post.mediaIds ?? []).length === 0 ? checkText(post.text) : Effect.void,
          inTurn(post, create(post))
        ),
      list: (options) => Pagination.items(pages(options)),
      pages,
      comment: (id, text) =>
        Effect.zipRight(
          checkText(text),
          send("createComment", { path: { id }, payload: { text } }, { whenEmpty: () => ({ text }) })
        ),
      like: (id) => Effect.asVoid(send("likePost", { path: { id } }, { whenEmpty: () => undefined }))
    }
  })
)
