/**
 * Records every write that a handler carried out, with the payload as the caller sent it. The record is kept in memory and bounded by {@link capacity} and {@link maxBytes}. Keys are masked: in parameters by the request log, in payloads when a commit is first read; see `KeyMask`.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza-legacy/domain/Resources"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Page from "../control/RecordPage.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { optional } from "../OptionalField.ts"
import * as KeyMask from "./KeyMask.ts"

/** @since 0.1.0 @category models */
export const Commit = Schema.Struct({
  /** `commit_` and a number that grows by one with each commit. */
  id: Schema.String,
  /** When it was carried out, by the sandbox's time. */
  at: Timestamp,
  /** The `id` of the request in the request log. */
  requestId: Schema.String,
  /** The operation of the contract, such as `createPost`. */
  operation: Schema.String,
  /** The account that made the request. */
  accountId: Schema.String,
  /** The parameters of the path, decoded and with keys masked. */
  params: Schema.Record({ key: Schema.String, value: Schema.String }),
  /** The body as it was sent, unchanged by any latitude but with keys masked; of an upload the name, type, size and SHA-256 of the file. Null without a body. */
  payload: Schema.Unknown,
  /** The id of the created resource; null if there is none. */
  createdId: Schema.NullOr(Schema.String),
  /** Whether it was carried out after its request had failed. */
  isLate: Schema.Boolean
}).annotations({ identifier: "Commit" })
/** @since 0.1.0 @category models */
export interface Commit extends Schema.Schema.Type<typeof Commit> {}

/**
 * Maximum number of commits that are kept.
 *
 * @since 0.1.0
 * @category constants
 */
export const capacity = 100_000

/**
 * Maximum bytes of all kept payloads, as they were sent, and parameters together. The oldest commits are dropped first.
 *
 * @since 0.1.0
 * @category constants
 */
export const maxBytes = 32_000_000

/**
 * Which commits to list: the newest, or the first after a given one. The order is always oldest first.
 *
 * @since 0.1.0
 * @category models
 */
export const CommitQuery = Schema.Struct({
  /** Lists from the commit after this id. `commit_0` and ids of an earlier run list from the oldest. */
  after: optional(Schema.String.pipe(Schema.pattern(/^commit_\d{1,15}$/))),
  /** Lists only commits of this operation. */
  operation: optional(Schema.String),
  /** Maximum number of commits (default: 1,000). A page holds fewer if they are large. */
  limit: optional(Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, Page.maxItems)))
}).annotations({ parseOptions: { onExcessProperty: "error" } })
/** @since 0.1.0 @category models */
export type CommitQuery = typeof CommitQuery.Type

/**
 * A page of commits.
 *
 * @since 0.1.0
 * @category models
 */
export const CommitPage = Schema.Struct({
  /** Oldest first. */
  data: Schema.Array(Commit),
  /** The value of `after` for the next page; null if no commit follows yet. */
  next: Schema.NullOr(Schema.String)
}).annotations({ identifier: "CommitPage" })
/** @since 0.1.0 @category models */
export interface CommitPage extends Schema.Schema.Type<typeof CommitPage> {}

/**
 * A write that has just been carried out. Keys in its payload are not masked yet.
 *
 * @since 0.1.0
 * @category models
 */
export interface Write extends Omit<Commit, "id" | "at"> {
  /** The size of the payload as it was sent; undefined if only its JSON is known. */
  readonly payloadBytes?: number | undefined
}

/** @since 0.1.0 @category services */
export class Commits extends Context.Tag("@plaza-legacy/sandbox/Commits")<Commits, {
  /** Records a write that has just been carried out. */
  readonly add: (write: Write) => Effect.Effect<void>
  /** A copy of all kept commits, oldest first. */
  readonly all: Effect.Effect<ReadonlyArray<Commit>>
  /** A copy of one page, oldest first. */
  readonly read: (query: CommitQuery) => Effect.Effect<CommitPage>
  readonly clear: Effect.Effect<void>
}>() {}

interface StoredCommit {
  readonly id: string
  readonly at: number
  write: Write
  /** Whether keys in its payload are masked. */
  isMasked: boolean
  /** Bytes of its payload and parameters. */
  readonly size: number
}

/** Upper bound of the bytes of a commit without payload and parameters. */
const overhead = 400

const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

/** @since 0.1.0 @category constructors */
export const make: Effect.Effect<Commits["Type"], never, CurrentLatitude> = Effect.map(CurrentLatitude, ({ keyPrefixes }) => {
  const mask = KeyMask.make(keyPrefixes)
  let kept: Array<StoredCommit> = []
  let total = 0
  let added = 0
  const toCommit = (stored: StoredCommit): Commit => {
    if (!stored.isMasked) {
      stored.write = { ...stored.write, payload: mask.json(stored.write.payload) }
      stored.isMasked = true
    }
    const { payloadBytes: _, ...write } = stored.write
    return { ...write, id: stored.id, at: DateTime.unsafeMake(stored.at) }
  }
  /** Drops the older half until the rest fits. Removing single items from the front of an array would move all others. */
  const trim = () => {
    while (kept.length > capacity || total > maxBytes && kept.length > 1) {
      kept = kept.slice(Math.ceil(kept.length / 2))
      total = kept.reduce((sum, { size }) => sum + size, 0)
    }
  }
  return {
    add: (write) =>
      Effect.map(Clock.currentTimeMillis, (at) => {
        const size = (write.payloadBytes ?? jsonBytes(write.payload)) + jsonBytes(write.params)
        const commit = { id: `commit_${++added}`, at, write, isMasked: false, size }
        kept.push(commit)
        total += commit.size
        trim()
      }),
    all: Effect.sync(() => kept.map(toCommit)),
    read: ({ after, limit, operation }) =>
      Effect.sync(() => {
        const { data, last } = Page.read(
          operation === undefined ? kept : kept.filter(({ write }) => write.operation === operation),
          { after: after === undefined ? undefined : Page.numberOf(after), limit },
          { newest: added, bytesOf: ({ write: { params, payload } }) => jsonBytes([params, payload]) + overhead }
        )
        return { data: data.map(toCommit), next: last?.id ?? null }
      }),
    clear: Effect.sync(() => {
      kept = []
      total = 0
    })
  }
})

/** @since 0.1.0 @category layers */
export const layer = Layer.effect(Commits, make)
