/**
 * Decides from the account's list of posts whether a post of unknown outcome exists. A listed post belongs to the call only if its text
 * and its time match, because a service may change texts, omit fields, use different clocks for `createdAt` and `Date`, and list a post
 * late. If the list doesn't decide it, the outcome stays unknown.
 *
 * Source: interface v1, "Retry rules": "first check that the action did not already happen".
 *
 * @since 0.1.0
 */
import type { Cursor, PostId } from "@plaza/domain/Ids"
import * as Limits from "@plaza/domain/Limits"
import type { NewPost } from "@plaza/domain/Requests"
import type { Page, Post } from "@plaza/domain/Resources"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type { Failure } from "../../ClientError.ts"
import { Inconclusive } from "../../ClientError.ts"
import type { PageRequest } from "../contract/Pagination.ts"
import type { MonotonicMillis } from "../Time.ts"
import { monotonicNow, monotonicNowUnsafe } from "../Time.ts"
import type { Progress, ResponseClock } from "./Attempt.ts"
import type { Check } from "./Delivery.ts"
import * as MayHaveHappened from "./MayHaveHappened.ts"
import { compare } from "./PostText.ts"
import * as ServiceClock from "./ServiceClock.ts"

/** A call that creates a post. */
interface Call {
  readonly post: NewPost
  /** When the first request that the service may have carried out was sent; undefined before. */
  since: MonotonicMillis | undefined
  /** The latest time at which the service may carry out one of its requests: infinite while the call runs. */
  until: MonotonicMillis
  /** All clocks of the service from the last response before the call until now, so that a step in between doesn't hide its post. */
  clock: ServiceClock.ServiceClock | undefined
}

/** A search for the post of a call. */
interface Search<E> extends Pick<ServiceClock.Observations, "since" | "earlierClock" | "isCovered" | "followsDate"> {
  readonly post: NewPost
  /** Whether another call of this client returned the post. */
  readonly isClaimed: (id: PostId) => boolean
  /** The last post that this client created: a list from newest to oldest contains it before older posts. */
  readonly lastClaimed: PostId | undefined
  /** The other calls of this client that may have created a listed post. */
  readonly otherCalls: () => ReadonlyArray<Call>
  readonly listPosts: (request: PageRequest) => Effect.Effect<Page<Post>, E>
  /** The clock of the responses of this call so far. */
  readonly clock: () => ServiceClock.ServiceClock | undefined
}

/** A listed post that may be the post of the call by its text and media. */
interface Candidate {
  readonly post: Post
  readonly stamp: ServiceClock.Stamp | undefined
  readonly isSame: boolean
}

const inconclusive = (message: string) => Effect.fail(new Inconclusive({ message }))

/** Whether another call may have created the listed post. */
const mayBeOf = (call: Call, { post, stamp }: Candidate): boolean =>
  call.since !== undefined && ServiceClock.mayBeWithin(stamp, call.clock, call.since, call.until) &&
  compare(call.post, post) !== "different"

/** The verdict on a list: the post of the call, no post, or undecided. */
const judge = <E>(
  search: Search<E>,
  candidates: ReadonlyArray<Candidate>,
  interval: ServiceClock.Interval
): Effect.Effect<Option.Option<Post>, Inconclusive> => {
  const [undecided] = candidates.filter(({ stamp }) => ServiceClock.ageOf(stamp, interval) !== "older")
  const matches = candidates.filter(({ isSame, stamp }) => isSame && ServiceClock.ageOf(stamp, interval) === "duringCall")
  const [match] = matches
  if (match !== undefined) {
    // A list may show a post twice while others are added.
    const other = matches.find(({ post }) => post.id !== match.post.id)
    return other !== undefined
      ? inconclusive(`both the post ${match.post.id} and the post ${other.post.id} may be this one`)
      : search.otherCalls().some((call) => mayBeOf(call, match))
      ? inconclusive(`the post ${match.post.id} may belong to another call`)
      : Effect.succeedSome(match.post)
  }
  return undecided === undefined
    ? Effect.succeedNone
    : inconclusive(
      undecided.isSame
        ? `the equal post ${undecided.post.id} may be this one or an older post`
        : `the post ${undecided.post.id} may be this one with a changed text`
    )
}

