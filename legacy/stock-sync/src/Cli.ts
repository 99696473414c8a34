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
import { configured } from "./config/Configuration.ts"
import * as FleetSettings from "./config/FleetSettings.ts"
import * as Setting from "./config/Setting.ts"
import { variableOf } from "./config/Wording.ts"
import { exitCodes } from "./ExitCodes.ts"
import * as AccountOptionNames from "./fleet/AccountOptionNames.ts"
import * as LedgerCommands from "./ledger/LedgerCommands.ts"
import { name, version } from "./version.ts"

const json = CliOptions.boolean("json").pipe(
  CliOptions.withDescription("Print the result as JSON, and a failure as one JSON object on standard error.")
)
const quiet = CliOptions.boolean("quiet").pipe(CliOptions.withDescription("Print no progress and no notes."))

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

const load = <Module>(module: () => Promise<Module>): Effect.Effect<Module> => Effect.promise(module)

const described = (description: Help.Description) => Command.withDescription(Help.describe(description))

const products = Args.text({ name: "PRODUCT" }).pipe(Args.repeated,
  Args.withDescription("Quarantined or uncertain products (default: all quarantined products)."))

const snapshotNumber = Args.text({ name: "SNAPSHOT" }).pipe(
  Args.withDescription("The number of the held snapshot, as `status` shows it."),
  Values.argument(Values.wholeNumber("SNAPSHOT", { min: 1 }))
)

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

export const root = Command.make(name).pipe(
  described({ summary: "Sends the stock of a file, an address or a database to a store.", examples: ["fleet run"] }),
  Command.withSubcommands([fleet])
)

export const options: Help.Program = { name, version }

const runCommand = CommandLine.run({ ...options, load: () => Effect.succeed(root) })

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
