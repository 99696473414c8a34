/**
 * The ledger on Effect 3 as plain values and Promises, which is all that crosses between two versions of Effect. Imports neither, so that
 * both sides can import it.
 */

/** The same functions of one version of Effect. */
export interface Platform<Option, DateTime, Duration> {
  readonly isOption: (value: unknown) => value is Option
  readonly fromOption: (option: Option) => ReadonlyArray<unknown>
  readonly toOption: (values: ReadonlyArray<unknown>) => unknown
  readonly isDateTime: (value: unknown) => value is DateTime
  readonly fromDateTime: (time: DateTime) => number
  readonly toDateTime: (millis: number) => unknown
  readonly isDuration: (value: unknown) => value is Duration
  readonly fromDuration: (duration: Duration) => number
  readonly toDuration: (millis: number) => unknown
}

/** What stands for an option, a time or a duration. */
class Tagged {
  readonly kind: "DateTime" | "Duration" | "Option"
  readonly value: unknown
  constructor(kind: "DateTime" | "Duration" | "Option", value: unknown) {
    this.kind = kind
    this.value = value
  }
}

/** Maps the values of an object. Sets, maps and texts cross as they are. */
const each = (value: unknown, map: (value: unknown) => unknown): unknown =>
  Array.isArray(value)
    ? value.map(map)
    : typeof value === "object" && value !== null && !(value instanceof Set) && !(value instanceof Map)
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, map(field)]))
    : value

/** Converts values of one version of Effect to plain ones, and back. */
export const crossing = <Option, DateTime, Duration>(platform: Platform<Option, DateTime, Duration>) => {
  const toPlain = (value: unknown): unknown =>
    platform.isOption(value)
      ? new Tagged("Option", platform.fromOption(value).map(toPlain))
      : platform.isDateTime(value)
      ? new Tagged("DateTime", platform.fromDateTime(value))
      : platform.isDuration(value)
      ? new Tagged("Duration", platform.fromDuration(value))
      : each(value, toPlain)
  const fromPlain = (value: unknown): unknown => {
    if (!(value instanceof Tagged)) return each(value, fromPlain)
    if (Array.isArray(value.value)) return platform.toOption(value.value.map(fromPlain))
    return value.kind === "DateTime" ? platform.toDateTime(Number(value.value)) : platform.toDuration(Number(value.value))
  }
  return { toPlain, fromPlain }
}

/** A failure with a tag, and its fields. `Foreign`: of the rows, as they failed. */
export interface PlainError {
  readonly _tag: string
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly foreign?: unknown
}

export type Outcome<A> = { readonly _tag: "Success"; readonly value: A } | { readonly _tag: "Failure"; readonly error: PlainError }

/** An operation that ends, and cleans up, when the signal aborts. */
export type Interruptible<A> = (signal: AbortSignal) => Promise<A>

/** The clock of a test. */
export interface PlainClock {
  readonly now: () => number
  readonly monotonicNanos: () => bigint
  readonly sleep: (millis: number) => Interruptible<void>
}

export interface PlainLedger {
  readonly path: string
  /** Runs an operation without streams as arguments. A stream as result is an array. */
  readonly run: (operation: string, args: ReadonlyArray<unknown>) => Interruptible<Outcome<unknown>>
  readonly readSnapshot: (
    operation: "applySnapshot" | "previewSnapshot",
    input: unknown,
    policy: unknown,
    rows: AsyncIterable<ReadonlyArray<unknown>>
  ) => Interruptible<Outcome<unknown>>
  readonly countRequest: (request: Interruptible<void>) => Interruptible<Outcome<unknown>>
  readonly close: () => Promise<void>
}

export type PlainAccess = "layer" | "layerReadOnly" | "layerTemporaryCopy" | "layerWithoutLock"

export interface PlainLedgers {
  /** `rowsAhead`: a source with more rows is staged while it is read; undefined: the default. */
  readonly open: (
    place: string,
    access: PlainAccess,
    options: unknown,
    clock: PlainClock,
    rowsAhead: number | undefined
  ) => Interruptible<Outcome<PlainLedger>>
}
