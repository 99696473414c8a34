/**
 * A week of a shop by the minute: sales, recounts, days with more changes than the quota, and outages.
 */
import type { Fault } from "@plaza/sandbox"
import { Effect, Random } from "effect"
import type { Inventory } from "./Inventory.ts"

export const minutesADay = 24 * 60

// Products sold per minute and thousand products, by the hour of the day.
const sales = [0.2, 0.2, 0.2, 0.2, 0.2, 0.5, 0.8, 1.2, 1.8, 2, 2, 2.2, 2.8, 2.2, 2, 2, 2.2, 2.8, 3.2, 3.8, 3.5, 2.5, 1.2, 0.5]

// Hours of the day with a recount: each night, one more on Mondays, and on the third and the sixth day more than the quota allows.
const lists = (day: number): ReadonlyArray<number> => [2, ...(day % 7 === 0 ? [10] : []), ...(day % 3 === 2 ? [9, 12, 15] : [])]

/** Applies the changes of one minute to the inventory. Minutes count from the first midnight. */
export const applyMinute = (
  inventory: Inventory,
  minute: number,
  { listed, products }: { readonly listed: number; readonly products: number }
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const day = Math.floor(minute / minutesADay)
    const hour = Math.floor(minute % minutesADay / 60)
    const busy = sales[hour] ?? 0
    // Rounds randomly, so that less than one sale per minute is not always zero.
    yield* inventory.sell(Math.floor(busy * products / 1_000 * (yield* Random.nextBetween(0.5, 1.5)) + (yield* Random.next)))
    if (minute % 60 !== 0) return
    if (hour === 6) yield* inventory.fillUp
    if (lists(day).includes(hour)) yield* inventory.recount(listed)
  })

// In every hour: delays, and a few lost or failed requests.
const always: ReadonlyArray<Fault> = [
  { kind: "delay", when: "before", millis: 600, rate: 0.1 },
  { kind: "delay", when: "before", millis: 120, rate: 1 },
  { kind: "drop", when: "after", rate: 0.001 },
  { kind: "status", when: "before", status: 503, rate: 0.002 }
]

/** The faults of an hour. Every second day the service drops all connections for an hour; every fourth day it responds with 503 after it acted. */
export const faults = (hour: number): ReadonlyArray<Fault> => {
  const day = Math.floor(hour / 24)
  // The sandbox applies the first fault that matches.
  if (hour % 24 === 11 && day % 2 === 1) return [{ kind: "drop", when: "before", rate: 1 }, ...always]
  if (hour % 24 === 19 && day % 4 === 0) return [{ kind: "status", when: "after", status: 503, rate: 1 }, ...always]
  return always
}
