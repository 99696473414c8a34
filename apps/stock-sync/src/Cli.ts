/** The commands of `plaza-stock-sync`: their options and their help. `commands/` has what they do, which is loaded on demand. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as CommandLine from "@plaza/cli-kit/CommandLine"
import * as Flags from "@plaza/cli-kit/Flags"
import * as Output from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import * as Progress from "@plaza/cli-kit/Progress"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { command, described, load } from "./commands/Definition.ts"
import { fleet } from "./commands/fleet/Fleet.ts"
import * as ReportOptions from "./commands/ReportOptions.ts"
import * as RevertOptions from "./commands/RevertOptions.ts"
import * as LedgerSettings from "./config/LedgerSettings.ts"
import * as ObservabilitySettings from "./config/ObservabilitySettings.ts"
import * as Setting from "./config/Setting.ts"
import * as SnapshotSettings from "./config/SnapshotSettings.ts"
import * as SourceSettings from "./config/SourceSettings.ts"
import * as SyncSettings from "./config/SyncSettings.ts"
import { exitCodes } from "./ExitCodes.ts"
import * as Globals from "./Globals.ts"
import { Ledger } from "./ledger/Ledger.ts"
import * as LedgerCommands from "./ledger/LedgerCommands.ts"
import * as OpenLedger from "./ledger/Open.ts"
import { name, version } from "./version.ts"

const ledgerPath = Effect.flatMap(Globals.Ledger, LedgerSettings.resolveLedger)

/** Provides the ledger of a command that sends nothing. */
const withLedger = (open: typeof OpenLedger.layer) => <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.flatMap(ledgerPath, (path) => {
    // A database that falls silent would be waited for without end.
    const unlessLost = Effect.raceFirst(command, Effect.flatMap(Ledger, ({ lost }) => lost))
    return Effect.provide(unlessLost, open(path, LedgerSettings.forReading))
  })

/** Also fails if the ledger does not exist, or is open in a worker. */
const withOwnLedger = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.andThen(withLedger(OpenLedger.layerReadOnly)(Effect.void), withLedger(OpenLedger.layer)(command))

const snapshot = { source: SourceSettings.options, snapshot: SnapshotSettings.options }

const resolveSnapshot = Effect.fnUntraced(function*(options: Setting.Parsed<typeof snapshot>) {
  const { maxBadRows, ...source } = yield* SourceSettings.resolve(options.source)
  const { negative, ...policy } = yield* SnapshotSettings.resolve(options.snapshot)
  return { ...source, negative, policy: { ...policy, maxBadRows } }
})

const sending = { ...snapshot, ledger: LedgerSettings.options, send: SyncSettings.sendOptions }

const resolveSending = Effect.fnUntraced(function*(options: Setting.Parsed<typeof sending>) {
  return {
    ...yield* resolveSnapshot(options),
    ledger: yield* ledgerPath,
    ledgerSettings: yield* LedgerSettings.resolve(options.ledger),
    ...yield* SyncSettings.resolveSend(options.send)
  }
})

const run_ = command("run", {
  summary: "Keeps the store equal to the source until it is stopped.",
  details: [
    "Sends what differs from the stock that the service confirmed, sold-out products first. Continues after failures of the " +
    "source, the service and the ledger. Requires PLAZA_BASE_URL and PLAZA_API_KEY. SIGTERM and SIGINT stop it with exit code " +
    "0."
  ],
  examples: ["run --source stock.csv --port 9464", "run --source https://shop.example/stock.json --poll 30s"]
}, { ...sending, sync: SyncSettings.options, observability: ObservabilitySettings.options }, (options) =>
  Effect.gen(function*() {
    const settings = {
      ...yield* resolveSending(options),
      ...yield* SyncSettings.resolve(options.sync),
      observability: yield* ObservabilitySettings.resolve(options.observability)
    }
    const { layer, run } = yield* load(() => import("./commands/Run.ts"))
    return yield* Effect.provide(run(settings), layer(settings))
  })).pipe(
    // Before the config file is read: a stop at any time ends it with 0.
    Command.provideEffectDiscard(Program.untilStopped)
  )

const once = command("once", {
  summary: "Reads the source once, sends what differs, and prints the result.",
  details: [
    "Sends until nothing is due, sold-out products first. Requires PLAZA_BASE_URL and PLAZA_API_KEY. Exits with 0 only if the " +
    "service confirmed every row of the source."
  ],
  examples: ["once --source stock.csv", "once --source - --id-column sku --json < export.csv"]
}, sending, (options) =>
  Effect.gen(function*() {
    const settings = yield* resolveSending(options)
    const { layer, run } = yield* load(() => import("./commands/Once.ts"))
    yield* Effect.provide(run(settings), layer(settings))
  }))

