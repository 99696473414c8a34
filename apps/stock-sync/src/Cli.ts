/**
 * The commands of `plaza-stock-sync`: their options, their help and their layers. `commands/` has their programs, which are loaded on demand.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CliOptions from "@effect/cli/Options"
import * as Arguments from "@plaza-legacy/cli-kit/Arguments"
import * as CommandLine from "@plaza-legacy/cli-kit/CommandLine"
import * as Help from "@plaza-legacy/cli-kit/Help"
import * as Output from "@plaza-legacy/cli-kit/Output"
import * as Program from "@plaza-legacy/cli-kit/Program"
import * as Progress from "@plaza-legacy/cli-kit/Progress"
import * as Values from "@plaza-legacy/cli-kit/Values"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { config, configured } from "./config/Configuration.ts"
import * as FleetSettings from "./config/FleetSettings.ts"
import * as LedgerSettings from "./config/LedgerSettings.ts"
import * as ObservabilitySettings from "./config/ObservabilitySettings.ts"
import * as Setting from "./config/Setting.ts"
import * as SnapshotSettings from "./config/SnapshotSettings.ts"
import * as SourceSettings from "./config/SourceSettings.ts"
import * as SyncSettings from "./config/SyncSettings.ts"
import { variableOf } from "./config/Wording.ts"
import { exitCodes } from "./ExitCodes.ts"
import * as AccountOptionNames from "./fleet/AccountOptionNames.ts"
import * as LedgerCommands from "./ledger/LedgerCommands.ts"
import * as OpenLedger from "./ledger/Open.ts"
import { name, version } from "./version.ts"

const { forReading, ledger, resolveLedger } = LedgerSettings

const json = CliOptions.boolean("json").pipe(
  CliOptions.withDescription("Print the result as JSON, and a failure as one JSON object on standard error.")
)
const quiet = CliOptions.boolean("quiet").pipe(CliOptions.withDescription("Print no progress and no notes."))

/** The options of every command that prints a result. */
const common = { ledger, config, json, quiet }

interface Common {
  readonly ledger: Setting.Value<string | undefined>
  readonly config: Setting.Value<string | undefined>
  readonly json: boolean
  readonly quiet: boolean
}

/** Provides the config file and the output. */
const printing = (options: Common) => <A, E, R>(command: Effect.Effect<A, E, R>) =>
  command.pipe(
    configured(options.config),
    Effect.provideServiceEffect(Output.Output, Output.make(options)),
    Effect.provideServiceEffect(Progress.Progress, Progress.make(options))
  )

/** Provides the ledger of a command that sends nothing. */
const withLedger = (open: typeof OpenLedger.layer, options: Common) => <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(resolveLedger(options.ledger), (path) => Effect.provide(command, open(path, forReading)))

const load = <Module>(module: () => Promise<Module>): Effect.Effect<Module> => Effect.promise(module)

const described = (description: Help.Description) => Command.withDescription(Help.describe(description))

const snapshot = { source: SourceSettings.options, snapshot: SnapshotSettings.options }

const resolveSnapshot = (options: { readonly [Key in keyof typeof snapshot]: Setting.Parsed<(typeof snapshot)[Key]> }) =>
  Effect.gen(function*() {
    const { maxBadRows, ...source } = yield* SourceSettings.resolve(options.source)
    const { negative, ...policy } = yield* SnapshotSettings.resolve(options.snapshot)
    return { ...source, negative, policy: { ...policy, maxBadRows } }
  })

const sending = { ...snapshot, ledger, ledgerSettings: LedgerSettings.options, send: SyncSettings.sendOptions }

