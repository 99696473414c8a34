/** `plaza sandbox`: starts a local sandbox, and controls a running one through its control API. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import * as Text from "@plaza/cli-kit/Text"
import * as Values from "@plaza/cli-kit/Values"
import * as Config from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { configProvider } from "../profiles/Connection.ts"
import { commonOptions, type Flags, outputOptions, text, wholeNumber, withOutput } from "./CommonOptions.ts"
import * as Input from "./Input.ts"

const defaultPort = 4010

/** The maximum of each kind in one call. */
const maxQuantity = 10_000_000

/** A number is a seed; a file whose name is a number needs its folder, for example `./42`. */
const readLatitude = (given: string) =>
  /^-?\d{1,15}$/.test(given)
    ? Effect.succeed({ origin: given, value: { seed: Number(given) } })
    : Effect.mapBoth(Input.json(given), {
      onFailure: (error) =>
        error instanceof UsageError
          ? error
          : new UsageError({ message: `the latitude ${given} can't be read: use a whole number or a JSON file` }),
      onSuccess: (value) => ({ origin: given, value })
    })

const parseTime = (written: string): Either.Either<DateTime.Utc, string> =>
  Option.match(DateTime.make(written), {
    onNone: () => Either.left(`--freeze-at must be a time such as 2026-03-01T12:00:00Z, not "${Text.excerpt(written)}"`),
    onSome: (time) => Either.right(DateTime.toUtc(time))
  })

const start = Command.make("start", {
  port: wholeNumber("port", { min: 0, max: 65_535, description: `The port; 0 for any free port (default: ${defaultPort}).` }).pipe(
    Options.withDefault(defaultPort)
  ),
  host: Options.optional(
    text("host", "HOST", "The address to listen on (default: 127.0.0.1). On other addresses, everyone with access can use the public key.")
  ),
  allowedHosts: Options.repeated(
    text("allow-host", "NAME", "Accept this host name in requests, such as a container's; * for every name (repeatable).")
  ),
  data: Options.optional(text("data", "FILE", "Keep the data in this file (default: in memory).")),
  seed: Options.optional(
    wholeNumber("seed", { min: 0, max: Number.MAX_SAFE_INTEGER, description: "The seed of accounts, products and the key (default: 1)." })
  ),
  freezeClock: Options.boolean("freeze-clock").pipe(Options.withDescription(
    "Make responses reproducible: the clock stands at 2026-01-01T00:00:00Z until it is advanced, and keys are derived from the seed."
  )),
  freezeAt: Options.optional(
    text("freeze-at", "TIME", "Freeze the clock at this time, such as 2026-03-01T12:00:00Z.").pipe(Values.option(parseTime))
  ),
  fixtures: Options.optional(text("fixtures", "FILE", "Load further initial data from this JSON or YAML file.")),
  assumptions: Options.optional(
    text("assumptions", "FILE", "Load assumptions that differ from the defaults from this JSON file; its field latitude sets a latitude.")
  ),
  documentOnly: Options.boolean("document-only").pipe(
    Options.withDescription("Serve only what the document shows, without assumed endpoints.")
  ),
  latitude: Options.optional(text(
    "latitude",
    "SEED|FILE",
    "Vary what the document permits: a whole number draws a latitude, a JSON file sets its fields."
  )),
  ...outputOptions
},
  ({ allowedHosts, assumptions, data, documentOnly, fixtures, freezeAt, freezeClock, host, latitude, port, seed, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      yield* Program.untilStopped
      const latitudeValue = Option.isNone(latitude) ? undefined : yield* readLatitude(latitude.value)
      const { serve } = yield* Effect.promise(() => import("../sandbox/SandboxServer.ts"))
      const { apiKey, baseUrl, controlUrl, webUrl } = yield* serve({
        port,
        allowedHosts,
        latitude: latitudeValue,
        ...(Option.isNone(host) ? {} : { host: host.value }),
        ...(documentOnly ? { assumptions: false as const } : {}),
        ...(Option.isNone(assumptions) ? {} : { assumptionsFile: assumptions.value }),
        ...(Option.isNone(data) ? {} : { data: data.value }),
        ...(Option.isSome(freezeAt) ? { freezeClock: freezeAt.value } : freezeClock ? { freezeClock } : {}),
        ...(Option.isNone(fixtures) ? {} : { fixtures: fixtures.value }),
        ...(Option.isNone(seed) ? {} : { seed: seed.value })
      })
      const output = yield* Output
      yield* output.note(
        `The sandbox listens at ${baseUrl}. Press Ctrl-C to stop it.\nOpen ${webUrl} in a browser, or run this in another terminal:\n`
      )
      yield* output.json
        ? output.value({ baseUrl, controlUrl, webUrl, apiKey })
        : output.text(`export PLAZA_BASE_URL=${baseUrl} PLAZA_API_KEY=${apiKey}`)
      return yield* Effect.never
    }))).pipe(Command.withDescription(describe({
      summary: "Start a local sandbox of the service.",
      details: [
        "Starts with a seeded shop, and prints its base URL and API key. The key is derived from the seed: it is public, and not valid for " +
        "the real service."
      ],
      examples: [
        "sandbox start",
        "sandbox start --port 0 --data shop.sqlite --json",
        "sandbox start --latitude 42",
        "sandbox start --port 0 --json --freeze-clock",
        "sandbox start --host 0.0.0.0 --allow-host sandbox"
      ]
    })))

