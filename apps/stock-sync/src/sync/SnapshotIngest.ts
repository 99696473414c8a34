/**
 * Turns the source into what is wanted: at the start, whenever the source has changed, some time after a failure, and once a
 * held snapshot is confirmed. Whatever fails, the wanted stock stays.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Ledger, LedgerFault, SnapshotHeld, SnapshotPolicy } from "../ledger/Ledger.js"
import { Source, type SourceFailure } from "../source/Source.js"
import * as Backoff from "./Backoff.js"
import * as FailureEvent from "./FailureEvent.js"
import { SyncStatus } from "./SyncStatus.js"

export interface SourceReader {
  /** Reads the source once. */
  readonly read: (ledger: Ledger["Type"]) => Effect.Effect<void, LedgerFault | SnapshotHeld | SourceFailure>
  /**
   * Reads until the ledger fails. A version of the source that was read in an earlier ledger session is not read again, unless
   * the ledger no longer has its snapshot.
   */
  readonly run: (ledger: Ledger["Type"]) => Effect.Effect<never, LedgerFault>
}

const backoff: Backoff.Backoff = { first: Duration.seconds(2), longest: Duration.minutes(1) }
// Another process confirms a held snapshot in the ledger, of which nothing tells.
const confirmationInterval = Duration.seconds(5)

export const make = (options: {
  readonly policy: SnapshotPolicy
  /** Something may be due. */
  readonly wakes: Queue.Enqueue<void>
}): Effect.Effect<SourceReader, never, Source | SyncStatus> =>
  Effect.gen(function*() {
    const source = yield* Source
    const status = yield* SyncStatus
    // The version that was last taken or held: in either case there is nothing new in it.
    let known = Option.none<string>()
    let failures = 0
    // What the ledger has of it, to recognise a ledger that was removed or restored between two sessions.
    let knownAs: string | undefined

    const snapshotOf = (ledger: Ledger["Type"]) =>
      Effect.map(ledger.snapshot, ({ held, takenAt }) => `${takenAt}/${Option.match(held, { onNone: () => "", onSome: ({ at }) => at })}`)
    const noteKnown = (ledger: Ledger["Type"], version: Option.Option<string>) =>
      Effect.map(snapshotOf(ledger), (snapshot) => {
        known = version
        knownAs = snapshot
      })

    const read: SourceReader["read"] = (ledger) =>
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* source.open(known)
        if (Option.isNone(opened)) return yield* status.publish({ _tag: "SourceUnchanged" })
        const { excluded, rows, unit, version } = opened.value
        let count = 0
        const counted = Stream.mapChunks(rows, (chunk) => {
          count += chunk.length
          return chunk
        })
        const received = yield* ledger.receive({ source: source.name, unit, excluded, rows: counted }, options.policy).pipe(
          Effect.tapErrorTag("SnapshotHeld", (failure) =>
            Effect.zipRight(
              noteKnown(ledger, version),
              Effect.flatMap(FailureEvent.make("source", failure),
                (report) => status.publish({ _tag: "SourceHeld", rows: count, held: failure.held, failure: report }))
            ))
        )
        yield* noteKnown(ledger, version)
        yield* status.publish({ _tag: "SourceTaken", rows: count, received })
      })).pipe(
        Effect.tap(() => {
          failures = 0
        }),
        Effect.tapErrorTag("SnapshotHeld", () =>
          Effect.sync(() => {
            failures = 0
          })),
        Effect.tapError((failure) =>
          failure._tag === "SourceError" || failure._tag === "SourceUnreachable"
            ? Effect.flatMap(FailureEvent.make("source", failure), (report) => {
              failures++
              return status.publish({ _tag: "SourceFailed", failure: report })
            })
            : Effect.void
        ),
        Effect.ensuring(Queue.offer(options.wakes, undefined))
      )

    const isConfirmed = (ledger: Ledger["Type"]) =>
      Effect.map(ledger.snapshot, ({ held }) => Option.exists(held, ({ confirmed }) => confirmed))

    const reread = (ledger: Ledger["Type"]) =>
      Effect.gen(function*() {
        // The source has not changed since it was held, and is to be read all the same.
        if ((yield* status.state).source.held !== undefined && (yield* isConfirmed(ledger))) known = Option.none()
        yield* Effect.catchTags(read(ledger), {
          SnapshotHeld: () => Effect.void,
          SourceError: () => Effect.void,
          SourceUnreachable: () => Effect.void
        })
      })

    const wait = (ledger: Ledger["Type"], looks: Queue.Dequeue<void>): Effect.Effect<void, LedgerFault> =>
      Effect.gen(function*() {
        if (failures > 0) return yield* Effect.asVoid(Effect.timeoutOption(Queue.take(looks), yield* Backoff.delay(backoff, failures)))
        if ((yield* status.state).source.held === undefined) return yield* Queue.take(looks)
        const looked = yield* Effect.timeoutOption(Queue.take(looks), confirmationInterval)
        if (Option.isNone(looked) && !(yield* isConfirmed(ledger))) yield* wait(ledger, looks)
      })

    return {
      read,
      run: (ledger) =>
        Effect.scoped(Effect.gen(function*() {
          if (knownAs !== (yield* snapshotOf(ledger))) known = Option.none()
          const looks = yield* Queue.sliding<void>(1)
          yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(looks, undefined)))
          return yield* Effect.forever(Effect.zipRight(reread(ledger), wait(ledger, looks)))
        }))
    }
  })