const resolveSending = (
  options: Parameters<typeof resolveSnapshot>[0] & Pick<Common, "ledger"> & {
    readonly ledgerSettings: Setting.Parsed<typeof LedgerSettings.options>
    readonly send: Setting.Parsed<typeof SyncSettings.sendOptions>
  }
) =>
  Effect.gen(function*() {
    return {
      ...yield* resolveSnapshot(options),
      ledger: yield* resolveLedger(options.ledger),
      ledgerSettings: yield* LedgerSettings.resolve(options.ledgerSettings),
      ...yield* SyncSettings.resolveSend(options.send)
    }
  })

const run_ = Command.make(
  "run",
  { ...sending, sync: SyncSettings.options, observability: ObservabilitySettings.options, config, json },
  (options) =>
    Effect.gen(function*() {
      const settings = {
        ...yield* resolveSending(options),
        ...yield* SyncSettings.resolve(options.sync),
        observability: yield* ObservabilitySettings.resolve(options.observability)
      }
      const command = yield* load(() => import("./commands/Run.ts"))
      yield* Program.untilStopped
      return yield* Effect.provide(command.run(settings), command.layer(settings))
    }).pipe(configured(options.config))
).pipe(described({
  summary: "Keeps the store equal to the source until it is stopped.",
  details: [
    "Sends what differs from the stock that the service confirmed, sold-out products first. Continues after failures of the " +
    "source, the service and the ledger. Requires PLAZA_BASE_URL and PLAZA_API_KEY. SIGTERM and SIGINT stop it with exit code " +
    "0."
  ],
  examples: ["run --source stock.csv --port 9464", "run --source https://shop.example/stock.json --poll 30s"]
}))

const once = Command.make("once", { ...sending, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const settings = yield* resolveSending(options)
    const command = yield* load(() => import("./commands/Once.ts"))
    yield* Effect.provide(command.run(settings), command.layer(settings))
  }).pipe(printing(options))).pipe(described({
    summary: "Reads the source once, sends what differs, and prints the result.",
    details: [
      "Sends until nothing is due, sold-out products first. Requires PLAZA_BASE_URL and PLAZA_API_KEY. Exits with 0 only if the " +
      "service confirmed every row of the source."
    ],
    examples: ["once --source stock.csv", "once --source - --id-column sku --json < export.csv"]
  }))

const plan = Command.make("plan", { ...snapshot, ...common }, (options) =>
  Effect.gen(function*() {
    const { policy, ...source } = yield* resolveSnapshot(options)
    const command = yield* load(() => import("./commands/Plan.ts"))
    yield* Effect.provide(command.run(policy), command.layerSource(source))
  }).pipe(withLedger(OpenLedger.layerTemporaryCopy, options), printing(options))).pipe(described({
    summary: "Shows what would be sent, in order, and what would be held.",
    details: ["Sends nothing, requires no key and does not change the ledger."],
    examples: ["plan --source stock.csv"]
  }))

const status = Command.make("status", common, (options) =>
  load(() => import("./commands/Status.ts")).pipe(
    Effect.flatMap((command) => command.run),
    withLedger(OpenLedger.layerReadOnly, options),
    printing(options)
  )).pipe(described({
    summary: "Shows the state of the products in the ledger.",
    details: ["Lists products that are not settled, and a held snapshot with its changes. Works beside a running worker."],
    examples: ["status", "status --json"]
  }))

const products = Args.text({ name: "PRODUCT" }).pipe(Args.repeated,
  Args.withDescription("Quarantined or uncertain products (default: all quarantined products)."))

const retry = Command.make("retry", { products, ...common }, (options) =>
  load(() => import("./commands/Retry.ts")).pipe(
    Effect.flatMap((command) => command.run(options.products)),
    withLedger(OpenLedger.layerWithoutLock, options),
    printing(options)
  )).pipe(described({
    summary: "Sends quarantined products again, and uncertain ones that are named.",
    details: [
      "An uncertain product is sent only if it is named: sending it puts pieces on sale again that the store has sold meanwhile.",
      "A running worker sends them within seconds, otherwise the next `once`. Works beside a running worker."
    ],
    examples: ["retry", "retry MUG-BLUE-350 \"CAP/RED L\""]
  }))

