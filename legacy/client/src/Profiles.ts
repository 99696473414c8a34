/**
 * Profiles and follows.
 *
 * @since 0.1.0
 */
import type { ProfileId, Username } from "@plaza-legacy/domain/Ids"
import type { Profile } from "@plaza-legacy/domain/Resources"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { FailureOf } from "./internal/contract/Contract.ts"
import { Operations } from "./internal/contract/Operations.ts"

/**
 * The account's own profile, profiles of other users, and follows.
 *
 * @example
 * import { Profiles } from "@plaza-legacy/client"
 * import { Username } from "@plaza-legacy/domain"
 * import { Effect } from "effect"
 *
 * const program = Effect.flatMap(Profiles, ({ find }) => find(Username.make("ana")))
 *
 * @since 0.1.0
 * @category services
 */
export class Profiles extends Context.Tag("@plaza-legacy/client/Profiles")<Profiles, {
  /**
   * Reads the account that owns the key.
   * Source: interface v1, "Endpoints", GET /me.
   */
  readonly me: Effect.Effect<Profile, FailureOf<"getMe">>
  /**
   * Reads a profile by its id. Fails with `NotFound` or `UserUnavailable` where the caller can't see the user.
   * Source: interface v1, "Endpoints", GET /users/{id}.
   */
  readonly get: (id: ProfileId) => Effect.Effect<Profile, FailureOf<"getUser">>
  /**
   * Reads a profile by its username. Fails with `NotFound` or `UserUnavailable` where the caller can't see the user.
   * Source: interface v1, "Endpoints", GET /users/by-username/{username}.
   */
  readonly find: (username: Username) => Effect.Effect<Profile, FailureOf<"getUserByUsername">>
  /**
   * Follows a user. Repeatable: the client sends the request again after an ambiguous failure. Assumed: a second follow changes
   * nothing.
   * Source: interface v1, "Endpoints", POST /users/{id}/follow.
   */
  readonly follow: (id: ProfileId) => Effect.Effect<void, FailureOf<"followUser">>
}>() {}

/** Creates the service of {@link Profiles} for `Plaza.layer`. @since 0.1.0 @category constructors */
export const make: Effect.Effect<Profiles["Type"], never, Operations> = Effect.map(Operations, ({ send }) => ({
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
export const layer: Layer.Layer<Profiles, never, Operations> = /*#__PURE__*/ Layer.effect(Profiles, make)
