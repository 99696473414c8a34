/** `adopt`: binds the ledger to the new address or the new key of its account. */
import { Output } from "@plaza/cli-kit/Output"
import { Settings as ClientSettings } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CurrentLedger from "../ledger/CurrentLedger.ts"
import { type Account, Ledger } from "../ledger/Ledger.ts"
import * as AccountIdentity from "../sync/AccountIdentity.ts"
import * as Client from "./Client.ts"

export const layer = Layer.provideMerge(Client.layer, CurrentLedger.layer)

const nameOf = ({ baseUrl, id }: Account) => `${id ?? "the account of this key"} at ${baseUrl}`

/** Requests the account's id from the service, and continues without one if the service does not show it. */
export const run = Effect.gen(function*() {
  const output = yield* Output
  const settings = yield* ClientSettings.config
  const ledger = yield* Ledger
  yield* CurrentLedger.set(ledger)
  const before = yield* ledger.account
  const id = yield* Effect.option(AccountIdentity.ask)
  const account = { ...AccountIdentity.accountOf(settings), id: Option.getOrUndefined(id) }
  yield* ledger.adopt(account)
  const former = Option.match(before, { onNone: () => "no account", onSome: nameOf })
  const hasKey = Option.exists(before, ({ keyFingerprint }) => keyFingerprint === account.keyFingerprint)
  yield* output.done(
    { baseUrl: account.baseUrl, id: account.id ?? null },
    former !== nameOf(account)
      ? `the ledger ${ledger.path} belonged to ${former}, and now belongs to ${nameOf(account)}.`
      : `the ledger ${ledger.path} belongs to ${former} ${hasKey ? "already" : "with the new key"}.`
  )
}).pipe(Effect.scoped)