const snapshotNumber = Args.text({ name: "SNAPSHOT" }).pipe(
  Args.withDescription("The number of the held snapshot, as `status` shows it."),
  Values.argument(Values.wholeNumber("SNAPSHOT", { min: 1 }))
)

const confirm = Command.make("confirm", { snapshotNumber, ...common }, (options) =>
  load(() => import("./commands/Confirm.ts")).pipe(
    Effect.flatMap((command) => command.run(options.snapshotNumber)),
    withLedger(OpenLedger.layerWithoutLock, options),
    printing(options)
  )).pipe(described({
    summary: "Confirms a held snapshot, so that the next read accepts it.",
    details: [
      "Look at its changes with `status` or `plan` first. A source with other implausible changes is held again, under another " +
      "number. Works beside a running worker."
    ],
    examples: ["confirm 3"]
  }))

const adopt = Command.make("adopt", common, (options) =>
  load(() => import("./commands/Adopt.ts")).pipe(
    Effect.flatMap((command) => Effect.provide(command.run, command.layer)),
    withLedger(OpenLedger.layerWithoutLock, options),
    printing(options)
  )).pipe(described({
    summary: "Binds the ledger to a new address or a new key of its account.",
    details: [
      "Use it after PLAZA_BASE_URL or PLAZA_API_KEY has changed, and stop the worker first. Fails if the service shows that it " +
      "is another account."
    ],
    examples: ["adopt --ledger /var/lib/plaza/stock.sqlite"]
  }))

const product = Args.text({ name: "PRODUCT" }).pipe(Args.optional, Args.withDescription("One product (default: all)."))
const limit = CliOptions.text("limit").pipe(
  CliOptions.withPseudoName("N"),
  CliOptions.withDescription("Requests to show (default: 100)."),
  Values.option(Values.wholeNumber("--limit", { min: 1 })),
  CliOptions.withDefault(100)
)

const history = Command.make("history", { product, limit, ...common }, (options) =>
  load(() => import("./commands/History.ts")).pipe(
    Effect.flatMap((command) => command.run(options)),
    withLedger(OpenLedger.layerReadOnly, options),
    printing(options)
  )).pipe(described({
    summary: "Shows past requests with time, reason and response, the latest first.",
    details: ["Works beside a running worker."],
    examples: ["history MUG-BLUE-350", "history --limit 1000 --json"]
  }))

const export_ = Command.make("export", common, (options) =>
  load(() => import("./commands/Export.ts")).pipe(
    Effect.flatMap((command) => command.run),
    withLedger(OpenLedger.layerReadOnly, options),
    printing(options)
  )).pipe(described({
    summary: "Writes each product of the ledger as one JSON object a line.",
    details: ["Works beside a running worker."],
    examples: ["export > ledger.ndjson"]
  }))

const withoutConfig = { json, quiet }

/** Provides the output of a command that has no config file. */
const printingFleet = (options: { readonly json: boolean; readonly quiet: boolean }) =>
  printing({ ...options, ledger: Effect.succeed(undefined), config: Effect.succeed(undefined) })

const migrate = Command.make("migrate", withoutConfig, (options) =>
  load(() => import("./commands/fleet/Migrate.ts")).pipe(
    Effect.flatMap((command) => Effect.provide(command.run, command.layer)),
    printingFleet(options)
  )).pipe(described({
    summary: "Prepares the database of the fleet, or brings it up to date.",
    details: [
      "Run it before the first runner, after each update of plaza-stock-sync, and after a change of STOCK_SYNC_FLEET_SECRET: it seals " +
      "anew what an earlier secret sealed. Works beside runners, and does nothing the second time."
    ],
    examples: ["fleet migrate", "fleet migrate --json"]
  }))

