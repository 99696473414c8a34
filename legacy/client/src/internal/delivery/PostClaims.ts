/**
 * Remembers posts or texts, so that no two calls return one post.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { MonotonicMillis } from "../Compat.ts"

// `PostCheck` recognises an older post by its `createdAt`.
const rememberedMillis = Duration.toMillis("26 hours")

// Without an entry the outcome of a call can be unknown, but never wrong.
const mostRemembered = 10_000

/** The most recent keys, for a limited time. @since 0.1.0 @category constructors */
export const make = <K>() => {
  // Oldest first: a map keeps the order of insertion.
  const moments = new Map<K, MonotonicMillis>()
  return {
    has: (key: K) => moments.has(key),
    keys: () => moments.keys(),
    add: (key: K, at: MonotonicMillis) => {
      moments.delete(key)
      moments.set(key, at)
      for (const [old, since] of moments) {
        if (at - since < rememberedMillis && moments.size <= mostRemembered) {
          break
        }
        moments.delete(old)
      }
    }
  }
}
