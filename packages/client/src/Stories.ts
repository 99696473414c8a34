/**
 * Stories, of which the document shows no more than that they can be created.
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
   * Creates a story from any JSON object, and gives back whatever the service answers (`undefined` where that is
   * nothing): neither payload nor answer is documented, so nothing is checked here. Once: not sent again after an
   * ambiguous failure.
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
