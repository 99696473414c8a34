/**
 * Posts each file of a folder once, across restarts and crashes. The journal has an entry for a file before its post is sent. After
 * a crash or an `OutcomeUnknown` the post may exist, so the file is reported and not posted again.
 */
import { ClientError, FailureScope, Media, Posts } from "@plaza/client"
import { Clock, Context, Duration, Effect, FileSystem, Layer, Option, Path, type PlatformError, Schema } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"

/**
 * - `posting`: the post is being sent.
 * - `posted`: the post exists; `detail` is its id.
 * - `unknown`: the post may exist. A person looks at the account, and deletes the entry if the post is missing.
 * - `refused`: the service refuses the file or its text. Nothing was posted.
 */
const Entry = Schema.Struct({
  file: Schema.String,
  state: Schema.Literals(["posting", "posted", "unknown", "refused"]),
  detail: Schema.String
})
export type Entry = typeof Entry.Type

/** What happened to each file, in a database. */
export class Journal extends Context.Service<Journal, {
  readonly entries: Effect.Effect<ReadonlyArray<Entry>, SqlError.SqlError | Schema.SchemaError>
  readonly record: (entry: Entry) => Effect.Effect<void, SqlError.SqlError>
  readonly remove: (file: string) => Effect.Effect<void, SqlError.SqlError>
  /** Marks the files whose post was being sent when the program ended. */
  readonly closeInterrupted: Effect.Effect<void, SqlError.SqlError>
}>()("autoposter/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE IF NOT EXISTS files (file TEXT PRIMARY KEY, state TEXT NOT NULL, detail TEXT NOT NULL)`
      const findAll = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Entry,
        execute: () => sql`SELECT file, state, detail FROM files ORDER BY file`
      })
      return Journal.of({
        entries: findAll(),
        record: (entry) =>
          Effect.asVoid(sql`INSERT INTO files ${sql.insert(entry)}
            ON CONFLICT (file) DO UPDATE SET state = excluded.state, detail = excluded.detail`),
        remove: (file) => Effect.asVoid(sql`DELETE FROM files WHERE file = ${file}`),
        closeInterrupted: Effect.asVoid(
          sql`UPDATE files SET state = 'unknown', detail = 'the program ended during the post' WHERE state = 'posting'`
        )
      })
    })
  )
}

const isMedia = (name: string) => /^[^.].*\.(?:jpe?g|png|gif|webp|mp4)$/i.test(name)

/** The text of a post: the name of the file, without its extension. */
const textOf = (file: string) => file.replace(/\.\w+$/, "").replaceAll(/[-_]+/g, " ")

/** The media files of a folder that did not change for some seconds. A file that changes is still being written. */
const settledFiles = Effect.fn("Autoposter.settledFiles")(function*(folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const now = yield* Clock.currentTimeMillis
  const isSettled = (file: string) =>
    fs.stat(path.join(folder, file)).pipe(
      Effect.map(({ mtime, type }) =>
        type === "File" && Option.exists(mtime, (changed) => now - changed.getTime() >= Duration.toMillis("5 seconds"))
      ),
      Effect.catch(leaveOut(file))
    )
  return yield* Effect.filter((yield* fs.readDirectory(folder)).filter(isMedia).sort(), isSettled)
})

/** Logs a file that cannot be read, such as one that was just removed. The next pass tries it again. */
const leaveOut = (file: string) => (failure: PlatformError.PlatformError) =>
  Effect.as(Effect.logWarning("autoposter.file_unreadable", { file, detail: failure.message }), false)

/** By the category, because the service may have codes that are newer than this program. A redirect is not about the file. */
const isAboutFile = (failure: ClientError.Failure) =>
  !(ClientError.isServiceError(failure) && failure.status < 400) &&
  ["InvalidRequest", "TooLarge"].includes(ClientError.categoryOf(failure))

const postFile = Effect.fn("Autoposter.postFile")(
  function*(folder: string, file: string) {
    const path = yield* Path.Path
    const media = yield* Media
    const posts = yield* Posts
    const journal = yield* Journal
    // A lost upload is repeated in the next pass. Until a post uses it, nobody sees the file.
    const { mediaId } = yield* media.uploadFile(path.join(folder, file))
    yield* journal.record({ file, state: "posting", detail: "" })
    yield* Effect.matchEffect(posts.create({ text: textOf(file), mediaIds: [mediaId] }), {
      onSuccess: ({ id }) => journal.record({ file, state: "posted", detail: id }),
      onFailure: (failure) =>
        FailureScope.mayHaveHappened(failure)
          ? journal.record({ file, state: "unknown", detail: failure.message })
          : Effect.andThen(journal.remove(file), Effect.fail(failure))
    })
  },
  (post, _folder, file) =>
    post.pipe(Effect.catch((failure) => {
      if (failure._tag === "PlatformError") return Effect.asVoid(leaveOut(file)(failure))
      return failure._tag !== "SqlError" && isAboutFile(failure)
        ? Effect.flatMap(Journal, ({ record }) => record({ file, state: "refused", detail: failure.message }))
        : Effect.fail(failure)
    }))
)

/**
 * Posts the new files of a folder in the order of their names, and returns the whole journal. Run one pass at a time, and one
 * program for a journal. A failure that is not about one file ends the pass; the next one continues.
 */
export const pass = Effect.fn("Autoposter.pass")(function*(folder: string) {
  const journal = yield* Journal
  yield* journal.closeInterrupted
  const known = new Set((yield* journal.entries).map(({ file }) => file))
  const files = yield* settledFiles(folder)
  yield* Effect.forEach(files.filter((file) => !known.has(file)), (file) => postFile(folder, file), { discard: true })
  return yield* journal.entries
})

/** The entries that a person looks at. */
export const attention = (entries: ReadonlyArray<Entry>) => entries.filter(({ state }) => state === "unknown" || state === "refused")
