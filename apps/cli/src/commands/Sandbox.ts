/**
 * `plaza sandbox`: the service on this machine, with state and faults. `start` loads it; the other commands use its
 * control API.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Program from "@plaza/cli-kit/Program"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { provider } from "../Connection.js"
import { type Flags, flags, output, text, withOutput } from "../Flags.js"
import * as Input from "../Input.js"

const defaultPort = 4010

/** The maximum quantity of one call. */
const mostOfAKind = 10_000_000

const wholeNumber = (option: string, most: number) => (written: string) =>
  /^\d{1,15}$/.test(written) && Number(written) <= most
    ? Effect.succeed(Number(written))
    : Effect.fail(new UsageError({ message: `${option} has to be a whole number from 0 to ${most}, and "${written}" is none` }))

/** A number is a seed; a file whose name is a number needs its folder, for example `./42`. */
const readLatitude = (given: string) =>
  /^-?\d{1,15}$/.test(given)
    ? Effect.succeed({ origin: given, value: { seed: Number(given) } })
    : Effect.mapBoth(Input.json(given), {
      onFailure: (error) =>
        error instanceof UsageError
          ? error
          : new UsageError({ message: `the latitude ${given} can't be read: give a whole number or the name of a JSON file` }),
      onSuccess: (value) => ({ origin: given, value })
    })

const start = Command.make("start", {
  port: Options.optional(text("port", "N", `The port to listen on (default: ${defaultPort}); 0 for any free port.`)),
  host: Options.optional(
    text("host", "H",
      "The address to listen on (default: 127.0.0.1). Anyone who reaches another one can use the sandbox: its key is public.")
  ),
  allowHost: Options.repeated(
    text("allow-host", "NAME", "A further host name that requests may use, for example a container's; * for every host. Repeatable.")
  ),
  data: Options.optional(text("data", "FILE", "A file that keeps the data (default: in memory).")),
  seed: Options.optional(text("seed", "N", "The seed of accounts, products and the key (default: 1).")),
  fixtures: Options.optional(text("fixtures", "FILE", "A JSON or YAML file with further initial data.")),
  assumptions: Options.optional(text("assumptions", "FILE", "A JSON file with assumptions that differ from the defaults.")),
  documentOnly: Options.boolean("document-only").pipe(
    Options.withDescription("Serve only what the interface's document shows, without assumed paths.")
  ),
  latitude: Options.optional(text(
    "latitude",
    "SEED|FILE",
    "Vary what the document leaves open: a whole number draws a latitude, a JSON file sets fields (docs/sandbox.md#latitude)."
  )),
  ...output
},
  ({ allowHost, assumptions, data, documentOnly, fixtures, host, latitude, port, seed, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      yield* Program.untilStopped
      const settings = {
        port: yield* Option.match(port, { onNone: () => Effect.succeed(defaultPort), onSome: wholeNumber("--port", 65_535) }),
        allowedHosts: allowHost,
        ...(Option.isNone(host) ? {} : { host: host.value }),
        ...(documentOnly ? { assumptions: false as const } : {}),
        ...(Option.isNone(assumptions) ? {} : { assumptionsFile: assumptions.value }),
        ...(Option.isNone(data) ? {} : { data: data.value }),
        ...(Option.isNone(fixtures) ? {} : { fixtures: fixtures.value }),
        ...(Option.isNone(seed) ? {} : { seed: yield* wholeNumber("--seed", Number.MAX_SAFE_INTEGER)(seed.value) })
      }
      const latitudeGiven = Option.isNone(latitude) ? undefined : yield* readLatitude(latitude.value)
      const { serve } = yield* Effect.promise(() => import("../Serve.js"))
      const { apiKey, baseUrl, controlUrl, webUrl } = yield* serve({ ...settings, latitude: latitudeGiven })
      const output = yield* Output
      yield* output.note(
        `The sandbox listens at ${baseUrl} until Ctrl-C.\nIts pages are at ${webUrl} for a browser. In another terminal:\n`
      )
      yield* output.json
        ? output.value({ baseUrl, controlUrl, webUrl, apiKey })
        : output.text(`export PLAZA_BASE_URL=${baseUrl} PLAZA_API_KEY=${apiKey}`)
      return yield* Effect.never
    }))).pipe(Command.withDescription(about(
      "Start the service on this machine with a seeded shop, and print its address and a key. The key is derived from the seed, so anyone can compute it; it is no key of the real service.",
      "sandbox start",
      "sandbox start --port 0 --data shop.sqlite --json",
      "sandbox start --latitude 42",
      "sandbox start --host 0.0.0.0 --allow-host sandbox"
    )))

/** The origin of a sandbox's control API, from its base URL. */
const originOf = (flags: Flags) =>
  Effect.gen(function*() {
    const baseUrl = yield* Effect.withConfigProvider(
      Config.withDefault(Config.nested(Config.string("BASE_URL"), "PLAZA"), `http://127.0.0.1:${defaultPort}/open/v1`),
      yield* provider(flags)
    )
    const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
    return url?.protocol === "http:" || url?.protocol === "https:"
      ? url.origin
      : yield* new UsageError({
        message: `"${baseUrl}" is no address of a sandbox: give one such as http://127.0.0.1:${defaultPort}/open/v1`
      })
  })

