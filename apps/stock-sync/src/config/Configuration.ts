/** Puts the config file below the environment, and rejects variables and names that are not settings. */
import { UsageError } from "@plaza/cli-kit/CliError"
import { nearest } from "@plaza/cli-kit/CommandLine"
import * as ConfigIssue from "@plaza/cli-kit/ConfigIssue"
import * as SecretFile from "@plaza/cli-kit/SecretFile"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import { variableOf, Wording } from "../Wording.ts"
import { type Entry, type Names, read } from "./ConfigFile.ts"
import * as FleetSettings from "./FleetSettings.ts"
import * as LedgerSettings from "./LedgerSettings.ts"
import * as ObservabilitySettings from "./ObservabilitySettings.ts"
import * as RemoteSettings from "./RemoteSettings.ts"
import * as Setting from "./Setting.ts"
import * as SnapshotSettings from "./SnapshotSettings.ts"
import * as SourceSettings from "./SourceSettings.ts"
import * as SyncSettings from "./SyncSettings.ts"

/** An option of every command. */
export const config = Setting.optional("config", Setting.file, {
  about: "A TOML or JSON file with settings, named like the options without the leading dashes",
  absent: "none"
})

const settings: ReadonlyArray<Setting.Names> = [
  SourceSettings.options,
  SnapshotSettings.options,
  { ledger: LedgerSettings.ledger },
  LedgerSettings.options,
  SyncSettings.options,
  SyncSettings.sendOptions,
  ObservabilitySettings.options
].flatMap((group) => Object.values<Setting.Names>(group))

const clientVariables: Readonly<Record<string, string>> = {
  "base-url": "PLAZA_BASE_URL",
  "api-key-file": "PLAZA_API_KEY_FILE",
  timeout: "PLAZA_TIMEOUT",
  "rate-limit": "PLAZA_RATE_LIMIT",
  "rate-window": "PLAZA_RATE_WINDOW",
  "allow-insecure-http": "PLAZA_ALLOW_INSECURE_HTTP"
}

// Secrets have no options.
const secretVariables: Readonly<Record<string, string>> = {
  "source-authorization": "STOCK_SYNC_SOURCE_AUTHORIZATION",
  "source-headers": "STOCK_SYNC_SOURCE_HEADERS",
  ...Object.fromEntries(RemoteSettings.secretNames.map((name) => [name, variableOf(name)]))
}

const names: Names = {
  variables: new Map([
    ...settings.map(({ flag, variable }) => [flag, variable] as const),
    ["webhook-secret-file", ObservabilitySettings.webhookSecretFileVariable],
    ["notify-file", ObservabilitySettings.notifyFileVariable],
    ...RemoteSettings.secretNames.map((name) => [`${name}-file`, `${variableOf(name)}_FILE`] as const),
    ...Object.entries(clientVariables)
  ]),
  refused: new Map([
    ["api-key", "put the key into a file of its own, and name that as api-key-file or by PLAZA_API_KEY_FILE"],
    ["webhook-secret", "put the secret into a file of its own, and name that as webhook-secret-file"],
    ...Object.entries(secretVariables).map(([name, variable]) => [name, `set ${variable}`] as const),
    ...["config", "confirm", "dry-run", "json", "limit", "quiet", "ready", "since"].map((flag) =>
      [flag, `give --${flag} on the command line`] as const
    )
  ])
}

/** The `STOCK_SYNC_*` variables of all commands. */
export const variables: ReadonlySet<string> = new Set([
  ...settings.map(({ variable }) => variable),
  config.variable,
  ...Object.values(secretVariables),
  ...RemoteSettings.variables,
  ObservabilitySettings.webhookSecretVariable,
  ObservabilitySettings.webhookSecretFileVariable,
  ObservabilitySettings.notifyFileVariable
])

const prefix = "STOCK_SYNC_"
const known: ReadonlySet<string> = new Set([...variables, ...FleetSettings.variables, FleetSettings.options.concurrentReads.variable])

// Kubernetes sets these in every pod beside a service named stock-sync or stock-sync-something.
const isServiceLink = (name: string): boolean => /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)
const isServiceAddress = (name: string, text: string): boolean => name.endsWith("_PORT") && /^(tcp|udp|sctp):\/\//.test(text)

