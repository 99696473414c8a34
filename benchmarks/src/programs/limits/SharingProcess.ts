/** One of several processes that share an allowance through Postgres: sends as many requests as it may, until it is killed. */
import * as PgClient from "@effect/sql-pg/PgClient"
import * as RateLimit from "@plaza/client/RateLimit"
import * as RateLimitSql from "@plaza/client/RateLimitSql"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { onRequest } from "../ChildProtocol.ts"

export interface Task {
  readonly database: string
  /** Address of the service. */
  readonly address: string
  readonly limit: number
  readonly windowMillis: number
}

const waiting = 30

const send = ({ address, database, limit, windowMillis }: Task) =>
  Effect.gen(function*() {
    const rateLimit = yield* RateLimit.RateLimit
    const request = Effect.promise(() => fetch(address).then((response) => response.arrayBuffer()))
    yield* Effect.replicateEffect(Effect.forever(rateLimit.withSlot(Duration.minutes(10), request)), waiting, {
      concurrency: "unbounded",
      discard: true
    })
  }).pipe(Effect.provide(Layer.provide(
    RateLimitSql.layer({ name: "shared", limit, window: windowMillis }),
    PgClient.layer({ url: Redacted.make(database), maxConnections: 3 })
  )))

onRequest((request) => {
  // The cast is true: only the benchmark `shared` sends requests, and of this type.
  Effect.runFork(send(request as Task))
  return Promise.resolve()
})
