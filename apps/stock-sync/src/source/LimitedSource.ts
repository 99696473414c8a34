/** A source whose rows end. One without an end, such as the mistake of a query, would fill the disk of the ledger. */
import * as SourceError from "@plaza/tabular/SourceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as MonotonicClock from "../sync/MonotonicClock.ts"
import { mapRows, type Source, unreachable } from "./Source.ts"

/** Ten times what a ledger is measured with. */
export const maxRows = 10_000_000

/** Fails a snapshot with more rows. */
export const withRows = (source: Source["Service"], most = maxRows): Source["Service"] =>
  mapRows(source, (rows) =>
    Stream.suspend(() => {
      let count = 0
      return Stream.mapArrayEffect(rows, (chunk) => {
        count += chunk.length
        return count > most
          ? Effect.fail(
            SourceError.content(source.name,
              `it has more than ${most.toLocaleString("en")} rows, which is more likely a mistake than a shop`)
          )
          : Effect.succeed(chunk)
      })
    }))

/** Fails a snapshot whose source takes longer than this until its last row. The time between two reads does not count. */
export const withTime = (source: Source["Service"], longest: Duration.Duration): Source["Service"] => {
  const tooLong = unreachable(source.name, `its last row has not come within ${Duration.format(longest)}`)
  return mapRows(source, (rows) =>
    Stream.transformPull(rows, (pull) =>
      Effect.sync(() => {
        let left = Duration.toMillis(longest)
        return Effect.flatMap(MonotonicClock.now, (startedAt) =>
          pull.pipe(
            Effect.timeoutOrElse({ duration: Duration.millis(Math.max(0, Math.ceil(left))), orElse: () => Effect.fail(tooLong) }),
            Effect.ensuring(Effect.map(MonotonicClock.now, (endedAt) => {
              left -= endedAt - startedAt
            }))
          ))
      })))
}
