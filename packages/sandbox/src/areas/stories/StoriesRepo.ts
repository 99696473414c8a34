/** The table `stories`. */
import { ProfileId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Db } from "../../storage/Db.ts"

export const Story = Schema.Struct({
  seq: Schema.Number,
  authorId: ProfileId,
  payload: Schema.fromJsonString(Schema.Unknown),
  createdAt: Schema.DateTimeUtcFromMillis
})
export type Story = typeof Story.Type

/** The id of the story with a sequence number. */
export const idOf = (seq: number): string => `story-${seq}`

export class StoriesRepo extends Context.Service<StoriesRepo>()("@plaza/sandbox/StoriesRepo", {
  make: Effect.map(Db, (db) => ({
    all: () => db.all(Story)`SELECT seq, account_id AS authorId, payload, created_at AS createdAt FROM stories ORDER BY seq`,
    /** Adds a story, whose payload is JSON text, and returns its sequence number. */
    insert: (authorId: string, payload: string, createdAt: DateTime.Utc) =>
      db.seq`INSERT INTO stories (account_id, payload, created_at)
          VALUES (${authorId}, ${payload}, ${DateTime.toEpochMillis(createdAt)}) RETURNING seq`
  }))
}) {
  static readonly layer = Layer.effect(StoriesRepo, StoriesRepo.make)
}
