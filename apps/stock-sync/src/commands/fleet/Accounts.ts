/** `fleet accounts`: lists, adds, changes and removes the accounts of a fleet. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { Output } from "@plaza/cli-kit/Output"
import * as Prompt from "@plaza/cli-kit/Prompt"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import * as LedgerSettings from "../../config/LedgerSettings.ts"
import { complaint, isSecret } from "../../fleet/AccountOptionNames.ts"
import * as AccountOptions from "../../fleet/AccountOptions.ts"
import * as FleetAccounts from "../../fleet/FleetAccounts.ts"
import * as FleetDatabase from "../../fleet/FleetDatabase.ts"
import * as FleetLedger from "../../fleet/FleetLedger.ts"
import * as FleetMigrations from "../../fleet/FleetMigrations.ts"
import * as KeyReference from "../../fleet/KeyReference.ts"
import * as SealedSecrets from "../../fleet/SealedSecrets.ts"
import * as SourceReference from "../../fleet/SourceReference.ts"
import { Ledger } from "../../ledger/Ledger.ts"
import * as LedgerCommands from "../../ledger/LedgerCommands.ts"
import * as Confirm from "../Confirm.ts"
import * as Format from "../Format.ts"
import * as Resend from "../Resend.ts"
import * as Retry from "../Retry.ts"
import * as Revert from "../Revert.ts"

/** The accounts of a prepared database. */
export const layer = Layer.provideMerge(
  FleetAccounts.layer,
  Layer.tap(FleetDatabase.layerConfig, (context) => Effect.provide(FleetMigrations.check, context))
)

/** For commands that change the ledger of an account. */
export const layerWithLedgers = Layer.provideMerge(FleetLedger.layer, layer)

/** For commands that write settings. Checks first that the secret is the one of this fleet, so that nothing is sealed under another. */
export const layerWriting = Layer.provideMerge(
  Layer.effectDiscard(
    Effect.flatMap(AccountOptions.AccountOptions, ({ secret }) => Option.isSome(secret) ? SealedSecrets.check(secret) : Effect.void)
  ),
  Layer.merge(AccountOptions.layerConfig, layer)
)

const shownOption = (text: string, name: string): string => isSecret(name) ? KeyReference.display(KeyReference.stored(text)) : text

/** An account without its secrets. */
const json = ({ baseUrl, id, key, options, paused, problem, runner, source }: FleetAccounts.FleetAccount) => ({
  id,
  baseUrl,
  source: SourceReference.display(source),
  key: KeyReference.display(key),
  options: Record.map(options, shownOption),
  paused,
  problem,
  runner
})

export const list = Effect.fnUntraced(function*(prefix: string) {
  const output = yield* Output
  const accounts = yield* FleetAccounts.FleetAccounts
  yield* output.list(
    Stream.map(accounts.withPrefix(prefix), json),
    [
      { head: "account", whole: true },
      { head: "address" },
      { head: "source" },
      { head: "key" },
      { head: "state" },
      { head: "runner" },
      { head: "problem", overflow: "wrap" }
    ],
    ({ baseUrl, id, key, paused, problem, runner, source }) => [
      id,
      baseUrl,
      source,
      key,
      paused ? "paused" : problem === null ? "ok" : "failing",
      runner,
      problem
    ],
    { empty: prefix === "" ? "There are no accounts." : `There are no accounts whose id begins with ${prefix}.` }
  )
})

/** What the command line sets of an account. */
export interface Given {
  readonly id: string
  readonly baseUrl: Option.Option<string>
  /** `env:NAME`, `file:PATH`, or `-` for standard input. */
  readonly key: Option.Option<string>
  readonly source: Option.Option<string>
  readonly options: Readonly<Record<string, Option.Option<string>>>
}

// Every user of the machine can read arguments.
const isVisible = "every user of this machine can read it here"

/** Fails if a secret is in the clear on the command line. */
const checkVisible = ({ key, options, source }: Given): Effect.Effect<void, UsageError> => {
  const plain = (given: Option.Option<string>) => Option.exists(given, (text) => Option.isNone(KeyReference.decode(text)))
  const headers = Object.keys(options).find((name) => isSecret(name) && plain(options[name] ?? Option.none()))
  return Option.exists(key, (text) => text !== "-") && plain(key)
    ? new UsageError({ message: `--key must not be the key itself, because ${isVisible}: use env:NAME, file:PATH or - for standard input` })
    : headers !== undefined
    ? new UsageError({
      message: `--${headers} must not be the secret itself, because ${isVisible}: use env:NAME or file:PATH, or accounts import`
    })
    : Option.exists(source, (text) => URL.canParse(text) && new URL(text).password !== "")
    ? new UsageError({ message: `--source must not have a password, because ${isVisible}: use env:NAME, or accounts import` })
    : Effect.void
}

const readKey = Effect.gen(function*() {
  const key = (yield* Prompt.isTerminal) ? yield* Prompt.askHidden("API key (hidden): ") : yield* Prompt.piped
  return key === ""
    ? yield* new UsageError({
      message: "no key was given: use --key env:NAME or file:PATH, pipe the key to the command, or run it in a terminal"
    })
    : key
})

const keyOf = (given: string) => given === "-" ? readKey : Effect.succeed(given)

const required = (option: string, given: Option.Option<string>): Effect.Effect<string, UsageError> =>
  Option.match(given, {
    onNone: () => new UsageError({ message: `fleet accounts add requires ${option}` }),
    onSome: Effect.succeed
  })

