/**
 * Decides which problems are worth a message to a person, and when. A problem is announced once it has lasted, and again once a day; its end
 * is announced if its beginning was. All that is due goes into one message, and an hour has a limited number of them. A later process
 * continues from what this one has stored. Pure.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
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
  account: Duration.minutes(15),
  /** Rows of the source are rejected. A row that is corrected within the hour is no message. */
  rejected: Duration.hours(1)
} as const
export type Kind = keyof typeof delays
// True because the object has exactly these keys.
const kinds = Object.keys(delays) as ReadonlyArray<Kind>

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
  /** The products that it concerns, if it concerns products; of rejected rows, what identifies each of them. */
  readonly products?: ReadonlySet<string>
}

interface Rhythm {
  /** A problem ends if it is absent for so long, so that one that comes and goes is one. */
  readonly settlesAfter: Duration.Duration
  /** A problem that lasts is announced again. */
  readonly repeatsAfter: Duration.Duration
  /** Further products of an announced problem are announced. */
  readonly addsAfter: Duration.Duration
  /** Each product has to last before it is announced, as a problem has, and is a further one again once it was absent for `settlesAfter`. */
  readonly eachLasts: boolean
  readonly announcesEnd: boolean
}

const usual: Rhythm = {
  settlesAfter: Duration.minutes(5),
  repeatsAfter: Duration.days(1),
  addsAfter: Duration.hours(1),
  eachLasts: false,
  announcesEnd: true
}
/** A feed with some bad rows is normal: a person hears of new ones once a day, and of nothing that they know. */
const ofRows: Rhythm = {
  settlesAfter: Duration.days(1),
  repeatsAfter: Duration.infinity,
  addsAfter: Duration.days(1),
  eachLasts: true,
  announcesEnd: false
}
const rhythmOf = ({ kind }: Problem): Rhythm => kind === "rejected" ? ofRows : usual

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
  /** If each product has to last: since when those that are there are there, and since when announced ones are absent. */
  readonly productsSince: ReadonlyMap<string, MonotonicMillis>
  readonly productsAbsentSince: ReadonlyMap<string, MonotonicMillis>
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

/** With the products that are there now, if each of them has to last. */
const withProducts = (tracked: Tracked, present: ReadonlySet<string>, now: MonotonicMillis): Tracked => {
  const { products, productsAbsentSince, productsSince } = tracked
  const { eachLasts, settlesAfter } = rhythmOf(tracked.problem)
  if (!eachLasts) return tracked
  const known = Array.from(products).filter((id) => !passed(productsAbsentSince.get(id), settlesAfter, now))
  return {
    ...tracked,
    products: new Set(known),
    productsSince: new Map(Array.from(present, (id) => [id, productsSince.get(id) ?? now])),
    productsAbsentSince: new Map(known.filter((id) => !present.has(id)).map((id) => [id, productsAbsentSince.get(id) ?? now]))
  }
}

const fresh = (problem: Problem, now: MonotonicMillis): Tracked => ({
  problem,
  since: now,
  absentSince: undefined,
  announcedAt: undefined,
  products: noProducts,
  productsSince: new Map(),
  productsAbsentSince: new Map()
})

const track = (
  { tracked }: State,
  problems: ReadonlyArray<Problem>,
  present: ReadonlySet<string>,
  now: MonotonicMillis,
  unknown: ReadonlySet<Kind>
): { readonly tracked: ReadonlyMap<string, Tracked>; readonly hasEnded: boolean } => {
  const next = new Map<string, Tracked>()
  let hasEnded = false
  for (const [key, each] of tracked) {
    if (present.has(key)) continue
    if (unknown.has(each.problem.kind)) {
      next.set(key, { ...each, absentSince: undefined })
      continue
    }
    const absentSince = each.absentSince ?? now
    const { announcesEnd, settlesAfter } = rhythmOf(each.problem)
    // One that nobody was told about ends in silence.
    if ((announcesEnd && each.announcedAt !== undefined) || !passed(absentSince, settlesAfter, now)) {
      next.set(key, withProducts({ ...each, absentSince }, noProducts, now))
    } else hasEnded ||= each.announcedAt !== undefined
  }
  for (const problem of problems) {
    const before = tracked.get(problem.key) ?? fresh(problem, now)
    next.set(problem.key, withProducts({ ...before, problem, absentSince: undefined }, problem.products ?? noProducts, now))
  }
  return { tracked: next, hasEnded }
}

const noticeOf = (
  { absentSince, announcedAt, problem, products, productsSince, since }: Tracked,
  now: MonotonicMillis
): Notice | undefined => {
  const { addsAfter, announcesEnd, eachLasts, repeatsAfter, settlesAfter } = rhythmOf(problem)
  const lasted = (until: MonotonicMillis) => Duration.millis(until - since)
  if (absentSince !== undefined) {
    return announcesEnd && announcedAt !== undefined && passed(absentSince, settlesAfter, now)
      ? { phase: "ends", problem, lasted: lasted(absentSince) }
      : undefined
  }
  const hasLasted = (id: string) => !eachLasts || passed(productsSince.get(id), problem.delay, now)
  if (announcedAt === undefined) {
    const isDue = passed(since, problem.delay, now) && (problem.products === undefined || Array.from(problem.products).some(hasLasted))
    return isDue ? { phase: "begins", problem, lasted: lasted(now) } : undefined
  }
  const hasMore = Array.from(problem.products ?? noProducts).some((id) => !products.has(id) && hasLasted(id))
  const isDue = passed(announcedAt, repeatsAfter, now) || (hasMore && passed(announcedAt, addsAfter, now))
  return isDue ? { phase: "lasts", problem, lasted: lasted(now) } : undefined
}

