/**
 * Streams the rows of a query from Postgres, over one connection for each read, in a read-only transaction, by an SQL cursor. A read that
 * ends early cancels its query at the server, which would otherwise go on without its client. Uses the driver itself, because Effect's
 * client sends a statement without parameters by the simple protocol, which runs several statements at once.
 */
import { SqlError } from "@effect/sql/SqlError"
import * as Chunk from "effect/Chunk"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { randomBytes } from "node:crypto"
import Pg from "pg"
import * as Query from "./Query.ts"

// The OID of the type `numeric`.
const numeric = 1700
// Rows per fetch: enough to make round trips cheap.
const batch = 1_000

export const make = (options: Query.QueryOptions) => {
  /** The cursor of a read whose query the server did not end. */
  let unended: string | undefined
  return Query.make(options, (query) =>
    Stream.unwrapScoped(
      Effect.gen(function*() {
        // Unique, so that the list of the server's sessions shows whose query runs.
        const cursor = `stock_${randomBytes(8).toString("hex")}`
        const session = yield* Effect.acquireRelease(
          Effect.try({ try: () => new Session(options), catch: failed }),
          (opened) => Effect.map(opened.end, (isEnded) => isEnded ? undefined : unended = cursor)
        )
        yield* session.connect
        if (unended !== undefined) yield* awaitEnd(session, unended)
        unended = undefined
        // A server that refuses a limit reads without it.
        yield* Effect.orElse(session.run(`${begin}; ${limits(options.timeout)}`), () => session.run(`ROLLBACK; ${begin}`))
        // The extended protocol accepts one statement. The query of a cursor can only be a SELECT or VALUES without side effects in its
        // WITH: no COMMIT, SET, DO, CALL or COPY.
        const declare = { text: `DECLARE ${cursor} NO SCROLL CURSOR FOR ${query}`, queryMode: "extended" }
        yield* Effect.mapError(session.run(declare), ({ cause }) => failed(explained(cause)))
        return Stream.repeatEffectChunkOption(
          session.run(`FETCH ${batch} FROM ${cursor}`).pipe(
            // An empty result has columns as well.
            Effect.tap(({ fields }) => Effect.mapError(Query.checkColumns(options, fields.map(({ name }) => name)), failed)),
            Effect.mapBoth({ onFailure: Option.some, onSuccess: ({ rows }) => Chunk.unsafeFromArray(rows) }),
            Effect.filterOrFail(Chunk.isNonEmpty, () => Option.none())
          )
        )
      })
    ))
}

const begin = "BEGIN TRANSACTION READ ONLY"

/** The largest value of a setting in milliseconds. */
const longestSetting = 2_147_483_647

/**
 * Limits at the server, for a worker that can't cancel: one that was killed, or whose network is gone. They hold for the transaction, also
 * behind a connection pooler, and replace no shorter limit of the database.
 */
const limits = (timeout: Duration.Duration): string => {
  const limit = (name: string, millis: number) => {
    const value = Math.min(Math.ceil(millis), longestSetting)
    return `SELECT set_config(name, '${value}', true) FROM pg_settings WHERE name = '${name}' AND setting::bigint NOT BETWEEN 1 AND ${value}`
  }
  return [
    // More than the read waits for a fetch, so that its own message is the one that people read.
    limit("statement_timeout", Duration.toMillis(timeout) + 5_000),
    // From version 14 on the server looks whether its client is still there. Earlier ones have no such setting, and no row.
    limit("client_connection_check_interval", 2_000)
  ].join("; ")
}

/** What the driver has and its types lack. */
interface Untyped {
  readonly connection: Pg.Connection & {
    readonly connect: (port: number | string, host?: string) => void
    readonly requestSsl: () => void
    readonly cancel: (processId: number, secretKey: number) => void
  }
  /** Null before the server has accepted the user. */
  readonly processID: number | null
  readonly secretKey: number | null
  readonly sslNegotiation: string
}

const clientOf = (config: Pg.ClientConfig) => new Pg.Client(config) as Pg.Client & Untyped

