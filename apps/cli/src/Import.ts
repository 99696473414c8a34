/**
 * Runs an import: reads and validates the whole file, finds its journal, sends the rows and reports the result.
 * Independent of the command line.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { Explained, UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import { Progress } from "@plaza/cli-kit/Progress"
import type * as Format from "@plaza/tabular/Format"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Path from "node:path"
import type { Client } from "./Connection.js"
import * as Ending from "./Import/Ending.js"
import { type Item, type Kind, orders, stock } from "./Import/Item.js"
import * as Journal from "./Import/Journal.js"
import * as Leftovers from "./Import/Leftovers.js"
import * as Pace from "./Import/Pace.js"
import * as Place from "./Import/Place.js"
import * as Read from "./Import/Read.js"
import * as Run from "./Import/Run.js"

export const kinds: Readonly<Record<Kind["name"], Kind>> = { orders, stock }

export interface Options {
  readonly kind: Kind
  /** A path, or `-` for standard input. */
  readonly file: string
  readonly format: Format.Format | undefined
  readonly delimiter: string | undefined
  /** Sends nothing; reports what would be sent. */
  readonly dryRun: boolean
  /** Ignores what earlier runs did. */
  readonly again: boolean
  /** The file for failed rows (default: beside the journal). */
  readonly report: string | undefined
  readonly concurrency: number
}

/** The services of the client that an import needs. */
export type ImportClient = Pick<Client, "profiles" | "rateLimit" | "settings" | "store">

/** Checks the report path before anything is sent. */
const checkReport = (file: string, report: string | undefined) =>
  Effect.gen(function*() {
    if (report === undefined) return
    const fs = yield* FileSystem.FileSystem
    if (file !== "-" && Path.resolve(file) === Path.resolve(report)) {
      return yield* new UsageError({ message: `--report would write over ${file}, which is imported: name another file` })
    }
    yield* fs.access(Path.dirname(Path.resolve(report)), { writable: true })
  })

const isInPlace = (past: Journal.Past) => ({ id }: Item): boolean => Journal.isSettled(past.of(id))

const dryRun = (options: Options, items: ReadonlyArray<Item>, past: Journal.Past) =>
  Effect.gen(function*() {
    const output = yield* Output
    const { columns } = options.kind
    const [wanted, inPlace] = [items.filter((item) => !isInPlace(past)(item)), items.filter(isInPlace(past))]
    const doubtful = wanted.filter(({ id }) => past.of(id) === "doubtful").length
    if (output.json) {
      const send = wanted.map(({ cells }) => Object.fromEntries(columns.map((column, index) => [column, cells[index]])))
      return yield* output.value({ import: options.kind.name, dryRun: true, rows: items.length, inPlace: inPlace.length, doubtful, send })
    }
    yield* output.list(Stream.fromIterable(wanted), columns.map((head) => ({ head })), ({ cells }) => cells)
    yield* output.note(
      `${wanted.length} of ${items.length} rows would be sent, and ${inPlace.length} are in place since an earlier run.` +
        (doubtful === 0 ? "" : ` Of ${doubtful} it isn't known whether they were sent already.`)
    )
  })

/** A progress bar. The time left comes from the rate limit, because rows are sent in bursts. */
const watch = (kind: Kind, rows: number, { settings }: ImportClient, tally: Run.Tally) =>
  Effect.gen(function*() {
    const progress = yield* Progress
    const bar = yield* progress.bar({ label: `Importing ${kind.name}`, total: rows, estimate: false })
    const begun = yield* Clock.currentTimeMillis
    const allowance = { limit: settings.rateLimit, windowMillis: Duration.toMillis(settings.rateWindow) }
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const done = tally.sent + tally.already.length + tally.unverified.length + tally.failed.length
      return Effect.zipRight(bar.set(done), bar.status(Pace.words(rows, done, tally.failed.length, now - begun, allowance)))
    })
  })

