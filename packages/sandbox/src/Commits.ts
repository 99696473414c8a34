/**
 * What the sandbox has really done: the writes that were carried out, as they were sent, independent of the response and of
 * how they are stored. Kept in memory and bounded; see {@link capacity} and {@link mostCharacters}.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Admitted } from "./Gate.js"
import type { Entry } from "./RequestLog.js"

/** @since 0.1.0 @category models */
export const Commit = Schema.Struct({
  /** When it was carried out, by the sandbox's time. */
  at: Timestamp,
  /** The `id` of the request in the request log. */
  requestId: Schema.String,
  /** The operation of the contract, such as `createPost`. */
  operation: Schema.String,
  /** The account that did it. */
  accountId: Schema.String,
  /** The parameters of the path, decoded. */
  params: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** The body as it was sent, unchanged by any latitude; of an upload the name, type, size and SHA-256 of the file. Null without a body. */
  payload: Schema.Unknown,
  /** The id of what was created; null where the operation creates nothing that has one. */
  createdId: Schema.NullOr(Schema.String),
  /** Whether it was carried out after the caller had been given up. */
  isLate: Schema.Boolean
}).annotations({ identifier: "Commit" })
/** @since 0.1.0 @category models */
export interface Commit extends Schema.Schema.Type<typeof Commit> {}

/**
 * Commits that are kept.
 *
 * @since 0.1.0
 * @category constants
 */
export const capacity = 100_000

/**
 * Characters of all payloads that are kept, as JSON. The oldest commits are dropped first.
 *
 * @since 0.1.0
 * @category constants
 */
export const mostCharacters = 32_000_000

/** @since 0.1.0 @category services */
export class Commits extends Context.Tag("@plaza/sandbox/Commits")<Commits, {
  /** Records a write that has just been carried out. */
  readonly add: (admitted: Admitted, entry: Entry, result: unknown, isLate: boolean) => Effect.Effect<void>
  /** A copy of what is kept, oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<Commit>>
  readonly clear: Effect.Effect<void>
}>() {}

interface Kept extends Omit<Commit, "at"> {
  readonly at: number
  /** Characters of its payload. */
  readonly size: number
}

const idOf = (result: unknown): string | null => {
  const id = Predicate.isReadonlyRecord(result) ? result["id"] ?? result["mediaId"] : undefined
  return typeof id === "string" ? id : null
}

const payloadOf = ({ operation, request: { payload } }: Admitted): unknown => {
  if (operation.body !== "file" || !Predicate.isReadonlyRecord(payload)) {
    return payload ?? null
  }
  const { contentType, name, sha256, size } = payload
  return { name, contentType, size, sha256 }
}

const creating = new Set(["createPost", "createComment", "sendMessage", "createStory", "uploadMedia"])

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Commits> = Layer.sync(Commits, () => {
  let kept: Array<Kept> = []
  let size = 0
  /** Drops the older half, over and over until what is left is small enough: taking one from the front moves all the others. */
  const trim = () => {
    while (kept.length > capacity || size > mostCharacters && kept.length > 1) {
      kept = kept.slice(Math.ceil(kept.length / 2))
      size = kept.reduce((sum, commit) => sum + commit.size, 0)
    }
  }
  return {
    add: (admitted, entry, result, isLate) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        const payload = payloadOf(admitted)
        const commit: Kept = {
          at,
          requestId: entry.id,
          operation: admitted.operation.name,
          accountId: admitted.caller.accountId,
          params: entry.params,
          payload,
          createdId: creating.has(admitted.operation.name) ? idOf(result) : null,
          isLate,
          size: payload === null ? 0 : JSON.stringify(payload).length
        }
        kept.push(commit)
        size += commit.size
        trim()
      }),
    all: Effect.sync(() => kept.map(({ at, size: _, ...commit }) => ({ ...commit, at: DateTime.unsafeMake(at) }))),
    clear: Effect.sync(() => {
      kept = []
      size = 0
    })
  }
})
