/** A source whose rows end. One without an end, such as the mistake of a query, would fill the disk of the ledger. */
import * as SourceError from "@plaza-legacy/tabular/SourceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Source, type SourceFailure, SourceUnreachable } from "./Source.ts"

/** Ten times what a ledger is measured with. */
export const maxRows = 10_000_000

const inRows = (name: string, most: number) => <A, R>(rows: Stream.Stream<A, SourceFailure, R>): Stream.Stream<A, SourceFailure, R> =>
  Stream.suspend(() => {
    let count = 0
    return Stream.mapChunksEffect(rows, (chunk) => {
      count += chunk.length
      return count > most
        ? Effect.fail(
          SourceError.content(name, `it has more than ${most.toLocaleString("en")} rows, which is more likely a mistake than a shop`)
        )
        : Effect.succeed(chunk)
    })
  })

/** Fails a snapshot with more rows. */
export const withRows = (source: Source["Type"], most = maxRows): Source["Type"] => ({
  ...source,
  open: (accepted) =>
    Effect.map(source.open(accepted), Option.map((snapshot) => ({ ...snapshot, rows: inRows(source.name, most)(snapshot.rows) })))
})

/** Fails a snapshot that is not read to its end within a time. */
export const withTime = (source: Source["Type"], longest: Duration.Duration): Source["Type"] => {
  const tooLong = new SourceUnreachable({
    source: source.name,
    message: `${source.name}: its last row has not come within ${Duration.format(longest)}; no row of it was used`
  })
  return {
    ...source,
    open: (accepted) =>
      Effect.map(source.open(accepted), Option.map((snapshot) => ({
        ...snapshot,
        rows: Stream.interruptWhen(snapshot.rows, Effect.delay(Effect.fail(tooLong), longest))
      })))
  }
}
