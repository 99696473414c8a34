/**
 * Counts in the ledger, attempt by attempt, the requests that concern no product, so that the next process of the key knows them all. The
 * ledger itself counts those of products.
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as Option from "effect/Option"
import type { Ledger } from "../ledger/Ledger.ts"

export type Counting = Pick<Ledger["Service"], "countRequest">

/** A request that the ledger can't count fails before it is sent. Without a ledger none is counted. */
export const make = (
  client: HttpClient.HttpClient,
  ledger: Effect.Effect<Option.Option<Counting>>
): HttpClient.HttpClient =>
  HttpClient.transform(client, (response, request) =>
    request.method === "PATCH" ? response : Effect.flatMap(
      ledger,
      Option.match({
        onNone: () => response,
        onSome: ({ countRequest }) =>
          Effect.catchTag(
            countRequest(response),
            "LedgerFault",
            (fault) =>
              Effect.fail(
                new HttpClientError.HttpClientError({
                  reason: new HttpClientError.TransportError({ request, cause: fault, description: fault.message })
                })
              )
          )
      })
    ))
