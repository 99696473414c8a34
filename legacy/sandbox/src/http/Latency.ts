/**
 * Draws durations from the distributions of a delay.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Random from "effect/Random"
import { type Latency, maxMillis } from "./Fault.ts"

/** The 99th percentile of the standard normal distribution. */
const z99 = 2.326_347_874_040_841

/** A value of the standard normal distribution, by the method of Box and Muller. */
const drawNormal = (random: Random.Random): Effect.Effect<number> =>
  Effect.zipWith(random.next, random.next, (first, second) =>
    // The logarithm of 0 is infinite, and `next` is below 1.
    Math.sqrt(-2 * Math.log(1 - first)) * Math.cos(2 * Math.PI * second))

const drawExact = (latency: Latency, random: Random.Random): Effect.Effect<number> => {
  if (typeof latency === "number") {
    return Effect.succeed(latency)
  }
  switch (latency.distribution) {
    case "uniform":
      return Effect.map(random.next, (drawn) => latency.min + drawn * (latency.max - latency.min))
    case "normal":
      return Effect.map(drawNormal(random), (drawn) => Math.max(0, latency.mean + drawn * latency.deviation))
    case "logNormal":
      return Effect.map(drawNormal(random), (drawn) => latency.median * (latency.p99 / latency.median) ** (drawn / z99))
  }
}

/**
 * Draws a duration in milliseconds. A drawn one is whole, because some clocks support no others.
 *
 * @since 0.1.0
 * @category drawing
 */
export const draw = (latency: Latency, random: Random.Random): Effect.Effect<number> =>
  typeof latency === "number"
    ? Effect.succeed(latency)
    : Effect.map(drawExact(latency, random), (drawn) => Math.min(Math.round(drawn), maxMillis))
