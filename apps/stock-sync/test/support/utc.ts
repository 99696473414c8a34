/** Times of the wall clock as tests write them. */
import { DateTime } from "effect"

/** A time in milliseconds since the epoch. */
export const utc = (millis: number) => DateTime.makeUnsafe(millis)
