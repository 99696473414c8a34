/**
 * The account that a key belongs to, as far as the service shows it. `GET /me` may omit the id, and may refuse a key that may only set
 * stock: then the base URL and the key identify the account.
 *
 * Source: interface v1, "Endpoints", GET /me and gaps; "Authentication".
 */
import { FailureScope, Plaza, Profiles, type Settings as ClientSettings } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { createHash } from "node:crypto"
import type { Account } from "../ledger/Ledger.ts"

// Enough to tell keys apart, and too short to find the key.
const fingerprintLength = 16

/** The account by its settings. Only the service knows its id. */
export const accountOf = ({ apiKey, baseUrl }: Pick<ClientSettings.Settings["Service"], "apiKey" | "baseUrl">): Omit<Account, "id"> => ({
  baseUrl,
  keyFingerprint: createHash("sha256").update(Redacted.value(apiKey)).digest("hex").slice(0, fingerprintLength)
})

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
