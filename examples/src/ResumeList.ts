/**
 * Reads a list page by page, and continues a run that stopped.
 */
import { Posts } from "@plaza/client"
import { Cursor, type Post } from "@plaza/domain"
import { Effect, Stream } from "effect"

/** Gives each page to `save` together with the cursor to continue from: undefined for the first run and after the last page. */
export const readFrom = <E, R>(
  cursor: string | undefined,
  save: (posts: ReadonlyArray<Post>, next: string | undefined) => Effect.Effect<void, E, R>
) =>
  Stream.unwrap(Effect.map(Posts, ({ pages }) => pages(cursor === undefined ? {} : { cursor: Cursor.make(cursor) }))).pipe(
    Stream.runForEach(({ data, nextCursor }) => save(data, nextCursor ?? undefined))
  )