/** A connection, which knows whether a statement runs. */
class Session {
  private readonly config: Pg.ClientConfig
  private readonly client: Pg.Client & Untyped
  private running: Promise<unknown> | undefined
  /** The server may go on with a statement whose connection is lost. */
  private isLost = false

  constructor({ source, timeout }: Query.QueryOptions) {
    this.config = {
      // What the address says replaces the other settings, except in its `options`, which the server reads before the others.
      connectionString: source,
      ...(/[?&]options=[^&]*application_name/i.test(source)
        ? {}
        : { application_name: Query.applicationName, fallback_application_name: Query.applicationName }),
      connectionTimeoutMillis: Duration.toMillis(timeout),
      // As the text of Postgres, so that no digit is lost.
      types: { getTypeParser: (type: number) => (type === numeric ? Query.plain : (text: string) => text) }
    }
    this.client = clientOf(this.config)
    // The query reports the error; without a listener it would also end the process.
    this.client.on("error", () => undefined)
  }

  get connect() {
    return Effect.tryPromise({ try: () => this.client.connect(), catch: failed })
  }

  run(statement: string | Pg.QueryConfig) {
    return Effect.tryPromise({
      try: () => {
        const result = this.client.query<Record<string, unknown>>(statement)
        this.running = result
        const ended = (error?: unknown) => {
          this.running = undefined
          this.isLost = error !== undefined && !(error instanceof Pg.DatabaseError)
        }
        result.then(() => ended(), ended)
        return result
      },
      catch: failed
    })
  }

  /** Cancels the running statement and closes the connection. Whatever the server does, both end soon. Returns whether the query has ended. */
  get end(): Effect.Effect<boolean> {
    // Before that, the server has no query to cancel, and ends with the socket.
    if (this.client.processID === null) return Effect.as(this.destroy, true)
    const { running } = this
    const settled = Effect.promise(() => Promise.resolve(running).then(() => undefined, () => undefined))
    // A cancellation that arrives before its statement has no effect.
    const cancelling = Effect.forever(Effect.zipRight(this.cancel, Effect.sleep(Query.lookAgainAfter)))
    return (this.isLost ? this.cancel : running === undefined ? Effect.void : Effect.raceFirst(settled, cancelling)).pipe(
      Effect.zipRight(Effect.promise(() => this.client.end())),
      Effect.interruptible,
      Effect.timeoutOption(Query.endWithin),
      Effect.ensuring(this.destroy),
      Effect.map(() => !this.isLost && this.running === undefined)
    )
  }

  private get destroy() {
    return Effect.sync(() => void this.client.connection.stream.destroy())
  }

  /** Sends the request by which Postgres cancels a statement. It has a connection of its own, which is no session. */
  private get cancel() {
    return Effect.async<void>((resume) => {
      const { processID, secretKey } = this.client
      const { connection, host, port, ssl, sslNegotiation } = clientOf(this.config)
      const done = () => resume(Effect.void)
      connection.on("error", done)
      connection.once("end", done)
      if (ssl && sslNegotiation !== "direct") connection.once("connect", () => connection.requestSsl())
      connection.once(ssl ? "sslconnect" : "connect", () => {
        if (processID !== null && secretKey !== null) connection.cancel(processID, secretKey)
      })
      if (host.startsWith("/")) connection.connect(`${host}/.s.PGSQL.${port}`)
      else connection.connect(port, host)
      return Effect.sync(() => void connection.stream.destroy())
    })
  }
}

/** Ends the session with this cursor. The list of sessions shows a user the statements of its own sessions. */
const awaitEnd = (session: Session, cursor: string) =>
  session.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND query LIKE '%${cursor}%' AND state <> 'idle'`
  ).pipe(
    Effect.flatMap(({ rows }) => rows.length === 0 ? Effect.void : Effect.fail(failed(Query.stillRuns))),
    Effect.retry(Query.whileItRuns)
  )

const failed = (cause: unknown): SqlError => new SqlError({ cause, message: "Postgres failed" })

const explained = (cause: unknown): unknown =>
  cause instanceof Error && cause.message.includes("multiple commands") ? Query.moreThanOne : cause
