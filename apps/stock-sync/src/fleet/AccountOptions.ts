/**
 * The settings of one account of a fleet. They are read by the code of the single-store worker, from the options of the account only: no
 * variable and no config file of the process applies to an account.
 */
import type { UsageError } from "@plaza/cli-kit/CliError"
import * as ConfigIssue from "@plaza/cli-kit/ConfigIssue"
import { Settings as ClientSettings } from "@plaza/client"
import * as ApiKey from "@plaza/domain/ApiKey"
import * as Cache from "effect/Cache"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as LedgerSettings from "../config/LedgerSettings.ts"
import * as Setting from "../config/Setting.ts"
import * as SnapshotSettings from "../config/SnapshotSettings.ts"
import * as SourceSettings from "../config/SourceSettings.ts"
import * as SyncSettings from "../config/SyncSettings.ts"
import type { LedgerOptions } from "../ledger/Ledger.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import type * as DropGuard from "../ledger/snapshot/DropGuard.ts"
import type { SourceOptions } from "../source/Open.ts"
import * as Address from "../source/remote/Address.ts"
import * as SourceUri from "../source/SourceUri.ts"
import { name as program, version } from "../version.ts"
import { variableOf, Wording } from "../Wording.ts"
import { complaint, groups, isSecret, secretNames, sourceName } from "./AccountOptionNames.ts"
import { type AccountSettings, isId } from "./FleetAccounts.ts"
import { InvalidAccount } from "./FleetError.ts"
import * as FleetSecret from "./FleetSecret.ts"
import * as KeyReference from "./KeyReference.ts"
import type { SourceReference } from "./SourceReference.ts"

/** The client settings of a runner, which hold for all of its accounts. */
export interface ClientDefaults {
  /** The timeout of one attempt. */
  readonly timeout: Duration.Duration
  readonly rateLimit: number
  readonly rateWindow: Duration.Duration
  readonly allowInsecureHttp: boolean
}

/** What a worker needs to run an account. */
interface ResolvedAccount {
  readonly id: string
  /** For the layers of the client. The base URL has no trailing slash. */
  readonly client: ClientDefaults & {
    readonly baseUrl: string
    readonly apiKey: Redacted.Redacted
    /** For `User-Agent`. */
    readonly application: string
  }
  /** For `AccountSources`, with the poll interval. */
  readonly source: SourceOptions
  readonly policy: SnapshotPolicy
  readonly ledger: LedgerOptions
  /** How long a stop waits for requests in flight is a setting of the runner. */
  readonly send: Omit<SyncSettings.SendSettings, "stopWithin">
  readonly sync: SyncSettings.SyncSettings
}

/** The settings of an account as an operator writes them. What stays as it is stored is a reference instead of a text. */
export interface WrittenAccount {
  readonly id: string
  readonly baseUrl: string
  /** `env:NAME`, `file:PATH` or the key. */
  readonly key: string | KeyReference.KeyReference
  /** A path, an address, or `env:NAME`. */
  readonly source: string | SourceReference
  /** By their names without dashes. Secrets of the source, such as `source-authorization`, are written like a key. */
  readonly options: Readonly<Record<string, string | KeyReference.KeyReference>>
}

export class AccountOptions extends Context.Service<AccountOptions, {
  /** The secret that seals; none if the process has none. */
  readonly secret: FleetSecret.Given
  /** The settings of an account, with its key and other secrets. Fails with the name of the option that is to be changed. */
  readonly resolve: (account: AccountSettings) => Effect.Effect<ResolvedAccount, InvalidAccount>
  /**
   * Checks what an operator wrote, and seals what is secret. Reads no variable and no file of references, which exist for the runners
   * only. A secret that `before` holds sealed under the current secret stays as it is there.
   */
  readonly accept: (written: WrittenAccount, before?: AccountSettings) => Effect.Effect<AccountSettings, InvalidAccount>
}>()("@plaza/stock-sync/fleet/AccountOptions") {}

const nameInMessages = (name: string, value?: string): string =>
  name === sourceName ? "the source of the account" : `the option ${name}${value === undefined ? "" : ` ${value}`}`