const runFleet = Command.make("run", { settings: FleetSettings.options, json }, (options) =>
  Effect.gen(function*() {
    const settings = yield* FleetSettings.resolve(options.settings)
    const command = yield* load(() => import("./commands/fleet/Run.ts"))
    yield* Program.untilStopped
    return yield* Effect.provide(command.run, command.layerObserved(settings))
  }).pipe(configured(Effect.succeed(undefined)))).pipe(described({
    summary: "Runs a share of the accounts until it is stopped.",
    details: [
      "Start as many runners as you like, on any machines. They share the accounts, and take over those of a runner that stops. " +
      "PLAZA_RATE_LIMIT, PLAZA_RATE_WINDOW and PLAZA_TIMEOUT hold for every account. SIGTERM and SIGINT stop the runner with exit code 0."
    ],
    examples: ["fleet run", "fleet run --port 9464 --log-format json"]
  }))

const oneAccount = Args.text({ name: "ACCOUNT" }).pipe(Args.optional, Args.withDescription("One account (default: the fleet)."))

const fleetStatus = Command.make("status", { account: oneAccount, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Status.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.run(options.account), command.layer)),
      printingFleet(options)
    )).pipe(described({
      summary: "Shows the state of the fleet, or of one account.",
      details: ["Reads the database, so it works on any machine and beside runners."],
      examples: ["fleet status", "fleet status shop-1 --json"]
    }))

const accountPrefix = CliOptions.text("prefix").pipe(
  CliOptions.withPseudoName("TEXT"),
  CliOptions.withDefault(""),
  CliOptions.withDescription("Show only accounts whose id begins with this text (default: all accounts).")
)

const listAccounts = Command.make("list", { prefix: accountPrefix, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.list(options.prefix), command.layer)),
      printingFleet(options)
    )).pipe(described({
      summary: "Lists the accounts, without their keys.",
      details: ["A failing account has a problem, which its runner has recorded."],
      examples: ["fleet accounts list", "fleet accounts list --prefix shop-1 --json"]
    }))

const accountId = Args.text({ name: "ID" }).pipe(Args.withDescription("The id of the account, 1 to 200 characters."))
const accountIds = Args.text({ name: "ID" }).pipe(Args.atLeast(1), Args.withDescription("The ids of the accounts."))

const textOption = (option: string, placeholder: string, about: string) =>
  CliOptions.text(option).pipe(CliOptions.withPseudoName(placeholder), CliOptions.withDescription(about), CliOptions.optional)

/** An option of the single-store worker, for an account. No variable replaces it. */
const accountOption = ({ about, flag, isList, placeholder }: Setting.Documented): CliOptions.Options<Option.Option<string>> =>
  isList === true && placeholder !== undefined
    ? CliOptions.text(flag).pipe(
      CliOptions.withPseudoName(placeholder),
      CliOptions.withDescription(about),
      CliOptions.repeated,
      CliOptions.map(Setting.joined)
    )
    : placeholder === undefined
    ? CliOptions.boolean(flag).pipe(
      CliOptions.withDescription(about),
      CliOptions.map((isSet) => isSet ? Option.some("true") : Option.none())
    )
    : textOption(flag, placeholder, about)

const accountSettings = {
  baseUrl: textOption("base-url", "URL", "The base URL of the service, which ends with /open/v1 (required for a new account)."),
  key: textOption("key", "REFERENCE",
    "The key: env:NAME or file:PATH, which each runner reads, or - to read the key from standard input or " +
      "a prompt and to seal it, which requires STOCK_SYNC_FLEET_SECRET (default for a new account: -)."),
  source: textOption(AccountOptionNames.sourceName, "FILE|URL", "The source of stock values (required for a new account): a file, an " +
    "address that begins with http:, https:, postgres:, mysql: or sqlite:, or env:NAME for an address in a variable of the runner."),
  options: CliOptions.all(Object.fromEntries([
    ...AccountOptionNames.settings.map((setting) => [setting.flag, accountOption(setting)] as const),
    ...AccountOptionNames.secretNames.map((option) =>
      [
        option,
        textOption(option, "REFERENCE", `Secret request headers for the source, as in ${variableOf(option)}: env:NAME or file:PATH.`)
      ] as const
    )
  ]))
}

