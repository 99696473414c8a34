/** The rows of a query from an SQLite file, which a process of its own reads (docs/decisions/042-sqlite-reader.md). */
import * as NodeCommandExecutor from "@effect/platform-node/NodeCommandExecutor"
import * as Command from "@effect/platform/Command"
import type { CommandExecutor, Process } from "@effect/platform/CommandExecutor"
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Ndjson from "@effect/platform/Ndjson"
import { SqlError } from "@effect/sql/SqlError"
import type { SourceError } from "@plaza-legacy/tabular/SourceError"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { execPath } from "node:process"
import { fileURLToPath } from "node:url"
import * as Permits from "../../sync/Permits.ts"
import type { Source } from "../Source.ts"
import * as Query from "./Query.ts"
import { Message, Request } from "./SqliteMessage.ts"

// A bundle has the program of the reader beside its chunks; from the sources, it is that of the last build.
const program = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../../../apps/stock-sync/dist/fleet-sqlite-reader.cjs" : "./fleet-sqlite-reader.cjs",
    import.meta.url)
)

// A process takes some 50 MB. Others wait, which their timeout does not include.
const readers = Permits.unsafeMake(4)

export const make = (options: Query.QueryOptions): Effect.Effect<Source["Type"], SourceError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const executor = yield* Effect.context<CommandExecutor>().pipe(Effect.provide(NodeCommandExecutor.layer))
    const start = yield* oneAtATime
    const source = yield* Query.make(options, (query) => Stream.provideContext(rowsOf(options, query, start), executor))
    return {
      ...source,
      open: (accepted) =>
        Effect.map(
          source.open(accepted),
          Option.map((snapshot) => ({ ...snapshot, rows: Stream.unwrapScoped(Effect.as(readers.acquire, snapshot.rows)) }))
        )
    }
  })

/** How long the end of a read waits for its process. One that the system can't end waits for a disk or a network drive. */
const endWithin = Duration.seconds(1)

type Start = (command: Command.Command) => Effect.Effect<Process, PlatformError | ReaderEnded, CommandExecutor | Scope.Scope>

/** Starts processes, none of them beside an earlier one that has not ended. */
const oneAtATime: Effect.Effect<Start> = Effect.sync(() => {
  let earlier: Fiber.Fiber<void> | undefined
  return (command) =>
    Effect.gen(function*() {
      if (earlier !== undefined && Option.isNone(yield* Fiber.poll(earlier))) {
        return yield* new ReaderEnded({
          message: "the process of an earlier read waits for the file and has not ended, although it was killed"
        })
      }
      // Closing the scope of a process waits for its end, and can't be interrupted.
      const [process] = yield* Effect.acquireRelease(
        Effect.flatMap(Scope.make(), (scope) =>
          Effect.map(Effect.onError(Scope.extend(Command.start(command), scope), (cause) => Scope.close(scope, Exit.failCause(cause))),
            (started) => [started, scope] as const)),
        ([started, scope]) =>
          Effect.gen(function*() {
            // A process that is stopped ends by no other signal.
            yield* Effect.forkDaemon(Effect.ignore(started.kill("SIGKILL")))
            earlier = yield* Effect.forkDaemon(Scope.close(scope, Exit.void))
            yield* Effect.timeoutOption(Fiber.join(earlier), endWithin)
          })
      )
      return process
    })
})

const rowsOf = (options: Query.QueryOptions, query: string, start: Start): Stream.Stream<unknown, SqlError, CommandExecutor> =>
  Stream.unwrapScoped(
    Effect.gen(function*() {
      // Node 22 warns that its SQLite is experimental.
      const command = Command.make(execPath, "--disable-warning=ExperimentalWarning", program)
      const request = yield* Schema.encode(Request)({ path: pathOf(options.source), query })
      const reader = yield* start(Command.feed(command, request))
      const explained = Effect.flatMap(Stream.mkString(Stream.decodeText(reader.stderr)), (text) =>
        Effect.fail(new ReaderEnded({ message: text.trim() === "" ? "the process that reads it ended before its last row" : text.trim() })))
      return reader.stdout.pipe(
        Stream.pipeThroughChannel(Ndjson.unpackSchema(Message)<PlatformError>()),
        Stream.concat(Stream.fromEffect(explained)),
        Stream.mapEffect((message) => ("error" in message ? Effect.fail(causeOf(message)) : Effect.succeed(message))),
        Stream.tap((message) =>
          "columns" in message ? Query.checkColumns(options, message.columns) : Effect.void
        ),
        Stream.takeWhile((message) =>
          "rows" in message || "columns" in message
        ),
        Stream.mapConcat((message) => "rows" in message ? message.rows : [])
      )
    })
  ).pipe(Stream.mapError((cause) => new SqlError({ cause, message: "SQLite failed" })))

class ReaderEnded extends Data.TaggedError("ReaderEnded")<{ readonly message: string }> {}

type Failure = Extract<typeof Message.Type, { readonly error: unknown }>

const causeOf = (failure: Failure): Error => {
  switch (failure.error) {
    case "moreThanOne":
      return Query.moreThanOne
    case "noSelect":
      return Query.noSelect
    case "database":
      return Object.assign(new Error(failure.message), { code: failure.code })
  }
}

/** Both `sqlite:stock.db` and the form with slashes, `sqlite:///var/stock.db`. */
const pathOf = (source: string): string => source.replace(/^sqlite:(\/\/)?/i, "")
