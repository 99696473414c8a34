/**
 * Streams the rows of a query from Postgres, over one connection for each read, in a read-only transaction, by an SQL cursor. A read that
 * ends early cancels its query at the server, which would otherwise go on without its client. Uses the driver `pg`
 * (docs/decisions/017-database-sources-by-drivers.md).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import Pg from "pg"
import * as Query from "./Query.ts"

// The OID of the type `numeric`.
const numeric = 1700
// Rows per fetch: enough to make round trips cheap.
const batch = 1_000

export const make = (options: Query.QueryOptions) =>
  Query.makeInSessions(options, (mark) => Effect.try({ try: () => new Session(options, mark), catch: Query.failed }))

// Unique, so that the list of the server's sessions shows whose query runs.
const cursorOf = (mark: string): string => `stock_${mark}`

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

// The driver's clients have these properties.
const clientOf = (config: Pg.ClientConfig) => new Pg.Client(config) as Pg.Client & Untyped

/** A connection, which knows whether a statement runs. */
class Session implements Query.Session {
  private readonly options: Query.QueryOptions
  private readonly config: Pg.ClientConfig
  private readonly client: Pg.Client & Untyped
  private readonly cursor: string
  private running: Promise<unknown> | undefined
  /** The server may go on with a statement whose connection is lost. */
  private isLost = false

  constructor(options: Query.QueryOptions, mark: string) {
    this.options = options
    this.cursor = cursorOf(mark)
    const { source, timeout } = options
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
    return Effect.tryPromise({ try: () => this.client.connect(), catch: Query.failed })
  }

  rows(query: string) {
    return Effect.gen({ self: this }, function*() {
      // A server that refuses a limit reads without it.
      yield* this.run(`${begin}; ${limits(this.options.timeout)}`).pipe(Effect.catch(() => this.run(`ROLLBACK; ${begin}`)))
      // The extended protocol accepts one statement. The query of a cursor can only be a SELECT or VALUES without side effects in its
      // WITH: no COMMIT, SET, DO, CALL or COPY.
      const declare = { text: `DECLARE ${this.cursor} NO SCROLL CURSOR FOR ${query}`, queryMode: "extended" }
      yield* Effect.mapError(this.run(declare),
        (error) => error.cause instanceof Error && error.cause.message.includes("multiple commands") ? Query.moreThanOne : error)
      const fetch = Effect.gen({ self: this }, function*() {
        const { fields, rows } = yield* this.run(`FETCH ${batch} FROM ${this.cursor}`)
        // An empty result has columns as well.
        yield* Query.checkColumns(this.options, fields.map(({ name }) => name))
        return [rows, rows.length === 0 ? Option.none() : Option.some(undefined)] as const
      })
      return Stream.paginate(undefined, () => fetch)
    })
  }

  /** The list of sessions shows a user the statements of its own sessions. */
  endEarlier(mark: string) {
    const others = `pid <> pg_backend_pid() AND query LIKE '%${cursorOf(mark)}%' AND state <> 'idle'`
    return Effect.map(this.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`), ({ rows }) => rows.length)
  }

  get end(): Effect.Effect<void> {
    // Before that, the server has no query to cancel, and ends with the socket.
    if (this.client.processID === null) return Effect.void
    const { running } = this
    const settled = Effect.promise(() => Promise.resolve(running).then(() => undefined, () => undefined))
    // A cancellation that arrives before its statement has no effect.
    const cancelling = Effect.forever(Effect.andThen(this.cancel, Effect.sleep(Query.lookAgainAfter)))
    return (this.isLost ? this.cancel : running === undefined ? Effect.void : Effect.raceFirst(settled, cancelling)).pipe(
      Effect.andThen(Effect.promise(() => this.client.end()))
    )
  }

  get destroy() {
    return Effect.sync(() => void this.client.connection.stream.destroy())
  }

  mayRun(): boolean {
    return this.isLost || this.running !== undefined
  }

  private run(statement: string | Pg.QueryConfig) {
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
      catch: Query.failed
    })
  }

  /** Sends the request by which Postgres cancels a statement. It has a connection of its own, which is no session. */
  private get cancel() {
    return Effect.callback<void>((resume) => {
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