/** The origin of a sandbox's control API, from its base URL. */
const originOf = (flags: Flags) =>
  Effect.gen(function*() {
    const baseUrl = yield* Effect.withConfigProvider(
      Config.withDefault(Config.nested(Config.string("BASE_URL"), "PLAZA"), `http://127.0.0.1:${defaultPort}/open/v1`),
      yield* configProvider(flags)
    )
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
    return url?.protocol === "http:" || url?.protocol === "https:"
      ? url.origin
      : yield* new UsageError({
        message: `"${baseUrl}" is not the base URL of a sandbox: use a URL such as http://127.0.0.1:${defaultPort}/open/v1`
      })
  })

const control = (flags: Flags) =>
  Effect.gen(function*() {
    const origin = yield* originOf(flags)
    const { make } = yield* Effect.promise(() => import("../sandbox/SandboxControl.ts"))
    return yield* make(origin)
  })

const reset = Command.make("reset", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { reset } = yield* control(flags)
    yield* reset
    const output = yield* Output
    yield* output.done({ reset: true }, "The sandbox is reset.")
  }))).pipe(Command.withDescription(describe({
    summary: "Reset a running sandbox to its initial data, and remove all faults.",
    examples: ["sandbox reset"]
  })))

const quantity = (name: string, description: string) => Options.optional(wholeNumber(name, { min: 0, max: maxQuantity, description }))

const seed = Command.make("seed", {
  people: quantity("people", "Accounts to add, without keys."),
  follows: quantity("follows", "Follows to add, among these people and the shop."),
  posts: quantity("posts", "Posts to add, half of them by the shop."),
  products: quantity("products", "Products to add, one in ten sold out."),
  orders: quantity("orders", "Orders to add, one in four shipped."),
  conversations: quantity("conversations", "Conversations to add, each with another person."),
  ...commonOptions
}, ({ conversations, follows, orders, people, posts, products, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const options = { people, follows, posts, products, orders, conversations }
    const quantities = Object.entries(options).flatMap(([name, value]) => Option.isSome(value) ? [[name, value.value] as const] : [])
    if (quantities.length === 0) {
      return yield* new UsageError({ message: `nothing to add: use one of ${Object.keys(options).map((name) => `--${name}`).join(", ")}` })
    }
    const generate = Object.fromEntries(quantities)
    const { addFixtures } = yield* control(flags)
    yield* addFixtures({ generate })
    const output = yield* Output
    yield* output.done({ generated: generate },
      `Added to the sandbox: ${quantities.map(([name, count]) => `${count} ${name}`).join(", ")}.`)
  }))).pipe(Command.withDescription(describe({
    summary: "Add generated data to a running sandbox.",
    examples: ["sandbox seed --people 100 --posts 5000", "sandbox seed --products 10000 --orders 2000"]
  })))

const list = Command.make("list", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { listFaults } = yield* control(flags)
    const faults = yield* listFaults
    const output = yield* Output
    yield* output.list(
      Stream.fromIterable(faults),
      [
        { head: "id", whole: true },
        { head: "kind" },
        { head: "status" },
        { head: "when" },
        { head: "method" },
        { head: "path" },
        { head: "hits", align: "right" },
        { head: "remaining", align: "right" }
      ],
      ({ fault, hits, id, remaining }) => [
        id,
        fault.kind,
        "status" in fault ? fault.status ?? "" : "",
        "when" in fault ? fault.when : "",
        fault.method ?? "*",
        fault.path ?? "*",
        hits,
        remaining ?? "unlimited"
      ]
    )
  }))).pipe(Command.withDescription(describe({ summary: "List the active faults.", examples: ["sandbox faults list"] })))

