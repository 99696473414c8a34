/** A small program with every kind of flag and argument. */
import { NodeServices } from "@effect/platform-node"
import { Config, ConfigProvider, Effect, Layer } from "effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as GlobalFlag from "effect/cli/GlobalFlag"
import * as CommandLine from "../../src/CommandLine.ts"
import * as Flags from "../../src/Flags.ts"
import * as Manual from "../../src/Manual.ts"
import * as Program from "../../src/Program.ts"
import * as Streams from "../../src/Streams.ts"

const Json = GlobalFlag.Setting("json")({ flag: Flags.boolean("json", "Print JSON.").pipe(Flag.withAlias("j")) })
const Profile = GlobalFlag.Setting("profile")({ flag: Flags.text("profile", "NAME", "The profile.").pipe(Flag.optional) })

let received: unknown
const receive = (values: object): Effect.Effect<void, never, (typeof Json)["Identifier"]> =>
  Effect.map(Json, (json) => {
    received = { ...values, json }
  })

const create = Command.make("create", {
  ids: Flags.argument("ID", "An id.").pipe(Argument.atLeast(1)),
  text: Flags.text("text", "TEXT", "The text."),
  media: Flags.repeatable("media", "FILE", "A file."),
  limit: Flags.wholeNumber("limit", { description: "How many.", min: 1, max: 100, default: 20 }),
  draft: Flags.boolean("draft", "Don't publish it.").pipe(Flag.withAlias("d"))
}, receive).pipe(
  Manual.describe({ summary: "Creates a thing.", details: ["With an id."], examples: ["shop things deep create 1 --text a"] })
)

const paint = Command.make("paint", {
  colour: Argument.Literals("COLOUR", ["red", "blue"]).pipe(Argument.withDescription("The colour.")),
  size: Flag.Literals("size", ["s", "m"]).pipe(Flag.withMetavar("SIZE"), Flag.optional)
}, receive)

const hidden = Command.make("hidden", {}, receive).pipe(Command.unlisted)
const deep = Command.make("deep").pipe(Command.withDescription("Deep things."), Command.withSubcommands([create, paint, hidden]))
const things = Command.make("things").pipe(Command.withDescription("Things."), Command.withSubcommands([deep]))

const upload = Command.make("upload", { file: Flags.argument("FILE", "The file to upload."), to: Flags.text("to", "DIR", "The folder.") },
  receive)
const words = Command.make("words", {
  words: Flags.argument("WORD", "A word.").pipe(Argument.variadic),
  text: Flags.text("text", "TEXT", "A text.").pipe(Flag.optional)
}, receive)
const me = Command.make("me", { quiet: Flags.boolean("quiet", "Print less.") }, receive)
const region = Command.make("region", {},
  () =>
    Effect.map(Config.all([Config.option(Config.String("SHOP_REGION")), Config.option(Config.String("PLAZA_API_KEY"))]), (found) => {
      received = found
    }))

export const program = Command.make("shop").pipe(
  Manual.describe({ summary: "A shop.", examples: ["shop me"] }),
  Command.annotate(Manual.Sections, [{ title: "Environment", entries: [{ name: "SHOP_REGION", description: "The region." }] }]),
  Command.withSubcommands([{ group: "Goods", commands: [things, upload] }, { group: "More", commands: [me, words, region] }]),
  Command.withGlobalFlags([Json, Profile])
)

const parse = CommandLine.run(program, "1.2.3")

export interface Options {
  /** The width of the terminal (default: a pipe). */
  readonly columns?: number
  readonly variables?: Readonly<Record<string, string>>
}

/** Runs a command line. `received` has the values that its command was run with. */
export const runWith = ({ columns, variables = {} }: Options, ...argv: ReadonlyArray<string>) => {
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  const streams = Streams.layerTest({ stdout, stderr, ...(columns === undefined ? {} : { columns }) })
  return Effect.suspend(() => {
    received = undefined
    return Program.exitCodeOf(parse(argv), { name: "shop", json: false, signal: () => "SIGINT" })
  }).pipe(
    Effect.provide(Layer.merge(streams, NodeServices.layer)),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(variables)),
    Effect.map((code) => ({ code, stdout: stdout.join(""), stderr: stderr.join(""), received }))
  )
}

export const run = (...argv: ReadonlyArray<string>) => runWith({}, ...argv)
