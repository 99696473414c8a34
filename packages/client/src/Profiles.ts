/**
 * Profiles and follows.
 *
 * @since 0.1.0
 */
import type { ProfileId, Username } from "@plaza/domain/Ids"
import type { Profile } from "@plaza/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { CallFailure } from "./ClientError.ts"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { layerOf, Operations } from "./internal/contract/Operations.ts"

/**
 * The account's own profile, profiles of other users, and follows.
 *
 * @example
 * import { Profiles } from "@plaza/client"
 * import { Username } from "@plaza/domain"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Profiles, ({ find }) => find(Username.make("ana.ruiz")))
 * // => { id: "1002", username: "ana.ruiz" }
 *
 * @since 0.1.0
 * @category services
 */
export class Profiles extends Context.Service<Profiles, {
  /**
   * Reads the account that owns the key.
   * Source: interface v1, "Endpoints", GET /me.
   */
  readonly me: Effect.Effect<Profile, Profiles.MeFailure>
  /**
   * Reads a profile by its id. Fails with `NotFound` or `UserUnavailable` where the caller can't see the user.
   * Source: interface v1, "Endpoints", GET /users/{id}.
   */
  readonly get: (id: ProfileId) => Effect.Effect<Profile, Profiles.GetFailure>
  /**
   * Reads a profile by its username. Fails with `NotFound` or `UserUnavailable` where the caller can't see the user.
   * Source: interface v1, "Endpoints", GET /users/by-username/{username}.
   */
  readonly find: (username: Username) => Effect.Effect<Profile, Profiles.FindFailure>
  /**
   * Follows a user. Repeatable: the client sends the request again after an ambiguous failure. Assumed: a second follow changes
   * nothing.
   * Source: interface v1, "Endpoints", POST /users/{id}/follow.
   */
  readonly follow: (id: ProfileId) => Effect.Effect<void, Profiles.FollowFailure>
}>()("@plaza/client/Profiles") {}

/**
 * The failures of each operation.
 *
 * @since 0.1.0
 * @category models
 */
export declare namespace Profiles {
  /** The failures of `me`. */
  export type MeFailure = FailureOf<"getMe"> | CallFailure
  /** The failures of `get`. */
  export type GetFailure = FailureOf<"getUser"> | CallFailure
  /** The failures of `find`. */
  export type FindFailure = FailureOf<"getUserByUsername"> | CallFailure
  /** The failures of `follow`. */
  export type FollowFailure = FailureOf<"followUser"> | CallFailure
}

/** Creates the service of {@link Profiles} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Profiles["Service"], never, Operations> = Effect.map(Operations, ({ send }) => ({
  me: send("getMe", {}),
  get: (id) => send("getUser", { path: { id } }),
  find: (username) => send("getUserByUsername", { path: { username } }),
  follow: (id) => Effect.asVoid(send("followUser", { path: { id } }, { whenEmpty: () => undefined }))
}))

/**
 * The service {@link Profiles} alone, on `Plaza.layerOperations`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Profiles, never, Operations> = /*#__PURE__*/ layerOf(Profiles, make)
