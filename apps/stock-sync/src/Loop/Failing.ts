/**
 * Failures of every kind as the standing of the loop tells them. Knows nothing of what follows from them.
 *
 * @since 0.1.0
 */
import type { ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Failure } from "../Standing.js"

/** @since 0.1.0 @category models */
export interface Tagged {
  readonly _tag: string
  readonly message: string
  readonly code?: unknown
}

/** @since 0.1.0 @category constructors */
export const told = (about: Failure["about"], failure: Tagged, productId?: ProductId): Effect.Effect<Failure> =>
  Effect.map(Clock.currentTimeMillis, (at) => ({
    at,
    about,
    productId,
    tag: failure._tag,
    code: typeof failure.code === "string" ? failure.code : undefined,
    message: failure.message
  }))
