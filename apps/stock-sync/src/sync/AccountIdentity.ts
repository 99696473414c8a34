/**
 * Whose store the key writes to, as far as the service shows it. `GET /me` may leave out the id, and a key that may only set
 * stock may be refused there: then the base address and the key stand for the account.
 *
 * Source: interface v1, "Endpoints", GET /me and gaps; "Authentication".
 */
import { FailureScope, Plaza, Profiles } from "@plaza/client"
import type { CircuitBreaker, FailureOf } from "@plaza/client"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"

/** `GET /me` is not there, so the base address is wrong. */
export class WrongAddress extends Data.TaggedError("WrongAddress")<{
  readonly message: string
}> {}

const wrongAddress = "there is no GET /me at PLAZA_BASE_URL, so it is not the address of the service: it ends with the version, such as " +
  "https://host/open/v1. Correct PLAZA_BASE_URL; nothing was sent"

/** A 2xx whose body does not have the form of a profile, such as one with a numeric id. */
const isUnreadableSuccess = (failure: FailureOf<"getMe">): boolean =>
  failure._tag === "UnreadableSuccess" || (failure._tag === "UnrecognizedError" && failure.status >= 200 && failure.status < 300)

/** Asks once for the account's id. Undefined: the key is accepted, and the response shows no id. */
export const ask: Effect.Effect<string | undefined, FailureOf<"getMe">, Profiles> = Effect.flatMap(Profiles,
  ({ me }) =>
    Plaza.withRetry(Schedule.stop)(me).pipe(
      Effect.map(({ id }): string | undefined => id),
      Effect.catchIf(isUnreadableSuccess, () => Effect.succeed(undefined))
    ))

/**
 * Fails only where the response shows that no product can be sent. Whether a service that fails for `GET /me` sets stock
 * is for a product to show.
 */
export const probe: Effect.Effect<unknown, FailureOf<"getMe">, Profiles> = Effect.catchIf(
  ask,
  (failure) => !FailureScope.isAccountRefusal(failure) && FailureScope.of(failure)._tag !== "RateLimit",
  () => Effect.void
)

/**
 * The account's id; undefined where the service does not show one. Asks until the service responds, unless the account is
 * known without it. Each failure goes to the circuit breaker, which says when to ask again.
 */
export const find = <Item>(
  breaker: CircuitBreaker.CircuitBreaker<Item>,
  isKnown: boolean,
  goOn: Effect.Effect<boolean>
): Effect.Effect<string | undefined, WrongAddress, Profiles> =>
  Effect.matchEffect(ask, {
    onSuccess: Effect.succeed<string | undefined>,
    onFailure: (failure) => {
      const scope = FailureScope.of(failure)._tag
      // Every service has GET /me: something else is at this address, or the service is about to be replaced.
      if (!isKnown && failure._tag === "UnrecognizedError" && failure.category === "NotFound")
        return new WrongAddress({
          message: wrongAddress
        })
      // A key without the scope for this is not shown the id, and will not be.
      if (scope !== "Service" && scope !== "RateLimit" && !FailureScope.isAccountRefusal(failure)) return Effect.succeed(undefined)
      if (isKnown && scope === "Service") return Effect.succeed(undefined)
      return breaker.recordProbe(failure).pipe(
        Effect.zipRight(goOn),
        Effect.flatMap((goesOn) => goesOn ? Effect.zipRight(breaker.acquire, find(breaker, isKnown, goOn)) : Effect.succeed(undefined))
      )
    }
  })
