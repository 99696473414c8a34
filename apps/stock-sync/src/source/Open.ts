/**
 * Opens the source that `--source` names: a file, standard input, an address or a database. Loads the modules of each kind on demand.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { SourceError } from "@plaza/tabular/SourceError"
import * as Clock from "effect/Clock"
import type { ConfigError } from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Path from "effect/Path"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Wording } from "../Wording.ts"
import * as File from "./File.ts"
import type { HttpOptions } from "./Http.ts"
import * as GraphqlQuery from "./http/GraphqlQuery.ts"
import * as LimitedSource from "./LimitedSource.ts"
import type { S3Options, S3Settings } from "./remote/S3.ts"
import type { SftpSettings } from "./remote/Sftp.ts"
import * as Rows from "./Rows.ts"
import * as ApplyRules from "./rules/ApplyRules.ts"
import * as Secrets from "./Secrets.ts"
import { isSettling, mapRows, Source, type SourceFailure, type SourceUnreachable, unreachable } from "./Source.ts"
import * as SourceUri from "./SourceUri.ts"
import type * as WholeFile from "./WholeFile.ts"

/** How servers of files are found and recognised. */
export interface RemoteSettings {
  readonly sftp: Pick<SftpSettings, "hostKeys" | "keyFile" | "knownHosts">
  readonly s3: Omit<S3Settings, "credentials">
}

/** What logs in to servers of files. */
export interface RemoteSecrets {
  readonly sftp: Omit<SftpSettings, "hostKeys" | "keyFile" | "knownHosts">
  readonly credentials?: S3Settings["credentials"]
}

export interface SourceOptions extends Rows.RowOptions {
  /** A path, `-`, or an address that begins with `http:`, `https:`, `sftp:`, `s3:`, `postgres:`, `mysql:` or `sqlite:`. */
  readonly source: string
  /** The query of a database: one SELECT. */
  readonly query?: string | undefined
  /** The `Authorization` header for an `http` address. */
  readonly authorization?: Redacted.Redacted | undefined
  /** More headers for an `http` address. */
  readonly headers?: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  /** The field that names the next page of an `http` address. */
  readonly next?: HttpOptions["next"]
  /** A file with a GraphQL query, which is sent by POST to an `http` address. */
  readonly graphql?: string | undefined
  readonly sftp?: RemoteSettings["sftp"] | undefined
  readonly s3?: RemoteSettings["s3"] | undefined
  readonly remoteSecrets?: RemoteSecrets | undefined
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
  readonly whileSettling?: WholeFile.FinishedOptions["whileSettling"]
}

type Files = FileSystem.FileSystem | Path.Path

const withDefaults = (options: SourceOptions) => ({
  ...options,
  poll: options.poll ?? Duration.minutes(1),
  settle: options.settle ?? Duration.seconds(5),
  unfinishedWait: options.unfinishedWait ?? Duration.minutes(1)
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
    case "sftp":
    case "s3":
      return { "url.full": SourceUri.shown(source) }
    case "postgres":
      return { "db.system.name": "postgresql" }
    case "mysql":
    case "sqlite":
      return { "db.system.name": kind }
  }
}

/** Opening a source and reading its rows are spans of their own: the consumer of the rows decides how long they are read. */
const traced = (source: Source["Service"], address: string): Source["Service"] => {
  const attributes = attributesOf(address)
  const withSpans = mapRows(source, Stream.withSpan("Source.rows", { attributes }))
  // A file that settles is no failure of its span.
  const open: Source["Service"]["open"] = (accepted) =>
    withSpans.open(accepted).pipe(
      Effect.map(Result.succeed),
      Effect.catchIf(isSettling, (failure) => Effect.succeed(Result.fail(failure))),
      Effect.withSpan("Source.open", { attributes }),
      Effect.flatMap(Effect.fromResult)
    )
  return { ...withSpans, open }
}

const load = <M, A, E, R>(module: () => Promise<M>, make: (module: M) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Effect.promise(module), make)

const loadHttp = () => import("./Http.ts")
const loadS3 = () => import("./remote/S3.ts")

/** How the sources that use HTTP are made. */
interface HttpSources<E, R> {
  readonly http: (options: HttpOptions) => Effect.Effect<Source["Service"], E, R>
  readonly s3: (options: S3Options) => Effect.Effect<Source["Service"], E, R>
}

/** The source of the options, until the scope closes. An address is read by a client of its own, for which a proxy variable may be invalid. */
export const make = (options: SourceOptions): Effect.Effect<Source["Service"], ConfigError | SourceFailure, Files | Scope.Scope> =>
  makeWith(options, {
    http: (http) => load(loadHttp, ({ makeOnNode }) => makeOnNode(http)),
    s3: (s3) => load(loadS3, ({ makeOnNode }) => makeOnNode(s3))
  })

/**
 * The source of the options. It holds no connection between two reads, and fails while its file settles instead of waiting for it. An
 * address is read by the client in the context.
 */
