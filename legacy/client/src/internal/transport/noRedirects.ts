/**
 * Prevents fetch from following redirects, which the document doesn't show. Fetch would convert a POST to a GET that succeeds, and
 * could send the key to another host. Other HTTP clients follow redirects only if the application configures it.
 *
 * @since 0.1.0
 */
import { RequestInit } from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/**
 * Returns a client that, on fetch, returns a redirect as the response. Keeps the other fields of the `RequestInit` in the context.
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