/** Names the settings of an account in messages. For all effects that work for an account. */
export const worded = Effect.provideService(Wording, {
  place: (name) => nameInMessages(name),
  named: nameInMessages,
  option: (name) => nameInMessages(name),
  baseUrl: "the base URL of the account"
})

const messageOf = (error: UsageError | Config.ConfigError): string => {
  if (!(error instanceof Config.ConfigError)) return error.message
  const { message, variable } = ConfigIssue.of(error)
  // Only secrets are variables for the code of the single store.
  const name = secretNames.find((secret) => variableOf(secret) === variable)
  return name === undefined ? message : message.replace(variable, nameInMessages(name))
}

type Texts = ReadonlyArray<readonly [name: string, text: string]>

const withTexts = (texts: Texts) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(Object.fromEntries(texts.map(([name, text]) => [variableOf(name), text])))
  )

// Stands for the source of every account, so that accounts with the same options have the same settings.
const anySource = [sourceName, "any"] as const

/** Reads the options of an account, except for its secrets, by the code of the single store. */
const read = (options: Texts) =>
  Effect.gen(function*() {
    const { maxBadRows, ...source } = yield* SourceSettings.resolve(Setting.fromConfig(groups.source))
    const { negative, ...policy } = yield* SnapshotSettings.resolve(Setting.fromConfig(groups.snapshot))
    const sync = yield* SyncSettings.resolve(Setting.fromConfig(groups.sync))
    return {
      source: { ...source, negative, poll: sync.poll },
      policy: { ...policy, maxBadRows },
      ledger: yield* LedgerSettings.resolve(Setting.fromConfig(groups.ledger)),
      send: yield* Effect.all(Setting.fromConfig(groups.send)),
      sync
    }
  }).pipe(worded, withTexts([...options, anySource]), Effect.mapError(messageOf))

/** The limits of the drop guard for an account. */
export const guardOf = ({ id, options }: Pick<AccountSettings, "id" | "options">): Effect.Effect<DropGuard.Limits, InvalidAccount> =>
  SnapshotSettings.resolve(Setting.fromConfig(groups.snapshot)).pipe(
    worded,
    withTexts(Object.entries(options).filter(([name]) => !isSecret(name))),
    Effect.mapBoth({ onFailure: (error) => KeyReference.invalid(id, messageOf(error)), onSuccess: ({ guard }) => guard })
  )

/** Why a runner can't read a source, if its address shows that. */
const sourceComplaint = ({ graphql, query, source }: SourceOptions): Option.Option<string> => {
  const kind = SourceUri.kindOf(source)
  if (graphql !== undefined && kind !== "http") {
    return Option.some("the option graphql needs a source that is an http: or https: address: correct its source, or remove the option")
  }
  switch (kind) {
    case "stdin":
      return Option.some("its source is standard input, which a runner can't read: name a file or an address")
    case "file":
      return /^([a-z][a-z0-9+.-]*:\/\/|file:)/i.test(source)
        ? Option.some(
          "its source has an unknown scheme: name a file without a scheme, or use http:, https:, sftp:, s3:, postgres:, mysql: or sqlite:"
        )
        : Option.none()
    case "http": {
      if (!URL.canParse(source)) return Option.some("its source is not a valid address: correct it")
      const { password, username } = new URL(source)
      return username === "" && password === ""
        ? Option.none()
        : Option.some("the address of its source has a user or a password: move them to the option source-authorization")
    }
    case "sftp":
      return Result.getFailure(Result.mapError(Address.parseSftp(source, "the option source-password"), (why) => `its source: ${why}`))
    case "s3":
      return Result.getFailure(
        Result.mapError(Address.parseS3(source, "the option s3-secret-access-key"), (why) => `its source: ${why}`)
      )
    case "postgres":
    case "mysql":
    case "sqlite":
      return query === undefined ? Option.some("its source is a database: set the option query to one SELECT") : Option.none()
  }
}

const checkNames = (id: string, names: ReadonlyArray<string>): Effect.Effect<void, InvalidAccount> =>
  Option.match(Option.firstSomeOf(names.map(complaint)), {
    onNone: () => Effect.void,
    onSome: (message) => KeyReference.invalid(id, message)
  })