/**
 * The account that owns the journals, so that all keys of an account continue each other's imports. A key that can't read its account,
 * or whose account has neither id nor username, continues only its own imports.
 */
const accountOf = ({ profiles, settings: { apiKey } }: ImportClient) => {
  const byKey = `key ${Place.digest([Redacted.value(apiKey)])}`
  return profiles.me.pipe(
    Effect.map(({ id, username }) => id !== undefined ? `account ${id}` : username !== undefined ? `username ${username}` : byKey),
    Effect.catchTag("InsufficientScope", () => Effect.succeed(byKey))
  )
}

/** Removes the journals of imports that this one partly overwrites, because they are no longer true. */
const supersede = (items: ReadonlyArray<Item>, place: Place.Place) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    for (const path of yield* Place.others(place)) {
      const past = yield* Journal.read(path)
      if (items.some(({ id }) => past.of(id) !== "open")) yield* fs.remove(path)
    }
  })

const noteInPlace = (rows: number, past: Journal.Past) =>
  Effect.flatMap(Output, ({ note }) => {
    const since = Option.match(past.last, { onNone: () => "", onSome: (last) => ` since ${last.toISOString()}` })
    return note(
      rows === 0
        ? "There are no rows, and nothing is sent."
        : `Everything is in place${since}, and nothing is sent. What has changed at the service since then isn't known here: --again sends it anew.`
    )
  })

/** Imports a file. Its failure says how to continue. */
export const run = (options: Options, client: ImportClient) =>
  Effect.gen(function*() {
    const { file, kind } = options
    const fs = yield* FileSystem.FileSystem
    const output = yield* Output
    yield* checkReport(file, options.report)
    const items = yield* Read.items(kind, { ...options, json: output.json })
    const place = yield* Place.of({ kind, items, baseUrl: client.settings.baseUrl, account: yield* accountOf(client) })
    if (options.dryRun) return yield* dryRun(options, items, options.again ? Journal.nothing : yield* Journal.read(place.journal))

    yield* Effect.mapError(
      fs.makeDirectory(place.folder, { recursive: true, mode: 0o700 }),
      (error) => new Explained({ cause: error, advice: "An import needs a folder for its journal: set XDG_STATE_HOME to another folder." })
    )
    const { hold } = yield* Effect.promise(() => import("./Import/Lock.js"))
    yield* hold(place)
    yield* Effect.ignore(Place.prune(place))
    if (options.again) yield* fs.remove(place.journal, { force: true })
    const journal = yield* Journal.open(place.journal)
    const inPlace = items.filter(isInPlace(journal.past)).length
    const tally = Run.nothing()
    const report = options.report ?? place.report
    const summary = () => Ending.summary(kind, items.length, inPlace, tally, tally.failed.length === 0 ? undefined : report)
    const save = Effect.suspend(() =>
      tally.failed.length > 0
        ? Leftovers.save(report, kind, tally.failed)
        // Removes the report of an earlier run, whose rows are confirmed by now. A file that the user named stays.
        : fs.remove(place.report, { force: true })
    )
    const reportInterruption = Effect.suspend(() => output.json ? output.value(summary()) : output.note(Ending.resumption(summary())))

    if (inPlace === items.length) yield* noteInPlace(items.length, journal.past)
    else {
      if (kind.overwrites) yield* supersede(items, place)
      yield* Effect.flatMap(watch(kind, items.length - inPlace, client, tally),
        (onRow) => Run.run({ items, journal, tally, onRow, client, concurrency: options.concurrency })).pipe(
          // Removes the bar before other output.
          Effect.scoped,
          Effect.mapError((error) => new Explained({ cause: error, advice: Ending.resumption(summary()) })),
          Effect.onInterrupt(() => Effect.ignore(Effect.zipRight(save, reportInterruption)))
        )
    }
    yield* save
    const result = summary()
    yield* output.done(result, Ending.sentence(result))
    const failure = Ending.failureOf(result, tally)
    if (failure !== undefined) return yield* failure
  }).pipe(Effect.scoped)