const plan = command("plan", {
  summary: "Shows what would be sent, in order, and what would be held.",
  details: ["Sends nothing, requires no key and does not change the ledger."],
  examples: ["plan --source stock.csv"]
}, snapshot, (options) =>
  Effect.gen(function*() {
    const { policy, ...source } = yield* resolveSnapshot(options)
    const { layerSource, run } = yield* load(() => import("./commands/Plan.ts"))
    yield* Effect.provide(run(policy), layerSource(source))
  }).pipe(withLedger(OpenLedger.layerCopy)))

/** The source of the variables and the config file; none if they name none. */
const configuredSource = Effect.gen(function*() {
  const given = Setting.fromConfig(SourceSettings.options)
  if ((yield* given.source) === undefined) return undefined
  const { duplicates, negative } = yield* SnapshotSettings.resolve(Setting.fromConfig(SnapshotSettings.options))
  return { ...yield* SourceSettings.resolve(given), duplicates, negative }
})

const status = command("status", {
  summary: "Shows the state of the products in the ledger, or of one product.",
  details: [
    "Lists products that are not settled, and a held snapshot with its changes. Works beside a running worker.",
    "Of a PRODUCT it shows the wanted and the confirmed stock, the last request, why it is not sent and when it is. If the source is set by " +
    "a variable or the config file, it is read, and the rows and rules of the product are shown."
  ],
  examples: ["status", "status --json", "status MUG-BLUE-350"]
}, { product: Flags.argument("PRODUCT", "A product (default: all that are not settled).").pipe(Argument.optional) },
  ({ product }) =>
    Option.match(product, {
      onNone: () => Effect.flatMap(load(() => import("./commands/Status.ts")), ({ run }) => run).pipe(withLedger(OpenLedger.layerReadOnly)),
      onSome: (id) =>
        Effect.gen(function*() {
          const { run } = yield* load(() => import("./commands/StatusProduct.ts"))
          yield* run(id, yield* configuredSource)
        }).pipe(withLedger(OpenLedger.layerReadOnly))
    }))

const resend = command("resend", {
  summary: "Sends products again, also if the service has confirmed their stock.",
  details: [
    "For products whose stock somebody has changed in the store. Pieces that the store has sold since the source was written are on sale " +
    "again until the source knows. A running worker sends them within seconds, otherwise the next `once`. Works beside a running worker."
  ],
  examples: ["resend MUG-BLUE-350", "resend MUG-BLUE-350 \"CAP/RED L\""]
}, { products: Argument.variadic(Flags.argument("PRODUCT", "The products to send again."), { min: 1 }) },
  ({ products }) =>
    Effect.flatMap(load(() => import("./commands/Resend.ts")), ({ run }) => run(products)).pipe(withLedger(OpenLedger.layerBeside)))

const retry = command("retry", {
  summary: "Sends quarantined products again, and uncertain ones that are named.",
  details: [
    "An uncertain product is sent only if it is named: sending it puts pieces on sale again that the store has sold meanwhile.",
    "A running worker sends them within seconds, otherwise the next `once`. Works beside a running worker."
  ],
  examples: ["retry", "retry MUG-BLUE-350 \"CAP/RED L\""]
}, {
  products: Argument.variadic(
    Flags.argument("PRODUCT", "Quarantined or uncertain products (default: all quarantined products).")
  )
},
  ({ products }) =>
    Effect.flatMap(load(() => import("./commands/Retry.ts")), ({ run }) => run(products)).pipe(withLedger(OpenLedger.layerBeside)))

const confirm = command("confirm", {
  summary: "Confirms a held snapshot, so that the next read accepts it.",
  details: [
    "Look at its changes with `status` or `plan` first. A source with other implausible changes is held again, under another " +
    "number. Works beside a running worker."
  ],
  examples: ["confirm 3"]
}, {
  snapshot: Flags.parsedArgument("SNAPSHOT", "The number of the held snapshot, as `status` shows it.",
    Flags.parseWholeNumber("SNAPSHOT", { min: 1 }))
},
  ({ snapshot }) =>
    Effect.flatMap(load(() => import("./commands/Confirm.ts")), ({ run }) => run(snapshot)).pipe(withLedger(OpenLedger.layerBeside)))

const revert = command("revert", {
  summary: "Makes the stock of an earlier snapshot the wanted stock again.",
  details: [
    "Lists the snapshots if none is named. Use it after a wrong source was accepted, then correct the source: a source that sets a product to " +
    "its stock before the revert is held, like an implausible one, until it is right or you confirm it. Products that are new since keep " +
    "their stock.",
    "Pieces that the store has sold since that snapshot are on sale again until the source knows. A running worker sends the products within " +
    "seconds, otherwise the next `once`. The drop guard holds a revert that is implausible itself, by the options --guard-* of the variables " +
    "and the config file. Works beside a running worker."
  ],
  examples: ["revert", "revert 41 --dry-run", "revert 41"]
}, RevertOptions.flags, ({ snapshot, ...options }) =>
  Effect.gen(function*() {
    const { list, run } = yield* load(() => import("./commands/Revert.ts"))
    if (Option.isNone(snapshot)) return yield* withLedger(OpenLedger.layerReadOnly)(list)
    const { guard } = yield* SnapshotSettings.resolve(Setting.fromConfig(SnapshotSettings.options))
    yield* withLedger(OpenLedger.layerBeside)(run({ snapshot: snapshot.value, guard, ...options }))
  }))

