/** The rows of a query from an SQLite file, which a process of its own reads (docs/decisions/042-sqlite-reader.md). */
import * as NodeCommandExecutor from "@effect/platform-node/NodeCommandExecutor"
import * as Command from "@effect/platform/Command"
import type { CommandExecutor } from "@effect/platform/CommandExecutor"
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Ndjson from "@effect/platform/Ndjson"
import { SqlError } from "@effect/sql/SqlError"
import type { SourceError } from "@plaza/tabular/SourceError"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { execPath } from "node:process"
import { fileURLToPath } from "node:url"
import * as Permits from "../../sync/Permits.js"
import type { Source } from "../Source.js"
import * as Query from "./Query.js"
import { Message, Request } from "./SqliteMessage.js"

// A bundle has the program of the reader beside its chunks; from the sources, it is that of the last build.
const program = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../../../dist/sqlite-reader.cjs" : "../sqlite-reader.cjs", import.meta.url)
)

// A process takes some 50 MB. Others wait, which their timeout does not include.
const readers = Permits.unsafeMake(4)

export const make = (options: Query.QueryOptions): Effect.Effect<Source["Type"], SourceError, FileSystem.FileSystem> =>
  Effect.gen(function*() {
    const executor = yield* Effect.context<CommandExecutor>().pipe(Effect.provide(NodeCommandExecutor.layer))
    const source = yield* Query.make(options, (query) => Stream.provideContext(rowsOf(options, query), executor))
    return {
      ...source,
      open: (accepted) =>
        Effect.map(
          source.open(accepted),
          Option.map((snapshot) => ({ ...snapshot, rows: Stream.unwrapScoped(Effect.as(readers.acquire, snapshot.rows)) }))
        )
    }
  })

const rowsOf = (options: Query.QueryOptions, query: string): Stream.Stream<unknown, SqlError, CommandExecutor> =>
  Stream.unwrapScoped(
    Effect.gen(function*() {
      const command = Command.make(execPath, program)
      const request = yield* Schema.encode(Request)({ path: pathOf(options.source), query })
      const reader = yield* Command.start(Command.feed(command, request))
      const explained = Effect.flatMap(Stream.mkString(Stream.decodeText(reader.stderr)), (text) =>
        Effect.fail(new ReaderEnded({ message: text.trim() === "" ? "the process that reads it ended before its last row" : text.trim() })))
      return reader.stdout.pipe(
        Stream.pipeThroughChannel(Ndjson.unpackSchema(Message)<PlatformError>()),
        Stream.concat(Stream.fromEffect(explained)),
        Stream.mapEffect((message) => ("error" in message ? Effect.fail(causeOf(message)) : Effect.succeed(message))),
        Stream.tap((message) => "columns" in message ? Query.checkColumns(options, message.columns) : Effect.void),
        Stream.takeWhile((message) => "rows" in message || "columns" in message),
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
