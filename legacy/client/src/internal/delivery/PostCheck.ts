/**
 * Decides from the account's list of posts whether a post of unknown outcome exists. A listed post belongs to the call only if its
 * text and its time match, because a service may change texts, omit fields, use different clocks for `createdAt` and `Date`, and
 * list a post late. If the list doesn't decide it, the outcome stays unknown.
 *
 * Source: interface v1, "Retry rules": "first check that the action did not already happen".
 *
 * @since 0.1.0
 */
import type { Cursor, PostId } from "@plaza-legacy/domain/Ids"
import * as Limits from "@plaza-legacy/domain/Limits"
import type { NewPost } from "@plaza-legacy/domain/Requests"
import type { Page, Post } from "@plaza-legacy/domain/Resources"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Inconclusive } from "../../ClientError.ts"
import type { MonotonicMillis } from "../Compat.ts"
import { monotonicNow } from "../Compat.ts"
import type { PageRequest } from "../contract/Pagination.ts"
import { compare } from "./PostText.ts"

/**
 * The clock of `createdAt`, as an offset from the monotonic clock of this process: `least` to `most` milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface StampClock {
  readonly least: number
  readonly most: number
}

// An assumption about the difference between the clocks of one service's servers.
const toleranceMillis = 2_000

// `createdAt` is documented as UTC, but a server may write local time. Time zones span 26 hours.
const doubtfulMillis = 26 * 3_600_000

/**
 * The clock from a post that this client created: its `createdAt` is between sending and receiving, perhaps truncated to a whole
 * second.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromOwnPost = (createdAt: DateTime.Utc, sentAt: MonotonicMillis, receivedAt: MonotonicMillis): StampClock => ({
  least: DateTime.toEpochMillis(createdAt) - receivedAt,
  most: latestMoment(createdAt) - sentAt
})

/**
 * The clock from a `Date` header, which has whole seconds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromDate = (date: DateTime.Utc, receivedAt: MonotonicMillis): StampClock => ({
  least: DateTime.toEpochMillis(date) - receivedAt,
  most: DateTime.toEpochMillis(date) + 1_000 - receivedAt
})

/** The latest instant that a `createdAt` can mean, in milliseconds since the epoch: a whole second may be truncated. */
const latestMoment = (createdAt: DateTime.Utc): number => {
  const stamp = DateTime.toEpochMillis(createdAt)
  return stamp % 1_000 === 0 ? stamp + 999 : stamp
}

/**
 * When a listed post was created, from its `createdAt`: during the call, before the call, or undecided.
 */
type Age = "duringCall" | "undecided" | "older"

const ageOf = (
  createdAt: DateTime.Utc | undefined,
  startedAt: MonotonicMillis,
  at: MonotonicMillis,
  clock: StampClock | undefined
): Age => {
  if (createdAt === undefined || clock === undefined) {
    return "undecided"
  }
  const earliest = startedAt + clock.least
  return latestMoment(createdAt) < earliest - doubtfulMillis
    // Services use the epoch as a placeholder.
    ? DateTime.toEpochMillis(createdAt) > 0 ? "older" : "undecided"
    : latestMoment(createdAt) < earliest || DateTime.toEpochMillis(createdAt) > at + clock.most + toleranceMillis
    ? "undecided"
    : "duringCall"
}

/** @since 0.1.0 @category models */
export interface Search<E> {
  readonly post: NewPost
  /** The start of the first attempt. */
  readonly startedAt: MonotonicMillis
  /** How long the service may process a failed request, or omit a new post from the list. */
  readonly settleTime: Duration.Duration
  /** Whether another call of this client returned the post. */
  readonly isClaimed: (id: PostId) => boolean
  /** The last post that this client created: a list from newest to oldest contains it before older posts. */
  readonly lastClaimed: PostId | undefined
  /** Whether the post belongs to another call of this client that runs or has an unknown outcome. */
  readonly isOfOtherCall: (post: Post) => boolean
  /** Whether the post may belong to such a call. */
  readonly mayBeOfOtherCall: (post: Post) => boolean
  readonly listPosts: (request: PageRequest) => Effect.Effect<Page<Post>, E>
  /** Undefined if no response had a `Date`. */
  readonly stampClock: Effect.Effect<StampClock | undefined>
}

