/** The commands of `plaza-stock-sync`, their options and their help. `commands/` has what they do and is loaded when one runs. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CliOptions from "@effect/cli/Options"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import * as Help from "@plaza/cli-kit/Help"
import * as Output from "@plaza/cli-kit/Output"
import * as Progress from "@plaza/cli-kit/Progress"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { config, configured } from "./config/Configuration.js"
import * as LedgerSettings from "./config/LedgerSettings.js"
import * as ObservabilitySettings from "./config/ObservabilitySettings.js"
import * as Settings from "./config/Settings.js"
import * as SnapshotSettings from "./config/SnapshotSettings.js"
import * as SourceSettings from "./config/SourceSettings.js"
import * as SyncSettings from "./config/SyncSettings.js"
import { name, version } from "./version.js"

const withOutput = (options: { readonly json: boolean; readonly quiet: boolean }) =>
  Effect.provide(Layer.merge(Output.layer(options), Progress.layer(options)))

const described = (summary: string, ...examples: Help.Description["examples"]) =>
  Command.withDescription(Help.describe({ summary, examples }))

const { concurrency, json, ledger, quiet } = Settings
const { sourceIncludesSales } = SyncSettings

const snapshot = { ...SourceSettings.options, ...SnapshotSettings.options, ledger }

const resolveIntake = (
  options: Parameters<typeof SourceSettings.resolveSource>[0] & Parameters<typeof SnapshotSettings.resolveSnapshot>[0]
) =>
  Effect.gen(function*() {
    const { maxBadRows, ...source } = yield* SourceSettings.resolveSource(options)
    const { negative, ...policy } = yield* SnapshotSettings.resolveSnapshot(options)
    return { ...source, negative, policy: { ...policy, maxBadRows } }
  })

const sending = { ...snapshot, ...LedgerSettings.options, ...SyncSettings.sendOptions, concurrency }

const resolveSending = (
  options:
    & Parameters<typeof resolveIntake>[0]
    & Parameters<typeof LedgerSettings.resolveLedgerSettings>[0]
    & Parameters<typeof SyncSettings.resolveSend>[0]
    & {
      readonly concurrency: Settings.Given
      readonly ledger: Settings.Given
    }
) =>
  Effect.gen(function*() {
    return {
      ...yield* resolveIntake(options),
      ledger: yield* Settings.resolveLedger(options.ledger),
      ledgerSettings: yield* LedgerSettings.resolveLedgerSettings(options),
      concurrency: yield* Settings.resolveConcurrency(options.concurrency),
      ...yield* SyncSettings.resolveSend(options)
    }
  })

const once = Command.make("once", { ...sending, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const settings = yield* resolveSending(options)
    const command = yield* Effect.promise(() => import("./commands/Once.js"))
    yield* command.run(settings)
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Sends what differs between the source and the stock that the service confirmed, sold out first, until nothing is due, and prints the result. " +
      "Requires PLAZA_BASE_URL and PLAZA_API_KEY. Exits with 0 only if the service confirmed every row of the source.",
    "once --source stock.csv",
    "once --source - --id-column sku --json < export.csv"
  ))

const run_ = Command.make(
  "run",
  { ...sending, ...SyncSettings.options, sourceIncludesSales, ...ObservabilitySettings.options, config, json },
  (options) =>
    Effect.gen(function*() {
      const settings = yield* resolveSending(options)
      const sync = yield* SyncSettings.resolveSync(options)
      const seen = yield* ObservabilitySettings.resolveSeen(options)
      const command = yield* Effect.promise(() => import("./commands/Run.js"))
      yield* command.run({ ...settings, ...sync, seen })
    }).pipe(configured(options))
).pipe(described(
  "Watches the source and sends what differs from the stock that the service confirmed, sold out first, until it is stopped. Goes on by itself after " +
    "failures of the source, the service and the ledger. Requires PLAZA_BASE_URL and PLAZA_API_KEY. SIGTERM and SIGINT end it with 0.",
  "run --source stock.csv --port 9464",
  "run --source https://shop.example/stock.json --poll 30s"
))

const plan = Command.make("plan", { ...snapshot, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const intake = yield* resolveIntake(options)
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/Plan.js"))
    yield* command.run({ ...intake, ledger: path })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Shows what would be sent, in order, and what would be held. Sends nothing, requires no key and does not change the ledger.",
    "plan --source stock.csv"
  ))

const status = Command.make("status", { ledger, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/Status.js"))
    yield* command.run({ ledger: path })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Shows how many products are settled, lists those that are not, and shows a held snapshot with its changes. Works beside a running worker.",
    "status",
    "status --json"
  ))

const products = Args.text({ name: "product" }).pipe(Args.repeated, Args.withDescription("Quarantined products (default: all of them)."))

const retry = Command.make("retry", { products, ledger, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/Retry.js"))
    yield* command.run({ ledger: path, products: options.products })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Releases quarantined products: a running worker sends them within seconds, `once` when it runs next. Works beside a running worker.",
    "retry",
    "retry MUG-BLUE-350 \"CAP/RED L\""
  ))

const snapshotNumber = Args.integer({ name: "snapshot" }).pipe(
  Args.withDescription("The number of the held snapshot, as `status` shows it.")
)

const confirm = Command.make("confirm", { snapshotNumber, ledger, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/Confirm.js"))
    yield* command.run({ ledger: path, number: options.snapshotNumber })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Confirms a held snapshot after you have looked at its changes with `status` or `plan`: the next read takes it. A source with other implausible " +
      "changes is held again, under another number. Works beside a running worker.",
    "confirm 3"
  ))

const adopt = Command.make("adopt", { ledger, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/Adopt.js"))
    yield* command.run({ ledger: path })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Binds the ledger to PLAZA_BASE_URL and PLAZA_API_KEY after the address or the key of the account has changed. Fails if the service shows that " +
      "it is another account. Stop the worker first.",
    "adopt --ledger /var/lib/plaza/stock.sqlite"
  ))

const product = Args.text({ name: "product" }).pipe(Args.optional, Args.withDescription("One product (default: all)."))
const limit = CliOptions.integer("limit").pipe(CliOptions.withDefault(100), CliOptions.withDescription("Requests to show (default: 100)."))

const history = Command.make("history", { product, limit, ledger, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/History.js"))
    yield* command.run({ ledger: path, product: options.product, limit: options.limit })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Shows past requests with their time, reason and response, the latest first. Works beside a running worker.",
    "history MUG-BLUE-350",
    "history --limit 1000 --json"
  ))

const export_ = Command.make("export", { ledger, config, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./commands/Export.js"))
    yield* command.run({ ledger: path })
  }).pipe(configured(options), withOutput(options))).pipe(described(
    "Writes every product of the ledger as one JSON object a line. Works beside a running worker.",
    "export > ledger.ndjson"
  ))

export const root = Command.make(name).pipe(
  described(
    "Sends the stock of a file, an address or a database to a store. PLAZA_BASE_URL is the service's address, PLAZA_API_KEY the account's key (or " +
      "PLAZA_API_KEY_FILE a file with it). The environment variable in brackets, or a setting in the file of --config, replaces an option. An option " +
      "overrides its variable, and a variable overrides the file.",
    "plan --source stock.csv",
    "once --source stock.csv",
    "run --source stock.csv --port 9464"
  ),
  Command.withSubcommands([run_, once, plan, status, retry, confirm, adopt, history, export_])
)

export const options: Help.Program = { name, version }

/** Runs the words behind the program's name. */
export const run = CommandLine.run(root, options)