const add = Command.make("add", {
  fault: Args.text({ name: "FAULT" }).pipe(Args.withDescription("The fault as a JSON object, or the name of a preset (or use --input)."),
    Args.optional),
  input: Options.optional(text("input", "FILE", "Read the fault from this file; - for standard input.")),
  ...commonOptions
}, ({ fault, input, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    if (Option.isSome(fault) === Option.isSome(input)) {
      return yield* new UsageError({ message: "FAULT and --input are alternatives: use one of them" })
    }
    const { addFault, addPreset } = yield* control(flags)
    const id = Option.isSome(fault) && !fault.value.trimStart().startsWith("{")
      ? yield* addPreset(fault.value)
      : yield* addFault(
        Option.isSome(fault) ? yield* Input.parse(fault.value, "the fault") : yield* Input.json(Option.getOrElse(input, () => "-"))
      )
    const output = yield* Output
    yield* output.one({ id }, [["id", id]])
  }))).pipe(Command.withDescription(describe({
    summary: "Add a fault to a running sandbox.",
    details: [
      "The kinds are delay, status, drop, cut, slow and garbage, each before or after the commit. A sequence has one of them for each call.",
      "The presets are tenth (every tenth request fails after the commit), outage (for a minute), limit (a 429), network (slow), lost (a " +
      "write without a response) and proxy (an error page)."
    ],
    examples: [
      "sandbox faults add outage",
      `sandbox faults add '{"kind":"status","when":"after","status":500,"method":"POST","path":"/posts"}'`,
      `sandbox faults add '{"kind":"delay","when":"before","millis":2000,"times":3}'`,
      `sandbox faults add '{"kind":"status","when":"after","status":500,"every":10}'`
    ]
  })))

const remove = Command.make("remove", {
  id: Args.text({ name: "ID" }).pipe(Args.withDescription("The id of the fault, such as fault_1.")),
  ...commonOptions
}, ({ id, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { removeFault } = yield* control(flags)
    yield* removeFault(id)
    const output = yield* Output
    yield* output.done({ removed: id }, `The fault ${id} is removed.`)
  }))).pipe(Command.withDescription(describe({ summary: "Remove one active fault.", examples: ["sandbox faults remove fault_1"] })))

const clear = Command.make("clear", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { clearFaults } = yield* control(flags)
    yield* clearFaults
    const output = yield* Output
    yield* output.done({ cleared: true }, "All faults are removed.")
  }))).pipe(Command.withDescription(describe({ summary: "Remove all faults.", examples: ["sandbox faults clear"] })))

const faults = Command.make("faults").pipe(
  Command.withDescription(describe({ summary: "List, add and remove faults of a running sandbox.", examples: ["sandbox faults list"] })),
  Command.withSubcommands([list, add, remove, clear])
)

const snapshotName = Args.text({ name: "NAME" }).pipe(
  Args.withDescription("The name of the snapshot: letters, digits, dots, dashes and underscores.")
)

const saveSnapshot = Command.make("save", { name: snapshotName, ...commonOptions },
  ({ name, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const { saveSnapshot } = yield* control(flags)
      const { rows } = yield* saveSnapshot(name)
      const output = yield* Output
      yield* output.done({ saved: name, rows }, `Saved the snapshot ${name} with ${rows} rows.`)
    }))).pipe(Command.withDescription(describe({
      summary: "Save all data of a running sandbox under a name.",
      details: ["An existing snapshot of this name is replaced. With --data the snapshot is kept in the data file."],
      examples: ["sandbox snapshot save before-import"]
    })))

const restoreSnapshot = Command.make("restore", { name: snapshotName, ...commonOptions },
  ({ name, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const { restoreSnapshot } = yield* control(flags)
      yield* restoreSnapshot(name)
      const output = yield* Output
      yield* output.done({ restored: name }, `Restored the snapshot ${name}.`)
    }))).pipe(Command.withDescription(describe({
      summary: "Replace all data of a running sandbox by a snapshot.",
      details: ["Restores the clock too. Keeps faults, latitude and the request log."],
      examples: ["sandbox snapshot restore before-import"]
    })))

const listSnapshots = Command.make("list", commonOptions, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { listSnapshots } = yield* control(flags)
    const snapshots = yield* listSnapshots
    const output = yield* Output
    yield* output.list(
      Stream.fromIterable(snapshots.map(({ createdAt, name, rows }) => ({ name, createdAt: DateTime.formatIso(createdAt), rows }))),
      [{ head: "name", whole: true }, { head: "created at" }, { head: "rows", align: "right" }],
      ({ createdAt, name, rows }) => [name, createdAt, rows]
    )
  }))).pipe(Command.withDescription(describe({ summary: "List the snapshots.", examples: ["sandbox snapshot list"] })))

const removeSnapshot = Command.make("remove", { name: snapshotName, ...commonOptions },
  ({ name, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const { removeSnapshot } = yield* control(flags)
      yield* removeSnapshot(name)
      const output = yield* Output
      yield* output.done({ removed: name }, `Removed the snapshot ${name}.`)
    }))).pipe(Command.withDescription(describe({ summary: "Remove a snapshot.", examples: ["sandbox snapshot remove before-import"] })))

const snapshot = Command.make("snapshot").pipe(
  Command.withDescription(
    describe({ summary: "Save, restore, list and remove snapshots of a running sandbox.", examples: ["sandbox snapshot list"] })
  ),
  Command.withSubcommands([saveSnapshot, restoreSnapshot, listSnapshots, removeSnapshot])
)

export const sandbox = Command.make("sandbox").pipe(
  Command.withDescription(
    describe({ summary: "Run and control a local sandbox of the service.", examples: ["sandbox start", "sandbox seed --products 1000"] })
  ),
  Command.withSubcommands([start, reset, seed, faults, snapshot])
)
