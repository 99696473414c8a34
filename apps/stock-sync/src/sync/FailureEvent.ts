/** Failures of every kind as events and the status report them. */
import type { ProductId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Failure } from "./SyncStatus.js"

interface TaggedFailure {
  readonly _tag: string
  readonly message: string
  readonly code?: unknown
}

export const make = (about: Failure["about"], failure: TaggedFailure, productId?: ProductId): Effect.Effect<Failure> =>
  Effect.map(DateTime.now, (at) => ({
    at,
    about,
    productId,
    tag: failure._tag,
    code: typeof failure.code === "string" ? failure.code : undefined,
    message: failure.message
  }))
