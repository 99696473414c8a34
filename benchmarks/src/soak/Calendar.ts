/**
 * A week of a shop, minute by minute: business hours, new lists, days with more changes than the quota, outages.
 */
import type { Fault } from "@plaza/sandbox"
import { Effect, Random } from "effect"
import type { Inventory } from "./Inventory.js"

export const minutesADay = 24 * 60

// Products sold a minute, by the hour of the day, of a thousand.
const sales = [0.2, 0.2, 0.2, 0.2, 0.2, 0.5, 0.8, 1.2, 1.8, 2, 2, 2.2, 2.8, 2.2, 2, 2, 2.2, 2.8, 3.2, 3.8, 3.5, 2.5, 1.2, 0.5]

// Hours of the day at which a new list comes: each night, on Mondays, and on the third and the sixth day more than a quota may bear.
const lists = (day: number): ReadonlyArray<number> => [2, ...(day % 7 === 0 ? [10] : []), ...(day % 3 === 2 ? [9, 12, 15] : [])]

/** What happens to the inventory in a minute, counted from the first midnight. */
export const happens = (
  inventory: Inventory,
  minute: number,
  { listed, products }: { readonly listed: number; readonly products: number }
): Effect.Effect<void> =>
  Effect.gen(function*() {
    const day = Math.floor(minute / minutesADay)
    const hour = Math.floor(minute % minutesADay / 60)
    const busy = sales[hour] ?? 0
    // Whole products, of which fewer than one a minute is none in most.
    yield* inventory.sell(Math.floor(busy * products / 1_000 * (yield* Random.nextRange(0.5, 1.5)) + (yield* Random.next)))
    if (minute % 60 !== 0) return
    if (hour === 6) yield* inventory.fillUp
    if (lists(day).includes(hour)) yield* inventory.recount(listed)
  })

// Always: answers take their time, and a few get lost.
const always: ReadonlyArray<Fault> = [
  { kind: "delay", when: "before", millis: 600, rate: 0.1 },
  { kind: "delay", when: "before", millis: 120, rate: 1 },
  { kind: "drop", when: "after", rate: 0.001 },
  { kind: "status", when: "before", status: 503, rate: 0.002 }
]

/** How the service fails in an hour. Every second day it is away for one, or answers what it has done with 503. */
export const faults = (hour: number): ReadonlyArray<Fault> => {
  const day = Math.floor(hour / 24)
  // The first that matches wins.
  if (hour % 24 === 11 && day % 2 === 1) return [{ kind: "drop", when: "before", rate: 1 }, ...always]
  if (hour % 24 === 19 && day % 4 === 0) return [{ kind: "status", when: "after", status: 503, rate: 1 }, ...always]
  return always
}
