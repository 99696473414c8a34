/**
 * Posts, and what people do to them: comments and likes.
 *
 * @since 0.1.0
 */
import type { PostId } from "@plaza/domain/Ids"
import type { NewPost } from "@plaza/domain/Requests"
import type { Comment, Page, Post } from "@plaza/domain/Resources"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RcMap from "effect/RcMap"
import type * as Stream from "effect/Stream"
import type { FailureOf } from "./Contract.js"
import { Inconclusive } from "./Failures.js"
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

/** Whether a call that ended so may have made a post that nobody knows. */
const mayExist = (cause: Cause.Cause<FailureOf<"createPost">>): boolean =>
  Option.match(Cause.failureOption(cause), {
    onNone: () => true,
    onSome: ({ _tag }) => _tag === "OutcomeUnknown" || _tag === "UnreadableSuccess"
  })

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Posts, never, Operations> = Layer.scoped(
  Posts,
  Effect.gen(function*() {
    const { clockLead, send } = yield* Operations
    const claims = PostCheck.makeClaims()
    const orphans = PostCheck.makeOrphans()
    // Of posts with equal content one is under way at a time: while another's answer is still out, nobody can tell
    // whose a post in the list is.
    const turns = yield* RcMap.make({ lookup: (_content: string) => Effect.makeSemaphore(1) })

    const listPosts = (urlParams: PageRequest) => send("listPosts", { urlParams })
    const pages = (options?: ListOptions) => Pagination.pages("listPosts", listPosts, options)

    const inTurn = <A, E>(post: NewPost, create: Effect.Effect<A, E>) =>
      Effect.scoped(Effect.flatMap(
        RcMap.get(turns, PostCheck.contentOf(post)),
        (turn) => turn.withPermits(1)(create)
      ))

    const search = (post: NewPost, startedAt: number) => ({ post, startedAt, claims, listPosts, clockLead })

    /** Sees to it that no post of an earlier call can be taken for the next one's; says whether that worked. */
    const settleEarlier = (post: NewPost) =>
      Effect.suspend(() => {
        const content = PostCheck.contentOf(post)
        const since = orphans.since(content)
        return since === undefined
          ? Effect.succeed(true)
          : PostCheck.claimEarlier(search(post, since)).pipe(
            Effect.map(() => {
              orphans.settle(content)
              return true
            }),
            Effect.orElseSucceed(() => false)
          )
      })

    const create = (post: NewPost) =>
      Effect.gen(function*() {
        const settled = yield* settleEarlier(post)
        const startedAt = yield* Clock.currentTimeMillis
        const lookUp = settled ? PostCheck.find(search(post, startedAt)) : new Inconclusive({
          message: "it can't be told from an equal post whose outcome isn't known either"
        })
        return yield* send("createPost", { payload: post }, { check: { lookUp } }).pipe(
          Effect.onExit((exit) =>
            Effect.map(Clock.currentTimeMillis, (now) =>
              Exit.isSuccess(exit)
                ? claims.claim(exit.value.id, now)
                : mayExist(exit.cause) && orphans.add(PostCheck.contentOf(post), startedAt, now)))
        )
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
