/** `adopt`: has the ledger go on with an account whose address or key changed. */
import { Output } from "@plaza/cli-kit/Output"
import { Plaza, Settings as ClientSettings } from "@plaza/client"
import * as NodeClient from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { forReading } from "../config/LedgerSettings.js"
import { Ledger } from "../ledger/Ledger.js"
import * as OpenLedger from "../ledger/Open.js"
import * as AccountIdentity from "../sync/AccountIdentity.js"
import { name, version } from "../version.js"
import * as Account from "./Account.js"

/** Asks the service for the account's id, and goes on without one where it does not show it. */
export const run = (options: { readonly ledger: string }) =>
  Effect.gen(function*() {
    const output = yield* Output
    const settings = yield* ClientSettings.config
    const ledger = yield* Ledger
    const before = yield* ledger.account
    const id = yield* Effect.option(AccountIdentity.ask).pipe(
      Effect.provide(Layer.provide(Plaza.layerConfigFor(`${name}/${version}`), NodeClient.layer))
    )
    const account = { ...Account.of(settings), id: Option.getOrUndefined(id) }
    yield* ledger.adopt(account)
    const from = Option.match(before, { onNone: () => "no account", onSome: ({ baseUrl, id }) => `${id ?? "the account"} at ${baseUrl}` })
    yield* output.done(
      { baseUrl: account.baseUrl, id: account.id ?? null },
      `the ledger ${ledger.path} belonged to ${from} and belongs to ${
        account.id ?? "the account of this key"
      } at ${account.baseUrl} from now on.`
    )
  }).pipe(Effect.provide(OpenLedger.layerBeside(options.ledger, forReading)))