interface StepOptions {
  /** The last message is still being delivered. */
  readonly isBusy: boolean
  readonly lists: string
  /** Kinds of which it is not known yet whether there is a problem, such as after a start: an earlier one goes on until that is known. */
  readonly unknown?: ReadonlySet<Kind>
}

/** All is known. */
export const noKinds: ReadonlySet<Kind> = new Set()

/** Follows the problems of a moment, and returns the message that is due. `hasEnded`: an announced problem has ended in silence. */
export const step = (
  state: State,
  problems: ReadonlyArray<Problem>,
  now: MonotonicMillis,
  { isBusy, lists, unknown = noKinds }: StepOptions
): { readonly state: State; readonly message: Message | undefined; readonly hasEnded: boolean } => {
  const present = new Set(problems.map(({ key }) => key))
  const { hasEnded, tracked } = track(state, problems, present, now, unknown)
  const messages = state.messages.filter((at) => now - at < hour)
  const followed: State = { ...state, tracked, messages }
  const due = Array.from(tracked).flatMap(([key, each]) => {
    const notice = present.has(key) || each.absentSince !== undefined ? noticeOf(each, now) : undefined
    return notice === undefined ? [] : [{ key, each, notice }]
  })
  if (due.length === 0 || isBusy || now < state.notBefore || messages.length >= mostAnHour) {
    return { state: followed, message: undefined, hasEnded }
  }
  const next = new Map(tracked)
  for (const { each, key, notice } of due) {
    if (notice.phase === "ends") next.delete(key)
    else {
      const products = new Set([...each.productsAbsentSince.keys(), ...each.problem.products ?? noProducts])
      next.set(key, { ...each, announcedAt: now, products })
    }
  }
  return {
    state: { ...followed, tracked: next, messages: [...messages, now] },
    message: { text: NoticeText.message(due.map(({ notice }) => notice), lists), before: new Map(due.map(({ each, key }) => [key, each])) },
    hasEnded
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

/** The longest pause after a message that could not be delivered. */
export const longestPause = Duration.days(1)

/** What a later process has to know: what was announced, and how many messages there were. Its times are those of the wall clock. */
const Stored = Schema.fromJsonString(Schema.Struct({
  problems: Schema.Array(Schema.Struct({
    key: Schema.String,
    kind: Schema.Literals(kinds),
    account: Schema.NullOr(Schema.String),
    since: Schema.Int,
    announcedAt: Schema.Int,
    products: Schema.Array(Schema.String)
  })),
  messages: Schema.Array(Schema.Int),
  notBefore: Schema.NullOr(Schema.Int)
}))
const encodeStored = Schema.encodeSync(Stored)
const decodeStored = Schema.decodeUnknownOption(Stored)

/** A state as a text. `offset`: what the wall clock is ahead of the monotonic one. */
export const toText = ({ messages, notBefore, tracked }: State, offset: number): string => {
  const wall = (at: MonotonicMillis) => Math.round(at + offset)
  return encodeStored({
    problems: Array.from(tracked.values()).flatMap(({ announcedAt, problem: { account, key, kind }, products, since }) =>
      announcedAt === undefined
        ? []
        : [{ key, kind, account: account ?? null, since: wall(since), announcedAt: wall(announcedAt), products: [...products] }]
    ),
    messages: messages.map(wall),
    notBefore: Number.isFinite(notBefore) ? wall(notBefore) : null
  })
}

/** What was stored, as a state; none for the text of a version that wrote it in another way. */
export const fromText = (text: string, now: MonotonicMillis, offset: number): Option.Option<State> =>
  Option.map(decodeStored(text), ({ messages, notBefore, problems }) => {
    // The wall clock may have been set.
    const past = (at: number) => Math.min(now, at - offset)
    return {
      tracked: new Map(problems.map(({ account, announcedAt, key, kind, products, since }) => {
        // The texts of a problem that is over are not used.
        const problem: Problem = { key, kind, account: account ?? undefined, name: "", text: "", delay: delays[kind] }
        return [key, { ...fresh(problem, past(since)), announcedAt: past(announcedAt), products: new Set(products) }]
      })),
      messages: messages.map(past),
      notBefore: notBefore === null
        ? Number.NEGATIVE_INFINITY
        : Math.min(now + Duration.toMillis(longestPause), notBefore - offset)
    }
  })

/**
 * Continues with what another process has stored. `last`: what this process stored or read last. What it has announced since then is kept;
 * all else that it knows of announcements is as the other process left it.
 */
export const merge = (state: State, stored: State, last: State): State => {
  const lastAnnounced = (key: string) => last.tracked.get(key)?.announcedAt
  const tracked = new Map<string, Tracked>()
  for (const [key, own] of state.tracked) {
    const other = stored.tracked.get(key)
    const isKept = own.announcedAt === undefined || own.announcedAt !== lastAnnounced(key)
    if (other === undefined) {
      // Otherwise the other process has announced its end.
      if (isKept) tracked.set(key, own)
      continue
    }
    const { announcedAt = Number.NEGATIVE_INFINITY, products, since } = other
    tracked.set(key, {
      ...own,
      ...isKept
        ? {
          since: Math.min(own.since, since),
          announcedAt: Math.max(announcedAt, own.announcedAt ?? announcedAt),
          products: new Set([...products, ...own.products])
        }
        : { since, announcedAt, products }
    })
  }
  for (const [key, other] of stored.tracked) {
    // Otherwise this process has announced its end.
    if (!state.tracked.has(key) && lastAnnounced(key) === undefined) tracked.set(key, other)
  }
  const known = new Set(last.messages)
  return {
    tracked,
    messages: [...stored.messages, ...state.messages.filter((at) => !known.has(at))],
    notBefore: Math.max(state.notBefore, stored.notBefore)
  }
}
