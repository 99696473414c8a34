/** Runs a stateful parser over a stream of bytes. Gzip, text decoding and each format are such parsers. */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"
import type { SourceError } from "./SourceError.ts"

/** A parser of one stream. It keeps state between chunks. */
export interface Parser<Row> {
  /** The rows that are complete with this chunk. */
  readonly push: (chunk: Uint8Array) => Effect.Effect<ReadonlyArray<Row>, SourceError>
  /** The rows that remain when the stream has ended. */
  readonly end: Effect.Effect<ReadonlyArray<Row>, SourceError>
}

/** Decodes the bytes of a format into rows. */
export type Decoder<Row> = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>) => Stream.Stream<Row, E | SourceError, R>

/**
 * The elements of the arrays. (`Stream.flattenIterable` opens a stream and a scope for each of them: 300,000 rows of CSV take 201 MiB with
 * it, and 136 MiB without.)
 */
export const flatten = <A, E, R>(arrays: Stream.Stream<ReadonlyArray<A>, E, R>): Stream.Stream<A, E, R> =>
  Stream.flattenArray(Stream.filter(arrays, Array.isReadonlyArrayNonEmpty))

/** A decoder that makes a new parser for each run of the stream. */
export const decode = <Row>(make: () => Parser<Row>): Decoder<Row> => (bytes) =>
  Stream.suspend(() => {
    const parser = make()
    return bytes.pipe(
      Stream.mapEffect((chunk) => parser.push(chunk)),
      Stream.concat(Stream.fromEffect(parser.end)),
      flatten
    )
  })

/** The same bytes in chunks of at most `size` bytes. */
export const rechunk = (size: number) => <E, R>(bytes: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
  flatten(Stream.map(bytes, (chunk): ReadonlyArray<Uint8Array> =>
    chunk.length <= size
      ? [chunk]
      : Array.makeBy(Math.ceil(chunk.length / size), (index) => chunk.subarray(index * size, (index + 1) * size))))

/** Decodes a stream by its first bytes: at least `size` of them, or all if there are fewer. */
export const withHead = <Row, E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  size: number,
  decoderOf: (head: Uint8Array) => Decoder<Row>
): Stream.Stream<Row, E | SourceError, R> =>
  Stream.unwrap(Effect.map(
    Stream.peel(bytes, Sink.fold((): Uint8Array => new Uint8Array(0), (head) => head.length < size, (head, chunk: Uint8Array) =>
      Effect.succeed(Buffer.concat([head, chunk])))),
    ([head, rest]) => decoderOf(head)(Stream.concat(Stream.succeed(head), rest))
  ))
