/** Failures of every kind as events and the status report them. */
import type { ProductId } from "@plaza-legacy/domain/Ids"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type { Failure } from "./SyncStatus.ts"

const longest = 1_000

/** A text of the service, which may be megabytes long, as events, the status and the ledger keep it: at most 1,000 characters. */
export const shortened = (text: string): string => text.length <= longest ? text : `${text.slice(0, longest - 1)}…`

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
    code: typeof failure.code === "string" ? shortened(failure.code) : undefined,
    message: shortened(failure.message)
  }))
