/**
 * Posts, comments and likes.
 *
 * @since 0.1.0
 */
import type { PostId } from "@plaza-legacy/domain/Ids"
import type { NewPost } from "@plaza-legacy/domain/Requests"
import { Post } from "@plaza-legacy/domain/Resources"
import type { Comment, Page } from "@plaza-legacy/domain/Resources"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import { Inconclusive } from "./ClientError.ts"
import type { MonotonicMillis } from "./internal/Compat.ts"
import { monotonicNow } from "./internal/Compat.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { Operations } from "./internal/contract/Operations.ts"
import * as Pagination from "./internal/contract/Pagination.ts"
import type { ListFailure, ListOptions, PageRequest } from "./internal/contract/Pagination.ts"
import { validateName, validateText } from "./internal/contract/validateText.ts"
import * as KeyedMutex from "./internal/delivery/KeyedMutex.ts"
import * as MayHaveHappened from "./internal/delivery/MayHaveHappened.ts"
import * as PostCheck from "./internal/delivery/PostCheck.ts"
import * as PostClaims from "./internal/delivery/PostClaims.ts"
import { canonical, compare } from "./internal/delivery/PostText.ts"

/**
 * Creates and lists posts, comments on posts and likes them.
 *
 * @since 0.1.0
 * @category services
 */
export class Posts extends Context.Tag("@plaza-legacy/client/Posts")<Posts, {
  /**
   * Creates a post. Checkable: after an ambiguous failure the client reads the account's posts, after a pause and again at the
   * end of the `settleTime`. It sends the post again only if no listed post can be this one. The call fails with `OutcomeUnknown`
   * if the list doesn't decide that. It also fails with `OutcomeUnknown` after a timeout or a status of 504 or above, because the
   * service may still process the request.
   *
   * Limits: a service that finishes a failed request, or lists a new post, after the `settleTime` (default: 15 seconds) can
   * store two posts. If another client of the account creates an equal post during the call, or up to two seconds before it,
   * the call can return that post.
   *
   * Two calls of one client with equal text create two posts, one after the other. The wait of the second call for the first
   * doesn't count as `maxWait`. A post without media and text fails with `InvalidInput`, without a request.
   * Source: interface v1, "Endpoints", POST /posts.
   *
   * @example
   * import { Posts } from "@plaza-legacy/client"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Posts, (posts) => posts.create({ text: "Hello" }))
   */
  readonly create: (post: NewPost) => Effect.Effect<Post, FailureOf<"createPost">>
  /**
   * The account's posts as a stream. It fetches the next page while the program consumes the current one.
   * Source: interface v1, "Endpoints", GET /me/posts.
   *
   * @example
   * import { Posts } from "@plaza-legacy/client"
   * import { Effect, Stream } from "effect"
   *
   * const program = Effect.flatMap(Posts, (posts) => Stream.runCollect(posts.list({ limit: 250 })))
   */
  readonly list: (options?: ListOptions) => Stream.Stream<Post, FailureOf<"listPosts"> | ListFailure>
  /** The same list as a stream of pages, with the cursor after each page. */
  readonly pages: (options?: ListOptions) => Stream.Stream<Page<Post>, FailureOf<"listPosts"> | ListFailure>
  /**
   * Comments on a post. Once: the client doesn't send the request again after an ambiguous failure, and the call fails with
   * `OutcomeUnknown`. An empty text fails with `InvalidInput`, without a request.
   * Source: interface v1, "Endpoints", POST /posts/{id}/comments.
   */
  readonly comment: (id: PostId, text: string) => Effect.Effect<Comment, FailureOf<"createComment">>
  /**
   * Likes a post. Repeatable: the client sends the request again after an ambiguous failure. Assumed: a second like changes
   * nothing.
   * Source: interface v1, "Endpoints", POST /posts/{id}/like.
   */
  readonly like: (id: PostId) => Effect.Effect<void, FailureOf<"likePost">>
}>() {}