// The maximum number of pages of one search.
const maxPages = 10

// A list that is in descending order through this many posts is assumed to stay in that order.
const enoughToShowOrder = 20

interface Order {
  readonly last: number
  readonly isDescending: boolean
  /** Posts that are older than the post before. Equal values of `createdAt` show no order. */
  readonly descents: number
  /** Whether the search has reached the last post of this client, if there is one. */
  readonly hasLast: boolean
}

const searchOnce = <E>(search: Search<E>): Effect.Effect<Option.Option<Post>, E | Inconclusive> => {
  const from = (
    cursor: Cursor | undefined,
    pagesLeft: number,
    order: Order,
    doubt: string | undefined
  ): Effect.Effect<Option.Option<Post>, E | Inconclusive> =>
    Effect.gen(function*() {
      if (pagesLeft === 0) {
        return yield* new Inconclusive({ message: `the post is not on the first ${maxPages} pages of the account's posts` })
      }
      const page = yield* search.listPosts({ limit: Limits.maxPageSize, ...(cursor === undefined ? {} : { cursor }) })
      const clock = yield* search.stampClock
      const at = yield* monotonicNow
      let { descents, hasLast, isDescending, last } = order
      let doubtHere = doubt
      let oldest: Age = "duringCall"
      for (const post of page.data) {
        const stamp = post.createdAt === undefined ? Number.NaN : DateTime.toEpochMillis(post.createdAt)
        isDescending = isDescending && stamp <= last
        descents += stamp < last ? 1 : 0
        last = stamp
        hasLast ||= post.id === search.lastClaimed
        oldest = ageOf(post.createdAt, search.startedAt, at, clock)
        if (oldest === "older" || search.isClaimed(post.id)) {
          continue
        }
        const match = compare(search.post, post)
        if (match === "same" && oldest === "duringCall" && !search.mayBeOfOtherCall(post)) {
          return Option.some(post)
        }
        // A new post that belongs to no other call may be this one, even with another text: services rewrite links and names.
        if (match !== "different" || (oldest === "duringCall" && !search.isOfOtherCall(post))) {
          doubtHere ??= match !== "same"
            ? `the new post ${post.id} may be this one`
            : oldest === "duringCall"
            ? `the post ${post.id} may belong to another call`
            : `the equal post ${post.id} may be this one or an older post`
        }
      }
      const isPast = isDescending && hasLast && descents >= enoughToShowOrder && oldest === "older"
      return page.nextCursor !== null && !isPast
        ? yield* from(page.nextCursor, pagesLeft - 1, { last, isDescending, descents, hasLast }, doubtHere)
        : doubtHere === undefined
        ? Option.none()
        : yield* new Inconclusive({ message: doubtHere })
    })
  const unread = { last: Number.POSITIVE_INFINITY, isDescending: true, descents: 0, hasLast: search.lastClaimed === undefined }
  return from(undefined, maxPages, unread, undefined)
}

// Most services list a new post at once.
const firstPause = Duration.seconds(1)

/**
 * Searches for the post of a call after a failed attempt: after a short pause, and again at the end of the settle time. Returns
 * `none` if no listed post can be this one, and fails with `Inconclusive` if the list doesn't decide it.
 *
 * @since 0.1.0
 * @category checks
 */
export const find = <E>(search: Search<E>): Effect.Effect<Option.Option<Post>, E | Inconclusive> => {
  const first = Duration.min(firstPause, search.settleTime)
  const last = Effect.delay(searchOnce(search), Duration.subtract(search.settleTime, first))
  return searchOnce(search).pipe(
    Effect.delay(first),
    // The second search may decide it, because more posts are listed by then.
    Effect.catchIf((failure) => failure instanceof Inconclusive, () => Effect.succeed(Option.none<Post>())),
    Effect.flatMap(Option.match({ onNone: () => last, onSome: (post) => Effect.succeedSome(post) }))
  )
}
