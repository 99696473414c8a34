/**
 * Stories. The interface documents only that an account can create them.
 *
 * @since 0.1.0
 */
import type { NewStory } from "@plaza-legacy/domain/Requests"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { Operations } from "./internal/contract/Operations.ts"

/**
 * Creates stories.
 *
 * @since 0.1.0
 * @category services
 */
export class Stories extends Context.Tag("@plaza-legacy/client/Stories")<Stories, {
  /**
   * Creates a story from any JSON object. Returns the JSON of the response, or `undefined` for an empty body, because the
   * document doesn't show the payload or the response. Once: the client doesn't send the request again after an ambiguous
   * failure, and the call fails with `OutcomeUnknown`.
   * Source: interface v1, "Endpoints", gaps.
   */
  readonly create: (story: NewStory) => Effect.Effect<unknown, FailureOf<"createStory">>
}>() {}

/** Creates the service of {@link Stories} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Stories["Type"], never, Operations> = Effect.map(Operations, ({ send }) => ({
  create: (story) => send("createStory", { payload: story }, { whenEmpty: () => undefined })
}))

/**
 * The service {@link Stories} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Stories, never, Operations> = /*#__PURE__*/ Layer.effect(Stories, make)
