/** The circuit breaker of the account's requests. It probes the account by `GET /me`, and publishes its state as that of the account. */
import { CircuitBreaker } from "@plaza/client"
import type { Profiles } from "@plaza/client"
import type { ProductId } from "@plaza/domain/Ids"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as AccountIdentity from "./AccountIdentity.ts"
import * as FailureEvent from "./FailureEvent.ts"
import { type AccountState, SyncStatus } from "./SyncStatus.ts"

export class AccountBreaker extends Context.Service<AccountBreaker, CircuitBreaker.CircuitBreaker<ProductId>>()(
  "@plaza/stock-sync/sync/AccountBreaker"
) {}

const accountState = (state: CircuitBreaker.State): Effect.Effect<AccountState> =>
  Effect.gen(function*() {
    if (state._tag === "Closed") return { _tag: "Running", since: state.since }
    const { reason, retryAt, since } = state
    const failure = yield* FailureEvent.make(reason === "ServiceFault" ? "service" : "account", state.failure)
    switch (reason) {
      case "Refused":
        return { _tag: "Paused", since, failure, nextProbe: retryAt }
      case "RateLimited":
        return { _tag: "Quota", since, failure, until: retryAt }
      case "ServiceFault":
        return { _tag: "Trouble", since, failure, nextTry: retryAt }
    }
  })

export const make: Effect.Effect<AccountBreaker["Service"], never, Profiles | SyncStatus> = Effect.flatMap(SyncStatus,
  (status) =>
    CircuitBreaker.make<ProductId, Profiles>({
      probe: AccountIdentity.probe,
      onState: (state) => Effect.flatMap(accountState(state), (account) => status.publish({ _tag: "AccountChanged", account }))
    }))
