/** Identifies the account of the key and binds each opened ledger to it, before anything is sent. */
import { FailureScope, RateLimit } from "@plaza/client"
import type { Profiles } from "@plaza/client"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { type Account, clockTolerance, Ledger } from "../ledger/Ledger.ts"
import type { LedgerFault, OtherAccount } from "../ledger/LedgerError.ts"
import { Wording } from "../Wording.ts"
import { AccountBreaker } from "./AccountBreaker.ts"
import * as AccountIdentity from "./AccountIdentity.ts"
import { SyncStatus } from "./SyncStatus.ts"

/** There is no `GET /me` at the base URL, so the base URL is wrong. */
export class WrongAddress extends Data.TaggedError("WrongAddress")<{
  readonly message: string
}> {}

const wrongAddress = Effect.flatMap(Wording, ({ baseUrl }) =>
  new WrongAddress({
    message: `there is no GET /me at ${baseUrl}, so it is not the address of the service: it ends with the version, such as ` +
      `https://host/open/v1. Correct ${baseUrl}; nothing was sent`
  }))

export class AccountBinding extends Context.Service<AccountBinding, {
  /**
   * Binds the ledger to the account. The first time it also identifies the account, makes the rate limit count the requests of earlier
   * processes, and makes delayed products due. Identifying waits for the service, but stops when `mayContinue` is false: then the
   * ledger is not bound.
   */
  readonly bind: (mayContinue: Effect.Effect<boolean>) => Effect.Effect<void, LedgerFault | OtherAccount | WrongAddress, Ledger>
  /** The identified account; none before. */
  readonly identity: Effect.Effect<Option.Option<Account>>
}>()("@plaza/stock-sync/sync/AccountBinding") {}

/**
 * The account by its base URL and key. The service may show its id. With an earlier identity, the service is not asked and delayed
 * products stay delayed.
 */
export const make = (
  key: Omit<Account, "id">,
  earlier: Option.Option<Account>
): Effect.Effect<AccountBinding["Service"], never, AccountBreaker | Profiles | RateLimit.RateLimit | SyncStatus> =>
  Effect.gen(function*() {
    const breaker = yield* AccountBreaker
    const rateLimit = yield* RateLimit.RateLimit
    const status = yield* SyncStatus
    const profiles = yield* Effect.context<Profiles>()
    const isFirst = yield* Ref.make(true)
    const identified = yield* Ref.make(earlier)

    /** Requests the id until the service responds, or once if the account is known without it. The breaker spaces the requests. */
    const requestId = (
      isKnown: boolean,
      mayContinue: Effect.Effect<boolean>
    ): Effect.Effect<string | undefined, LedgerFault | WrongAddress, Ledger> =>
      Effect.matchEffect(Effect.provide(AccountIdentity.ask, profiles), {
        onSuccess: Effect.succeed<string | undefined>,
        onFailure: (failure) =>
          Effect.gen(function*() {
            const ledger = yield* Ledger
            const scope = FailureScope.of(failure)._tag
            // Every service has GET /me: another program is at this address, or the service is being replaced.
            if (!isKnown && failure._tag === "UnrecognizedError" && failure.category === "NotFound")
              return yield* wrongAddress
            // A key without the scope of GET /me never shows the id.
            if (scope !== "Service" && scope !== "RateLimit" && !FailureScope.isAccountRefusal(failure)) return undefined
            if (isKnown && scope === "Service") return undefined
            // A ledger that fails can't count requests, so none was sent.
            yield* ledger.requests
            yield* breaker.recordProbe(failure)
            if (!(yield* mayContinue)) return undefined
            yield* breaker.acquire
            return yield* requestId(isKnown, mayContinue)
          })
      })

    /** None if `mayContinue` became false. */
    const identify = Effect.fnUntraced(function*(mayContinue: Effect.Effect<boolean>) {
      const ledger = yield* Ledger
      const before = yield* Ref.get(identified)
      if (Option.isSome(before)) return before
      const known = Option.filter(
        yield* ledger.account,
        ({ baseUrl, keyFingerprint }) => baseUrl === key.baseUrl && keyFingerprint === key.keyFingerprint
      )
      const id = yield* requestId(Option.isSome(known), mayContinue)
      if (!(yield* mayContinue)) return Option.none()
      const account: Account = { ...key, id: id ?? Option.getOrUndefined(known)?.id }
      yield* Ref.set(identified, Option.some(account))
      yield* status.publish({ _tag: "AccountChanged", account: { _tag: "Running", since: yield* DateTime.now } })
      return Option.some(account)
    })

    return {
      identity: Ref.get(identified),
      bind: (mayContinue) =>
        Effect.gen(function*() {
          const ledger = yield* Ledger
          if (yield* Ref.get(isFirst)) {
            yield* rateLimit.occupy(yield* ledger.requests, clockTolerance)
            // A restart is a reason to retry what an earlier process gave up.
            if (Option.isNone(earlier)) yield* ledger.retryNow
            yield* Ref.set(isFirst, false)
          }
          const account = yield* identify(mayContinue)
          if (Option.isNone(account)) return
          yield* ledger.bind(account.value)
          yield* status.publish({ _tag: "AccountBound", owner: account.value })
        })
    }
  })
