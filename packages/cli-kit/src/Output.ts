/** Writes results to standard output: one value or a list, as text or as JSON. Notes go to standard error. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type OutputError, Streams } from "./Streams.ts"
import type * as Table from "./Table.ts"
import * as Text from "./Text.ts"
import * as WriteOutcome from "./WriteOutcome.ts"

export interface Settings {
  /** One JSON value, or a JSON value a line for lists, instead of text. */
  readonly json: boolean
  /** Suppresses notes, but not results and failures. */
  readonly quiet: boolean
  /** The fields of a JSON object to write (default: all). */
  readonly fields?: ReadonlyArray<string> | undefined
}

/** Names and values of a result as text. */
export type Entries = ReadonlyArray<readonly [name: string, value: Table.Cell]>

export interface ListOptions {
  /** A note for a list without items, such as "There are no posts."; undefined if something else explains it. */
  readonly empty: string | undefined
  /** Wraps every write, for example to hide a progress bar. */
  readonly around?: (write: Effect.Effect<void, OutputError>) => Effect.Effect<void, OutputError>
}

export class Output extends Context.Service<
  Output,
  Settings & {
    /** Writes a value as JSON: on one line with `--json` or in a pipe, else indented. */
    readonly value: (value: unknown) => Effect.Effect<void, OutputError>
    /** Writes each item as one line of JSON, with back-pressure from the reader. */
    readonly ndjson: <A, E, R>(items: Stream.Stream<A, E, R>) => Effect.Effect<void, E | OutputError, R>
    /** Writes text unchanged and a line feed. Escape it with `Text.visible` first. */
    readonly text: (text: string) => Effect.Effect<void, OutputError>
    /** Writes one result: as JSON with `--json`, else its entries, a line each. */
    readonly one: (value: unknown, entries: Entries) => Effect.Effect<void, OutputError>
    /** Writes what was done: as JSON with `--json`, else as a sentence. */
    readonly done: (value: unknown, sentence: string) => Effect.Effect<void, OutputError>
    /** Writes a list: as NDJSON with `--json`, else as a table, both while items arrive. */
    readonly list: <A, E, R>(
      items: Stream.Stream<A, E, R>,
      columns: ReadonlyArray<Table.Column>,
      row: (item: A) => Table.Row,
      options: ListOptions
    ) => Effect.Effect<void, E | OutputError, R>
    /** Writes a whole table. */
    readonly table: (columns: ReadonlyArray<Table.Column>, rows: ReadonlyArray<Table.Row>) => Effect.Effect<void, OutputError>
    /** Writes a note to standard error, except with `--quiet`. Ignores a closed stream. */
    readonly note: (text: string) => Effect.Effect<void>
  }
>()("@plaza/cli-kit/Output") {}

const select = (fields: ReadonlyArray<string> | undefined) => (value: unknown): unknown =>
  fields === undefined || !Predicate.isObject(value)
    ? value
    : Object.fromEntries(fields.flatMap((name) => Object.hasOwn(value, name) ? [[name, value[name]]] : []))

// Loaded where something is laid out: help, JSON and most failures need no tables.
const table = Effect.promise(() => import("./Table.ts"))

/** Output to the streams. */
export const make = (settings: Settings): Effect.Effect<Output["Service"], never, Streams> =>
  Effect.map(Streams, ({ stderr, stdout }) => {
    const selected = select(settings.fields)
    const json: Output["Service"]["value"] = (value) =>
      stdout.write(`${Text.json(selected(value), settings.json || !stdout.isTerminal ? undefined : 2)}\n`)
    const note: Output["Service"]["note"] = (text) => settings.quiet ? Effect.void : Effect.ignore(stderr.write(`${Text.visible(text)}\n`))
    const ndjson: Output["Service"]["ndjson"] = (items) =>
      // One write for each chunk (a page of the list), not for each item.
      Stream.runForEachArray(items, (chunk) => stdout.write(chunk.map((item) => `${Text.json(selected(item))}\n`).join("")))
    return {
      ...settings,
      value: json,
      ndjson,
      text: (text) => stdout.write(`${text}\n`),
      one: (value, entries) =>
        settings.json
          ? json(value)
          : Effect.flatMap(table,
            ({ record }) => stdout.write(record(entries.filter(([, cell]) => cell !== undefined && cell !== null), stdout))),
      done: (value, sentence) =>
        Effect.andThen(WriteOutcome.done, settings.json ? json(value) : stdout.write(`${Text.visible(sentence)}\n`)),
      list: (items, columns, row, { around = (write) => write, empty }) => {
        if (settings.json) return ndjson(items)
        // The first chunk decides the layout, so that memory doesn't grow with the list.
        let layout: Table.Layout | undefined
        return Effect.flatMap(table, ({ layoutOf, lines }) =>
          Stream.runForEachArray(items, (chunk) => {
            const rows = chunk.map(row)
            const head = layout === undefined
            layout ??= layoutOf(columns, rows, stdout)
            return around(stdout.write(`${lines(columns, rows, stdout, { layout, head }).join("\n")}\n`))
          })).pipe(
            Effect.andThen(Effect.suspend(() => layout === undefined && empty !== undefined ? note(empty) : Effect.void))
          )
      },
      table: (columns, rows) =>
        rows.length === 0 ? Effect.void : Effect.flatMap(table, ({ render }) => stdout.write(render(columns, rows, stdout))),
      note
    }
  })

export const layer = (settings: Settings): Layer.Layer<Output, never, Streams> => Layer.effect(Output, make(settings))
