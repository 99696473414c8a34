/**
 * Posts, comments and likes.
 *
 * @since 0.1.0
 */
import type { PostId } from "@plaza/domain/Ids"
import type { NewPost } from "@plaza/domain/Requests"
import { Post } from "@plaza/domain/Resources"
import type { Comment, Page } from "@plaza/domain/Resources"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import { Inconclusive } from "./ClientError.js"
import type { MonotonicMillis } from "./internal/Compat.js"
import { monotonicNow } from "./internal/Compat.js"
import type { FailureOf } from "./internal/contract/Contract.js"
import { Operations } from "./internal/contract/Operations.js"
import * as Pagination from "./internal/contract/Pagination.js"
import type { ListFailure, ListOptions, PageRequest } from "./internal/contract/Pagination.js"
import { validateText } from "./internal/contract/validateText.js"
import * as KeyedMutex from "./internal/delivery/KeyedMutex.js"
import * as PostCheck from "./internal/delivery/PostCheck.js"
import { canonical, resemblance } from "./internal/delivery/PostText.js"
import { Settings } from "./Settings.js"

/** @since 0.1.0 @category services */
export class Posts extends Context.Tag("@plaza/client/Posts")<Posts, {
  /**
   * Creates a post. Checkable: after an ambiguous failure the client reads the account's posts, after a pause and again at the
   * end of the `settleTime`. It sends the post again only if no listed post can be this one. The call ends in `OutcomeUnknown`
   * where that can't be decided, and after a timeout or a status from 504, when the service may still be at work.
   *
   * Limits: a service that finishes a failed request, or lists a new post, later than the `settleTime` (default: 15 seconds) can
   * end up with two posts. An equal post that another client of the account makes during the call, or up to two seconds before
   * it, can be taken for this one.
   *
   * Two calls of one client with equal text make two posts, one after the other: the second waits for the first, beyond its own
   * `maxWait`. A post without media and text fails with `InvalidInput` before anything is sent.
   * Source: interface v1, "Endpoints", POST /posts.
   *
   * @example
   * import { Posts } from "@plaza/client"
   * import { Effect } from "effect"
   *
   * const program = Effect.flatMap(Posts, (posts) => posts.create({ text: "Hello" }))
   */
  readonly create: (post: NewPost) => Effect.Effect<Post, FailureOf<"createPost">>
  /**
   * The account's posts, as a stream that reads a page ahead.
   * Source: interface v1, "Endpoints", GET /me/posts.
   *
   * @example
   * import { Posts } from "@plaza/client"
   * import { Effect, Stream } from "effect"
   *
   * const program = Effect.flatMap(Posts, (posts) => Stream.runCollect(posts.list({ limit: 250 })))
   */
  readonly list: (options?: ListOptions) => Stream.Stream<Post, FailureOf<"listPosts"> | ListFailure>
  /** The same list in pages. */
  readonly pages: (options?: ListOptions) => Stream.Stream<Page<Post>, FailureOf<"listPosts"> | ListFailure>
  /**
   * Comments on a post. Once: an ambiguous failure ends in `OutcomeUnknown`, and the client does not send again. An empty text
   * fails with `InvalidInput` before anything is sent.
   * Source: interface v1, "Endpoints", POST /posts/{id}/comments.
   */
  readonly comment: (id: PostId, text: string) => Effect.Effect<Comment, FailureOf<"createComment">>
  /**
   * Likes a post. Repeatable: the client sends again after an ambiguous failure. Assumed: a second like changes nothing.
   * Source: interface v1, "Endpoints", POST /posts/{id}/like.
   */
  readonly like: (id: PostId) => Effect.Effect<void, FailureOf<"likePost">>
}>() {}

/** Whether a call with this failure may have made a post that is the result of no call. */
const mayExist = (cause: Cause.Cause<FailureOf<"createPost">>): boolean =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => true,
    onSome: ({ _tag }) => _tag === "OutcomeUnknown" || _tag === "UnreadableSuccess"
  })

// The stamp of an older post shows that it is older; see `PostCheck`.
const rememberedMillis = Duration.toMillis("26 hours")

// A forgotten entry can only leave an outcome unknown.
const mostRemembered = 10_000

/** The last keys, for a time. */
const makeMemory = <K>() => {
  // Oldest first: a map keeps the order of insertion.
  const moments = new Map<K, MonotonicMillis>()
  return {
    has: (key: K) => moments.has(key),
    keys: () => moments.keys(),
    add: (key: K, at: MonotonicMillis) => {
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
    // Posts that are the result of a call, so that each is the result of one call only.
    const claimed = makeMemory<PostId>()
    // Texts of calls that ended without their post: interrupted, or with an unknown outcome.
    const orphaned = makeMemory<string>()
    let ownPostClock: PostCheck.StampClock | undefined
    // One call at a time for equal texts: while the outcome of another call is open, a listed post may belong to either.
    const withLock = KeyedMutex.make()
    // Calls in flight: a listed text that the service has cut may be theirs.
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
        // Read again for each post, because calls begin and end meanwhile.
        const others = () => [...open].filter((other) => other !== post)
        return orphaned.has(canonical(post.text ?? ""))
          ? Effect.fail(new Inconclusive({ message: "an equal post of an earlier call is of unknown outcome too" }))
          : PostCheck.find({
            post,
            startedAt,
            settleTime,
            isClaimed: claimed.has,
            lastClaimed: Array.from(claimed.keys()).at(-1),
            isOthers: (listed) =>
              orphaned.has(canonical(listed.text ?? "")) || others().some((other) => resemblance(other, listed) === "same"),
            mayBeOthers: (listed) =>
              [...others(), ...Array.from(orphaned.keys(), (text) => ({ text }))].some((other) =>
                resemblance(other, listed) !== "different"
              ),
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
              // After a longer call the `Date` of a response is more precise.
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
          (post.mediaIds ?? []).length === 0 ? validateText(post.text ?? "") : Effect.void,
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
)
