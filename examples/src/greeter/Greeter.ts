/**
 * Greets each person once, as the chat rules permit. The interface has no list of followers and no events: the program reads the
 * conversations and sends a greeting to each new one. The service accepts it if the person follows the account or has written to it.
 */
import { Chat, ClientError, FailureScope } from "@plaza/client"
import { ConversationId } from "@plaza/domain"
import { byCode } from "@plaza/domain/Errors"
import { Clock, Context, Duration, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"

/**
 * - `skipped`: the conversation existed before the first pass.
 * - `sending`: the greeting is being sent.
 * - `greeted`: the service has accepted the greeting.
 * - `unknown`: the greeting may have arrived. A second one could be a duplicate, so a person looks in the web app.
 * - `waiting`: the person neither follows the account nor has written to it. Another attempt follows at `retryAt`.
 * - `closed`: one side has blocked the other, or the person is not available.
 */
const Entry = Schema.Struct({
  conversation: ConversationId,
  state: Schema.Literals(["skipped", "sending", "greeted", "unknown", "waiting", "closed"]),
  /** In milliseconds since 1970; 0 without another attempt. */
  retryAt: Schema.Number
})
export type Entry = typeof Entry.Type

/** What happened in each conversation, in a database. */
export class Journal extends Context.Service<Journal, {
  readonly entries: Effect.Effect<ReadonlyArray<Entry>, SqlError.SqlError | Schema.SchemaError>
  readonly record: (entry: Entry) => Effect.Effect<void, SqlError.SqlError>
  /** Whether a conversation has no entry, or waits for an attempt that is due. */
  readonly isDue: (conversation: ConversationId, now: number) => Effect.Effect<boolean, SqlError.SqlError>
  /** Marks the greetings that were being sent when the program ended. */
  readonly closeInterrupted: Effect.Effect<void, SqlError.SqlError>
  readonly isFirstPass: Effect.Effect<boolean, SqlError.SqlError>
  readonly completePass: Effect.Effect<void, SqlError.SqlError>
}>()("greeter/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE IF NOT EXISTS greetings (conversation TEXT PRIMARY KEY, state TEXT NOT NULL, retryAt INTEGER NOT NULL)`
      yield* sql`CREATE TABLE IF NOT EXISTS passes (id INTEGER PRIMARY KEY)`
      const findAll = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Entry,
        execute: () => sql`SELECT conversation, state, retryAt FROM greetings ORDER BY conversation`
      })
      return Journal.of({
        entries: findAll(),
        record: (entry) =>
          Effect.asVoid(sql`INSERT INTO greetings ${sql.insert({ ...entry })}
            ON CONFLICT (conversation) DO UPDATE SET state = excluded.state, retryAt = excluded.retryAt`),
        isDue: (conversation, now) =>
          Effect.map(sql`SELECT 1 FROM greetings WHERE conversation = ${conversation} AND NOT (state = 'waiting' AND retryAt <= ${now})`,
            (rows) => rows.length === 0),
        closeInterrupted: Effect.asVoid(sql`UPDATE greetings SET state = 'unknown' WHERE state = 'sending'`),
        isFirstPass: Effect.map(sql`SELECT id FROM passes`, (rows) => rows.length === 0),
        completePass: Effect.asVoid(sql`INSERT INTO passes (id) VALUES (1) ON CONFLICT DO NOTHING`)
      })
    })
  )
}

/** The pause before another attempt where the chat rules forbid a greeting. Each attempt takes a slot of the rate limit. */
const pause = Duration.days(1)

/** A code that is newer than this program may be a new chat rule. */
const isNew = (code: string | undefined) => code !== undefined && !Object.hasOwn(byCode, code)

/** What a refusal says about the conversation. Undefined if it is about the key or the account, or is no refusal. */
const refusedState = (failure: ClientError.Failure): "waiting" | "closed" | undefined => {
  if (!ClientError.isServiceError(failure)) return undefined
  const { category, code } = failure
  if (category === "NotFound" || code === "CHAT_BLOCKED" || code === "USER_UNAVAILABLE") return "closed"
  const isRefusal = category === "Forbidden" || category === "InvalidRequest"
  return code === "CHAT_NOT_ALLOWED" || (isRefusal && isNew(code)) ? "waiting" : undefined
}

const greet = Effect.fn("Greeter.greet")(function*(conversation: ConversationId, text: string) {
  const { send } = yield* Chat
  const journal = yield* Journal
  const record = (state: Entry["state"], retryAt = 0) => journal.record({ conversation, state, retryAt })
  const later = Effect.flatMap(Clock.currentTimeMillis, (now) => record("waiting", now + Duration.toMillis(pause)))
  yield* record("sending")
  yield* Effect.matchEffect(send(conversation, text), {
    onSuccess: () => record("greeted"),
    onFailure: (failure) => {
      if (FailureScope.mayHaveHappened(failure)) return record("unknown")
      const state = refusedState(failure)
      if (state !== undefined) return state === "waiting" ? later : record(state)
      // Nothing was sent. The next pass continues here.
      return Effect.andThen(record("waiting"), Effect.fail(failure))
    }
  })
})

export interface Options {
  readonly text: string
  /** Whether the first pass greets in existing conversations as well. */
  readonly greetExisting: boolean
}

/** Greets in new conversations, and in those whose pause is over. Returns the journal. Run one pass at a time. */
export const pass = Effect.fn("Greeter.pass")(function*({ greetExisting, text }: Options) {
  const chat = yield* Chat
  const journal = yield* Journal
  yield* journal.closeInterrupted
  const skips = !greetExisting && (yield* journal.isFirstPass)
  const now = yield* Clock.currentTimeMillis
  yield* chat.list().pipe(
    // A list may emit a conversation twice, so the journal decides for each one.
    Stream.filterEffect(({ id }) => journal.isDue(id, now)),
    Stream.runForEach(({ id }) => skips ? journal.record({ conversation: id, state: "skipped", retryAt: 0 }) : greet(id, text))
  )
  yield* journal.completePass
  return yield* journal.entries
})
