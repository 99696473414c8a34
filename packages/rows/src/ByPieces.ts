/**
 * Rows from bytes that come in pieces, by a reader that keeps what it needs between them. Knows nothing of any format.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { SourceRefused } from "./Refused.js"

/**
 * What reads a format: told each piece in turn, and asked in the end for what is left.
 *
 * @since 0.1.0
 * @category models
 */
export interface Reader<Row> {
  readonly take: (piece: Uint8Array) => Effect.Effect<ReadonlyArray<Row>, SourceRefused>
  readonly end: Effect.Effect<ReadonlyArray<Row>, SourceRefused>
}

/**
 * How the bytes of a format become rows.
 *
 * @since 0.1.0
 * @category models
 */
export type Read<Row> = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Row, E | SourceRefused, R>

/**
 * The rows by a reader that is made anew whenever the stream is run.
 *
 * @since 0.1.0
 * @category streams
 */
export const rows = <Row>(make: () => Reader<Row>): Read<Row> => (bytes) =>
  Stream.suspend(() => {
    const reader = make()
    return bytes.pipe(
      Stream.mapEffect((piece) => reader.take(piece)),
      Stream.concat(Stream.suspend(() => Stream.fromEffect(reader.end))),
      Stream.mapConcat((taken) => taken)
    )
  })
