/**
 * Expected rows, and content in chunks.
 */
import { Stream } from "effect"
import { expect } from "vitest"

export const good = (line: number, productId: string, stock: number) => ({ _tag: "Valid", line, productId, stock })
export const bad = (line: number, productId: string | undefined, reason: string) => ({
  _tag: "Rejected",
  line,
  productId,
  reason: containing(reason)
})
// The matcher has the type `any`.
export const containing = (text: string): unknown => expect.stringContaining(text)

/** Content in chunks of a size. A small size puts a boundary everywhere. */
export const inChunks = (content: string | Uint8Array, size: number): Stream.Stream<Uint8Array> => {
  const bytes = typeof content === "string" ? Buffer.from(content) : content
  return Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
  )
}

export const all = <Row, E, R>(rows: Stream.Stream<Row, E, R>) => Stream.runCollect(rows)
