/**
 * Posts, comments and likes.
 *
 * @since 0.1.0
 */
import type { PostId } from "@plaza/domain/Ids"
import type { NewPost } from "@plaza/domain/Requests"
import { Post } from "@plaza/domain/Resources"
import type { Comment, Page } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type { CallFailure } from "./ClientError.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { layerOf, Operations } from "./internal/contract/Operations.ts"
import * as Pagination from "./internal/contract/Pagination.ts"
import type { ListOptions } from "./internal/contract/Pagination.ts"
import { validateName, validatePayload, validateText } from "./internal/contract/validateText.ts"
import * as KeyedLock from "./internal/delivery/KeyedLock.ts"
import * as PostCheck from "./internal/delivery/PostCheck.ts"
import { canonical } from "./internal/delivery/PostText.ts"

/**
 * Creates and lists posts, comments on posts and likes them.
 *
 * @since 0.1.0
 * @category services
 */
export class Posts extends Context.Service<Posts, {
  /**
   * Creates a post. Checkable: after an ambiguous failure the client reads the account's posts, after a pause and again at the
   * end of the `settleTime`. It sends the post again only if no listed post can be this one. The call fails with `OutcomeUnknown`
   * if the list doesn't decide that. It also fails with `OutcomeUnknown` after a timeout or a status of 504 or above, because the
   * service may still process the request.
   *
   * Limits: a service that finishes a failed request, or lists a new post, after the `settleTime` (default: 15 seconds) can
   * store two posts. If another client of the account creates an equal post during the call, or up to two seconds before it,
   * the call can return that post (up to four seconds, if stamps or dates have whole seconds). Until a post of this client showed that
   * `createdAt` follows the clock of `Date`, an equal post of the last 26 hours leaves the outcome unknown.
   *
   * Two calls of one client with equal text create two posts, one after the other. The wait of the second call for the first
   * doesn't count as `maxWait`. A post without media and text fails with `InvalidInput`, without a request.
   * Source: interface v1, "Endpoints", POST /posts.
   *
   * @example
   * import { Posts } from "@plaza/client"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Posts, (posts) => posts.create({ text: "Hello" }))
   * // => { text: "Hello" }
   */
  readonly create: (post: NewPost) => Effect.Effect<Post, Posts.CreateFailure>
  /**
   * The account's posts as a stream. It fetches the next page while the program consumes the current one.
   * Source: interface v1, "Endpoints", GET /me/posts.
   *
   * @example
   * import { Posts } from "@plaza/client"
   * import { Effect, Stream } from "effect"
   *
   * const program = Effect.flatMap(Posts, (posts) => Stream.runCollect(posts.list({ limit: 250 })))
   */
  readonly list: (options?: ListOptions) => Stream.Stream<Post, Posts.ListFailure>
  /** The same list as a stream of pages, with the cursor after each page. */
  readonly pages: (options?: ListOptions) => Stream.Stream<Page<Post>, Posts.ListFailure>
  /**
   * Comments on a post. Once: the client doesn't send the request again after an ambiguous failure, and the call fails with
   * `OutcomeUnknown`. An empty text fails with `InvalidInput`, without a request.
   * Source: interface v1, "Endpoints", POST /posts/{id}/comments.
   */
  readonly comment: (id: PostId, text: string) => Effect.Effect<Comment, Posts.CommentFailure>
  /**
   * Likes a post. Repeatable: the client sends the request again after an ambiguous failure. Assumed: a second like changes
   * nothing.
   * Source: interface v1, "Endpoints", POST /posts/{id}/like.
   */
  readonly like: (id: PostId) => Effect.Effect<void, Posts.LikeFailure>
}>()("@plaza/client/Posts") {}

/**
 * The failures of each operation.
 *
 * @since 0.1.0
 * @category models
 */
export declare namespace Posts {
  /** The failures of `create`. */
  export type CreateFailure = FailureOf<"createPost"> | CallFailure
  /** The failures of `list` and `pages`. */
  export type ListFailure = FailureOf<"listPosts"> | Pagination.ListFailure
  /** The failures of `comment`. */
  export type CommentFailure = FailureOf<"createComment"> | CallFailure
  /** The failures of `like`. */
  export type LikeFailure = FailureOf<"likePost"> | CallFailure
}

/** A copy, because a caller can change its object while the call waits, and the search would then look for another post. */
const snapshot = (post: NewPost): NewPost => {
  // Code without types can pass anything.
  if (typeof post !== "object" || post === null) return post
  const { mediaIds, text } = post
  return { text, mediaIds: Array.isArray(mediaIds) ? mediaIds.slice() : mediaIds }
}

/** Creates the service of {@link Posts} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Posts["Service"], never, Operations> = Effect.gen(function*() {
  const { send, sendPage, settleTime } = yield* Operations
  const checked = PostCheck.make({
    listPosts: (urlParams, onResponse) => send("listPosts", { urlParams }, { onResponse }),
    settleTime
  })
  // One call at a time for equal texts: while two such calls run, a listed post may belong to either.
  const withLock = yield* KeyedLock.make

  const readPage = sendPage("listPosts", Post)
  const pages = (options?: ListOptions) => Pagination.pages("listPosts", readPage, options)

  return {
    create: (given) => {
      const post = snapshot(given)
      return validatePayload("createPost", post).pipe(
        Effect.andThen(Effect.suspend(() =>
          (post.mediaIds ?? []).length === 0
            ? validateText(post.text ?? "")
            : Effect.forEach(post.mediaIds ?? [], (id) => validateName("mediaIds", id), { discard: true })
        )),
        Effect.andThen(
          Effect.suspend(() => withLock(canonical(post.text ?? ""))(checked(post, (hooks) => send("createPost", { payload: post }, hooks))))
        )
      )
    },
    list: (options) => Pagination.items(pages(options)),
    pages,
    comment: (id, text) =>
      Effect.andThen(
        validateText(text),
        send("createComment", { path: { id }, payload: { text } }, { whenEmpty: () => ({ text }) })
      ),
    like: (id) => Effect.asVoid(send("likePost", { path: { id } }, { whenEmpty: () => undefined }))
  }
})

/**
 * The service {@link Posts} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Posts, never, Operations> = /*#__PURE__*/ layerOf(Posts, make)
