/** Failures of every kind as the worker's state reports them. */
import type { ProductId } from "@plaza/domain/Ids"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Failure } from "./SyncStatus.js"

export interface Tagged {
  readonly _tag: string
  readonly message: string
  readonly code?: unknown
}

export const make = (about: Failure["about"], failure: Tagged, productId?: ProductId): Effect.Effect<Failure> =>
  Effect.map(Clock.currentTimeMillis, (at) => ({
    at,
    about,
    productId,
    tag: failure._tag,
    code: typeof failure.code === "string" ? failure.code : undefined,
    message: failure.message
  }))
