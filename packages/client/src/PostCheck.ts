/**
 * Whether a post whose outcome isn't known was made after all: it is looked up in the account's own posts, back to the
 * moment of the first attempt. Knows nothing of sending again.
 *
 * Source: interface v1, "Retry rules": "first check that the action did not already happen".
 *
 * @since 0.1.0
 */
import type { Cursor, PostId } from "@plaza/domain/Ids"
import * as Limits from "@plaza/domain/Limits"
import type { NewPost } from "@plaza/domain/Requests"
import type { Page, Post } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { Inconclusive } from "./Failures.js"
import type { PageRequest } from "./Pagination.js"

/**
 * The posts that this client has made, so that each is the result of one call only.
 *
 * @since 0.1.0
 * @category models
 */
export interface Claims {
  /** Whether the post is nobody's yet; it is the caller's from then on. */
  readonly claim: (id: PostId, now: number) => boolean
}

/**
 * The contents of which a call ended without knowing its post: interrupted, of unknown outcome, its answer unreadable.
 *
 * @since 0.1.0
 * @category models
 */
export interface Orphans {
  /** Notes a call that began at a moment and ended now. */
  readonly add: (content: string, startedAt: number, now: number) => void
  /** When the first such call of the content began; undefined when there is none. */
  readonly since: (content: string) => number | undefined
  /** The posts of the content that are there have all been claimed. */
  readonly settle: (content: string) => void
}

// No operation looks for a post that is older than this: its retries have ended long before.
const keptMillis = 3_600_000

/** @since 0.1.0 @category constructors */
export const makeClaims = (): Claims => {
  // Oldest first, as a map keeps the order of insertion.
  const claimed = new Map<PostId, number>()
  return {
    claim: (id, now) => {
      for (const [old, at] of claimed) {
        if (now - at < keptMillis) {
          break
        }
        claimed.delete(old)
      }
      if (claimed.has(id)) {
        return false
      }
      claimed.set(id, now)
      return true
    }
  }
}

/** @since 0.1.0 @category constructors */
export const makeOrphans = (): Orphans => {
  // In the order of their last call's end.
  const orphans = new Map<string, { readonly since: number; readonly endedAt: number }>()
  return {
    add: (content, startedAt, now) => {
      for (const [old, { endedAt }] of orphans) {
        if (now - endedAt < keptMillis) {
          break
        }
        orphans.delete(old)
      }
      const since = Math.min(orphans.get(content)?.since ?? startedAt, startedAt)
      orphans.delete(content)
      orphans.set(content, { since, endedAt: now })
    },
    since: (content) => orphans.get(content)?.since,
    settle: (content) => {
      orphans.delete(content)
    }
  }
}

// Pages that are read at most; an account doesn't make a thousand posts within one call's retries.
const maxPages = 10

// How far the service's clock may be behind ours where its answers carry no date.
const unknownClockMillis = 60_000

/** @since 0.1.0 @category models */
export interface Search<E> {
  readonly post: NewPost
  /** The beginning of the first attempt, by our clock, in milliseconds since the epoch. */
  readonly startedAt: number
  readonly claims: Claims
  readonly listPosts: (request: PageRequest) => Effect.Effect<Page<Post>, E>
  /** How far the service's clock is ahead of ours at least, where that is known. */
  readonly clockLead: Effect.Effect<number | undefined>
}

// Services trim and compose text; a post isn't another one for that.
const comparable = (text: string) => text.trim().normalize()

/**
 * What is equal for posts of equal content, as far as they can be told apart in the account's list.
 *
 * @since 0.1.0
 * @category checks
 */
export const contentOf = ({ mediaIds, text }: Pick<Post, "text" | "mediaIds">): string =>
  JSON.stringify([text === undefined ? null : comparable(text), mediaIds ?? []])

/** Claims the posts of the content that are nobody's yet and not older than the call: the newest, or all of them. */
const claimFrom = <E>(search: Search<E>, which: "newest" | "all"): Effect.Effect<Option.Option<Post>, E | Inconclusive> => {
  const content = contentOf(search.post)
  const from = (
    cursor: Cursor | undefined,
    pagesLeft: number,
    before: { readonly newest: number; readonly ordered: boolean }
  ): Effect.Effect<Option.Option<Post>, E | Inconclusive> =>
    Effect.gen(function*() {
      if (pagesLeft === 0) {
        return yield* new Inconclusive({ message: "the account's posts are too many to look it up among them" })
      }
      const page = yield* search.listPosts({
        limit: Limits.maxPageSize,
        ...(cursor === undefined ? {} : { cursor })
      })
      const lead = yield* search.clockLead
      const since = search.startedAt + (lead ?? -unknownClockMillis)
      const now = yield* Clock.currentTimeMillis
      let { newest, ordered } = before
      for (const post of page.data) {
        const createdAt = DateTime.toEpochMillis(post.createdAt)
        ordered = ordered && createdAt <= newest
        newest = createdAt
        const claimed = createdAt >= since && contentOf(post) === content && search.claims.claim(post.id, now)
        if (claimed && which === "newest") {
          return Option.some(post)
        }
      }
      // Only a list that is newest first proves by its older posts that nothing newer follows.
      return page.nextCursor === null || (ordered && newest < since)
        ? Option.none()
        : yield* from(page.nextCursor, pagesLeft - 1, { newest, ordered })
    })
  return from(undefined, maxPages, { newest: Number.POSITIVE_INFINITY, ordered: true })
}

/**
 * Finds the post that was made by the call which searches: same text, same media, not older than the call, claimed by
 * nobody yet. None says that there certainly is none; an `Inconclusive` that this can't be told.
 *
 * @since 0.1.0
 * @category checks
 */
export const find = <E>(search: Search<E>): Effect.Effect<Option.Option<Post>, E | Inconclusive> =>
  claimFrom(search, "newest")

/**
 * Claims every post of the content that is there already, for earlier calls which ended without knowing theirs: so that
 * none of them is taken for the post of a call that is yet to begin.
 *
 * @since 0.1.0
 * @category checks
 */
export const claimEarlier = <E>(search: Search<E>): Effect.Effect<void, E | Inconclusive> =>
  Effect.asVoid(claimFrom(search, "all"))