export const add = Effect.fnUntraced(function*(given: Given) {
  yield* checkVisible(given)
  const baseUrl = yield* required("--base-url", given.baseUrl)
  const source = yield* required("--source", given.source)
  const output = yield* Output
  const accounts = yield* FleetAccounts.FleetAccounts
  const { accept } = yield* AccountOptions.AccountOptions
  const key = yield* keyOf(Option.getOrElse(given.key, () => "-"))
  const account = yield* accept({ id: given.id, baseUrl, key, source, options: Record.getSomes(given.options) })
  yield* accounts.add(account)
  yield* output.done(json(yield* accounts.get(account.id)), `Account ${account.id} is added. A live runner starts it within seconds.`)
})

/** An account with what the command line sets. Everything else stays as it is stored. */
const changedBy = (account: FleetAccounts.AccountSettings, given: Given, unset: ReadonlyArray<string>): AccountOptions.WrittenAccount => {
  const kept = Object.entries(account.options).filter(([name]) => !unset.includes(name))
  return {
    id: account.id,
    baseUrl: Option.getOrElse(given.baseUrl, () => account.baseUrl),
    key: Option.getOrElse(given.key, () => account.key),
    source: Option.getOrElse(given.source, () => account.source),
    options: {
      ...Object.fromEntries(kept.map(([name, text]) => [name, isSecret(name) ? KeyReference.stored(text) : text])),
      ...Record.getSomes(given.options)
    }
  }
}

export const update = Effect.fnUntraced(function*(given: Given, unset: ReadonlyArray<string>) {
  yield* checkVisible(given)
  const both = unset.find((name) => Option.isSome(given.options[name] ?? Option.none()))
  if (both !== undefined) return yield* new UsageError({ message: `--${both} is set and unset: remove one of them` })
  const output = yield* Output
  const accounts = yield* FleetAccounts.FleetAccounts
  const { accept } = yield* AccountOptions.AccountOptions
  const wrong = Option.firstSomeOf(unset.map(complaint))
  if (Option.isSome(wrong)) return yield* new UsageError({ message: wrong.value })
  // Before the transaction, because a person may have to look for the key.
  const key = yield* Effect.transposeOption(Option.map(given.key, keyOf))
  const changed = yield* accounts.update(given.id, (account) => accept(changedBy(account, { ...given, key }, unset), account))
  // Whoever names the key or the address says that they are those of the same store.
  if (Option.isSome(given.key) || Option.isSome(given.baseUrl)) yield* accounts.adopt(given.id)
  const account = yield* accounts.get(given.id)
  yield* output.done(
    { ...json(account), changed },
    changed
      ? `Account ${given.id} is updated. Its runner uses the new settings within seconds.`
      : `Account ${given.id} has these settings already.`
  )
})

const countOf = (count: number) => Format.count(count, "account")

/** Pauses or resumes accounts. */
export const setPaused = Effect.fnUntraced(function*(ids: ReadonlyArray<string>, paused: boolean) {
  const output = yield* Output
  const accounts = yield* FleetAccounts.FleetAccounts
  const all = [...new Set(ids)]
  const changed = yield* accounts.setPaused(all, paused)
  const state = paused ? "paused" : "resumed"
  const rest = all.length - changed.length
  const before = rest === 0 ? "" : ` ${countOf(rest)} ${rest === 1 ? "was" : "were"} in this state before.`
  yield* output.done(
    { paused, accounts: all, changed },
    `${countOf(changed.length)} ${changed.length === 1 ? "is" : "are"} ${state}.${before}`
  )
})

/** Runs a command on the ledger of an account, beside its runner. */
const beside = Effect.fnUntraced(function*<E, R>(id: string, command: Effect.Effect<void, E, R>) {
  const accounts = yield* FleetAccounts.FleetAccounts
  const ledgers = yield* FleetLedger.FleetLedger
  yield* command.pipe(
    Effect.provideService(Ledger, yield* ledgers.beside(id, LedgerSettings.forReading)),
    Effect.provideService(LedgerCommands.LedgerCommands, LedgerCommands.ofFleet(id)),
    Effect.ensuring(Effect.ignore(accounts.wake(id)))
  )
})

/** Confirms the held snapshot of an account. */
export const confirm = (id: string, snapshot: number) => beside(id, Confirm.run(snapshot))

/** Restores the stock of an earlier snapshot of an account; lists its snapshots if none is named. */
export const revert = (
  id: string,
  { snapshot, ...options }: Omit<Revert.Options, "guard" | "snapshot"> & { readonly snapshot: Option.Option<number> }
) =>
  Effect.gen(function*() {
    if (Option.isNone(snapshot)) return yield* beside(id, Revert.list)
    const accounts = yield* FleetAccounts.FleetAccounts
    const guard = yield* AccountOptions.guardOf(yield* accounts.get(id))
    yield* beside(id, Revert.run({ snapshot: snapshot.value, guard, ...options }))
  })

/** Sends products of an account again. */
export const resend = (id: string, products: ReadonlyArray<string>) => beside(id, Resend.run(products))

/** Releases quarantined products of an account, or named uncertain ones: the named ones, or all quarantined ones. */
export const retry = (id: string, products: ReadonlyArray<string>) => beside(id, Retry.run(products))

export const remove = Effect.fnUntraced(function*(id: string, yes: boolean) {
  const output = yield* Output
  const accounts = yield* FleetAccounts.FleetAccounts
  yield* accounts.get(id)
  if (!yes && !(yield* Prompt.isTerminal)) {
    return yield* new UsageError({
      message: "fleet accounts remove asks on a terminal before it removes an account: use --yes in a script"
    })
  }
  if (!yes && (yield* Prompt.ask(`Remove account ${id} and the record of its confirmed stock? Type yes: `)) !== "yes") {
    return yield* new UsageError({ message: `account ${id} was not removed` })
  }
  yield* accounts.remove(id)
  yield* output.done({ id, removed: true }, `Account ${id} is removed. Its key stays valid: revoke it in the web app.`)
})
