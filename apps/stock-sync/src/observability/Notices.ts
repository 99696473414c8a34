/**
 * Decides which problems are worth a message to a person, and when. A problem is announced once it has lasted, and again once a day; its end
 * is announced if its beginning was. All that is due goes into one message, and an hour has a limited number of them. Pure.
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../sync/MonotonicClock.ts"
import * as NoticeText from "./NoticeText.ts"

/** What needs a person, and how long it lasts before it is announced: most failures end by themselves. */
export const delays = {
  /** The service refuses all requests: only a person changes that. */
  paused: Duration.minutes(1),
  /** The drop guard holds a snapshot. A file that is written in parts is whole at the next read. */
  held: Duration.minutes(10),
  /** The source can't be read, or a read does not end. Three polls, if that is longer. */
  source: Duration.minutes(15),
  /** Requests fail by a fault of the service or the network. */
  unavailable: Duration.minutes(15),
  /** The rate limit or a quota is used up. */
  quota: Duration.hours(1),
  /** The ledger can't be used, so nothing is sent. */
  ledger: Duration.minutes(5),
  /** Products that need a person. Others follow within minutes, and are one message. */
  products: Duration.minutes(10),
  /** An account of a fleet can't be worked on, for any of these reasons. */
  account: Duration.minutes(15)
} as const
export type Kind = keyof typeof delays

/** A problem as it is now. Its texts are safe for a message: {@link NoticeText} makes them so. */
export interface Problem {
  /** Identifies it while it lasts. */
  readonly key: string
  readonly kind: Kind
  /** The account, for a fleet; undefined for a single store. */
  readonly account: string | undefined
  /** What is wrong and what helps, in sentences. */
  readonly text: string
  /** What is wrong, in a few words. */
  readonly name: string
  readonly delay: Duration.Duration
  /** The products that it concerns, if it concerns products. */
  readonly products?: ReadonlySet<string>
}

/** A problem ends if it is absent for so long, so that one that comes and goes is one. */
export const settlesAfter = Duration.minutes(5)
/** A problem that lasts is announced again. */
export const repeatsAfter = Duration.days(1)
/** Further products of an announced problem are announced. */
export const addsAfter = Duration.hours(1)
/** The most messages within any hour, delivered or not: a chat may show one whose request had no response. */
export const mostAnHour = 6
const hour = Duration.toMillis("1 hour")
/** After a message that could not be delivered. */
export const retriesAfter = Duration.minutes(15)

interface Tracked {
  readonly problem: Problem
  readonly since: MonotonicMillis
  /** Since when it is absent. */
  readonly absentSince: MonotonicMillis | undefined
  /** When it was last announced. */
  readonly announcedAt: MonotonicMillis | undefined
  /** The products that were announced. */
  readonly products: ReadonlySet<string>
}

export interface State {
  readonly tracked: ReadonlyMap<string, Tracked>
  /** When the messages of the last hour were sent, each attempt counted. */
  readonly messages: ReadonlyArray<MonotonicMillis>
  /** No message before this time. */
  readonly notBefore: MonotonicMillis
}

export const initial: State = { tracked: new Map(), messages: [], notBefore: Number.NEGATIVE_INFINITY }

/** A line of a message. */
interface Notice {
  readonly phase: "begins" | "lasts" | "ends"
  readonly problem: Problem
  /** How long it has lasted, or did. */
  readonly lasted: Duration.Duration
}

export interface Message {
  readonly text: string
  /** What was known of its problems before. */
  readonly before: ReadonlyMap<string, Tracked>
}

const passed = (since: MonotonicMillis | undefined, duration: Duration.Duration, now: MonotonicMillis): boolean =>
  since !== undefined && now - since >= Duration.toMillis(duration)

const noProducts: ReadonlySet<string> = new Set()

const track = ({ tracked }: State, problems: ReadonlyArray<Problem>, now: MonotonicMillis): ReadonlyMap<string, Tracked> => {
  const present = new Set(problems.map(({ key }) => key))
  const next = new Map<string, Tracked>()
  for (const [key, each] of tracked) {
    if (present.has(key)) continue
    const absentSince = each.absentSince ?? now
    // One that nobody was told about ends in silence.
    if (each.announcedAt !== undefined || !passed(absentSince, settlesAfter, now)) next.set(key, { ...each, absentSince })
  }
  for (const problem of problems) {
    const before = tracked.get(problem.key) ?? { since: now, announcedAt: undefined, products: noProducts }
    next.set(problem.key, { ...before, problem, absentSince: undefined })
  }
  return next
}

const noticeOf = ({ absentSince, announcedAt, problem, products, since }: Tracked, now: MonotonicMillis): Notice | undefined => {
  const lasted = (until: MonotonicMillis) => Duration.millis(until - since)
  if (absentSince !== undefined) {
    return announcedAt !== undefined && passed(absentSince, settlesAfter, now)
      ? { phase: "ends", problem, lasted: lasted(absentSince) }
      : undefined
  }
  if (announcedAt === undefined) return passed(since, problem.delay, now) ? { phase: "begins", problem, lasted: lasted(now) } : undefined
  const hasMore = Array.from(problem.products ?? noProducts).some((id) => !products.has(id))
  const isDue = passed(announcedAt, repeatsAfter, now) || (hasMore && passed(announcedAt, addsAfter, now))
  return isDue ? { phase: "lasts", problem, lasted: lasted(now) } : undefined
}

/** Follows the problems of a moment, and returns the message that is due. `isBusy`: the last message is still being delivered. */
export const step = (
  state: State,
  problems: ReadonlyArray<Problem>,
  now: MonotonicMillis,
  { isBusy, lists }: { readonly isBusy: boolean; readonly lists: string }
): { readonly state: State; readonly message: Message | undefined } => {
  const tracked = track(state, problems, now)
  const messages = state.messages.filter((at) => now - at < hour)
  const followed: State = { ...state, tracked, messages }
  const due = Array.from(tracked).flatMap(([key, each]) => {
    const notice = noticeOf(each, now)
    return notice === undefined ? [] : [{ key, each, notice }]
  })
  if (due.length === 0 || isBusy || now < state.notBefore || messages.length >= mostAnHour) return { state: followed, message: undefined }
  const next = new Map(tracked)
  for (const { each, key, notice } of due) {
    if (notice.phase === "ends") next.delete(key)
    else next.set(key, { ...each, announcedAt: now, products: each.problem.products ?? noProducts })
  }
  return {
    state: { ...followed, tracked: next, messages: [...messages, now] },
    message: { text: NoticeText.message(due.map(({ notice }) => notice), lists), before: new Map(due.map(({ each, key }) => [key, each])) }
  }
}

/** Counts another attempt of a message; undefined if the hour has had all its messages. */
export const attempted = (state: State, now: MonotonicMillis): State | undefined => {
  const messages = state.messages.filter((at) => now - at < hour)
  return messages.length >= mostAnHour ? undefined : { ...state, messages: [...messages, now] }
}

/** A message could not be delivered: what it said is said later, as far as it is still so. */
export const undelivered = (state: State, { before }: Message, notBefore: MonotonicMillis): State => {
  const tracked = new Map(state.tracked)
  for (const [key, { announcedAt, products, ...each }] of before) {
    tracked.set(key, { ...tracked.get(key) ?? { ...each, announcedAt, products }, announcedAt, products })
  }
  return { ...state, tracked, notBefore }
}
