/**
 * Stories. The interface documents that they can be created, and nothing else.
 *
 * @since 0.1.0
 */
import type { NewStory } from "@plaza/domain/Requests"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FailureOf } from "./internal/contract/Contract.js"
import { Operations } from "./internal/contract/Operations.js"

/** @since 0.1.0 @category services */
export class Stories extends Context.Tag("@plaza/client/Stories")<Stories, {
  /**
   * Creates a story from any JSON object and returns the JSON of the response, or `undefined` for an empty one: neither payload
   * nor response is documented. Once: an ambiguous failure ends in `OutcomeUnknown`, and the client does not send again.
   * Source: interface v1, "Endpoints", gaps.
   */
  readonly create: (story: NewStory) => Effect.Effect<unknown, FailureOf<"createStory">>
}>() {}

/** @since 0.1.0 @category layers */
export const layer: Layer.Layer<Stories, never, Operations> = Layer.effect(
  Stories,
  Effect.map(Operations, ({ send }) => ({
    create: (story) => send("createStory", { payload: story }, { whenEmpty: () => undefined })
  }))
)
