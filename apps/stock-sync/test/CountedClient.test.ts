/** The requests that are counted in the ledger as they are sent. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import { LedgerFault } from "../src/ledger/LedgerError.ts"
import * as CountedClient from "../src/sync/CountedClient.ts"

const requests = {
  GET: HttpClientRequest.get("http://service/me"),
  PATCH: HttpClientRequest.patch("http://service/store/products/1/stock")
}

/** What happened, in order, when a client with a ledger sent a request. */
const sent = (method: keyof typeof requests, ledger: "open" | "failing" | "none") =>
  Effect.gen(function*() {
    const events: Array<string> = []
    const note = (event: string) => Effect.sync(() => void events.push(event))
    const http = HttpClient.make((request) => Effect.as(note("sent"), HttpClientResponse.fromWeb(request, new Response("{}"))))
    const counting: CountedClient.Counting = {
      countRequest: (request) =>
        ledger === "failing"
          ? Effect.fail(new LedgerFault({ path: "a.db", message: "the ledger a.db is locked" }))
          : Effect.acquireUseRelease(note("counted"), () => request, () => note("ended"))
    }
    const client = CountedClient.make(http, Effect.succeed(ledger === "none" ? Option.none() : Option.some(counting)))
    yield* Effect.catchTag(client.execute(requests[method]), "HttpClientError", ({ message }) => note(message))
    return events
  })

describe("a request", () => {
  it.effect("of the account is counted from before it is sent until it ends", () =>
    Effect.gen(function*() {
      expect(yield* sent("GET", "open")).toEqual(["counted", "sent", "ended"])
    }))

  it.effect("of a product is left to the ledger", () =>
    Effect.gen(function*() {
      expect(yield* sent("PATCH", "open")).toEqual(["sent"])
    }))

  it.effect("that can't be counted is not sent, and fails with the fault of the ledger", () =>
    Effect.gen(function*() {
      expect(yield* sent("GET", "failing")).toEqual([expect.stringContaining("the ledger a.db is locked")])
    }))

  it.effect("is sent while no ledger is open", () =>
    Effect.gen(function*() {
      expect(yield* sent("GET", "none")).toEqual(["sent"])
    }))
})