const addAccount = Command.make("add", { id: accountId, ...accountSettings, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.add(options), command.layerWriting)),
      printingFleet(options)
    )).pipe(described({
      summary: "Adds an account.",
      details: ["Prompts for the key without showing it, or reads it from a pipe, unless --key refers to one. It is never an argument."],
      examples: [
        "fleet accounts add shop-1 --base-url https://api.example.com/open/v1 --key env:SHOP_1_KEY --source https://shop.example/stock.csv",
        "fleet accounts add shop-2 --base-url https://api.example.com/open/v1 --source /data/shop-2.csv --stock-column qty < key.txt"
      ]
    }))

const unset = CliOptions.text("unset").pipe(
  CliOptions.withPseudoName("NAME"),
  CliOptions.repeated,
  CliOptions.withDescription("An option to set back to its default, by its name without dashes. May be repeated.")
)

const updateAccount = Command.make("update", { id: accountId, ...accountSettings, unset, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.update(options, options.unset), command.layerWriting)),
      printingFleet(options)
    )).pipe(described({
      summary: "Changes settings of an account, and leaves the others as they are.",
      details: ["Its runner uses the new settings within seconds."],
      examples: ["fleet accounts update shop-1 --poll 5m --unset delimiter", "fleet accounts update shop-1 --key - < key.txt"]
    }))

const accountFile = Args.text({ name: "FILE" }).pipe(Args.withDescription("A CSV file, or - for standard input."))

const importAccounts = Command.make("import", { file: accountFile, ...withoutConfig },
  (options) =>
    load(() => Promise.all([import("./commands/fleet/Accounts.ts"), import("./commands/fleet/AccountsImport.ts")])).pipe(
      Effect.flatMap(([accounts, command]) => Effect.provide(command.run(options.file), accounts.layerWriting)),
      printingFleet(options)
    )).pipe(described({
      summary: "Adds and updates the accounts of a CSV file, all of them or none.",
      details: [
        "The columns are id, baseUrl, key and source. Further columns are options of the single-store worker by their names, such as " +
        "stock-column; an empty cell is an option that is not set. The key is env:NAME, file:PATH, or the key itself, which is sealed and " +
        "requires STOCK_SYNC_FLEET_SECRET. Accounts that the file does not name stay as they are."
      ],
      examples: ["fleet accounts import accounts.csv", "fleet accounts import - --json < accounts.csv"]
    }))

const pauseAccounts = Command.make("pause", { ids: accountIds, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.setPaused(options.ids, true), command.layer)),
      printingFleet(options)
    )).pipe(described({
      summary: "Pauses accounts: nothing is read and nothing is sent for them.",
      details: ["Requests in flight end first. The record of confirmed stock stays."],
      examples: ["fleet accounts pause shop-1 shop-2"]
    }))

const resumeAccounts = Command.make("resume", { ids: accountIds, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.setPaused(options.ids, false), command.layer)),
      printingFleet(options)
    )).pipe(described({ summary: "Resumes paused accounts.", examples: ["fleet accounts resume shop-1 shop-2"] }))

const confirmSnapshot = Command.make("confirm", { id: accountId, snapshotNumber, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.confirm(options.id, options.snapshotNumber), command.layerWithLedgers)),
      printingFleet(options)
    )).pipe(described({
      summary: "Confirms a held snapshot of an account, so that the next read accepts it.",
      details: ["Look at its changes with `fleet status ID` first."],
      examples: ["fleet accounts confirm shop-1 3"]
    }))