const checkedBaseUrl = (id: string, baseUrl: string, { allowInsecureHttp }: ClientDefaults) =>
  Effect.mapError(
    Effect.fromResult(ClientSettings.checkBaseUrl(baseUrl, { allowInsecureHttp })),
    (why) => KeyReference.invalid(id, `its base URL ${why}`)
  )

const checkedKey = (id: string, text: string) =>
  Effect.mapError(Effect.fromResult(ApiKey.parse(text)), ({ message }) => KeyReference.invalid(id, `its key is invalid: ${message}`))

/** The source of an account in the clear. */
const sourceOf = (id: string, source: SourceReference, secret: FleetSecret.Given): Effect.Effect<string, InvalidAccount> => {
  switch (source._tag) {
    case "Plain":
      return Effect.succeed(source.text)
    case "Env":
      return Effect.map(KeyReference.fromVariable(id, source.name, sourceName), Redacted.value)
    case "Sealed":
      return Effect.map(KeyReference.open(id, source.text, secret, sourceName), Redacted.value)
  }
}

const headerOf = (id: string, name: string, text: string, secret: FleetSecret.Given) =>
  Effect.map(KeyReference.resolve(id, KeyReference.stored(text), secret, name), Redacted.value)

const variablePrefix = "env:"

const acceptSource = (
  id: string,
  source: string,
  secret: FleetSecret.Given,
  before: SourceReference | undefined
): Effect.Effect<SourceReference, InvalidAccount> => {
  if (source === "") return KeyReference.invalid(id, "the source is missing: name a file or an address")
  if (source.startsWith("sealed:")) {
    return KeyReference.invalid(id, "the source begins with sealed:, which only the database uses: name a file or an address")
  }
  if (source.startsWith(variablePrefix)) {
    const name = source.slice(variablePrefix.length)
    return Effect.map(KeyReference.checkVariable(id, name), () => ({ _tag: "Env", name }))
  }
  if (!SourceUri.mayHoldSecret(source)) return Effect.succeed({ _tag: "Plain", text: source })
  return Option.match(secret, {
    onNone: () =>
      KeyReference.invalid(
        id,
        `the address of its source has a password or parameters, which may be secret: set ${FleetSecret.variable} to seal it, or write env:NAME`
      ),
    onSome: (service) =>
      Effect.map(
        KeyReference.seal(id, source, service, before?._tag === "Sealed" ? before.text : undefined),
        (text): SourceReference => ({ _tag: "Sealed", text, shown: SourceUri.shown(source) })
      )
  })
}

const acceptKey = (id: string, key: string, secret: FleetSecret.Given, before: KeyReference.KeyReference | undefined) =>
  Effect.tap(KeyReference.parse(id, key, secret, { before }), ({ _tag }) => _tag === "Sealed" ? checkedKey(id, key.trim()) : Effect.void)

/** The text of a source for checks; undefined for one that only the runners know. */
const clearSource = (written: string | SourceReference, source: SourceReference): string | undefined =>
  source._tag === "Plain" ? source.text : source._tag === "Sealed" && typeof written === "string" ? written.trim() : undefined

/** What the database stores of an option. `clear`: its text, if it can be checked here; references exist for the runners only. */
const acceptOption = Effect.fnUntraced(function*(
  id: string,
  name: string,
  text: string | KeyReference.KeyReference,
  secret: FleetSecret.Given,
  before: string | undefined
) {
  if (typeof text !== "string") return { name, stored: KeyReference.encode(text), clear: undefined }
  if (!isSecret(name)) return { name, stored: text, clear: text }
  const reference = yield* KeyReference.parse(id, text, secret, {
    what: name,
    before: before === undefined ? undefined : KeyReference.stored(before)
  })
  return { name, stored: KeyReference.encode(reference), clear: reference._tag === "Sealed" ? text : undefined }
})

// Most accounts of a fleet share their options with many others.
const distinctOptions = 1_000

