/**
 * Posts, and what people do to them: comments and likes.
 *
 * @since 0.1.0
 */
import type { PostId } from "@plaza/domain/Ids"
import type { NewPost } from "@plaza/domain/Requests"
import { Post } from "@plaza/domain/Resources"
import type { Comment, Page } from "@plaza/domain/Resources"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { FailureOf } from "./internal/contract/Contract.js"
import { Inconclusive } from "./ClientError.js"
import { Operations } from "./internal/contract/Operations.js"
import * as Pagination from "./Pagination.js"
import type { ListFailure, ListOptions, PageRequest } from "./Pagination.js"
import * as PostCheck from "./internal/delivery/PostCheck.js"
import { canonical, resemblance } from "./internal/delivery/PostText.js"
import { now } from "./internal/MonotonicTime.js"
import { Settings } from "./Settings.js"
import * as KeyedMutex from "./internal/delivery/KeyedMutex.js"
import { checkText } from "./internal/contract/validateText.js"

/** @since 0.1.0 @category services */
export class Posts extends Context.Tag("@plaza/client/Posts")<Posts, {
  /**
   * Creates a post. Checkable: after an ambiguous failure the account's posts are read, after a pause and once more at
   * the end of the `settleTime`. The post is sent again only if no listed post can be this one; where that can't be decided,
   * and after a timeout or a status of 504 and above, which leave the service at work, the call ends in `OutcomeUnknown`.
   *
   * Limits: a service that finishes a failed request, or shows a new post, later than the `settleTime` (default: 15
   * seconds) can end up with two posts. An equal post that another client of the account makes during the call, or up to
   * two seconds before it, can be taken for this one.
   *
   * Two calls of one client with equal text make two posts, one after the other: the
   * second waits for the first, beyond its own `maxWait`. A post without media and text is refused as
   * `InvalidInput` before anything is sent.
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
   * Comments on a post. Once: not sent again after an ambiguous failure, which ends in `OutcomeUnknown`. The
   * text is all that the document knows of a comment, so an empty one is refused as `InvalidInput` before anything is
   * sent.
   * Source: interface v1, "Endpoints", POST /posts/{id}/comments.
   */
  readonly comment: (id: PostId, text: string) => Effect.Effect<Comment, FailureOf<"createComment">>
  /**
   * Likes a post. Repeatable: sent again after an ambiguous failure. Assumed: a second like changes nothing.
   * Source: interface v1, "Endpoints", POST /posts/{id}/like.
   */
  readonly like: (id: PostId) => Effect.Effect<void, FailureOf<"likePost">>
}>() {}

/** Whether a call that ended so may have made a post that no call has as its result. */
const mayExist = (cause: Cause.Cause<FailureOf<"createPost">>): boolean =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => true,
    onSome: ({ _tag }) => _tag === "OutcomeUnknown" || _tag === "UnreadableSuccess"
  })

// An older post is known to be older by its stamp; see `PostCheck`.
const rememberedMillis = 26 * 3_600_000

// What is forgotten can only leave an outcome unknown.
const mostRemembered = 10_000

/** The last things that happened, by the monotonic clock. */
const makeMemory = <K>() => {
  // Oldest first, as a map keeps the order of insertion.
  const moments = new Map<K, number>()
  return {
    has: (key: K) => moments.has(key),
    keys: () => moments.keys(),
    add: (key: K, at: number) => {
      moments.delete(key)
      moments.set(key, at)
      for (const [old, since] of moments) {
        if (at - since < rememberedMillis && moments.size <= mostRemembered) {
          break
        }
        moments.delete(old)
      }
    }
  }
}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Posts, never, Operations | Settings> = Layer.scoped(
  Posts,
  Effect.gen(function*() {
    const { send, sendPage, serviceClock } = yield* Operations
    const { settleTime } = yield* Settings
    // The posts that are the result of a call, so that each is the result of one call only.
    const claimed = makeMemory<PostId>()
    // The texts of calls that ended without knowing their post: interrupted, of unknown outcome, not found.
    const orphaned = makeMemory<string>()
    let ownPostClock: PostCheck.StampClock | undefined
    // Of posts with equal texts one is under way at a time: while the outcome of another is open, nobody can tell whose
    // a listed post is.
    const withLock = KeyedMutex.make()
    // Other calls that are under way: a text that the service cuts can be theirs.
    const open = new Set<NewPost>()

    const listPosts = (urlParams: PageRequest) => send("listPosts", { urlParams })
    const readPage = sendPage("listPosts", Post)
    const pages = (options?: ListOptions) => Pagination.pages("listPosts", readPage, options)

    const stampClock = Effect.gen(function*() {
      const { date, receivedAt } = yield* serviceClock
      return ownPostClock ?? (date === undefined ? undefined : PostCheck.fromDate(date, receivedAt))
    })

    const lookUp = (post: NewPost, startedAt: number) =>
      Effect.suspend(() => {
        // Read anew for each post, since calls begin and end while this one looks.
        const others = () => [...open].filter((other) => other !== post)
        return orphaned.has(canonical(post.text ?? ""))
          ? new Inconclusive({ message: "an equal post of an earlier call is of unknown outcome too" })
          : PostCheck.find({
            post,
            startedAt,
            settleTime,
            isClaimed: claimed.has,
            lastClaimed: Array.from(claimed.keys()).at(-1),
            isOthers: (listed) =>
              orphaned.has(canonical(listed.text ?? "")) || others().some((other) => resemblance(other, listed) === "same"),
            mayBeOthers: (listed) =>
              [...others(), ...Array.from(orphaned.keys(), (text) => ({ text }))].some((other) => resemblance(other, listed) !== "different"),
            listPosts,
            stampClock
          })
      })

    const create = (post: NewPost) =>
      Effect.gen(function*() {
        const startedAt = yield* now
        let isFound = false
        const found = Effect.map(lookUp(post, startedAt), Option.map((post) => {
          isFound = true
          return post
        }))
        const created = send("createPost", { payload: post }, { check: { lookUp: found } })
        return yield* Effect.onExit(created, (exit) =>
          Effect.map(now, (at) => {
            if (Exit.isSuccess(exit)) {
              const { createdAt, id } = exit.value
              claimed.add(id, at)
              // A call that took longer shows less than the `Date` of a response does.
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
        Effect.zipRight(
          (post.mediaIds ?? []).length === 0 ? checkText(post.text ?? "") : Effect.void,
          withLock(canonical(post.text ?? ""))(Effect.acquireUseRelease(
            Effect.sync(() => open.add(post)),
            () => create(post),
            () => Effect.sync(() => open.delete(post))
          ))
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
