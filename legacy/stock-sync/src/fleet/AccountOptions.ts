/**
 * The settings of one account of a fleet. They are read by the code of the single-store worker, from the options of the account only: no
 * variable and no config file of the process applies to an account.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type { UsageError } from "@plaza-legacy/cli-kit/CliError"
import { Settings as ClientSettings } from "@plaza-legacy/client"
import * as ApiKey from "@plaza-legacy/domain/ApiKey"
import * as Array from "effect/Array"
import * as Cache from "effect/Cache"
import * as ConfigError from "effect/ConfigError"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as LedgerSettings from "../config/LedgerSettings.ts"
import * as Setting from "../config/Setting.ts"
import * as SnapshotSettings from "../config/SnapshotSettings.ts"
import * as SourceSettings from "../config/SourceSettings.ts"
import * as SyncSettings from "../config/SyncSettings.ts"
import { variableOf, Wording } from "../config/Wording.ts"
import type { LedgerOptions } from "../ledger/Ledger.ts"
import type { SnapshotPolicy } from "../ledger/Snapshot.ts"
import type { SourceOptions } from "../source/Open.ts"
import * as SourceUri from "../source/SourceUri.ts"
import { name as program, version } from "../version.ts"
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
  /** By their names without dashes. `source-authorization` and `source-headers` are written like a key. */
  readonly options: Readonly<Record<string, string | KeyReference.KeyReference>>
}

export class AccountOptions extends Context.Tag("@plaza/stock-sync/fleet/AccountOptions")<AccountOptions, {
  /** The secret that seals; none if the process has none. */
  readonly secret: Option.Option<FleetSecret.FleetSecret["Type"]>
  /** The settings of an account, with its key and other secrets. Fails with the name of the option that is to be changed. */
  readonly resolve: (account: AccountSettings) => Effect.Effect<ResolvedAccount, InvalidAccount>
  /**
   * Checks what an operator wrote, and seals what is secret. Reads no variable and no file of references, which exist for the runners
   * only. A secret that `before` holds sealed under the current secret stays as it is there.
   */
  readonly accept: (written: WrittenAccount, before?: AccountSettings) => Effect.Effect<AccountSettings, InvalidAccount>
}>() {}

type Secret = Option.Option<FleetSecret.FleetSecret["Type"]>

interface Environment {
  readonly secret: Secret
  readonly client: ClientDefaults
  readonly read: (options: Texts) => Effect.Effect<Settings, string>
}

const invalid = (id: string, message: string) => new InvalidAccount({ id, message: `account ${id}: ${message}` })

/** Fails with the first complaint. */
const refuse = (id: string, complaint: Option.Option<string>): Effect.Effect<void, InvalidAccount> =>
  Option.match(complaint, { onNone: () => Effect.void, onSome: (message) => invalid(id, message) })

const nameInMessages = (name: string, value?: string): string =>
  name === sourceName ? "the source of the account" : `the option ${name}${value === undefined ? "" : ` ${value}`}`

/** Names the settings of an account in messages. For all effects that work for an account. */
export const worded = Effect.provideService(Wording, {
  place: (name) => nameInMessages(name),
  named: nameInMessages,
  option: (name) => nameInMessages(name),
  baseUrl: "the base URL of the account"
})

const messageOf = (error: UsageError | ConfigError.ConfigError): string => {
  if (!ConfigError.isConfigError(error) || error._op !== "InvalidData") return error.message
  const variable = error.path.join("_")
  const name = secretNames.find((secret) => variableOf(secret) === variable) ?? variable
  return `${nameInMessages(name)} is invalid: ${error.message}`
}

type Texts = ReadonlyArray<readonly [name: string, text: string]>

