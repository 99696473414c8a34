/**
 * The account that a key belongs to, as far as the service shows it. `GET /me` may omit the id, and may refuse a key that may only set
 * stock: then the base URL and the key identify the account.
 *
 * Source: interface v1, "Endpoints", GET /me and gaps; "Authentication".
 */
import { FailureScope, Plaza, Profiles } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** A 2xx whose body is no profile, such as one with a numeric id. */
const isUnreadableSuccess = (failure: Profiles.MeFailure): boolean =>
  failure._tag === "UnreadableSuccess" || (failure._tag === "UnrecognizedError" && failure.status >= 200 && failure.status < 300)

/** Requests the account's id once. Undefined: the service accepts the key and shows no id. */
export const ask: Effect.Effect<string | undefined, Profiles.MeFailure, Profiles> = Effect.flatMap(Profiles,
  ({ me }) =>
    Plaza.withRetry(Schedule.recurs(0))(me).pipe(
      Effect.map(({ id }): string | undefined => id),
      Effect.catchIf(isUnreadableSuccess, () => Effect.succeed(undefined))
    ))

/**
 * Probes whether the service accepts the account's requests. Fails only if the response shows that no product can be sent: a service
 * that fails for `GET /me` may still set stock.
 */
export const probe: Effect.Effect<unknown, Profiles.MeFailure, Profiles> = ask.pipe(
  Effect.catchIf(
    (failure) => !FailureScope.isAccountRefusal(failure) && FailureScope.of(failure)._tag !== "RateLimit",
    () => Effect.void
  ),
  Effect.withSpan("StockSync.probeAccount")
)
