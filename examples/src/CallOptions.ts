/**
 * Options of single calls and lists, instead of those of the layer.
 */
import { type ClientError, Plaza, Posts, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Effect, Schedule, Stream } from "effect"

/** One attempt, of ten seconds at most. */
export const once = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("MUG-BLUE-350"), 3)).pipe(
  Plaza.withRetry(Schedule.stop),
  Plaza.withTimeout("10 seconds")
)

/** Another attempt after a lost connection only, three times. The schedule's input is the failure. */
const afterLostConnections = Schedule.spaced("1 second").pipe(
  Schedule.intersect(Schedule.recurs(3)),
  Schedule.whileInput((failure: ClientError.AttemptFailure) => failure._tag === "ConnectionLost")
)

/** The options hold for every page of a list. */
export const texts = Stream.unwrap(Effect.map(Posts, (posts) => posts.list())).pipe(
  Plaza.withRetry(afterLostConnections),
  Plaza.withMaxWait("1 minute"),
  Stream.map(({ text }) => text)
)