/** Whether a call with this failure may have created a post that no call returned. */
const mayExist = (cause: Cause.Cause<FailureOf<"createPost">>): boolean =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => true,
    onSome: MayHaveHappened.of
  })

/** Creates the service of {@link Posts} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Posts["Type"], never, Operations> = Effect.gen(function*() {
  const { send, sendPage, serviceClock, settleTime } = yield* Operations
  // Posts that a call returned. No other call returns them.
  const claimed = PostClaims.make<PostId>()
  // Texts of calls that were interrupted or ended with an unknown outcome.
  const orphaned = PostClaims.make<string>()
  let ownPostClock: PostCheck.StampClock | undefined
  // One call at a time for equal texts: while two such calls run, a listed post may belong to either.
  const withLock = KeyedMutex.make()
  // Posts of calls in flight: a listed text that the service truncated may belong to one of them.
  const open = new Set<NewPost>()

  const listPosts = (urlParams: PageRequest) => send("listPosts", { urlParams })
  const readPage = sendPage("listPosts", Post)
  const pages = (options?: ListOptions) => Pagination.pages("listPosts", readPage, options)

  const stampClock = Effect.gen(function*() {
    const { date, receivedAt } = yield* serviceClock
    return ownPostClock ?? (date === undefined ? undefined : PostCheck.fromDate(date, receivedAt))
  })

  const lookUp = (post: NewPost, startedAt: MonotonicMillis) =>
    Effect.suspend(() => {
      // Evaluated for each post, because calls start and end during the search.
      const others = () => [...open].filter((other) => other !== post)
      return orphaned.has(canonical(post.text ?? ""))
        ? Effect.fail(new Inconclusive({ message: "the outcome of an earlier call with an equal post is unknown too" }))
        : PostCheck.find({
          post,
          startedAt,
          settleTime,
          isClaimed: claimed.has,
          lastClaimed: Array.from(claimed.keys()).at(-1),
          isOfOtherCall: (listed) =>
            orphaned.has(canonical(listed.text ?? "")) || others().some((other) => compare(other, listed) === "same"),
          mayBeOfOtherCall: (listed) =>
            [...others(), ...Array.from(orphaned.keys(), (text) => ({ text }))].some((other) => compare(other, listed) !== "different"),
          listPosts,
          stampClock
        })
    })

  const create = (post: NewPost) =>
    Effect.gen(function*() {
      const startedAt = yield* monotonicNow
      let isFound = false
      const found = Effect.map(lookUp(post, startedAt), Option.map((post) => {
        isFound = true
        return post
      }))
      const created = send("createPost", { payload: post }, { check: { lookUp: found } })
      return yield* Effect.onExit(created, (exit) =>
        Effect.map(monotonicNow, (at) => {
          if (Exit.isSuccess(exit)) {
            const { createdAt, id } = exit.value
            claimed.add(id, at)
            // For a longer call the `Date` header gives a narrower range.
            ownPostClock = isFound || createdAt === undefined || at - startedAt > 1_000
              ? ownPostClock
              : PostCheck.fromOwnPost(createdAt, startedAt, at)
          } else if (mayExist(exit.cause)) {
            orphaned.add(canonical(post.text ?? ""), at)
          }
        }))
    })

  return {
    create: (post) =>
      Effect.andThen(
        (post.mediaIds ?? []).length === 0
          ? validateText(post.text ?? "")
          : Effect.forEach(post.mediaIds ?? [], (id) => validateName("mediaIds", id), { discard: true }),
        withLock(canonical(post.text ?? ""))(Effect.acquireUseRelease(
          Effect.sync(() => open.add(post)),
          () => create(post),
          () => Effect.sync(() => open.delete(post))
        ))
      ),
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
export const layer: Layer.Layer<Posts, never, Operations> = /*#__PURE__*/ Layer.effect(Posts, make)
