/** The sealed secrets of all accounts: whether the secret of this process opens them, and sealing them anew under another one. */
import { UsageError } from "@plaza-legacy/cli-kit/CliError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { isSecret, secretNames } from "./AccountOptionNames.ts"
import { type AccountSettings, FleetAccounts, settingsOf } from "./FleetAccounts.ts"
import { FleetDatabase } from "./FleetDatabase.ts"
import type { FleetDatabaseError } from "./FleetError.ts"
import * as FleetSecret from "./FleetSecret.ts"

type Secret = Option.Option<FleetSecret.FleetSecret["Type"]>

/**
 * Fails if the fleet has sealed secrets and none of them was sealed under a secret of this process. Single accounts with another secret
 * are not a failure here: they have a problem of their own.
 */
export const check = (secret: Secret): Effect.Effect<void, UsageError | FleetDatabaseError, FleetDatabase> =>
  Effect.gen(function*() {
    const { run, sql } = yield* FleetDatabase
    const options = secretNames.map((name) => `options ->> '${name}'`).join(", ")
    const found = yield* run(sql<{ name: string }>`SELECT DISTINCT substring(text FROM '^sealed:v1:([0-9a-f]{8}):') AS name
      FROM fleet_account CROSS JOIN LATERAL unnest(ARRAY[key, source, ${
      sql.literal(options)
    }]) AS one (text) WHERE text LIKE 'sealed:v1:%'`)
    if (found.length === 0) return
    if (Option.isNone(secret)) {
      return yield* new UsageError({ message: `the fleet has sealed keys: set ${FleetSecret.variable} to the secret that sealed them` })
    }
    if (found.some(({ name }) => secret.value.names.has(name))) return
    return yield* new UsageError({
      message:
        `${FleetSecret.variable} is not the secret that sealed the keys of this fleet: set it to that secret, or to a new and that ` +
        "secret with a comma between them"
    })
  })

/** What sealing anew did. */
interface Resealed {
  /** Accounts with a secret that was sealed anew. */
  readonly resealed: number
  /** Accounts with a secret that no given secret opens. */
  readonly unopened: ReadonlyArray<string>
}

/** The settings with everything sealed under the first secret, and whether every sealed text could be opened. */
const sealedAnew = (account: AccountSettings, secret: FleetSecret.FleetSecret["Type"]) =>
  Effect.gen(function*() {
    let opened = true
    const seal = (text: string): Effect.Effect<string> =>
      Either.match(secret.open(account.id, text), {
        onLeft: () => Effect.sync(() => (opened = false, text)),
        onRight: (content) => secret.isCurrent(text) ? Effect.succeed(text) : secret.seal(account.id, content)
      })
    const { key, source } = account
    const after: AccountSettings = {
      ...account,
      key: key._tag === "Sealed" ? { ...key, text: yield* seal(key.text) } : key,
      source: source._tag === "Sealed" ? { ...source, text: yield* seal(source.text) } : source,
      options: Object.fromEntries(
        yield* Effect.forEach(Object.entries(account.options), ([name, text]) =>
          isSecret(name) && text.startsWith(prefix)
            ? Effect.map(seal(text.slice(prefix.length)), (sealed) => [name, `${prefix}${sealed}`] as const)
            : Effect.succeed([name, text] as const))
      )
    }
    return { before: account, after, opened }
  })

const prefix = "sealed:"

const areEqual = (one: AccountSettings, other: AccountSettings) => JSON.stringify(one) === JSON.stringify(other)

/** Seals every secret anew that an earlier secret sealed. Accounts that change meanwhile keep their new settings. */
export const reseal = (
  secret: FleetSecret.FleetSecret["Type"]
): Effect.Effect<Resealed, FleetDatabaseError, FleetAccounts> =>
  Effect.gen(function*() {
    const accounts = yield* FleetAccounts
    let count = 0
    const unopened: Array<string> = []
    yield* Stream.runForEachChunk(accounts.all, (chunk) =>
      Effect.gen(function*() {
        const found = yield* Effect.forEach(chunk, (account) => sealedAnew(settingsOf(account), secret))
        unopened.push(...found.filter(({ opened }) => !opened).map(({ before }) => before.id))
        count += yield* accounts.swap(found.filter(({ after, before }) => !areEqual(before, after)))
      }))
    return { resealed: count, unopened }
  })
