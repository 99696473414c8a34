/** Writes results to standard output: one value or a list, as text or as JSON. Notes go to standard error. */
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { type OutputError, Streams } from "./Streams.ts"
import * as Table from "./Table.ts"
import * as Text from "./Text.ts"

export interface Settings {
  /** One JSON value, or a JSON value a line for lists, instead of text. */
  readonly json: boolean
  /** Suppresses notes, but not results and failures. */
  readonly quiet: boolean
}

/** Names and values of a result as text. */
export type Entries = ReadonlyArray<readonly [name: string, value: Table.Cell]>

export class Output extends Context.Tag("@plaza-legacy/cli-kit/Output")<
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
      /** Wraps every write, for example to hide a progress bar. */
      around?: (write: Effect.Effect<void, OutputError>) => Effect.Effect<void, OutputError>
    ) => Effect.Effect<void, E | OutputError, R>
    /** Writes a whole table. */
    readonly table: (columns: ReadonlyArray<Table.Column>, rows: ReadonlyArray<Table.Row>) => Effect.Effect<void, OutputError>
    /** Writes a note to standard error, except with `--quiet`. Ignores a closed stream. */
    readonly note: (text: string) => Effect.Effect<void>
  }
>() {}

/** Output to the streams. */
export const make = (settings: Settings): Effect.Effect<Output["Type"], never, Streams> =>
  Effect.map(Streams, ({ stderr, stdout }) => {
    const json: Output["Type"]["value"] = (value) =>
      stdout.write(`${Text.json(value, settings.json || !stdout.isTerminal ? undefined : 2)}\n`)
    const ndjson: Output["Type"]["ndjson"] = (items) =>
      // One write for each chunk (a page of the list), not for each item.
      Stream.runForEachChunk(items,
        (chunk) =>
          Chunk.isEmpty(chunk) ? Effect.void : stdout.write(Chunk.toReadonlyArray(chunk).map((item) => `${Text.json(item)}\n`).join("")))
    return {
      ...settings,
      value: json,
      ndjson,
      text: (text) => stdout.write(`${text}\n`),
      one: (value, entries) =>
        settings.json ? json(value) : stdout.write(Table.record(entries.filter(([, cell]) => cell !== undefined && cell !== null), stdout)),
      done: (value, sentence) => settings.json ? json(value) : stdout.write(`${Text.visible(sentence)}\n`),
      list: (items, columns, row, around = (write) => write) => {
        if (settings.json) return ndjson(items)
        // The first chunk decides the widths, so that memory doesn't grow with the list.
        let widths: ReadonlyArray<number> | undefined
        return Stream.runForEachChunk(items, (chunk) => {
          if (Chunk.isEmpty(chunk)) return Effect.void
          const rows = Chunk.toReadonlyArray(chunk).map(row)
          const head = widths === undefined
          widths ??= stdout.isTerminal ? Table.widthsOf(columns, rows, stdout) : []
          return around(stdout.write(`${Table.lines(columns, rows, stdout, { widths, head }).join("\n")}\n`))
        })
      },
      table: (columns, rows) => rows.length === 0 ? Effect.void : stdout.write(Table.render(columns, rows, stdout)),
      note: (text) => settings.quiet ? Effect.void : Effect.ignore(stderr.write(`${Text.visible(text)}\n`))
    }
  })

export const layer = (settings: Settings): Layer.Layer<Output, never, Streams> => Layer.effect(Output, make(settings))
