/** `plaza sandbox`: starts a local sandbox, and controls a running one through its control API. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Text from "@plaza/cli-kit/Text"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { name as program } from "../version.ts"
import { command, group } from "./Definition.ts"

const handlers = () => import("./SandboxHandlers.ts")

/** Also that of `plaza sandbox reset` and the other commands that control a running sandbox. */
const defaultPort = 4010

/** The maximum of each kind in one call. */
const maxQuantity = 10_000_000

const parseTime: Flags.Parse<DateTime.Utc> = (written) =>
  Option.match(DateTime.make(written), {
    onNone: () => Result.fail(`--freeze-at must be a time such as 2026-03-01T12:00:00Z, not "${Text.excerpt(written)}"`),
    onSome: (time) => Result.succeed(DateTime.toUtc(time))
  })

const callers = ["loopback", "anyone"] as const

const parseControl: Flags.Parse<(typeof callers)[number]> = (written) =>
  Result.fromNullishOr(
    callers.find((caller) => caller === written),
    () => `--control must be ${callers.join(" or ")}, not "${Text.excerpt(written)}"`
  )

const optional = (name: string, metavar: string, description: string) => Flag.optional(Flags.text(name, metavar, description))

const startFlags = {
  port: Flags.wholeNumber("port", { min: 0, max: 65_535, description: "The port; 0 for any free port.", default: defaultPort }),
  host: optional("host", "HOST",
    "The address to listen on (default: 127.0.0.1). On other addresses, everyone with access can use the public key."),
  allowedHosts: Flags.repeatable(
    "allow-host",
    "NAME",
    "Accept this host name in requests, such as a container's; * for every name."
  ),
  control: Flags.parsed("control", "WHO",
    "Who may call the control API and open the pages: loopback (only this machine), or anyone who reaches the address (default: loopback).",
    parseControl).pipe(Flag.optional),
  data: optional("data", "FILE", "Keep the data in this file (default: in memory)."),
  seed: Flags.wholeNumber("seed", {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    description: "The seed of accounts, products and the key (default: 1)."
  }).pipe(Flag.optional),
  freezeClock: Flags.boolean(
    "freeze-clock",
    "Make responses reproducible: the clock stands at 2026-01-01T00:00:00Z until it is advanced, and keys are derived from the seed."
  ),
  freezeAt: Flags.parsed("freeze-at", "TIME", "Freeze the clock at this time, such as 2026-03-01T12:00:00Z.", parseTime).pipe(
    Flag.optional
  ),
  fixtures: optional("fixtures", "FILE", "Load further initial data from this JSON or YAML file."),
  assumptions: optional("assumptions", "FILE",
    "Load assumptions that differ from the defaults from this JSON file; its field latitude sets a service variant."),
  documentOnly: Flags.boolean("document-only", "Serve only what the document shows, without assumed endpoints."),
  latitude: optional("latitude", "SEED|FILE", "Select a service variant: a whole number draws one, a JSON file sets its fields."),
  exitWithStdin: Flags.boolean("exit-with-stdin", "Stop when standard input ends, as it does when the process that started this one ends.")
}

const start = command(
  "start",
  {
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
      "sandbox start --host 0.0.0.0 --allow-host sandbox",
      "sandbox start --host 0.0.0.0 --allow-host '*' --control anyone",
      "sandbox start --port 0 --json --quiet --exit-with-stdin"
    ],
    output: "sandboxStart"
  },
  startFlags,
  () => handlers().then(({ start }) => start)
)

const reset = command(
  "reset",
  { summary: "Reset a running sandbox to its initial data, and remove all faults.", examples: ["sandbox reset"], output: "sandboxReset" },
  {},
  () => handlers().then(({ reset }) => reset)
)

const health = command(
  "health",
  {
    summary: "Check that a running sandbox is ready.",
    details: ["Prints its seed. Exits with 7 if no sandbox responds. For health checks of containers and for scripts that wait."],
    examples: ["sandbox health"],
    output: "sandboxHealth"
  },
  {},
  () => handlers().then(({ health }) => health)
)

const quantity = (name: string, description: string) => Flag.optional(Flags.wholeNumber(name, { min: 0, max: maxQuantity, description }))

