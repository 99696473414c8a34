/**
 * Decides from the account's list of posts whether a post of unknown outcome exists. A listed post is the call's own only where
 * text and time agree, because a service may change texts, leave out fields, use another clock for `createdAt` than for `Date`,
 * and list a post late. In doubt the outcome stays unknown.
 *
 * Source: interface v1, "Retry rules": "first check that the action did not already happen".
 *
 * @since 0.1.0
 */
import type { Cursor, PostId } from "@plaza/domain/Ids"
import * as Limits from "@plaza/domain/Limits"
import type { NewPost } from "@plaza/domain/Requests"
import type { Page, Post } from "@plaza/domain/Resources"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Inconclusive } from "../../ClientError.js"
import type { MonotonicMillis } from "../Compat.js"
import { monotonicNow } from "../Compat.js"
import type { PageRequest } from "../contract/Pagination.js"
import { resemblance } from "./PostText.js"

/**
 * The offset of the clock that stamps posts from the monotonic clock of this process: `least` to `most` milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface StampClock {
  readonly least: number
  readonly most: number
}

// The clocks of a service's servers differ by about this much.
const toleranceMillis = 2_000

// `createdAt` is documented as UTC, but a server's clock may be wrong by as much as a time zone.
const doubtfulMillis = 26 * 3_600_000

/**
 * The clock by a post that this client made: its stamp lies between sending and receiving, perhaps cut to a whole second.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromOwnPost = (createdAt: DateTime.Utc, sentAt: MonotonicMillis, receivedAt: MonotonicMillis): StampClock => ({
  least: DateTime.toEpochMillis(createdAt) - receivedAt,
  most: latestMoment(createdAt) - sentAt
})

/**
 * The clock by a `Date` header, which counts whole seconds.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromDate = (date: DateTime.Utc, receivedAt: MonotonicMillis): StampClock => ({
  least: DateTime.toEpochMillis(date) - receivedAt,
  most: DateTime.toEpochMillis(date) + 1_000 - receivedAt
})

/** The latest moment that a stamp may stand for, in milliseconds since the epoch: one in whole seconds may have been cut. */
const latestMoment = (createdAt: DateTime.Utc): number => {
  const stamp = DateTime.toEpochMillis(createdAt)
  return stamp % 1_000 === 0 ? stamp + 999 : stamp
}

/**
 * When a listed post was made, as far as its stamp shows: during the call, certainly before the call, or neither for certain.
 */
type Age = "duringCall" | "doubtful" | "older"

const ageOf = (
  createdAt: DateTime.Utc | undefined,
  startedAt: MonotonicMillis,
  at: MonotonicMillis,
  clock: StampClock | undefined
): Age => {
  if (createdAt === undefined || clock === undefined) {
    return "doubtful"
  }
  const earliest = startedAt + clock.least
  return latestMoment(createdAt) < earliest - doubtfulMillis
    // The start of the epoch is a placeholder.
    ? DateTime.toEpochMillis(createdAt) > 0 ? "older" : "doubtful"
    : latestMoment(createdAt) < earliest || DateTime.toEpochMillis(createdAt) > at + clock.most + toleranceMillis
    ? "doubtful"
    : "duringCall"
}

/** @since 0.1.0 @category models */
export interface Search<E> {
  readonly post: NewPost
  /** The start of the first attempt. */
  readonly startedAt: MonotonicMillis
  /** How long the service may work on a failed request, or list posts without a new one. */
  readonly settleTime: Duration.Duration
  /** Whether the post is the result of another call of this client. */
  readonly isClaimed: (id: PostId) => boolean
  /** The last post that this client made: a list from newest to oldest holds it before older ones. */
  readonly lastClaimed: PostId | undefined
  /** Whether the post belongs to another call of this client with an open outcome. */
  readonly isOthers: (post: Post) => boolean
  /** Whether the post may belong to another such call. */
  readonly mayBeOthers: (post: Post) => boolean
  readonly listPosts: (request: PageRequest) => Effect.Effect<Page<Post>, E>
  /** Undefined where no response had a `Date`. */
  readonly stampClock: Effect.Effect<StampClock | undefined>
}

// The most pages of one search.
const maxPages = 10

// A list that runs from newest to oldest through this many posts is assumed to continue like that.
const enoughToShowOrder = 20

interface Order {
  readonly last: number
  readonly isDescending: boolean
  /** Posts that are older than the one before. Equal stamps show no order. */
  readonly descents: number
  /** Whether the last post of this client was seen, where there is one. */
  readonly hasLast: boolean
}

const look = <E>(search: Search<E>): Effect.Effect<Option.Option<Post>, E | Inconclusive> => {
  const from = (
    cursor: Cursor | undefined,
    pagesLeft: number,
    order: Order,
    doubt: string | undefined
  ): Effect.Effect<Option.Option<Post>, E | Inconclusive> =>
    Effect.gen(function*() {
      if (pagesLeft === 0) {
        return yield* new Inconclusive({ message: `it is not among the first ${maxPages} pages of the account's posts` })
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
        const likeness = resemblance(search.post, post)
        if (likeness === "same" && oldest === "duringCall" && !search.mayBeOthers(post)) {
          return Option.some(post)
        }
        // A new post of no other call may be this one, whatever its text: services rewrite links, names and more.
        if (likeness !== "different" || (oldest === "duringCall" && !search.isOthers(post))) {
          doubtHere ??= likeness !== "same"
            ? `the new post ${post.id} may be this one`
            : oldest === "duringCall"
            ? `the post ${post.id} may be that of another call`
            : `the equal post ${post.id} may be this one or an older one`
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

// Most posts are listed at once, or never.
const firstPause = Duration.seconds(1)

/**
 * Looks for the post of a call whose attempt has just failed: after a short pause, and again at the end of the settle time.
 * Returns none where the post was not listed at the end, and fails with `Inconclusive` where that can't be decided.
 *
 * @since 0.1.0
 * @category checks
 */
export const find = <E>(search: Search<E>): Effect.Effect<Option.Option<Post>, E | Inconclusive> => {
  const first = Duration.min(firstPause, search.settleTime)
  const last = Effect.delay(look(search), Duration.subtract(search.settleTime, first))
  return look(search).pipe(
    Effect.delay(first),
    // A post that is listed later may decide it.
    Effect.catchIf((failure) => failure instanceof Inconclusive, () => Effect.succeed(Option.none<Post>())),
    Effect.flatMap(Option.match({ onNone: () => last, onSome: (post) => Effect.succeedSome(post) }))
  )
}
