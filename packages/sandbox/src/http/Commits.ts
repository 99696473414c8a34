/**
 * Records every write that a handler carried out, with the payload as the caller sent it. The record is kept in memory and bounded by {@link capacity} and {@link maxBytes}. Keys are masked: in parameters by the request log, in payloads when a commit is first read; see `KeyMask`.
 *
 * @since 0.1.0
 */
import { Timestamp } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { optional } from "../Validation.ts"
import * as KeyMask from "./KeyMask.ts"
import * as Page from "./RecordPage.ts"

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
  params: Schema.Record(Schema.String, Schema.String),
  /** The body as it was sent, unchanged by any latitude but with keys masked; of an upload the name, type, size and SHA-256 of the file. Null without a body. */
  payload: Schema.Unknown,
  /** The id of the created resource, or null. */
  createdId: Schema.NullOr(Schema.String),
  /** Whether it was carried out after its request had failed. */
  isLate: Schema.Boolean
}).annotate({ identifier: "Commit" })
/** @since 0.1.0 @category models */
export interface Commit extends Schema.Struct.Type<typeof Commit.fields> {}

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
  after: optional(Schema.String.check(Schema.isPattern(/^commit_\d{1,15}$/u))),
  /** Lists only commits of this operation. */
  operation: optional(Schema.String),
  /** Maximum number of commits (default: 1,000). A page has fewer if they are large. */
  limit: optional(Page.Limit)
})
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
}).annotate({ identifier: "CommitPage" })
/** @since 0.1.0 @category models */
export interface CommitPage extends Schema.Struct.Type<typeof CommitPage.fields> {}

/**
 * A write that has just been carried out. Keys in its payload are not masked yet.
 *
 * @since 0.1.0
 * @category models
 */
export interface Write extends Omit<Commit, "id" | "at"> {
  /** The size of the payload as sent; undefined if only its JSON is known. */
  readonly payloadBytes?: number | undefined
}

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

const make = (keyPrefixes: ReadonlySet<string>) => {
  const mask = KeyMask.make(keyPrefixes)
  let kept: Array<StoredCommit> = []
  /** The number of the newest request whose commit was dropped. */
  let forgotten = 0
  const byRequest = new Map<string, StoredCommit>()
  let total = 0
  let added = 0
  const toCommit = (stored: StoredCommit): Commit => {
    if (!stored.isMasked) {
      stored.write = { ...stored.write, payload: mask.json(stored.write.payload) }
      stored.isMasked = true
    }
    const { payloadBytes: _, ...write } = stored.write
    return { ...write, id: stored.id, at: DateTime.makeUnsafe(stored.at) }
  }
  /** Drops the older half until the rest fits. Removing single items from the front of an array would move all others. */
  const trim = () => {
    while (kept.length > capacity || total > maxBytes && kept.length > 1) {
      for (const { write } of kept.splice(0, Math.ceil(kept.length / 2))) {
        byRequest.delete(write.requestId)
        forgotten = Math.max(forgotten, Page.numberOf(write.requestId))
      }
      total = kept.reduce((sum, { size }) => sum + size, 0)
    }
  }
  return {
    /** Records a write that was carried out at a time in milliseconds since 1970. */
    add: (write: Write, at: number): void => {
      const size = (write.payloadBytes ?? jsonBytes(write.payload)) + jsonBytes(write.params)
      const stored: StoredCommit = { id: `commit_${++added}`, at, write, isMasked: false, size }
      kept.push(stored)
      byRequest.set(write.requestId, stored)
      total += size
      trim()
    },
    /** The write of a request, if any. */
    effectOf: (requestId: string): Pick<Commit, "createdId" | "isLate"> | undefined => {
      const write = byRequest.get(requestId)?.write
      return write && { createdId: write.createdId, isLate: write.isLate }
    },
    /** Whether the commits of a request were dropped, if it had any. */
    hasForgotten: (requestId: string): boolean => Page.numberOf(requestId) <= forgotten,
    /** A copy of all kept commits, oldest first. */
    all: (): ReadonlyArray<Commit> => kept.map(toCommit),
    /** A copy of one page, oldest first. */
    read: ({ after, limit, operation }: CommitQuery): CommitPage => {
      const { data, last } = Page.read(
        operation === undefined ? kept : kept.filter(({ write }) => write.operation === operation),
        { after: after === undefined ? undefined : Page.numberOf(after), limit },
        { newest: added, bytesOf: ({ write: { params, payload } }) => jsonBytes([params, payload]) + overhead }
      )
      return { data: data.map(toCommit), next: last?.id ?? null }
    },
    clear: (): void => {
      kept = []
      byRequest.clear()
      forgotten = 0
      total = 0
    }
  }
}

/** @since 0.1.0 @category services */
export class Commits extends Context.Service<Commits, ReturnType<typeof make>>()("@plaza/sandbox/Commits") {
  static readonly layer = Layer.effect(Commits, Effect.map(CurrentLatitude, ({ keyPrefixes }) => make(keyPrefixes)))
}