const make = Effect.fnUntraced(function*(secret: FleetSecret.Given, client: ClientDefaults) {
  const files = yield* FileSystem.FileSystem
  const withFiles = Effect.provideService(FileSystem.FileSystem, files)
  const cache = yield* Cache.make({ capacity: distinctOptions, lookup: (options: Texts) => withFiles(read(options)) })

  /** The settings for a source, which is not checked if it is unknown. The options with secrets are in the clear. */
  const settingsOf = (id: string, source: string | undefined, options: Texts) =>
    Effect.gen(function*() {
      const found = yield* Cache.get(cache, options.filter(([name]) => !isSecret(name)))
      const given = options.filter(([name]) => isSecret(name))
      const secrets = given.length === 0
        ? {}
        : yield* Effect.mapError(withFiles(worded(withTexts(given)(SourceSettings.secrets))), messageOf)
      const settings = { ...found, source: { ...found.source, ...secrets, source: source ?? found.source.source } }
      return yield* Option.match(source === undefined ? Option.none() : sourceComplaint(settings.source), {
        onNone: () => Effect.succeed(settings),
        onSome: Effect.fail
      })
    }).pipe(Effect.mapError((message) => KeyReference.invalid(id, message)))

  const resolve = Effect.fnUntraced(function*({ id, ...account }: AccountSettings) {
    yield* checkNames(id, Object.keys(account.options))
    const options = yield* Effect.forEach(Object.entries(account.options),
      ([name, text]) =>
        Effect.map(isSecret(name) ? headerOf(id, name, text, secret) : Effect.succeed(text), (value) => [name, value] as const))
    const { ledger, ...settings } = yield* settingsOf(id, yield* sourceOf(id, account.source, secret), options)
    const apiKey = yield* checkedKey(id, Redacted.value(yield* KeyReference.resolve(id, account.key, secret)))
    const baseUrl = yield* checkedBaseUrl(id, account.baseUrl, client)
    return {
      ...settings,
      id,
      client: { ...client, baseUrl, apiKey, application: `${program}/${version}` },
      ledger: LedgerSettings.forClient(ledger, client)
    } satisfies ResolvedAccount
  }, Effect.provideService(FileSystem.FileSystem, files))

  const accept = Effect.fnUntraced(function*(written: WrittenAccount, before?: AccountSettings) {
    const id = written.id.trim()
    if (!isId(id)) return yield* new InvalidAccount({ id, message: "the id of an account must have 1 to 200 characters on one line" })
    const options = Object.entries(written.options).filter(([, text]) => typeof text !== "string" || text.trim() !== "")
    const texts = [written.key, written.source, ...options.map(([, text]) => text)]
    if (texts.some((text) => typeof text === "string" && text.includes("\0"))) {
      return yield* KeyReference.invalid(id, "a setting contains the character NUL: remove it")
    }
    yield* checkNames(id, options.map(([name]) => name))
    const baseUrl = yield* checkedBaseUrl(id, written.baseUrl.trim(), client)
    const key = typeof written.key === "string" ? yield* acceptKey(id, written.key, secret, before?.key) : written.key
    const source = typeof written.source === "string"
      ? yield* acceptSource(id, written.source.trim(), secret, before?.source)
      : written.source
    const accepted = yield* Effect.forEach(options, ([name, text]) => acceptOption(id, name, text, secret, before?.options[name]))
    const clear = accepted.flatMap(({ clear, name }) => clear === undefined ? [] : [[name, clear] as const])
    yield* settingsOf(id, clearSource(written.source, source), clear)
    const stored = Object.fromEntries(accepted.map(({ name, stored }) => [name, stored]))
    return { id, baseUrl, key, source, options: stored } satisfies AccountSettings
  })

  return AccountOptions.of({ secret, resolve, accept })
})

/** For tests and programs that have the secret and the client settings already. */
export const layer = (secret: FleetSecret.Given, client: ClientDefaults): Layer.Layer<AccountOptions, never, FileSystem.FileSystem> =>
  Layer.effect(AccountOptions, make(secret, client))

/** With `STOCK_SYNC_FLEET_SECRET`, `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT`, `PLAZA_RATE_WINDOW` and `PLAZA_ALLOW_INSECURE_HTTP`. */
export const layerConfig: Layer.Layer<AccountOptions, UsageError | Config.ConfigError, FileSystem.FileSystem> = Layer.unwrap(
  Effect.gen(function*() {
    const client = yield* ClientSettings.sharedConfig
    return layer(yield* FleetSecret.fromConfig, { ...client, allowInsecureHttp: yield* ClientSettings.allowInsecureHttp })
  })
)