const withTexts = (texts: Texts) =>
  Effect.withConfigProvider(
    ConfigProvider.fromMap(new Map(texts.map(([name, text]) => [variableOf(name), text])), { pathDelim: "_" })
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

type Settings = Effect.Effect.Success<ReturnType<typeof read>>

/** Why a runner can't read a source, if its address shows that. */
const sourceComplaint = ({ query, source }: SourceOptions): Option.Option<string> => {
  switch (SourceUri.kindOf(source)) {
    case "stdin":
      return Option.some("its source is standard input, which a runner can't read: name a file or an address")
    case "file":
      return /^([a-z][a-z0-9+.-]*:\/\/|file:)/i.test(source)
        ? Option.some("its source has an unknown scheme: name a file without a scheme, or use http:, https:, postgres:, mysql: or sqlite:")
        : Option.none()
    case "http": {
      if (!URL.canParse(source)) return Option.some("its source is not a valid address: correct it")
      const { password, username } = new URL(source)
      return username === "" && password === ""
        ? Option.none()
        : Option.some("the address of its source has a user or a password: move them to the option source-authorization")
    }
    case "postgres":
    case "mysql":
    case "sqlite":
      return query === undefined ? Option.some("its source is a database: set the option query to one SELECT") : Option.none()
  }
}

/** The settings for a source. The options with secrets are in the clear. */
const settingsOf = (id: string, source: string, options: Texts, { read }: Environment) =>
  Effect.gen(function*() {
    const [plain, headers] = Array.partition(options, ([name]) => isSecret(name))
    const found = yield* read(plain)
    const secrets = headers.length === 0 ? {} : yield* Effect.mapError(worded(withTexts(headers)(SourceSettings.secrets)), messageOf)
    const settings = { ...found, source: { ...found.source, ...secrets, source } }
    return yield* Option.match(sourceComplaint(settings.source), { onNone: () => Effect.succeed(settings), onSome: Effect.fail })
  }).pipe(Effect.mapError((message) => invalid(id, message)))

const checkNames = (id: string, names: ReadonlyArray<string>) => refuse(id, Option.firstSomeOf(names.map(complaint)))

const checkedBaseUrl = (id: string, baseUrl: string, { allowInsecureHttp }: ClientDefaults) =>
  Either.mapLeft(ClientSettings.checkBaseUrl(baseUrl, { allowInsecureHttp }), (why) => invalid(id, `its base URL ${why}`))

const checkedKey = (id: string, text: string) =>
  Either.mapLeft(ApiKey.parse(text), ({ message }) => invalid(id, `its key is invalid: ${message}`))

/** The source of an account in the clear. */
const sourceOf = (id: string, source: SourceReference, secret: Secret): Effect.Effect<string, InvalidAccount> => {
  switch (source._tag) {
    case "Plain":
      return Effect.succeed(source.text)
    case "Env":
      return Effect.map(KeyReference.fromVariable(id, source.name, sourceName), Redacted.value)
    case "Sealed":
      return Effect.map(KeyReference.open(id, source.text, secret, sourceName), Redacted.value)
  }
}

const headerOf = (id: string, name: string, text: string, secret: Secret) =>
  Effect.map(KeyReference.resolve(id, KeyReference.stored(text), secret, name), Redacted.value)

const resolve = (account: AccountSettings, environment: Environment) =>
  Effect.gen(function*() {
    const { client, secret } = environment
    const { id } = account
    const entries = Object.entries(account.options)
    yield* checkNames(id, Object.keys(account.options))
    const options = yield* Effect.forEach(entries, ([name, text]) =>
      Effect.map(isSecret(name) ? headerOf(id, name, text, secret) : Effect.succeed(text), (value) => [name, value] as const))
    const { ledger, ...settings } = yield* settingsOf(id, yield* sourceOf(id, account.source, secret), options, environment)
    const apiKey = yield* checkedKey(id, Redacted.value(yield* KeyReference.resolve(id, account.key, secret)))
    const baseUrl = yield* checkedBaseUrl(id, account.baseUrl, client)
    return {
      ...settings,
      id,
      client: { ...client, baseUrl, apiKey, application: `${program}/${version}` },
      ledger: LedgerSettings.forClient(ledger, client)
    } satisfies ResolvedAccount
  })

const variablePrefix = "env:"

const acceptSource = (
  id: string,
  source: string,
  secret: Secret,
  before: SourceReference | undefined
): Effect.Effect<SourceReference, InvalidAccount> => {
  if (source === "") return invalid(id, "the source is missing: name a file or an address")
  if (source.startsWith("sealed:")) {
    return invalid(id, "the source begins with sealed:, which only the database uses: name a file or an address")
  }
  if (source.startsWith(variablePrefix)) {
    const name = source.slice(variablePrefix.length)
    return Effect.map(KeyReference.checkVariable(id, name), () => ({ _tag: "Env", name }))
  }
  if (!SourceUri.mayHoldSecret(source)) return Effect.succeed({ _tag: "Plain", text: source })
  return Option.match(secret, {
    onNone: () =>
      invalid(
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

const acceptKey = (id: string, key: string, secret: Secret, before: KeyReference.KeyReference | undefined) =>
  Effect.tap(KeyReference.parse(id, key, secret, { before }), ({ _tag }) => _tag === "Sealed" ? checkedKey(id, key.trim()) : Effect.void)

const acceptHeader = (id: string, name: string, text: string, secret: Secret, before: string | undefined) =>
  KeyReference.parse(id, text, secret, {
    what: name,
    before: before === undefined ? undefined : Option.getOrUndefined(KeyReference.decode(before))
  })

/** The text of a source for checks. One that only the runners know is checked as a file, for which every option is valid. */
const clearSource = (written: string | SourceReference, source: SourceReference): string =>
  source._tag === "Plain" ? source.text : source._tag === "Sealed" && typeof written === "string" ? written.trim() : "file"

const accept = (written: WrittenAccount, before: AccountSettings | undefined, environment: Environment) =>
  Effect.gen(function*() {
    const { client, secret } = environment
    const id = written.id.trim()
    if (!isId(id)) return yield* new InvalidAccount({ id, message: "the id of an account must have 1 to 200 characters on one line" })
    const options = Object.entries(written.options).filter(([, text]) => typeof text !== "string" || text.trim() !== "")
    const texts = [written.key, written.source, ...options.map(([, text]) => text)]
    if (texts.some((text) => typeof text === "string" && text.includes("\0"))) {
      return yield* invalid(id, "a setting contains the character NUL: remove it")
    }
    yield* checkNames(id, options.map(([name]) => name))
    const baseUrl = yield* checkedBaseUrl(id, written.baseUrl.trim(), client)
    const key = typeof written.key === "string" ? yield* acceptKey(id, written.key, secret, before?.key) : written.key
    const source = typeof written.source === "string"
      ? yield* acceptSource(id, written.source.trim(), secret, before?.source)
      : written.source
    const checked: Array<readonly [name: string, text: string]> = []
    const stored: Record<string, string> = {}
    for (const [name, text] of options) {
      if (typeof text !== "string") stored[name] = KeyReference.encode(text)
      else if (!isSecret(name)) {
        checked.push([name, text])
        stored[name] = text
      } else {
        const reference = yield* acceptHeader(id, name, text, secret, before?.options[name])
        // References exist for the runners only.
        if (reference._tag === "Sealed") checked.push([name, text])
        stored[name] = KeyReference.encode(reference)
      }
    }
    yield* settingsOf(id, clearSource(written.source, source), checked, environment)
    return { id, baseUrl, key, source, options: stored } satisfies AccountSettings
  })

// Most accounts of a fleet share their options with many others.
const distinctOptions = 1_000

const make = (secret: Secret, client: ClientDefaults) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const cache = yield* Cache.make({ capacity: distinctOptions, timeToLive: Duration.infinity, lookup: read })
    const environment: Environment = {
      secret,
      client,
      read: (options) => cache.get(Data.array(options.map(([name, text]) => Data.tuple(name, text))))
    }
    return {
      secret,
      resolve: (account) => Effect.provideService(resolve(account, environment), FileSystem.FileSystem, files),
      accept: (written, before) => accept(written, before, environment)
    } satisfies AccountOptions["Type"]
  })

/** For tests and programs that have the secret and the client settings already. */
export const layer = (secret: Secret, client: ClientDefaults): Layer.Layer<AccountOptions, never, FileSystem.FileSystem> =>
  Layer.effect(AccountOptions, make(secret, client))

/** With `STOCK_SYNC_FLEET_SECRET`, `PLAZA_TIMEOUT`, `PLAZA_RATE_LIMIT`, `PLAZA_RATE_WINDOW` and `PLAZA_ALLOW_INSECURE_HTTP`. */
export const layerConfig: Layer.Layer<AccountOptions, UsageError | ConfigError.ConfigError, FileSystem.FileSystem> = Layer.unwrapEffect(
  Effect.gen(function*() {
    const client = yield* ClientSettings.sharedConfig
    return layer(yield* FleetSecret.fromConfig, { ...client, allowInsecureHttp: yield* ClientSettings.allowInsecureHttp })
  })
)
