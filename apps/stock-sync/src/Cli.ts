/**
 * The commands of `plaza-stock-sync`, their options and their help. What they do lies in `Commands`, loaded when it is needed: help and
 * version open no database. Knows no rule of the interface.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as CommandLine from "@plaza/terminal/CommandLine"
import * as Help from "@plaza/terminal/Help"
import * as Output from "@plaza/terminal/Output"
import * as Progress from "@plaza/terminal/Progress"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as LoopSettings from "./LoopSettings.js"
import * as SeenSettings from "./SeenSettings.js"
import * as Settings from "./Settings.js"
import * as SourceSettings from "./SourceSettings.js"
import * as TermsSettings from "./TermsSettings.js"
import { name, version } from "./version.js"

const speaking = (options: { readonly json: boolean; readonly quiet: boolean }) =>
  Effect.provide(Layer.merge(Output.layer(options), Progress.layer(options)))

const described = (summary: string, ...examples: ReadonlyArray<string>) =>
  Command.withDescription(Help.about(summary, ...examples))

const { concurrency, json, ledger, quiet } = Settings
const { confirm } = TermsSettings

const once = Command.make("once", { ...SourceSettings.options, ...TermsSettings.options, confirm, ledger, concurrency, json, quiet }, (options) =>
  Effect.gen(function*() {
    const reading = yield* SourceSettings.resolveSource(options)
    const path = yield* Settings.resolveLedger(options.ledger)
    const terms = yield* TermsSettings.resolveTerms(options, options.confirm)
    const atATime = yield* Settings.resolveConcurrency(options.concurrency)
    const command = yield* Effect.promise(() => import("./Commands/Once.js"))
    yield* command.run({ ...reading, ledger: path, terms, concurrency: atATime })
  }).pipe(speaking(options))).pipe(described(
    "Sends what differs between the source and the store, sold out first, and tells what came of it. Needs PLAZA_BASE_URL and " +
      "PLAZA_API_KEY. Status 0 only if the service has confirmed every value of the source.",
    "once --source stock.csv",
    "once --source - --id-column sku --json < export.csv"
  ))

const running = { ...LoopSettings.options, ...SeenSettings.options }

const loop = Command.make("run", { ...SourceSettings.options, ...TermsSettings.options, confirm, ledger, concurrency, ...running, json }, (options) =>
  Effect.gen(function*() {
    const reading = yield* SourceSettings.resolveSource(options)
    const path = yield* Settings.resolveLedger(options.ledger)
    const terms = yield* TermsSettings.resolveTerms(options, options.confirm)
    const atATime = yield* Settings.resolveConcurrency(options.concurrency)
    const loop = yield* LoopSettings.resolveLoop(options)
    const seen = yield* SeenSettings.resolveSeen(options)
    const command = yield* Effect.promise(() => import("./Commands/Run.js"))
    yield* command.run({ ...reading, ...loop, seen, ledger: path, terms, concurrency: atATime })
  })).pipe(described(
    "Watches the source and sends what differs from what the service confirmed, sold out first, until it is stopped. Goes on by itself after " +
      "failures of the source, the service and the ledger. Needs PLAZA_BASE_URL and PLAZA_API_KEY.",
    "run --source stock.csv --port 9464",
    "run --source https://shop.example/stock.json --poll \"30 seconds\" --reassert-share 5%"
  ))

const plan = Command.make("plan", { ...SourceSettings.options, ...TermsSettings.options, ledger, json, quiet }, (options) =>
  Effect.gen(function*() {
    const reading = yield* SourceSettings.resolveSource(options)
    const path = yield* Settings.resolveLedger(options.ledger)
    const terms = yield* TermsSettings.resolveTerms(options)
    const command = yield* Effect.promise(() => import("./Commands/Plan.js"))
    yield* command.run({ ...reading, ledger: path, terms })
  }).pipe(speaking(options))).pipe(described(
    "Tells what a pass would send, in order. Sends nothing, needs no key and leaves the ledger as it is.",
    "plan --source stock.csv"
  ))

const status = Command.make("status", { ledger, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./Commands/Status.js"))
    yield* command.run({ ledger: path })
  }).pipe(speaking(options))).pipe(described(
    "Tells what stands, what waits, what is doubtful and what is quarantined, as the ledger remembers it. May be used while a pass runs.",
    "status --json"
  ))

const products = Args.text({ name: "product" }).pipe(Args.repeated, Args.withDescription("Quarantined products; all of them unless told."))

const retry = Command.make("retry", { products, ledger, json, quiet }, (options) =>
  Effect.gen(function*() {
    const path = yield* Settings.resolveLedger(options.ledger)
    const command = yield* Effect.promise(() => import("./Commands/Retry.js"))
    yield* command.run({ ledger: path, products: options.products })
  }).pipe(speaking(options))).pipe(described(
    "Releases products that the service refused, so that they are sent again. Sends nothing itself. May be used while a pass runs.",
    "retry",
    "retry MUG-BLUE-350 \"CAP/RED L\""
  ))

/** @since 0.1.0 @category commands */
export const root = Command.make(name).pipe(
  described(
    "Sends the stock of a file, an address or a database to a store. Does not see what others change there. PLAZA_BASE_URL is the service's address, PLAZA_API_KEY the " +
      "account's key. Every option can be given by the environment variable in brackets as well; options win.",
    "plan --source stock.csv",
    "once --source stock.csv",
    "run --source stock.csv"
  ),
  Command.withSubcommands([loop, once, plan, status, retry])
)

/** @since 0.1.0 @category metadata */
export const options: CommandLine.Options = {
  name,
  version,
  grammar: {
    valued: [
      "--source",
      "--format",
      "--id-column",
      "--stock-column",
      "--delimiter",
      "--items",
      "--query",
      "--source-timeout",
      "--max-bad-rows",
      "--gone",
      "--brake-share",
      "--brake-count",
      "--ledger",
      "--concurrency",
      "--poll",
      "--reassert-share",
      "--reassert-after",
      "--products-path",
      "--reconcile-every",
      "--stop-within",
      "--port",
      "--host",
      "--log-format",
      "--log-level"
    ],
    repeated: [],
    flags: ["--confirm", "--json", "--quiet"]
  }
}

/**
 * Runs the words behind the program's name.
 *
 * @since 0.1.0
 * @category running
 */
export const run = CommandLine.run(root, options)