const control = (flags: Flags) =>
  Effect.gen(function*() {
    const origin = yield* originOf(flags)
    const { make } = yield* Effect.promise(() => import("../Control.js"))
    return yield* make(origin)
  })

const reset = Command.make("reset", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { reset } = yield* control(flags)
    yield* reset
    const output = yield* Output
    yield* output.done({ reset: true }, "The sandbox is reset.")
  }))).pipe(Command.withDescription(about("Reset a running sandbox to its initial data, without faults.", "sandbox reset")))

const quantity = (name: string, what: string) => Options.optional(text(name, "N", what))

const seed = Command.make("seed", {
  people: quantity("people", "Accounts, without keys."),
  follows: quantity("follows", "Follows among these people, and of the shop."),
  posts: quantity("posts", "Posts, half by the shop and half by these people."),
  products: quantity("products", "Products of the shop, one in ten sold out."),
  orders: quantity("orders", "Orders of the shop, one in four shipped."),
  conversations: quantity("conversations", "Conversations of the shop, each with a different one of these people."),
  ...flags
}, ({ conversations, follows, orders, people, posts, products, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const written = Object.entries({ people, follows, posts, products, orders, conversations })
    const wanted = yield* Effect.forEach(written, ([name, value]) =>
      Option.match(value, {
        onNone: () => Effect.succeed([]),
        onSome: (value) => Effect.map(wholeNumber(`--${name}`, mostOfAKind)(value), (count) => [[name, count] as const])
      }))
    const generate = Object.fromEntries(wanted.flat())
    if (wanted.flat().length === 0) {
      return yield* new UsageError({ message: `nothing to add: give one of ${written.map(([name]) => `--${name}`).join(", ")}` })
    }
    const { addFixtures } = yield* control(flags)
    yield* addFixtures({ generate })
    const output = yield* Output
    yield* output.done({ generated: generate },
      `Added to the sandbox: ${wanted.flat().map(([name, count]) => `${count} ${name}`).join(", ")}.`)
  }))).pipe(Command.withDescription(about(
    "Add generated people, posts, products, orders and conversations to a running sandbox.",
    "sandbox seed --people 100 --posts 5000",
    "sandbox seed --products 10000 --orders 2000"
  )))

const list = Command.make("list", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { listFaults } = yield* control(flags)
    const faults = yield* listFaults
    const output = yield* Output
    yield* output.list(
      Stream.fromIterable(faults),
      [{ head: "id", whole: true }, { head: "kind" }, { head: "method" }, { head: "path" }, { head: "hits", align: "right" }, {
        head: "remaining",
        align: "right"
      }],
      ({ fault, hits, id, remaining }) => [id, fault.kind, fault.method ?? "*", fault.path ?? "*", hits, remaining ?? "no end"]
    )
  }))).pipe(Command.withDescription(about("List the active faults.", "sandbox faults list")))

const add = Command.make("add", {
  fault: Args.text({ name: "FAULT" }).pipe(Args.withDescription("The fault as a JSON object; or use --input."), Args.optional),
  input: Options.optional(text("input", "FILE", "A file with the fault; - for standard input.")),
  ...flags
}, ({ fault, input, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    if (Option.isSome(fault) === Option.isSome(input)) {
      return yield* new UsageError({ message: "a fault is given as an argument or with --input: give one of the two" })
    }
    const json = Option.isSome(fault) ? yield* Input.parse(fault.value, "the fault") : yield* Input.json(Option.getOrElse(input, () => "-"))
    const { addFault } = yield* control(flags)
    const id = yield* addFault(json)
    const output = yield* Output
    yield* output.one({ id }, [["id", id]])
  }))).pipe(Command.withDescription(about(
    "Add a fault: delay, status, drop, cut, slow or garbage, before or after the call takes effect.",
    `sandbox faults add '{"kind":"status","when":"after","status":500,"method":"POST","path":"/posts"}'`,
    `sandbox faults add '{"kind":"delay","when":"before","millis":2000,"times":3}'`
  )))

const clear = Command.make("clear", flags, (flags) =>
  withOutput(flags, Effect.gen(function*() {
    const { clearFaults } = yield* control(flags)
    yield* clearFaults
    const output = yield* Output
    yield* output.done({ cleared: true }, "All faults are cleared.")
  }))).pipe(Command.withDescription(about("Clear all faults.", "sandbox faults clear")))

const faults = Command.make("faults").pipe(
  Command.withDescription(about("List, add and clear faults of a running sandbox.", "sandbox faults list")),
  Command.withSubcommands([list, add, clear])
)

export const sandbox = Command.make("sandbox").pipe(
  Command.withDescription(
    about("The service on this machine, without an account: start it, seed it, reset it, add faults.", "sandbox start")
  ),
  Command.withSubcommands([start, reset, seed, faults])
)
