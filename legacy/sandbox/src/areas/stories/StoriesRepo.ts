/**
 * The table `stories`.
 *
 * @since 0.1.0
 */
import { ProfileId } from "@plaza-legacy/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Sql } from "../../storage/Sql.ts"
import * as SqlSchema from "../../storage/SqlSchema.ts"

/** @since 0.1.0 @category rows */
export const Story = Schema.Struct({
  seq: Schema.Number,
  authorId: ProfileId,
  payload: Schema.parseJson(),
  createdAt: Schema.DateTimeUtcFromNumber
})
/** @since 0.1.0 @category rows */
export type Story = typeof Story.Type

/**
 * The id of the story with a sequence number.
 *
 * @since 0.1.0
 * @category conversions
 */
export const idOf = (seq: number): string => `story-${seq}`

/** @since 0.1.0 @category constructors */
export const make = Effect.map(Sql, (sql) => ({
  all: SqlSchema.findAll({
    Result: Story,
    execute: () => sql`SELECT seq, account_id AS authorId, payload, created_at AS createdAt FROM stories ORDER BY seq`
  }),
  /** Adds a story, whose payload is JSON text, and returns its sequence number. */
  insert: SqlSchema.single({
    Result: SqlSchema.Seq,
    execute: (authorId: string, payload: string, createdAt: DateTime.Utc) =>
      sql.first`INSERT INTO stories (account_id, payload, created_at)
        VALUES (${authorId}, ${payload}, ${DateTime.toEpochMillis(createdAt)}) RETURNING seq`
  })
}))

/** @since 0.1.0 @category services */
export class StoriesRepo extends Context.Tag("@plaza-legacy/sandbox/StoriesRepo")<StoriesRepo, Effect.Effect.Success<typeof make>>() {}