// The maximum number of pages of one search.
const maxPages = 10

// A list that is in descending order through this many posts is assumed to stay in that order.
const enoughToShowOrder = 20

const searchOnce = <E>(search: Search<E>): Effect.Effect<Option.Option<Post>, E | Inconclusive> =>
  Effect.gen(function*() {
    const candidates: Array<Candidate> = []
    let newest = Number.NEGATIVE_INFINITY
    let lowest = Number.POSITIVE_INFINITY
    let isDescending = true
    /** Posts that are older than all before. Equal values of `createdAt` show no order. */
    let descents = 0
    let hasLast = search.lastClaimed === undefined
    let cursor: Cursor | undefined
    for (let pagesLeft = maxPages; pagesLeft > 0; pagesLeft--) {
      const page: Page<Post> = yield* search.listPosts({ limit: Limits.maxPageSize, ...(cursor === undefined ? {} : { cursor }) })
      let last: ServiceClock.Stamp | undefined
      for (const post of page.data) {
        const stamp = ServiceClock.stampOf(post.createdAt)
        last = stamp
        isDescending &&= ServiceClock.isDescending(stamp, lowest)
        if (stamp !== undefined) {
          descents += stamp.from < lowest ? 1 : 0
          newest = Math.max(newest, stamp.from)
          lowest = Math.min(lowest, stamp.from)
        }
        hasLast ||= post.id === search.lastClaimed
        const match = search.isClaimed(post.id) ? "different" : compare(search.post, post)
        if (match !== "different") {
          candidates.push({ post, stamp, isSame: match === "same" })
        }
      }
      const interval = ServiceClock.intervalOf({ ...search, clock: search.clock(), now: yield* monotonicNow, newest })
      const isPast = isDescending && hasLast && descents >= enoughToShowOrder && ServiceClock.ageOf(last, interval) === "older"
      if (page.nextCursor === null || isPast) {
        return yield* judge(search, candidates, interval)
      }
      cursor = page.nextCursor
    }
    return yield* inconclusive(`the post is not on the first ${maxPages} pages of the account's posts`)
  })

// Most services list a new post at once.
const firstPause = Duration.seconds(1)

/**
 * Searches for the post of a call after a failed attempt: after a short pause, and again at the end of the settle time. Returns
 * `none` if no listed post can be this one, and fails with `Inconclusive` if the list doesn't decide it.
 */
const find = <E>(search: Search<E>, settleTime: Duration.Duration): Effect.Effect<Option.Option<Post>, E | Inconclusive> => {
  const first = Duration.min(firstPause, settleTime)
  const last = Effect.delay(searchOnce(search), Duration.subtract(settleTime, first))
  return searchOnce(search).pipe(
    Effect.delay(first),
    // The second search may decide it, because more posts are listed by then.
    Effect.catchIf((failure) => failure instanceof Inconclusive, () => Effect.succeed(Option.none<Post>())),
    Effect.flatMap(Option.match({ onNone: () => last, onSome: (post) => Effect.succeedSome(post) }))
  )
}

/**
 * What a request for a new post reports to its check.
 *
 * @since 0.1.0
 * @category models
 */
export interface Hooks {
  readonly onSent: (progress: Progress) => void
  readonly onResponse: (response: ResponseClock) => void
  readonly check: Check<Post>
}

// Enough to contain every post that was returned while a call runs.
const mostClaimed = 10_000

// As long as a post may be new in another time zone.
const forgottenMillis = 26 * 3_600_000

