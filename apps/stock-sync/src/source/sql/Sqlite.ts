/** The rows of a query from an SQLite file, which a process of its own reads (docs/decisions/042-sqlite-reader.md). */
import * as NodeChildProcessSpawner from "@effect/platform-node/NodeChildProcessSpawner"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Ndjson from "effect/encoding/Ndjson"
import * as Fiber from "effect/Fiber"
import * as ChildProcess from "effect/process/ChildProcess"
import { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import { execPath } from "node:process"
import { isSea } from "node:sea"
import { fileURLToPath } from "node:url"
import { mapRows } from "../Source.ts"
import * as Query from "./Query.ts"

/** The standard input of the process, in JSON. */
export interface Request {
  readonly path: string
  readonly query: string
}

/** What the process prints: a JSON value for each line. */
const Message = Schema.Union([
  // Integers are texts, so that no digit is lost.
  Schema.Struct({ rows: Schema.Array(Schema.Unknown) }),
  /** All columns, before the rows. A row has only the last of those with the same name. */
  Schema.Struct({ columns: Schema.Array(Schema.String) }),
  Schema.Struct({ error: Schema.Literals(["moreThanOne", "noSelect"]) }),
  /** `code` is that of SQLite. */
  Schema.Struct({ error: Schema.Literal("database"), code: Schema.optionalKey(Schema.String), message: Schema.String }),
  /** The last row was before. */
  Schema.Struct({ isComplete: Schema.Literal(true) })
])

export type Message = typeof Message.Type

// A bundle has the program of the reader beside its chunks, and an executable contains it (scripts/executable-loader.cjs). Node runs the
// source itself, and Node 22 warns that its SQLite is experimental.
const program: ReadonlyArray<string> = isSea() ? ["internal:sqlite-reader.cjs"] : [
  "--disable-warning=ExperimentalWarning",
  fileURLToPath(new URL(import.meta.url.endsWith(".ts") ? "./SqliteReader.ts" : "../sqlite-reader.cjs", import.meta.url))
]

// A process takes some 50 MB. Others wait, which their timeout does not include.
const readers = Semaphore.makeUnsafe(4)

/** How long the end of a read waits for its process. One that the system can't end waits for a disk or a network drive. */
const endWithin = Duration.seconds(1)

export const make = Effect.fnUntraced(function*(options: Query.QueryOptions) {
  const spawner = yield* Effect.provide(ChildProcessSpawner, NodeChildProcessSpawner.layer)
  /** The end of the process of the read before. */
  let ending: Fiber.Fiber<void> | undefined

  /** Starts a process, but not beside an earlier one that has not ended. Closing its scope waits for its end, and can't be interrupted. */
  const start = Effect.fnUntraced(function*(command: ChildProcess.Command) {
    if (ending !== undefined && ending.pollUnsafe() === undefined) {
      return yield* Query.failed(new Error("the process of an earlier read waits for the file and has not ended, although it was killed"))
    }
    const scope = yield* Effect.acquireRelease(Scope.make(), (scope, exit) =>
      Effect.gen(function*() {
        ending = yield* Effect.forkDetach(Scope.close(scope, exit), { startImmediately: true })
        yield* Effect.timeoutOption(Fiber.await(ending), endWithin)
      }))
    return yield* Effect.mapError(Scope.provide(spawner.spawn(command), scope), ({ reason }) => Query.failed(reason.cause ?? reason))
  })

  const source = yield* Query.make(options, (query) =>
    Stream.unwrap(Effect.gen(function*() {
      const request: Request = { path: pathOf(options.source), query }
      const reader = yield* start(ChildProcess.make(execPath, program, {
        stdin: Stream.encodeText(Stream.succeed(JSON.stringify(request))),
        // A process that is stopped ends by no other signal.
        killSignal: "SIGKILL"
      }))
      const explained = Stream.mkString(Stream.decodeText(reader.stderr)).pipe(
        Effect.mapError(Query.failed),
        Effect.flatMap((text) => Effect.fail(Query.failed(new Error(text.trim() === "" ? endedEarly : text.trim()))))
      )
      return reader.stdout.pipe(
        Stream.pipeThroughChannel(Ndjson.decodeSchema(Message)()),
        Stream.mapError(Query.failed),
        Stream.concat(Stream.fromEffect(explained)),
        Stream.takeWhile((message) => !("isComplete" in message)),
        Stream.mapEffect((message) =>
          "error" in message
            ? Effect.fail(errorOf(message))
            : "columns" in message
            ? Effect.as(Query.checkColumns(options, message.columns), [])
            : Effect.succeed("rows" in message ? message.rows : [])
        ),
        Stream.flattenIterable
      )
    })))
  const permit = Effect.acquireRelease(readers.take(1), () => readers.release(1), { interruptible: true })
  return mapRows(source, (rows) => Stream.unwrap(Effect.as(permit, rows)))
})

const endedEarly = "the process that reads it ended before its last row"

const errorOf = (failure: Extract<Message, { readonly error: unknown }>): Query.InvalidQuery | Query.QueryError => {
  switch (failure.error) {
    case "moreThanOne":
      return Query.moreThanOne
    case "noSelect":
      return Query.noSelect
    case "database":
      return Query.failed(Object.assign(new Error(failure.message), { code: failure.code }))
  }
}

/** Both `sqlite:stock.db` and the form with slashes, `sqlite:///var/stock.db`. */
const pathOf = (source: string): string => source.replace(/^sqlite:(\/\/)?/i, "")
