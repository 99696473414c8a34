/**
 * Derives the service's clock from the responses of one call, and decides with it whether a listed post is older than the call.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import type { MonotonicMillis } from "../Time.ts"
import type { ResponseClock } from "./Attempt.ts"

/**
 * How far the service's clock is ahead of the monotonic clock, in milliseconds: at least `lower`, at most `upper`. Each `Date` gives both
 * bounds; of several this has the range of each bound.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServiceClock {
  readonly lower: readonly [least: number, most: number]
  readonly upper: readonly [least: number, most: number]
}

/**
 * The clock of a response. The service wrote its `Date`, in whole seconds, between the sending of the request and the arrival of the head.
 * Undefined without a `Date`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromResponse = ({ dateMillis, headAt, sentAt }: ResponseClock): ServiceClock | undefined => {
  if (dateMillis === undefined) {
    return undefined
  }
  const lower = dateMillis - headAt
  const upper = dateMillis + 1_000 - sentAt
  return { lower: [lower, lower], upper: [upper, upper] }
}

/**
 * Combines the clocks of several responses.
 *
 * @since 0.1.0
 * @category combinators
 */
export const combine = (one: ServiceClock | undefined, other: ServiceClock | undefined): ServiceClock | undefined =>
  one === undefined || other === undefined ? one ?? other : {
    lower: [Math.min(one.lower[0], other.lower[0]), Math.max(one.lower[1], other.lower[1])],
    upper: [Math.min(one.upper[0], other.upper[0]), Math.max(one.upper[1], other.upper[1])]
  }

// The servers of one service are at most this far apart. Dates that differ by more show that a clock stepped, or that a proxy wrote one.
const apartMillis = 1_000

/** Whether servers that are about a second apart can have written all these dates. */
const agrees = ({ lower, upper }: ServiceClock): boolean => lower[1] - upper[0] <= apartMillis

// An equal post with a stamp this close to the interval of a call belongs to the call: twice the distance of two servers.
const matchMillis = 2_000

// A stamp this close to the interval of a call decides nothing.
const nearMillis = 5_000

// `createdAt` is documented as UTC, but a server may write local time. Time zones span 26 hours.
const zonesMillis = 26 * 3_600_000

/**
 * The instants that a `createdAt` can mean, in milliseconds since the epoch.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stamp {
  readonly from: number
  /** The last one if the stamp has whole seconds or milliseconds. */
  readonly to: number
  /** The last one if it has the coarsest possible precision, up to whole days. */
  readonly latest: number
}

const dayMillis = 86_400_000
const units = [dayMillis, 3_600_000, 60_000, 1_000]

/**
 * The stamp of a `createdAt`; undefined without one.
 *
 * @since 0.1.0
 * @category constructors
 */
export const stampOf = (createdAt: DateTime.Utc | undefined): Stamp | undefined => {
  if (createdAt === undefined) {
    return undefined
  }
  const from = DateTime.toEpochMillis(createdAt)
  const unit = units.find((unit) => from % unit === 0) ?? 1
  return { from, to: from + Math.min(unit, 1_000) - 1, latest: from + unit - 1 }
}

/**
 * Whether `createdAt` is written by the clock of `Date`, from the response to an own new post; undefined if it doesn't show that.
 *
 * @since 0.1.0
 * @category constructors
 */
export const followsDate = (createdAt: DateTime.Utc | undefined, { dateMillis, headAt, sentAt }: ResponseClock): boolean | undefined => {
  const stamp = stampOf(createdAt)
  if (stamp === undefined || dateMillis === undefined) {
    return undefined
  }
  const latency = headAt - sentAt
  const least = dateMillis - latency
  const most = dateMillis + 1_000 + latency
  return stamp.latest < least - nearMillis || stamp.from > most + nearMillis
    ? false
    // A slow response, or a stamp in whole minutes, shows too little.
    : latency <= 1_000 && stamp.from >= least - matchMillis && stamp.latest <= most + matchMillis
    ? true
    : undefined
}

