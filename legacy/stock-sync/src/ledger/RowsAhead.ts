/** Reads the first rows of a source before the ledger is used for them, so that a snapshot of usual size is known as a whole. */
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { SnapshotInput } from "./Snapshot.ts"
import * as Staging from "./Staging.ts"

/** The number of rows. A source with more is staged while it is read. */
export class RowsAhead extends Context.Reference<RowsAhead>()("@plaza/stock-sync/ledger/RowsAhead", { defaultValue: () => 10_000 }) {}

export interface Ahead<E, R> {
  /** The input with the rows that were read and those that follow. The further ones are read while the first are staged. */
  readonly input: SnapshotInput<E, R>
  /** The rows, if no others follow. */
  readonly all: Option.Option<ReadonlyArray<Row>>
}

export const read = <E, R>(input: SnapshotInput<E, R>): Effect.Effect<Ahead<E, R>, E, R | Scope.Scope> =>
  Effect.gen(function*() {
    const most = yield* RowsAhead
    const pull = yield* Stream.toPull(Stream.rechunk(input.rows, Staging.batchSize))
    const ahead: Array<Chunk.Chunk<Row>> = []
    const next = Effect.asSome(pull).pipe(
      Effect.catchAll(Option.match({ onNone: () => Effect.succeedNone, onSome: (error) => Effect.fail(error) }))
    )
    let rows = 0
    while (rows <= most) {
      const chunk = yield* next
      if (Option.isNone(chunk)) {
        return { input: { ...input, rows: Stream.fromChunks(...ahead) }, all: Option.some(ahead.flatMap(Chunk.toReadonlyArray)) }
      }
      ahead.push(chunk.value)
      rows += chunk.value.length
    }
    const further = Stream.repeatEffectChunkOption(pull)
    return { input: { ...input, rows: Stream.concat(Stream.fromChunks(...ahead), further) }, all: Option.none() }
  })
