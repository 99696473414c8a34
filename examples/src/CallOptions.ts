/**
 * Options of single calls and lists, instead of those of the layer.
 */
import { type ClientError, Plaza, Posts, Store } from "@plaza/client"
import { ProductId } from "@plaza/domain"
import { Effect, Schedule, Stream } from "effect"

/** One attempt, with a timeout of ten seconds. */
export const once = Effect.flatMap(Store, ({ setStock }) => setStock(ProductId.make("MUG-BLUE-350"), 3)).pipe(
  Plaza.withRetry(Schedule.recurs(0)),
  Plaza.withTimeout("10 seconds")
)

/** Three retries, after a lost connection only. The schedule's input is the failure. */
const afterLostConnections = Schedule.spaced("1 second").pipe(
  Schedule.upTo({ times: 3 }),
  Schedule.setInputType<ClientError.AttemptFailure>(),
  Schedule.while(({ input }) => input._tag === "ConnectionLost")
)

/** The options apply to every page of a list. */
export const texts = Stream.unwrap(Effect.map(Posts, (posts) => posts.list())).pipe(
  Plaza.withRetry(afterLostConnections),
  Plaza.withMaxWait("1 minute"),
  Stream.map(({ text }) => text)
)
