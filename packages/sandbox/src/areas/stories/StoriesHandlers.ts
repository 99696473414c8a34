/**
 * The area of stories: keeping whatever object is sent, since the document shows neither payload nor answer. Knows
 * nothing of keys or limits.
 *
 * Source: interface v1, "Endpoints", gaps.
 *
 * @since 0.1.0
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Assumed } from "../../Assumptions.js"
import * as Envelope from "../../http/Envelope.js"
import { CurrentCaller, toItsEnd } from "../../http/RequiresAdmission.js"
import { ServedApi } from "../../http/ServedApi.js"
import { Sql } from "../../storage/Sql.js"

/**
 * The id of the story with a sequence number.
 *
 * @since 0.1.0
 * @category rows
 */
export const idOf = (seq: number): string => `story-${seq}`

/**
 * Reads the column that a payload was written to.
 *
 * @since 0.1.0
 * @category rows
 */
export const readPayload: (column: string) => unknown = Schema.decodeSync(Schema.parseJson())

/** @since 0.1.0 @category layers */
export const layer = HttpApiBuilder.group(ServedApi, "stories", (handlers) =>
  Effect.gen(function*() {
    const sql = yield* Sql
    const { undocumented } = yield* Assumed
    return handlers.handle("createStory", ({ request }) =>
      Effect.gen(function*() {
        const caller = yield* CurrentCaller
        // As it was sent: decoding copies it property by property, and loses one that is called "__proto__".
        const payload = yield* Effect.orDie(request.json)
        const text = yield* Effect.try({
          try: () => JSON.stringify(payload),
          // Reading a deeply nested value takes less of the stack than writing it.
          catch: () => Envelope.invalidField("body", "is nested too deeply")
        })
        const now = yield* Clock.currentTimeMillis
        const [created] = yield* sql<{ readonly seq: number }>`INSERT INTO stories ${
          sql.insert({ account_id: caller.accountId, payload: text, created_at: now })
        } RETURNING seq`
        // The document shows no response, so without assumptions there is nothing in it.
        return undocumented
          ? { id: idOf(created?.seq ?? 0), createdAt: DateTime.formatIso(DateTime.unsafeMake(now)) }
          : undefined
      }).pipe(sql.withTransaction), toItsEnd)
  }))
