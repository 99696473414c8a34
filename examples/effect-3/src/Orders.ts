/** A program on Effect 3 that calls the service by the SDK. */
import type { Failures, NewShipment, Order, Post } from "@plaza/sdk"
import { Effect, Stream } from "effect"
import { call, list, Plaza } from "./Plaza.ts"

/** Ships an order. The type has exactly the failures of the operation. */
export const ship = (id: string, shipment: NewShipment): Effect.Effect<Order, Failures["store"]["ship"], Plaza> =>
  Effect.flatMap(Plaza, ({ store }) => call((signal) => store.ship(id, shipment, { signal })))

/** Ships an order, and returns its state. A failure that concerns all orders stays an error. */
export const shipOrder = (id: string, shipment: NewShipment) =>
  ship(id, shipment).pipe(
    Effect.as("shipped" as const),
    // First, because a refusal can follow an attempt that shipped the order.
    Effect.catchIf((failure) => failure.mayHaveHappened, (failure) =>
      Effect.succeed(
        failure._tag === "OutcomeUnknown" && failure.likely === "done" ? "check the tracking number" as const : "check the order" as const
      )),
    Effect.catchIf((failure) => failure.category === "Conflict", () => Effect.succeed("already shipped" as const)),
    Effect.catchIf((failure) => failure.category === "NotFound", () => Effect.succeed("unknown order" as const))
  )

/** The posts of the account, page by page as the program consumes them. */
export const posts: Stream.Stream<Post, Failures["posts"]["list"], Plaza> = Stream.unwrap(
  Effect.map(Plaza, ({ posts }) => list(posts.list({ pageSize: 10 })))
)
