/** `adopt`: binds the ledger to the new address or the new key of its account. */
import { Output } from "@plaza/cli-kit/Output"
import { Settings as ClientSettings } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as CurrentLedger from "../ledger/CurrentLedger.js"
import { Ledger } from "../ledger/Ledger.js"
import * as AccountIdentity from "../sync/AccountIdentity.js"
import * as Client from "./Client.js"

export const layer = Layer.provideMerge(Client.layer, CurrentLedger.layer)

/** Requests the account's id from the service, and continues without one if the service does not show it. */
export const run = Effect.gen(function*() {
  const output = yield* Output
  const settings = yield* ClientSettings.config
  const ledger = yield* Ledger
  yield* CurrentLedger.set(ledger)
  const before = yield* ledger.account
  const id = yield* Effect.option(AccountIdentity.ask)
  const account = { ...Client.accountOf(settings), id: Option.getOrUndefined(id) }
  yield* ledger.adopt(account)
  const former = Option.match(before, { onNone: () => "no account", onSome: ({ baseUrl, id }) => `${id ?? "the account"} at ${baseUrl}` })
  yield* output.done(
    { baseUrl: account.baseUrl, id: account.id ?? null },
    `the ledger ${ledger.path} belonged to ${former}, and now belongs to ${account.id ?? "the account of this key"} at ${account.baseUrl}.`
  )
}).pipe(Effect.scoped)
