/**
 * Keeps what is wanted as the source tells it: reads it at the start, whenever it says that it is worth it, and some time after a
 * failure. Whatever fails, what was wanted stays. Knows nothing of what is sent.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import type { Ledger, LedgerFault, Terms } from "../Ledger.js"
import { Source } from "../Source.js"
import { Standing } from "../Standing.js"
import * as Failing from "./Failing.js"
import * as Moment from "./Moment.js"

/** @since 0.1.0 @category models */
export interface Feeding {
  /** Reads into a ledger until that fails. What was read into an earlier one is not read again. */
  readonly run: (ledger: Ledger["Type"]) => Effect.Effect<never, LedgerFault>
}

const growth: Moment.Growth = { first: 2_000, most: 60_000 }

/** @since 0.1.0 @category constructors */
export const make = (options: {
  readonly terms: Terms
  /** Something may be due. */
  readonly wakes: Queue.Enqueue<void>
}): Effect.Effect<Feeding, never, Source | Standing> =>
  Effect.gen(function*() {
    const source = yield* Source
    const standing = yield* Standing
    // In which version the source was last taken or held: in either case there is nothing new in it.
    let known = Option.none<string>()
    let { terms } = options
    let failures = 0

    const taken = (ledger: Ledger["Type"]) =>
      Effect.scoped(Effect.gen(function*() {
        const opened = yield* source.open(known)
        if (Option.isNone(opened)) return yield* standing.tell({ _tag: "SourceUnchanged" })
        const { rows, version } = opened.value
        let count = 0
        const counted = Stream.mapChunks(rows, (chunk) => {
          count += chunk.length
          return chunk
        })
        yield* ledger.receive(counted, terms).pipe(
          Effect.flatMap((received) =>
            Effect.suspend(() => {
              // It was this one that somebody looked at.
              terms = { ...terms, confirmed: false }
              return standing.tell({ _tag: "SourceTaken", rows: count, received })
            })
          ),
          Effect.catchTag("SnapshotHeld", (failure) =>
            Effect.flatMap(Failing.told("source", failure), (told) =>
              standing.tell({ _tag: "SourceHeld", rows: count, held: failure.held, failure: told })))
        )
        known = version
        yield* Queue.offer(options.wakes, undefined)
      }))

    const read = (ledger: Ledger["Type"]) =>
      taken(ledger).pipe(
        Effect.zipRight(Effect.sync(() => {
          failures = 0
        })),
        Effect.catchTags({
          SourceRefused: (failure) => failed(failure),
          SourceUnreachable: (failure) => failed(failure)
        })
      )

    const failed = (failure: Failing.Tagged) =>
      Effect.gen(function*() {
        failures++
        yield* standing.tell({ _tag: "SourceFailed", failure: yield* Failing.told("source", failure) })
      })

    return {
      run: (ledger) =>
        Effect.scoped(Effect.gen(function*() {
          const looks = yield* Queue.sliding<void>(1)
          yield* Effect.forkScoped(Stream.runForEach(source.changes, () => Queue.offer(looks, undefined)))
          const wait = Effect.suspend(() =>
            failures === 0 ? Queue.take(looks) : Effect.flatMap(Moment.pause(growth, failures), (millis) =>
              Effect.timeoutOption(Queue.take(looks), millis))
          )
          return yield* Effect.forever(Effect.zipRight(read(ledger), wait))
        }))
    }
  })
