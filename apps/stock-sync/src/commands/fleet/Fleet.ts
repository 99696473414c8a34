/** The commands of a fleet: their options and their help. */
import * as Flags from "@plaza/cli-kit/Flags"
import type { Description } from "@plaza/cli-kit/Manual"
import * as Program from "@plaza/cli-kit/Program"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { configured } from "../../config/Configuration.ts"
import * as FleetSettings from "../../config/FleetSettings.ts"
import * as Setting from "../../config/Setting.ts"
import * as AccountOptionNames from "../../fleet/AccountOptionNames.ts"
import { variableOf } from "../../Wording.ts"
import { described, load } from "../Definition.ts"
import * as ReportOptions from "../ReportOptions.ts"
import * as RevertOptions from "../RevertOptions.ts"

/** A command of a fleet. It has no config file. */
const command = <const Name extends string, const Config extends Command.Command.Config, E, R>(
  name: Name,
  description: Description,
  config: Config,
  run: (input: Command.Command.Config.Infer<Config>) => Effect.Effect<void, E, R>
) => Command.make(name, config, (input) => Effect.scoped(configured(Effect.succeed(undefined))(run(input)))).pipe(described(description))

const migrate = command("migrate", {
  summary: "Prepares the database of the fleet, or brings it up to date.",
  details: [
    "Run it before the first runner, after each update of plaza-stock-sync, and after a change of STOCK_SYNC_FLEET_SECRET: it seals " +
    "anew what an earlier secret sealed. Works beside runners, and does nothing the second time."
  ],
  examples: ["fleet migrate", "fleet migrate --json"]
}, {}, () => Effect.flatMap(load(() => import("./Migrate.ts")), ({ layer, run }) => Effect.provide(run, layer)))

const run = command("run", {
  summary: "Runs a share of the accounts until it is stopped.",
  details: [
    "Start as many runners as you like, on any machines. They share the accounts, and take over those of a runner that stops. " +
    "PLAZA_RATE_LIMIT, PLAZA_RATE_WINDOW and PLAZA_TIMEOUT hold for every account. SIGTERM and SIGINT stop the runner with exit code 0."
  ],
  examples: ["fleet run", "fleet run --port 9464 --log-format json"]
}, FleetSettings.options, (options) =>
  Effect.gen(function*() {
    const settings = yield* FleetSettings.resolve(options)
    const { layerObserved, run } = yield* load(() => import("./Run.ts"))
    return yield* Effect.provide(run, layerObserved(settings))
  })).pipe(
    // A stop at any time ends it with 0.
    Command.provideEffectDiscard(Program.untilStopped)
  )

const status = command("status", {
  summary: "Shows the state of the fleet, or of one account.",
  details: ["Reads the database, so it works on any machine and beside runners."],
  examples: ["fleet status", "fleet status shop-1 --json"]
}, { account: Argument.optional(Flags.argument("ACCOUNT", "One account (default: the fleet).")) },
  ({ account }) => Effect.flatMap(load(() => import("./Status.ts")), ({ layer, run }) => Effect.provide(run(account), layer)))

const report = command("report", {
  summary: "Shows what happened to an account since some time, and whether it is in sync now.",
  details: ["As `report` of a single store. Reads the database, so it works on any machine and beside runners."],
  examples: ["fleet report shop-1", "fleet report shop-1 --since 7d --format html > shop-1.html"]
}, { account: Flags.argument("ACCOUNT", "The account."), ...ReportOptions.flags },
  ({ account, ...options }) =>
    Effect.flatMap(load(() => import("./Report.ts")), ({ layer, run }) => Effect.provide(run(account, options), layer)))

const loadAccounts = load(() => import("./Accounts.ts"))

const listAccounts = command("list", {
  summary: "Lists the accounts, without their keys.",
  details: ["A failing account has a problem, which its runner has recorded."],
  examples: ["fleet accounts list", "fleet accounts list --prefix shop-1 --json"]
}, {
  prefix: Flag.withDefault(
    Flags.text("prefix", "TEXT", "Show only accounts whose id begins with this text (default: all accounts)."),
    ""
  )
}, ({ prefix }) => Effect.flatMap(loadAccounts, ({ layer, list }) => Effect.provide(list(prefix), layer)))