/** The names of variables below a prefix. The environment splits names at underscores, and takes numbers for places in a list. */
const namesBelow = (
  environment: ConfigProvider.ConfigProvider,
  path: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<string>, ConfigProvider.SourceError> =>
  Effect.flatMap(environment.load(path), (node) => {
    const children = node?._tag === "Record"
      ? [...node.keys]
      // The last place is that of a variable. No setting has a number in its name.
      : node?._tag === "Array"
      ? [String(node.length - 1)]
      : []
    return children.length === 0
      ? Effect.succeed([path.join("_")])
      : Effect.map(Effect.forEach(children, (child) => namesBelow(environment, [...path, child])), (below) => below.flat())
  })

const textOf = (environment: ConfigProvider.ConfigProvider, variable: string): Effect.Effect<string, Config.ConfigError> =>
  Config.withDefault(Config.String(variable), "").parse(environment)

const misspelt = Effect.fnUntraced(function*(environment: ConfigProvider.ConfigProvider) {
  const names = yield* Effect.mapError(namesBelow(environment, ["STOCK", "SYNC"]), (error) => new Config.ConfigError(error))
  for (const name of names.toSorted()) {
    if (!name.startsWith(prefix) || known.has(name) || isServiceLink(name)) continue
    if (isServiceAddress(name, yield* textOf(environment, name))) continue
    const meant = nearest(name.slice(prefix.length), Array.from(known, (variable) => variable.slice(prefix.length)))
    return yield* new UsageError({
      message: `${name} is not a setting: ${
        meant === undefined ? "unset it, or see plaza-stock-sync run --help for the names" : `did you mean ${prefix}${meant}?`
      }`
    })
  }
})

const isSet = (environment: ConfigProvider.ConfigProvider, variable: string) =>
  Effect.map(textOf(environment, variable), (text) => text.trim() !== "")

/** A variable overrides the file. A secret in a variable also overrides the file's `-file` setting. */
const isOverridden = (environment: ConfigProvider.ConfigProvider, variable: string): Effect.Effect<boolean, Config.ConfigError> =>
  Effect.flatMap(isSet(environment, variable), (found) =>
    found || !variable.endsWith("_FILE") ? Effect.succeed(found) : isSet(environment, variable.replace(/_FILE$/, "")))

/** Names the config file in the error if the wrong value is from there. */
const located = (path: string, entries: ReadonlyMap<string, Entry>) => <E>(error: E): E | UsageError => {
  if (!(error instanceof Config.ConfigError)) return error
  const { message, variable } = ConfigIssue.of(error)
  const entry = entries.get(variable)
  if (entry === undefined) return error
  const reason = message.replace(`${variable} is invalid: `, "").replace(`${variable} `, "")
  return new UsageError({ message: `${entry.name} in the config file ${path} can't be used: ${reason}` })
}

/**
 * Runs a command with the config file below the environment. Paths in the file are relative to the working directory, as those of options
 * and variables are.
 */
export const configured =
  (file: Setting.Value<string | undefined>) =>
  <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E | Config.ConfigError | UsageError, R | FileSystem.FileSystem> =>
    Effect.gen(function*() {
      const environment = yield* ConfigProvider.ConfigProvider
      yield* misspelt(environment)
      const path = yield* file
      if (path === undefined) return yield* command
      const all = yield* read(path, names)
      const overridden = yield* Effect.filter(all.keys(), (variable) => isOverridden(environment, variable))
      const entries = new Map([...all].filter(([variable, { text }]) => text.trim() !== "" && !overridden.includes(variable)))
      const merged = ConfigProvider.make((path) => {
        const entry = entries.get(path.join("_"))
        return entry === undefined ? environment.load(path) : Effect.succeed(ConfigProvider.makeValue(entry.text))
      })
      const wording = yield* Wording
      const provider = entries.has(clientVariables["api-key-file"] ?? "") ? yield* SecretFile.withKeyFile(merged) : merged
      return yield* command.pipe(
        Effect.provideService(Wording, {
          ...wording,
          place: (name, text) => {
            const entry = entries.get(variableOf(name))
            return entry !== undefined && entry.text === text ? `${entry.name} in the config file ${path}` : wording.place(name, text)
          }
        }),
        Effect.provideService(ConfigProvider.ConfigProvider, provider),
        Effect.mapError(located(path, entries))
      )
    })
