/**
 * Keeps fetch from following redirects, which the interface does not mention: fetch would turn a POST into a GET that succeeds, and
 * send the key to another address. Other HTTP clients follow redirects only if the application configures it.
 *
 * @since 0.1.0
 */
import { RequestInit } from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * The client, which on fetch returns a redirect as the response. Keeps all else of the `RequestInit` in the context.
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