const accountId = Flags.argument("ID", "The id of the account, 1 to 200 characters.")
const accountIds = Argument.atLeast(Flags.argument("ID", "The ids of the accounts."), 1)

const optionalText = (name: string, placeholder: string, about: string) => Flag.optional(Flags.text(name, placeholder, about))

/** An option of the single-store worker, for an account. No variable replaces it. */
const accountOption = ({ about, flag, isList, placeholder }: Setting.Documented): Flag.Flag<Option.Option<string>> =>
  placeholder === undefined
    ? Flag.map(Flags.boolean(flag, about), (isSet) => isSet ? Option.some("true") : Option.none())
    : isList === true
    ? Setting.repeated(flag, placeholder, about)
    : optionalText(flag, placeholder, about)

const accountSettings = {
  baseUrl: optionalText("base-url", "URL", "The base URL of the service, which ends with /open/v1 (required for a new account)."),
  key: optionalText("key", "REFERENCE",
    "The key: env:NAME or file:PATH, which each runner reads, or - to read the key from standard input or " +
      "a prompt and to seal it, which requires STOCK_SYNC_FLEET_SECRET (default for a new account: -)."),
  source: optionalText(AccountOptionNames.sourceName, "FILE|URL", "The source of stock values (required for a new account): a file, an " +
    "address that begins with http:, https:, postgres:, mysql: or sqlite:, or env:NAME for an address in a variable of the runner."),
  options: {
    ...Object.fromEntries(AccountOptionNames.settings.map((setting) => [setting.flag, accountOption(setting)])),
    ...Object.fromEntries(
      AccountOptionNames.secretNames.map((name) => [
        name,
        optionalText(name, "REFERENCE", `A secret of the source, as in ${variableOf(name)}: env:NAME or file:PATH.`)
      ])
    )
  }
}

const addAccount = command("add", {
  summary: "Adds an account.",
  details: ["Prompts for the key without showing it, or reads it from a pipe, unless --key refers to one. It is never an argument."],
  examples: [
    "fleet accounts add shop-1 --base-url https://api.example.com/open/v1 --key env:SHOP_1_KEY --source https://shop.example/stock.csv",
    "fleet accounts add shop-2 --base-url https://api.example.com/open/v1 --source /data/shop-2.csv --stock-column qty < key.txt"
  ]
}, { id: accountId, ...accountSettings },
  (given) => Effect.flatMap(loadAccounts, ({ add, layerWriting }) => Effect.provide(add(given), layerWriting)))

const updateAccount = command("update", {
  summary: "Changes settings of an account, and leaves the others as they are.",
  details: ["Its runner uses the new settings within seconds."],
  examples: ["fleet accounts update shop-1 --poll 5m --unset delimiter", "fleet accounts update shop-1 --key - < key.txt"]
}, {
  id: accountId,
  ...accountSettings,
  unset: Setting.repeated("unset", "NAME", "An option to set back to its default, by its name without dashes. May be repeated.")
}, ({ unset, ...given }) =>
  Effect.flatMap(loadAccounts, ({ layerWriting, update }) =>
    Effect.provide(update(given, Option.match(unset, {
      onNone: () => [],
      onSome: (names) => names.split(",")
    })), layerWriting)))

const importAccounts = command("import", {
  summary: "Adds and updates the accounts of a CSV file, all of them or none.",
  details: [
    "The columns are id, baseUrl, key and source. Further columns are options of the single-store worker by their names, such as " +
    "stock-column; an empty cell is an option that is not set. The key is env:NAME, file:PATH, or the key itself, which is sealed and " +
    "requires STOCK_SYNC_FLEET_SECRET. Accounts that the file does not name stay as they are."
  ],
  examples: ["fleet accounts import accounts.csv", "fleet accounts import - --json < accounts.csv"]
}, { file: Flags.argument("FILE", "A CSV file, or - for standard input.") }, ({ file }) =>
  Effect.gen(function*() {
    const { layerWriting } = yield* loadAccounts
    const { run } = yield* load(() => import("./AccountsImport.ts"))
    yield* Effect.provide(run(file), layerWriting)
  }))

const setPaused = (ids: ReadonlyArray<string>, paused: boolean) =>
  Effect.flatMap(loadAccounts, (accounts) => Effect.provide(accounts.setPaused(ids, paused), accounts.layer))