const seed = command(
  "seed",
  {
    summary: "Add generated data to a running sandbox.",
    examples: ["sandbox seed --people 100 --posts 5000", "sandbox seed --products 10000 --orders 2000"],
    output: "sandboxSeed"
  },
  {
    people: quantity("people", "Accounts to add, without keys."),
    follows: quantity("follows", "Follows to add, among these people and the shop."),
    posts: quantity("posts", "Posts to add, half of them by the shop."),
    products: quantity("products", "Products to add, one in ten sold out."),
    orders: quantity("orders", "Orders to add, one in four shipped."),
    conversations: quantity("conversations", "Conversations to add, each with another person.")
  },
  () => handlers().then(({ seed }) => seed)
)

/** An argument that names something of a running sandbox, which a command lists. */
const reference = (name: string, description: string, list: string) =>
  Flags.parsedArgument(name, description, (written) =>
    written.trim() === "" ? Result.fail(`${name} must not be empty: see ${program} ${list}`) : Result.succeed(written))

const list = command(
  "list",
  { summary: "List the active faults.", examples: ["sandbox faults list"], output: "faults" },
  {},
  () => handlers().then(({ listFaults }) => listFaults)
)

const faultInput = {
  fault: Flags.argument("FAULT", "The fault as a JSON object, or the name of a preset (or use --input).").pipe(Argument.optional),
  input: optional("input", "FILE", "Read the fault from this file; - for standard input.")
}

const add = command(
  "add",
  {
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
    ],
    output: "faultId"
  },
  faultInput,
  () => handlers().then(({ addFault }) => addFault)
)

const remove = command(
  "remove",
  { summary: "Remove one active fault.", examples: ["sandbox faults remove fault_1"], output: "faultRemoved" },
  { id: reference("ID", "The id of the fault, such as fault_1.", "sandbox faults list") },
  () => handlers().then(({ removeFault }) => removeFault)
)

const clear = command(
  "clear",
  { summary: "Remove all faults.", examples: ["sandbox faults clear"], output: "faultsCleared" },
  {},
  () => handlers().then(({ clearFaults }) => clearFaults)
)

const faults = group(
  "faults",
  { summary: "List, add and remove faults of a running sandbox.", examples: ["sandbox faults list"] },
  [list, add, remove, clear]
)

const name = reference("NAME", "The name of the snapshot: letters, digits, dots, dashes and underscores.", "sandbox snapshot list")

const saveSnapshot = command(
  "save",
  {
    summary: "Save all data of a running sandbox under a name.",
    details: ["An existing snapshot of this name is replaced. With --data the snapshot is kept in the data file."],
    examples: ["sandbox snapshot save before-import"],
    output: "snapshotSaved"
  },
  { name },
  () => handlers().then(({ saveSnapshot }) => saveSnapshot)
)

const restoreSnapshot = command(
  "restore",
  {
    summary: "Replace all data of a running sandbox by a snapshot.",
    details: ["Restores the clock too. Keeps faults, the service variant and the request log."],
    examples: ["sandbox snapshot restore before-import"],
    output: "snapshotRestored"
  },
  { name },
  () => handlers().then(({ restoreSnapshot }) => restoreSnapshot)
)

const listSnapshots = command(
  "list",
  { summary: "List the snapshots.", examples: ["sandbox snapshot list"], output: "snapshots" },
  {},
  () => handlers().then(({ listSnapshots }) => listSnapshots)
)

const removeSnapshot = command(
  "remove",
  { summary: "Remove a snapshot.", examples: ["sandbox snapshot remove before-import"], output: "snapshotRemoved" },
  { name },
  () => handlers().then(({ removeSnapshot }) => removeSnapshot)
)

const snapshot = group(
  "snapshot",
  { summary: "Save, restore, list and remove snapshots of a running sandbox.", examples: ["sandbox snapshot list"] },
  [saveSnapshot, restoreSnapshot, listSnapshots, removeSnapshot]
)

export const sandbox = group(
  "sandbox",
  { summary: "Run and control a local sandbox of the service.", examples: ["sandbox start", "sandbox seed --products 1000"] },
  [start, health, reset, seed, faults, snapshot]
)
