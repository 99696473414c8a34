/** Runs a reader that keeps state between the pieces of a stream of bytes. */
import type * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { SourceError } from "./SourceError.js"

/** Takes each piece in turn, and gives what is left at the end. */
export interface Reader<Row> {
  readonly take: (piece: Uint8Array) => Effect.Effect<ReadonlyArray<Row>, SourceError>
  readonly end: Effect.Effect<ReadonlyArray<Row>, SourceError>
}

/** How the bytes of a format become rows. */
export type Read<Row> = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Row, E | SourceError, R>

/** What a reader gives. Each run of the stream makes a new one. */
export const rows = <Row>(make: () => Reader<Row>): Read<Row> => (bytes) =>
  Stream.suspend(() => {
    const reader = make()
    return bytes.pipe(
      Stream.mapEffect((piece) => reader.take(piece)),
      Stream.concat(Stream.suspend(() => Stream.fromEffect(reader.end))),
      Stream.mapConcat((taken) => taken)
    )
  })

/** The same bytes in pieces of at most `size`. */
export const upTo = (size: number) =>
  Stream.mapConcat((piece: Uint8Array): ReadonlyArray<Uint8Array> =>
    piece.length <= size
      ? [piece]
      : Array.from({ length: Math.ceil(piece.length / size) }, (_, index) => piece.subarray(index * size, (index + 1) * size))
  )