const pauseAccounts = command("pause", {
  summary: "Pauses accounts: nothing is read and nothing is sent for them.",
  details: ["Requests in flight end first. The record of confirmed stock stays."],
  examples: ["fleet accounts pause shop-1 shop-2"]
}, { ids: accountIds }, ({ ids }) => setPaused(ids, true))

const resumeAccounts = command("resume", {
  summary: "Resumes paused accounts.",
  examples: ["fleet accounts resume shop-1 shop-2"]
}, { ids: accountIds }, ({ ids }) => setPaused(ids, false))

const confirmSnapshot = command("confirm", {
  summary: "Confirms a held snapshot of an account, so that the next read accepts it.",
  details: ["Look at its changes with `fleet status ID` first."],
  examples: ["fleet accounts confirm shop-1 3"]
}, {
  id: accountId,
  snapshot: Flags.parsedArgument("SNAPSHOT", "The number of the held snapshot, as `status` shows it.",
    Flags.parseWholeNumber("SNAPSHOT", { min: 1 }))
},
  ({ id, snapshot }) =>
    Effect.flatMap(loadAccounts, ({ confirm, layerWithLedgers }) => Effect.provide(confirm(id, snapshot), layerWithLedgers)))

const revertAccount = command("revert", {
  summary: "Makes the stock of an earlier snapshot of an account the wanted stock again.",
  details: ["As `revert` of a single store. Lists the snapshots if none is named. Its runner sends the products within seconds."],
  examples: ["fleet accounts revert shop-1", "fleet accounts revert shop-1 41"]
}, { id: accountId, ...RevertOptions.flags },
  ({ id, ...options }) =>
    Effect.flatMap(loadAccounts, ({ layerWithLedgers, revert }) => Effect.provide(revert(id, options), layerWithLedgers)))

const resendProducts = command("resend", {
  summary: "Sends products of an account again, also if the service has confirmed their stock.",
  details: ["As `resend` of a single store. Its runner sends them within seconds."],
  examples: ["fleet accounts resend shop-1 MUG-BLUE-350"]
}, { id: accountId, products: Argument.variadic(Flags.argument("PRODUCT", "The products to send again."), { min: 1 }) },
  ({ id, products }) =>
    Effect.flatMap(loadAccounts, ({ layerWithLedgers, resend }) => Effect.provide(resend(id, products), layerWithLedgers)))

const retryProducts = command("retry", {
  summary: "Sends quarantined products of an account again, and uncertain ones that are named.",
  details: ["Its runner sends them within seconds."],
  examples: ["fleet accounts retry shop-1", "fleet accounts retry shop-1 MUG-BLUE-350"]
}, {
  id: accountId,
  products: Argument.variadic(
    Flags.argument("PRODUCT", "Quarantined or uncertain products (default: all quarantined products).")
  )
},
  ({ id, products }) =>
    Effect.flatMap(loadAccounts, ({ layerWithLedgers, retry }) => Effect.provide(retry(id, products), layerWithLedgers)))

const removeAccount = command("remove", {
  summary: "Removes an account and the record of its confirmed stock.",
  details: ["Asks first. The products keep the stock that the service has now."],
  examples: ["fleet accounts remove shop-1", "fleet accounts remove shop-1 --yes"]
}, { id: accountId, yes: Flags.boolean("yes", "Do not ask. Required without a terminal.") },
  ({ id, yes }) => Effect.flatMap(loadAccounts, ({ layer, remove }) => Effect.provide(remove(id, yes), layer)))

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
    revertAccount,
    retryProducts,
    resendProducts,
    removeAccount
  ])
)

export const fleet = Command.make("fleet").pipe(
  described({
    summary: "Runs the sync of many accounts on several machines.",
    details: [
      "Set STOCK_SYNC_FLEET_DATABASE to the Postgres that all runners share, and STOCK_SYNC_FLEET_SECRET (or STOCK_SYNC_FLEET_SECRET_FILE) " +
      "to the secret that seals keys in it."
    ],
    examples: ["fleet migrate", "fleet accounts import accounts.csv", "fleet run --port 9464"]
  }),
  Command.withSubcommands([migrate, run, accounts, status, report])
)
