/** The sealed secrets of all accounts: whether the secret of this process opens them, and sealing them anew under another one. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Rows from "../ledger/Rows.ts"
import { isSecret, secretNames } from "./AccountOptionNames.ts"
import { type AccountSettings, FleetAccounts, settingsOf } from "./FleetAccounts.ts"
import { FleetDatabase } from "./FleetDatabase.ts"
import * as FleetSecret from "./FleetSecret.ts"
import * as KeyReference from "./KeyReference.ts"

/**
 * Fails if the fleet has sealed secrets and none of them was sealed under a secret of this process. Single accounts with another secret
 * are not a failure here: they have a problem of their own.
 */
export const check = Effect.fnUntraced(function*(secret: FleetSecret.Given) {
  const { run, sql } = yield* FleetDatabase
  const options = secretNames.map((name) => `options ->> '${name}'`).join(", ")
  const found = yield* run(
    Rows.all(Schema.Struct({ name: Schema.NullOr(Schema.String) }))(
      sql`SELECT DISTINCT substring(text FROM '^sealed:v1:([0-9a-f]{8}):') AS name
      FROM fleet_account CROSS JOIN LATERAL unnest(ARRAY[key, source, ${sql.literal(options)}]) AS one (text) WHERE text LIKE 'sealed:v1:%'`
    )
  )
  if (found.length === 0) return
  if (Option.isNone(secret)) {
    return yield* new UsageError({ message: `the fleet has sealed keys: set ${FleetSecret.variable} to the secret that sealed them` })
  }
  if (found.some(({ name }) => name !== null && secret.value.names.has(name))) return
  return yield* new UsageError({
    message: `${FleetSecret.variable} is not the secret that sealed the keys of this fleet: set it to that secret, or to a new and that ` +
      "secret with a comma between them"
  })
})

/** The settings with everything sealed under the first secret, and whether every sealed text could be opened. */
const sealedAnew = Effect.fnUntraced(function*(account: AccountSettings, secret: FleetSecret.FleetSecret["Service"]) {
  let opened = true
  const seal = (text: string): Effect.Effect<string> =>
    Result.match(secret.open(account.id, text), {
      onFailure: () => Effect.sync(() => (opened = false, text)),
      onSuccess: (content) => secret.isCurrent(text) ? Effect.succeed(text) : secret.seal(account.id, content)
    })
  const sealOption = (text: string): Effect.Effect<string> => {
    const reference = Option.getOrUndefined(KeyReference.decode(text))
    return reference?._tag === "Sealed"
      ? Effect.map(seal(reference.text), (text) => KeyReference.encode({ _tag: "Sealed", text }))
      : Effect.succeed(text)
  }
  const { key, source } = account
  const after: AccountSettings = {
    ...account,
    key: key._tag === "Sealed" ? { ...key, text: yield* seal(key.text) } : key,
    source: source._tag === "Sealed" ? { ...source, text: yield* seal(source.text) } : source,
    options: yield* Effect.all(
      Object.fromEntries(
        Object.entries(account.options).map(([name, text]) => [name, isSecret(name) ? sealOption(text) : Effect.succeed(text)] as const)
      )
    )
  }
  return { before: account, after, opened }
})

const areEqual = (one: AccountSettings, other: AccountSettings) => JSON.stringify(one) === JSON.stringify(other)

/**
 * Seals every secret anew that an earlier secret sealed. Accounts that change meanwhile keep their new settings. Returns how many accounts
 * have a secret that was sealed anew, and the ids of those with a secret that no given secret opens.
 */
export const reseal = Effect.fnUntraced(function*(secret: FleetSecret.FleetSecret["Service"]) {
  const accounts = yield* FleetAccounts
  let resealed = 0
  const unopened: Array<string> = []
  yield* Stream.runForEachArray(accounts.all, (page) =>
    Effect.gen(function*() {
      const found = yield* Effect.forEach(page, (account) => sealedAnew(settingsOf(account), secret))
      unopened.push(...found.filter(({ opened }) => !opened).map(({ before }) => before.id))
      resealed += yield* accounts.swap(found.filter(({ after, before }) => !areEqual(before, after)))
    }))
  return { resealed, unopened }
})
