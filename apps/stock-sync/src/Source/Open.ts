/**
 * From what `--source` says to a source: a file, what is piped in, an address, or a database. What only some of them need is loaded
 * with them. Knows nothing of what is done with the rows.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeStream from "@effect/platform-node/NodeStream"
import type { Row } from "@plaza/rows/Stock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Source, type SourceFailure } from "../Source.js"
import * as Address from "./Address.js"
import * as File from "./File.js"
import * as Rows from "./Rows.js"
import * as Share from "./Share.js"

/** @since 0.1.0 @category models */
export interface SourceOptions extends Rows.RowOptions {
  /** A path, `-`, or an address that begins with `http:`, `https:`, `postgres:`, `mysql:` or `sqlite:`. */
  readonly source: string
  /** What a database is asked. */
  readonly query?: string | undefined
  /** What is sent to an `http` address as `Authorization`. */
  readonly authorization?: Redacted.Redacted | undefined
  /** How often the source is looked at; a minute unless told. */
  readonly poll?: Duration.Duration | undefined
  /** For how long an address or a database may be silent. */
  readonly patience: Duration.Duration
  /** The share of bad rows, 0 to 1, beyond which nothing is taken. */
  readonly maxBadRows?: number | undefined
}

type Files = FileSystem.FileSystem | Path.Path

/**
 * The source of the options, as long as the scope lives.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: SourceOptions): Effect.Effect<Source["Type"], SourceFailure, Files | Scope.Scope> =>
  Effect.map(origin(options), (source) => ({
    ...source,
    open: (taken) => Effect.map(source.open(taken), Option.map((snapshot) => ({
      ...snapshot,
      rows: Share.bounded(source.name, options.maxBadRows)(snapshot.rows)
    })))
  }))

/** @since 0.1.0 @category layers */
export const layer = (options: SourceOptions): Layer.Layer<Source, SourceFailure, Files> => Layer.scoped(Source, make(options))

/**
 * The rows of a source as it is now.
 *
 * @since 0.1.0
 * @category streams
 */
export const open = (options: SourceOptions): Stream.Stream<Row, SourceFailure, Files> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const source = yield* make(options)
    const snapshot = yield* source.open(Option.none())
    return Option.match(snapshot, { onNone: () => Stream.empty, onSome: ({ rows }) => rows })
  }))

const origin = (told: SourceOptions): Effect.Effect<Source["Type"], SourceFailure, Files | Scope.Scope> => {
  const options = { ...told, poll: told.poll ?? Duration.minutes(1) }
  const { source } = options
  switch (Address.kindOf(source)) {
    case "stdin":
      return Effect.succeed(stdin(options))
    case "file":
      return File.make({ ...options, path: source })
    case "http":
      return Effect.flatMap(Effect.promise(() => import("./Http.js")), (module) => module.makeOnNode(options))
    case "postgres":
      return Effect.flatMap(Effect.promise(() => import("./Sql/Postgres.js")), (module) => module.make(options))
    case "mysql":
      return Effect.flatMap(Effect.promise(() => import("./Sql/Mysql.js")), (module) => module.make(options))
    case "sqlite":
      return Effect.flatMap(Effect.promise(() => import("./Sql/Sqlite.js")), (module) => module.make(options))
  }
}

/** What is piped in: there is one reading of it, and nothing to wait for. */
const stdin = (options: SourceOptions): Source["Type"] => ({
  name: "stdin",
  open: () =>
    Effect.succeedSome({
      version: Option.none(),
      rows: Rows.rows(options.format ?? "csv", { ...options, source: "stdin" })(NodeStream.stdin)
    }),
  changes: Stream.empty
})
