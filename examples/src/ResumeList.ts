/**
 * Reads a list page by page, and continues a run that stopped.
 */
import { Posts } from "@plaza/client"
import { Cursor, type Post } from "@plaza/domain"
import { Effect, Stream } from "effect"

/** Passes each page to `save`, with the cursor of the next page: undefined after the last page. */
export const readFrom = <E, R>(
  cursor: string | undefined,
  save: (posts: ReadonlyArray<Post>, next: string | undefined) => Effect.Effect<void, E, R>
) =>
  Stream.unwrap(Effect.map(Posts, ({ pages }) => pages(cursor === undefined ? {} : { cursor: Cursor.make(cursor) }))).pipe(
    Stream.runForEach(({ data, nextCursor }) => save(data, nextCursor ?? undefined))
  )