const retryProducts = Command.make("retry", { id: accountId, products, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.retry(options.id, options.products), command.layerWithLedgers)),
      printingFleet(options)
    )).pipe(described({
      summary: "Sends quarantined products of an account again, and uncertain ones that are named.",
      details: ["Its runner sends them within seconds."],
      examples: ["fleet accounts retry shop-1", "fleet accounts retry shop-1 MUG-BLUE-350"]
    }))

const yes = CliOptions.boolean("yes").pipe(CliOptions.withDescription("Do not ask. Required without a terminal."))

const removeAccount = Command.make("remove", { id: accountId, yes, ...withoutConfig },
  (options) =>
    load(() => import("./commands/fleet/Accounts.ts")).pipe(
      Effect.flatMap((command) => Effect.provide(command.remove(options.id, options.yes), command.layer)),
      printingFleet(options)
    )).pipe(described({
      summary: "Removes an account and the record of its confirmed stock.",
      details: ["Asks first. The products keep the stock that the service has now."],
      examples: ["fleet accounts remove shop-1", "fleet accounts remove shop-1 --yes"]
    }))

const accounts = Command.make("accounts").pipe(
  described({
    summary: "Manages the accounts of the fleet.",
    details: ["Runners notice each change within seconds."],
    examples: ["fleet accounts import accounts.csv", "fleet accounts list"]
  }),
  Command.withSubcommands([
    listAccounts,
    addAccount,
    importAccounts,
    updateAccount,
    pauseAccounts,
    resumeAccounts,
    confirmSnapshot,
    retryProducts,
    removeAccount
  ])
)

const fleet = Command.make("fleet").pipe(
  described({
    summary: "Runs the sync of many accounts on several machines.",
    details: [
      "Set STOCK_SYNC_FLEET_DATABASE to the Postgres that all runners share, and STOCK_SYNC_FLEET_SECRET (or STOCK_SYNC_FLEET_SECRET_FILE) " +
      "to the secret that seals keys in it."
    ],
    examples: ["fleet migrate", "fleet accounts import accounts.csv", "fleet run --port 9464"]
  }),
  Command.withSubcommands([migrate, runFleet, accounts, fleetStatus])
)

const commands = { run: run_, once, plan, status, retry, confirm, adopt, history, export: export_, fleet }

type Subcommand = (typeof commands)[keyof typeof commands]

const rootOf = (subcommands: readonly [Subcommand, ...Array<Subcommand>]) =>
  Command.make(name).pipe(
    described({
      summary: "Sends the stock of a file, an address or a database to a store.",
      details: [
        "Set PLAZA_BASE_URL to the address of the service, and PLAZA_API_KEY to the account's key (or PLAZA_API_KEY_FILE to a " +
        "file with it). The variable in brackets, or a name in the file of --config, can replace an option. An option overrides " +
        "its variable, and a variable overrides the file."
      ],
      examples: ["plan --source stock.csv", "once --source stock.csv", "run --source stock.csv --port 9464"]
    }),
    Command.withSubcommands(subcommands)
  )

const { run: first, ...others } = commands

export const root = rootOf([first, ...Object.values(others)])

const isName = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name)

export const options: Help.Program = { name, version }

const runCommand = CommandLine.run({
  ...options,
  load: (name) => Effect.sync(() => name !== undefined && isName(name) ? rootOf([commands[name]]) : root)
})

/** Runs the words behind the program's name. Commands that it advises select the same ledger. */
export const run = (argv: ReadonlyArray<string>) =>
  Effect.provideService(runCommand(argv), LedgerCommands.LedgerCommands, LedgerCommands.ofStore(argv))

/** How the program reports a failure. */
export const reporting = (argv: ReadonlyArray<string>): Program.Options => ({
  name,
  json: Arguments.has(argv, "--json"),
  exitCodes,
  remediation: { key: "Set PLAZA_API_KEY or PLAZA_API_KEY_FILE to a key of this account, and start plaza-stock-sync again." }
})