/**
 * Creates the post check of one client, and returns the function that runs a call. It tracks the client's calls, so that no two calls return
 * the same post.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <E extends Failure>({ listPosts, settleTime }: {
  readonly listPosts: (request: PageRequest, onResponse: (response: ResponseClock) => void) => Effect.Effect<Page<Post>, E>
  /** How long the service may process a failed request, or omit a new post from the list. */
  readonly settleTime: Duration.Duration
}) => {
  /** Posts that a call returned, the oldest first. */
  const claimed = new Set<PostId>()
  /** Calls that run, or ended with an unknown outcome. */
  const calls = new Set<Call>()
  let lastClock: ServiceClock.ServiceClock | undefined
  let followsDate: boolean | undefined

  const claim = (id: PostId): void => {
    claimed.delete(id)
    claimed.add(id)
    for (const oldest of claimed) {
      if (claimed.size <= mostClaimed) break
      claimed.delete(oldest)
    }
  }

  const forget = (now: MonotonicMillis): void => {
    for (const call of calls) {
      if (call.until + forgottenMillis < now || (calls.size > mostClaimed && call.until < now)) {
        calls.delete(call)
      }
    }
  }

  const run = <E2 extends Failure>(
    post: NewPost,
    send: (hooks: Hooks) => Effect.Effect<Post, E2>,
    now: () => MonotonicMillis
  ): Effect.Effect<Post, E2> => {
    const call: Call = { post, since: undefined, until: Number.POSITIVE_INFINITY, clock: lastClock }
    let earlierClock: ServiceClock.ServiceClock | undefined
    let clock: ServiceClock.ServiceClock | undefined
    let progress: Progress | undefined
    let lastResponse: ResponseClock | undefined
    /** Whether the service may have carried out an attempt that failed. */
    let isAmbiguous = false
    let isFound = false

    const observe = (response: ResponseClock): void => {
      const shown = ServiceClock.fromResponse(response)
      lastClock = shown ?? lastClock
      clock = ServiceClock.combine(clock, shown)
      for (const each of calls) {
        each.clock = ServiceClock.combine(each.clock, shown)
      }
    }

    const lookUp = Effect.suspend(() => {
      isAmbiguous = true
      const search: Search<E> = {
        post,
        since: call.since ?? now(),
        earlierClock,
        isCovered: earlierClock !== undefined || clock !== undefined,
        followsDate,
        isClaimed: (id) => claimed.has(id),
        lastClaimed: Array.from(claimed).at(-1),
        otherCalls: () => [...calls].filter((other) => other !== call),
        listPosts: (request) => listPosts(request, observe),
        clock: () => clock
      }
      return Effect.tap(find(search, settleTime), (found) =>
        Effect.sync(() => {
          isFound = Option.isSome(found)
        }))
    })

    /** Whether a call that ends with this cause may have created a post that no call returned. */
    const mayExist = (cause: Cause.Cause<E2>): boolean =>
      Option.match(Cause.findErrorOption(cause), {
        onNone: () => isAmbiguous || (progress !== undefined && progress.endedAt === undefined && progress.isConnected !== false),
        onSome: MayHaveHappened.of
      })

    const end = (exit: Exit.Exit<Post, E2>): void => {
      call.until = now() + Duration.toMillis(settleTime)
      if (Exit.isSuccess(exit) || !mayExist(exit.cause)) {
        calls.delete(call)
      }
      if (Exit.isSuccess(exit)) {
        const { createdAt, id } = exit.value
        claim(id)
        followsDate = (isFound || lastResponse === undefined ? undefined : ServiceClock.followsDate(createdAt, lastResponse)) ?? followsDate
      }
    }

    const hooks: Hooks = {
      onSent: (sent) => {
        earlierClock = progress === undefined ? lastClock : earlierClock
        progress = sent
        // The requests before this one did nothing, unless the outcome of one is unknown.
        call.since = isAmbiguous ? call.since : sent.sentAt
      },
      onResponse: (response) => {
        lastResponse = response
        observe(response)
      },
      check: { lookUp }
    }

    forget(now())
    calls.add(call)
    return Effect.onExit(send(hooks), (exit) => Effect.sync(() => end(exit)))
  }

  return <E2 extends Failure>(post: NewPost, send: (hooks: Hooks) => Effect.Effect<Post, E2>): Effect.Effect<Post, E2> =>
    Clock.clockWith((clock) => run(post, send, () => monotonicNowUnsafe(clock)))
}