const adopt = command("adopt", {
  summary: "Binds the ledger to a new address or a new key of its account.",
  details: [
    "Use it after PLAZA_BASE_URL or PLAZA_API_KEY has changed, and stop the worker first. Fails if the service shows that it " +
    "is another account."
  ],
  examples: ["adopt --ledger /var/lib/plaza/stock.sqlite"]
}, {}, () =>
  Effect.flatMap(load(() => import("./commands/Adopt.ts")), ({ layer, run }) => Effect.provide(run, layer)).pipe(
    withOwnLedger
  ))

const history = command("history", {
  summary: "Shows past requests with time, reason and response, the latest first.",
  details: ["Works beside a running worker."],
  examples: ["history MUG-BLUE-350", "history --limit 1000 --json"]
}, {
  product: Argument.optional(Flags.argument("PRODUCT", "One product (default: all).")),
  limit: Flags.wholeNumber("limit", { description: "Requests to show", min: 1, default: 100 })
},
  (options) =>
    Effect.flatMap(load(() => import("./commands/History.ts")), ({ run }) => run(options)).pipe(withLedger(OpenLedger.layerReadOnly)))

const report = command("report", {
  summary: "Shows what happened since some time, and whether the store is in sync now.",
  details: [
    "Products sent, refused, sold out and back in stock, how long sold-out changes took, requests by failure, snapshots and outages, as far as " +
    "the ledger has them: it says from when on it has all. Works beside a running worker and from cron. --format html writes one file that " +
    "needs nothing else, for a browser or a mail."
  ],
  examples: ["report", "report --since 7d --json", "report --since 24h --format html > report.html"]
}, ReportOptions.flags,
  (options) =>
    Effect.flatMap(load(() => import("./commands/Report.ts")), ({ run }) => run(options)).pipe(withLedger(OpenLedger.layerReadOnly)))

const export_ = command("export", {
  summary: "Writes each product of the ledger as one JSON object a line.",
  details: ["Works beside a running worker."],
  examples: ["export > ledger.ndjson"]
}, {}, () => Effect.flatMap(load(() => import("./commands/Export.ts")), ({ run }) => run).pipe(withLedger(OpenLedger.layerReadOnly)))

const health = command("health", {
  summary: "Checks that a running worker or runner of this machine responds.",
  details: [
    "Requests /healthz, or /readyz with --ready, of the port that `run` or `fleet run` listens on. Exits with 1 if it does not respond with " +
    "200 within 4 seconds. For health checks of containers."
  ],
  examples: ["health --port 9464", "health --port 9464 --ready"]
}, {
  port: ObservabilitySettings.options.port,
  isReady: Flags.boolean("ready", "Require that it works, and not only that it lives.")
}, ({ isReady, port }) =>
  Effect.gen(function*() {
    const { run } = yield* load(() => import("./commands/Health.ts"))
    yield* run({ port: yield* port, isReady })
  }))

/** What every command uses: output and progress, by the options. */
const services = Layer.unwrap(
  Effect.map(Globals.output, (settings) => Layer.merge(Output.layer(settings), Layer.effect(Progress.Progress, Progress.make(settings))))
)

/** The program. */
export const program = Command.make(name).pipe(
  described({
    summary: "Sends the stock of a file, an address or a database to a store.",
    details: [
      "Set PLAZA_BASE_URL to the address of the service, and PLAZA_API_KEY to the account's key (or PLAZA_API_KEY_FILE to a " +
      "file with it). The variable in brackets, or a name in the file of --config, can replace an option. An option overrides " +
      "its variable, and a variable overrides the file."
    ],
    examples: ["plan --source stock.csv", "once --source stock.csv", "run --source stock.csv --port 9464"]
  }),
  Command.withSubcommands([run_, once, plan, status, retry, resend, confirm, revert, adopt, history, report, export_, health, fleet]),
  Command.provide(services),
  Command.withGlobalFlags(Globals.all)
)

const parse = CommandLine.run(program, version)

/** Runs the arguments after the program's name. Commands that it advises select the same ledger. */
export const run = (argv: ReadonlyArray<string>) =>
  parse(argv).pipe(
    Effect.provideService(LedgerCommands.LedgerCommands, LedgerCommands.ofStore(argv)),
    Effect.provide(Layer.merge(NodeFileSystem.layer, NodePath.layer))
  )

/** How the program reports a failure. */
export const reporting = (argv: ReadonlyArray<string>): Program.Options => ({
  name,
  json: CommandLine.has(argv, "json", "j"),
  exitCodes,
  remediation: { key: "Set PLAZA_API_KEY or PLAZA_API_KEY_FILE to a key of this account, and start plaza-stock-sync again." }
})
