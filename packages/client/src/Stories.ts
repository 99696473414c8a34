/**
 * Stories. The interface documents only that an account can create them.
 *
 * @since 0.1.0
 */
import type { NewStory } from "@plaza/domain/Requests"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { CallFailure } from "./ClientError.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { layerOf, Operations } from "./internal/contract/Operations.ts"

/**
 * Creates stories.
 *
 * @since 0.1.0
 * @category services
 */
export class Stories extends Context.Service<Stories, {
  /**
   * Creates a story from any JSON object. Returns the JSON of the response, or `undefined` for an empty body, because the
   * document doesn't show the payload or the response. Once: the client doesn't send the request again after an ambiguous
   * failure, and the call fails with `OutcomeUnknown`.
   * Source: interface v1, "Endpoints", gaps.
   */
  readonly create: (story: NewStory) => Effect.Effect<unknown, Stories.CreateFailure>
}>()("@plaza/client/Stories") {}

/**
 * The failures of each operation.
 *
 * @since 0.1.0
 * @category models
 */
export declare namespace Stories {
  /** The failures of `create`. */
  export type CreateFailure = FailureOf<"createStory"> | CallFailure
}

/** Creates the service of {@link Stories} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Stories["Service"], never, Operations> = Effect.map(Operations, ({ send }) => ({
  create: (story) => send("createStory", { payload: story }, { whenEmpty: () => undefined })
}))

/**
 * The service {@link Stories} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Stories, never, Operations> = /*#__PURE__*/ layerOf(Stories, make)
