/**
 * Rows as tests write them, and texts that come in pieces.
 */
import { Chunk, Effect, Stream } from "effect"
import { expect } from "vitest"

export const good = (line: number, productId: string, stock: number) => ({ _tag: "Good", line, productId, stock })
export const bad = (line: number, productId: string | undefined, reason: string) => ({
  _tag: "Bad",
  line,
  productId,
  reason: containing(reason)
})
// The matcher is typed as anything at all; here it stands for a text.
export const containing = (text: string): unknown => expect.stringContaining(text)

/** The bytes of a text, so many at a time: with a few, every boundary falls everywhere. */
export const inPieces = (content: string | Uint8Array, size: number): Stream.Stream<Uint8Array> => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  return Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
  )
}

export const all = <Row, E, R>(rows: Stream.Stream<Row, E, R>) => Effect.map(Stream.runCollect(rows), Chunk.toReadonlyArray)
