/**
 * Keeps fetch from following redirects, which the interface does not mention: fetch would turn a POST into a GET that
 * responds with 200, and send the key to another address. The other clients follow redirects only where the application asks
 * for it, which stays as it is.
 *
 * @since 0.1.0
 */
import { RequestInit } from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * The client, which on fetch hands a redirect on as the answer that it is. What else is told to fetch by a `RequestInit`
 * around this is kept.
 *
 * @since 0.1.0
 * @category combinators
 */
export const noRedirects = (client: HttpClient.HttpClient): Effect.Effect<HttpClient.HttpClient> =>
  Effect.map(Effect.serviceOption(RequestInit), (own) =>
    HttpClient.transformResponse(
      client,
      Effect.provideService(RequestInit, { ...Option.getOrUndefined(own), redirect: "manual" })
    ))