export const makeShared = (options: SourceOptions): Effect.Effect<Source["Service"], SourceFailure, Files | HttpClient.HttpClient> =>
  makeWith({ ...options, whileSettling: "fail" }, {
    http: (http) => load(loadHttp, (module) => module.make(http)),
    s3: (s3) => load(loadS3, (module) => module.make(s3))
  })

const makeWith = Effect.fnUntraced(function*<E, R>(given: SourceOptions, sources: HttpSources<E, R>) {
  const options = withDefaults(given)
  const origin = Secrets.hidden(yield* makeOrigin(options, sources), options)
  const source = options.rules === undefined ? origin : yield* ApplyRules.make(origin, { ...options, ...options.rules })
  return traced(LimitedSource.withRows(source), options.source)
})

const makeOrigin = <E, R>(
  options: ReturnType<typeof withDefaults>,
  sources: HttpSources<E, R>
): Effect.Effect<Source["Service"], E | SourceFailure, Files | R> => {
  const { graphql, remoteSecrets, source } = options
  const kind = SourceUri.kindOf(source)
  if (graphql !== undefined && kind !== "http") {
    return Effect.flatMap(Wording, ({ named, place }) => {
      const shown = SourceUri.display(source)
      const message = `${shown}: ${named("graphql")} needs an http: or https: address: correct ${place("source")}`
      return Effect.fail(new SourceError({ source: shown, line: undefined, message }))
    })
  }
  switch (kind) {
    case "stdin":
      return Effect.succeed(stdin(options))
    case "file":
      return File.make({ ...options, path: source })
    case "http":
      return graphql === undefined ? sources.http({ ...options, graphql }) : Effect.gen(function*() {
        const { named } = yield* Wording
        const query = yield* GraphqlQuery.ofFile(graphql, {
          items: options.items,
          accepted: yield* Rows.accepting(options),
          itemsSetting: named("items")
        })
        return yield* sources.http({ ...options, graphql: query })
      })
    case "sftp":
      return load(() => import("./remote/Sftp.ts"),
        (module) => module.make({ ...options, sftp: { ...options.sftp, ...remoteSecrets?.sftp } }))
    case "s3":
      return sources.s3({
        ...options,
        s3: options.s3 === undefined ? undefined : { ...options.s3, credentials: remoteSecrets?.credentials }
      })
    case "postgres":
      return load(() => import("./sql/Postgres.ts"), (module) => module.make(options))
    case "mysql":
      return load(() => import("./sql/Mysql.ts"), (module) => module.make(options))
    case "sqlite":
      return load(() => import("./sql/Sqlite.ts"), (module) => module.make(options))
  }
}

export const layer = (options: SourceOptions): Layer.Layer<Source, ConfigError | SourceFailure, Files> =>
  Layer.effect(Source, make(options))

// Between two looks at a file of a server that is not finished.
const checkOnServer = Duration.seconds(5)

/**
 * The source of the options for a single read. Waits for an unfinished file, up to `unfinishedWait` in all, and passes the reason of each
 * wait to `onWait`.
 */
export const makeWaiting = (
  options: SourceOptions,
  onWait: (reason: SourceUnreachable) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<Source["Service"], ConfigError | SourceFailure, Files | Scope.Scope> =>
  Effect.map(make(options), (source) => {
    const longest = Duration.toMillis(withDefaults(options).unfinishedWait)
    // A change of the file ends the wait. A server of files sends no notification of it.
    const changed = SourceUri.isFileOnServer(SourceUri.kindOf(options.source))
      ? Effect.sleep(checkOnServer)
      : Stream.runHead(source.changes)
    let lastReason: string | undefined
    const openUntil = (accepted: Option.Option<string>, until: number | undefined): ReturnType<Source["Service"]["open"]> =>
      Effect.catchTag(source.open(accepted), "SourceUnreachable", (failure) =>
        Effect.gen(function*() {
          if (failure.isUnfinished !== true || failure.retryAt === undefined) return yield* failure
          const now = yield* Clock.currentTimeMillis
          const end = until ?? now + longest
          const wait = Math.min(DateTime.toEpochMillis(failure.retryAt), end) - now
          if (wait <= 0) return yield* failure
          if (failure.message !== lastReason) yield* onWait(failure)
          lastReason = failure.message
          yield* Effect.raceFirst(Effect.sleep(wait), changed)
          return yield* openUntil(accepted, end)
        }))
    return { ...source, open: (accepted) => openUntil(accepted, undefined) }
  })

const cannotRead = (error: unknown) => unreachable("stdin", `it can't be read (${error instanceof Error ? error.message : String(error)})`)

/** Standard input can be read once and never changes. */
const stdin = (options: SourceOptions): Source["Service"] => {
  const format = options.format ?? "csv"
  return {
    name: "stdin",
    open: () =>
      Effect.succeedSome({
        version: Option.none(),
        unit: Rows.unitOf(format),
        excluded: new Set<string>(),
        // A pipe ends in the same way if its writer fails.
        rows: Rows.rows(format, { ...options, source: "stdin", needsLineEnd: true })(
          NodeStream.fromReadable({ evaluate: () => process.stdin, onError: cannotRead, closeOnDone: false })
        )
      }),
    changes: Stream.empty
  }
}
