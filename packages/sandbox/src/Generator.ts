/**
 * The generator of random numbers of a seed: PCG32, with 64 bits of state as two halves. Seeds are public (`--seed`, fixtures,
 * faults at a rate), so the same seed must give the same numbers in every version; `effect/Random` does not promise that.
 */
import * as Hash from "effect/Hash"

export interface Generator {
  /** The next number from 0 up to, but not including, 1. */
  readonly next: () => number
  /** The next whole number from `from` up to, but not including, `to`. */
  readonly between: (from: number, to: number) => number
}

const multiplier = { high: 0x5851_f42d, low: 0x4c95_7f2d }
const increment = { high: 0x1405_7b7e, low: 0xf767_814f }

/** The upper 32 bits of a product. */
const upper = (a: number, b: number): number => {
  const middle = (a >>> 16) * (b & 0xffff) + (((a & 0xffff) * (b & 0xffff)) / 0x1_0000 >>> 0)
  return (a >>> 16) * (b >>> 16) + Math.floor((middle + (a & 0xffff) * (b >>> 16)) / 0x1_0000)
}

/** `Hash.hash` of an integer, which folds one beyond 32 bits in a way of its own. */
const hashOf = (seed: number): number => {
  let hash = seed | 0
  if (hash !== seed) {
    hash ^= seed * 0xffff_ffff
  }
  for (let rest = seed; rest > 0xffff_ffff;) {
    rest /= 0xffff_ffff
    hash ^= rest
  }
  return Hash.optimize(hash)
}

/** The generator of a seed. */
export const make = (seed: number | string): Generator => {
  let high = 0
  let low = 0
  const add = (addedHigh: number, addedLow: number) => {
    const sum = low + addedLow
    high = (high + addedHigh + (sum > 0xffff_ffff ? 1 : 0)) >>> 0
    low = sum >>> 0
  }
  const bits = (): number => {
    const shifted = (((low >>> 18 | high << 14) ^ low) >>> 27 | ((high >>> 18) ^ high) << 5) >>> 0
    const rotation = high >>> 27
    high = (upper(low, multiplier.low) + Math.imul(low, multiplier.high) + Math.imul(high, multiplier.low)) >>> 0
    low = Math.imul(low, multiplier.low) >>> 0
    add(increment.high, increment.low)
    return (shifted >>> rotation | shifted << (-rotation & 31)) >>> 0
  }
  bits()
  add(0, (typeof seed === "number" ? hashOf(seed) : Hash.string(seed)) >>> 0)
  bits()
  const next = () => ((bits() & 0x3ff_ffff) * 2 ** 27 + (bits() & 0x7ff_ffff)) / 2 ** 53
  return { next, between: (from, to) => Math.round(next() * Number.MAX_SAFE_INTEGER) % (to - from) + from }
}