/**
 * What is known about the time of a call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Observations {
  /** When the first request that the service may have carried out was sent. */
  readonly since: MonotonicMillis
  /** The end of the last response. */
  readonly now: MonotonicMillis
  /** The clock of the responses of the call; undefined if none had a `Date`. */
  readonly clock: ServiceClock | undefined
  /** The clock of the last response before the call. */
  readonly earlierClock: ServiceClock | undefined
  /** Whether a response had a `Date` before the end of the attempt. */
  readonly isCovered: boolean
  /** As {@link followsDate}, from the last own post that showed it. */
  readonly followsDate: boolean | undefined
  /** The newest `createdAt` of the list. */
  readonly newest: number
}

/**
 * The interval in which the service can have created the post of a call, by its clock.
 *
 * @since 0.1.0
 * @category models
 */
export interface Interval {
  readonly since: MonotonicMillis
  readonly now: MonotonicMillis
  /** How far the service's clock is ahead of the monotonic clock; undefined if stamps can't be compared with the call. */
  readonly offset: readonly [least: number, most: number] | undefined
  /** A post stamped before this instant is older than the call. */
  readonly olderThan: number
}

/**
 * An earlier clock may narrow the interval, but not contradict the clocks of the call.
 *
 * A stamp before the interval shows an older post only if `createdAt` follows the clock of `Date`, and if this clock didn't step after the
 * post was created. Otherwise the post of the call can have such a stamp. The first is known from an own post, or from a listed post that is
 * newer by more than the call has taken. The second is known from a `Date` before the end of the attempt, because the post is older than the
 * earliest time that any clock showed. Without this knowledge only the span of time zones shows an older post.
 *
 * @since 0.1.0
 * @category constructors
 */
export const intervalOf = ({ clock, earlierClock, followsDate, isCovered, newest, now, since }: Observations): Interval => {
  const all = combine(earlierClock, clock)
  if (clock === undefined || all === undefined) {
    return { since, now, offset: undefined, olderThan: Number.NEGATIVE_INFINITY }
  }
  const start = since + all.lower[0]
  // The newest stamp is from before `now`, by a clock that stepped at most as far as the clocks differ.
  const newer = followsDate === true ? start : Math.min(start, newest - (now - since) - (all.upper[1] - all.lower[0]))
  // A post from the future shows another clock.
  const isSameClock = followsDate ?? newest <= now + all.upper[1] + nearMillis
  const { lower, upper } = agrees(all) ? all : clock
  return {
    since,
    now,
    offset: isSameClock && agrees(clock) ? [Math.min(lower[1], upper[0]), Math.max(lower[1], upper[0])] : undefined,
    olderThan: Math.max(start - zonesMillis, isSameClock && isCovered ? newer - nearMillis : Number.NEGATIVE_INFINITY)
  }
}

/**
 * When a listed post was created. It is `undecided` if the stamp is close to the interval, or can't be compared with it.
 *
 * @since 0.1.0
 * @category models
 */
export type Age = "duringCall" | "undecided" | "older"

const isWithin = (
  { from, to }: Stamp,
  [least, most]: readonly [number, number],
  since: MonotonicMillis,
  until: MonotonicMillis,
  tolerance: number
): boolean => to >= since + least - tolerance && from <= until + most + tolerance

// Services use the epoch as a placeholder, or the first day of the first year.
const isPlaceholder = ({ from }: Stamp): boolean => from <= 0 && from % dayMillis === 0

/**
 * When a listed post was created.
 *
 * @since 0.1.0
 * @category classification
 */
export const ageOf = (stamp: Stamp | undefined, { now, offset, olderThan, since }: Interval): Age =>
  stamp !== undefined && stamp.latest < olderThan && !isPlaceholder(stamp)
    ? "older"
    : stamp !== undefined && offset !== undefined && isWithin(stamp, offset, since, now, matchMillis)
    ? "duringCall"
    : "undecided"

/**
 * Whether a post may have been created in a range of the monotonic clock, by any of the clocks.
 *
 * @since 0.1.0
 * @category classification
 */
export const mayBeWithin = (
  stamp: Stamp | undefined,
  clock: ServiceClock | undefined,
  since: MonotonicMillis,
  until: MonotonicMillis
): boolean => stamp === undefined || clock === undefined || isWithin(stamp, [clock.lower[0], clock.upper[1]], since, until, nearMillis)

/**
 * Whether the stamps of a list are in descending order at this one, as far as the servers' clocks show it.
 *
 * @since 0.1.0
 * @category classification
 */
export const isDescending = (stamp: Stamp | undefined, lowest: number): boolean => stamp !== undefined && stamp.from <= lowest + nearMillis
