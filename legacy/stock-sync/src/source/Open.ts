/**
 * Opens the source that `--source` names: a file, standard input, an address or a database. Loads the modules of each kind on demand.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Clock from "effect/Clock"
import type { ConfigError } from "effect/ConfigError"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as ApplyRules from "./ApplyRules.ts"
import * as File from "./File.ts"
import * as LimitedSource from "./LimitedSource.ts"
import * as Rows from "./Rows.ts"
import { Source, type SourceFailure, type SourceUnreachable } from "./Source.ts"
import * as SourceUri from "./SourceUri.ts"

export interface SourceOptions extends Rows.RowOptions {
  /** A path, `-`, or an address that begins with `http:`, `https:`, `postgres:`, `mysql:` or `sqlite:`. */
  readonly source: string
  /** The query of a database: one SELECT. */
  readonly query?: string | undefined
  /** The `Authorization` header for an `http` address. */
  readonly authorization?: Redacted.Redacted | undefined
  /** More headers for an `http` address. */
  readonly headers?: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  /** How often the source is read (default: 1 minute). */
  readonly poll?: Duration.Duration | undefined
  /** How long an address or a database may be silent. */
  readonly timeout: Duration.Duration
  /** How long a file must stay unchanged before it is read (default: 5 seconds). */
  readonly settle?: Duration.Duration | undefined
  /** Max wait for an unfinished file (default: 1 minute). */
  readonly unfinishedWait?: Duration.Duration | undefined
  /** A file that the writer creates or touches after the source file. */
  readonly doneMarker?: string | undefined
  readonly rules?: ApplyRules.RuleOptions | undefined
}

type Files = FileSystem.FileSystem | Path.Path

const defaultPoll = Duration.minutes(1)
const defaultSettle = Duration.seconds(5)
const defaultUnfinishedWait = Duration.minutes(1)

const finished = (options: SourceOptions) => ({
  settle: options.settle ?? defaultSettle,
  unfinishedWait: options.unfinishedWait ?? defaultUnfinishedWait
})

// Names of the OpenTelemetry semantic conventions.
const attributesOf = (source: string): Readonly<Record<string, string>> => {
  const kind = SourceUri.kindOf(source)
  switch (kind) {
    case "stdin":
      return {}
    case "file":
      return { "file.path": source }
    case "http":
      return { "url.full": SourceUri.shown(source) }
    case "postgres":
      return { "db.system.name": "postgresql" }
    case "mysql":
    case "sqlite":
      return { "db.system.name": kind }
  }
}

/** Opening a source and reading its rows are spans of their own: the consumer of the rows decides how long they are read. */
const traced = (name: string, source: Source["Type"]): Source["Type"] => {
  const attributes = attributesOf(name)
  return {
    ...source,
    open: (accepted) =>
      source.open(accepted).pipe(
        Effect.map(Option.map((snapshot) => ({ ...snapshot, rows: Stream.withSpan(snapshot.rows, "Source.rows", { attributes }) }))),
        Effect.withSpan("Source.open", { attributes })
      )
  }
}

/** The source of the options, until the scope closes. An address is read by a client of its own, for which a proxy variable may be invalid. */
export const make = (options: SourceOptions): Effect.Effect<Source["Type"], ConfigError | SourceFailure, Files | Scope.Scope> =>
  makeFrom(options, (http) => Effect.flatMap(Effect.promise(() => import("./Http.ts")), (module) => module.makeOnNode(http)))

/** The source of the options. It holds no connection between two reads. An address is read by the given client. */
export const makeShared = (options: SourceOptions): Effect.Effect<Source["Type"], SourceFailure, Files | HttpClient.HttpClient> =>
  makeFrom(options, (http) => Effect.flatMap(Effect.promise(() => import("./Http.ts")), (module) => module.make(http)))

type Http<E, R> = (options: SourceOptions & { readonly poll: Duration.Duration }) => Effect.Effect<Source["Type"], E, R>

const makeFrom = <E, R>(options: SourceOptions, http: Http<E, R>): Effect.Effect<Source["Type"], E | SourceFailure, Files | R> =>
  origin(options, http).pipe(
    Effect.flatMap((source) =>
      options.rules === undefined ? Effect.succeed(source) : ApplyRules.make(source, { ...options.rules, ...finished(options) })
    ),
    Effect.map((source) => traced(options.source, LimitedSource.withRows(source)))
  )

export const layer = (options: SourceOptions): Layer.Layer<Source, ConfigError | SourceFailure, Files> =>
  Layer.scoped(Source, make(options))

/**
 * The source of the options for a single read. Waits up to `unfinishedWait` for a source that says when it is ready, such as an unfinished
 * file, and passes the reason of each wait to `onWait`.
 */
export const makeWaiting = (
  options: SourceOptions,
  onWait: (reason: SourceUnreachable) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<Source["Type"], ConfigError | SourceFailure, Files | Scope.Scope> =>
  Effect.map(make(options), (source) => {
    const longest = Duration.toMillis(finished(options).unfinishedWait)
    // A change of the file ends the wait. A server has named the time.
    const changed = SourceUri.kindOf(options.source) === "file" ? Stream.runHead(source.changes) : Effect.never
    const open: Source["Type"]["open"] = (accepted) =>
      Effect.catchTag(source.open(accepted), "SourceUnreachable", (failure) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const wait = failure.retryAt === undefined ? Infinity : DateTime.toEpochMillis(failure.retryAt) - now
          return wait > longest
            ? Effect.fail(failure)
            : onWait(failure).pipe(
              Effect.zipRight(Effect.raceFirst(Effect.sleep(Math.max(wait, 1)), changed)),
              Effect.zipRight(open(accepted))
            )
        }))
    return { ...source, open }
  })

/** The rows of the current snapshot of a source. */
export const open = (options: SourceOptions): Stream.Stream<Row, ConfigError | SourceFailure, Files> =>
  Stream.unwrapScoped(Effect.gen(function*() {
    const source = yield* makeWaiting(options)
    return Option.match(yield* source.open(Option.none()), { onNone: () => Stream.empty, onSome: ({ rows }) => rows })
  }))

const origin = <E, R>(given: SourceOptions, http: Http<E, R>): Effect.Effect<Source["Type"], E | SourceFailure, Files | R> => {
  const options = { ...given, ...finished(given), poll: given.poll ?? defaultPoll }
  const { source } = options
  switch (SourceUri.kindOf(source)) {
    case "stdin":
      return Effect.succeed(stdin(options))
    case "file":
      return File.make({ ...options, path: source })
    case "http":
      return http(options)
    case "postgres":
      return Effect.flatMap(Effect.promise(() => import("./sql/Postgres.ts")), (module) => module.make(options))
    case "mysql":
      return Effect.flatMap(Effect.promise(() => import("./sql/Mysql.ts")), (module) => module.make(options))
    case "sqlite":
      return Effect.flatMap(Effect.promise(() => import("./sql/Sqlite.ts")), (module) => module.make(options))
  }
}

/** Standard input can be read once and never changes. */
const stdin = (options: SourceOptions): Source["Type"] => {
  const format = options.format ?? "csv"
  return {
    name: "stdin",
    open: () =>
      Effect.succeedSome({
        version: Option.none(),
        unit: Rows.unitOf(format),
        excluded: new Set<string>(),
        // A pipe ends in the same way if its writer fails.
        rows: Rows.rows(format, { ...options, source: "stdin", needsLineEnd: true })(NodeStream.stdin)
      }),
    changes: Stream.empty
  }
}
