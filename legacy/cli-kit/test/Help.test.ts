/**
 * Help, derived from the commands, and the errors of an invalid command line.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { NodeContext } from "@effect/platform-node"
import { it } from "@effect/vitest"
import { Effect, FastCheck, Layer } from "effect"
import { describe, expect } from "vitest"
import { CommandLine, Help, HelpText, Program, Start, Streams } from "../src/index.ts"

const received: Array<unknown> = []
const text = Options.text("text").pipe(Options.withPseudoName("TEXT"), Options.withDescription("The text."))
const json = Options.boolean("json").pipe(Options.withDescription("Print JSON."))
const media = Options.text("media").pipe(Options.withPseudoName("FILE"), Options.withDescription("A file."), Options.repeated)
const create = Command.make(
  "create",
  { ids: Args.text({ name: "ID" }).pipe(Args.withDescription("An id."), Args.atLeast(1)), text, media, json },
  (given) => Effect.sync(() => void received.push(given))
).pipe(
  Command.withDescription(
    Help.describe({ summary: "Creates a thing.", details: ["With an id."], examples: ["things deep create 1 --text a"] })
  )
)
const paint = Command.make("paint", { colour: Args.choice([["red", 1], ["blue", 2]], { name: "COLOUR" }) }, () => Effect.void)
const deep = Command.make("deep").pipe(Command.withDescription("Deep things."), Command.withSubcommands([create, paint]))
const things = Command.make("things").pipe(Command.withDescription("Things."), Command.withSubcommands([deep]))
const other = Command.make("other", { json }, () => Effect.void)
const program = Command.make("shop").pipe(Command.withDescription("A shop."), Command.withSubcommands([things, other]))

const run = (...argv: ReadonlyArray<string>) => {
  const stdout: Array<string> = []
  const stderr: Array<string> = []
  return Program.exitCodeOf(CommandLine.run({ name: "shop", version: "1.2.3", load: () => Effect.succeed(program) })(argv), {
    name: "shop",
    json: false,
    signal: () => "SIGINT"
  }).pipe(
    Effect.provide(Layer.merge(Streams.layerTest({ stdout, stderr }), NodeContext.layer)),
    Effect.map((code) => ({ code, stdout: stdout.join(""), stderr: stderr.join("") }))
  )
}

describe("help", () => {
  it.effect("of a nested command shows that command with its examples", () =>
    Effect.gen(function*() {
      expect(yield* run("things", "deep", "create", "--help")).toEqual({
        code: 0,
        stderr: "",
        stdout: `Creates a thing.

With an id.

Usage: shop things deep create ID... --text TEXT [OPTION]...

Arguments:
  ID  An id.

Options:
  --text TEXT   The text.
  --media FILE  A file.
  --json        Print JSON.
  --help        Show help for the command.

Examples:
  shop things deep create 1 --text a
`
      })
    }))

  it.effect("of the program lists its commands, and is the default", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run()
      expect(stdout).toContain("Usage: shop COMMAND\n\nCommands:\n  things  Things.\n  other\n")
      expect(yield* run("--help")).toEqual({ code: 0, stdout, stderr: "" })
      expect((yield* run("--version")).stdout).toBe("1.2.3\n")
    }))

  it.effect("of a command is also the command help", () =>
    Effect.gen(function*() {
      expect(yield* run("help", "things", "deep", "create")).toEqual(yield* run("things", "deep", "create", "--help"))
      expect(yield* run("help", "thing")).toEqual({
        code: 2,
        stdout: "",
        stderr: `shop: unknown command "shop thing": did you mean shop things?\n`
      })
      expect(yield* run("help")).toEqual(yield* run())
    }))

  it.prop("fits the width of a terminal and keeps every word", [FastCheck.integer({ min: 12, max: 200 })], ([width]) => {
    const leaf = Command.make("a", { text }).pipe(
      Command.withDescription(Help.describe({ summary: "One two three four five six seven eight nine ten.", examples: ["a"] }))
    )
    const lines = HelpText.render(Help.manual(leaf, { name: "a", version: "1" }), [], width).split("\n")
    expect(lines.filter((line) => line.length > Math.max(width, "Usage: a --text TEXT".length))).toEqual([])
    expect(lines.join(" ").split(/ +/).join(" ")).toContain(
      "One two three four five six seven eight nine ten. Usage: a --text TEXT Options: --text TEXT The text. --help Show help for the command."
    )
  })
})

describe("help on a terminal without a width", () => {
  it("has the width of a pipe", () => {
    const manual = Help.manual(program, { name: "shop", version: "1.2.3" })
    expect(Start.answer(manual, ["--help"], () => 0)).toBe(Start.answer(manual, ["--help"], () => 80))
  })
})

describe("a command", () => {
  it.effect("receives its values from anywhere on the line", () =>
    Effect.gen(function*() {
      expect(yield* run("--json", "things", "deep", "--text", "create", "create", "--media=a", "-1", "--media", "b", "--", "--json"))
        .toMatchObject({ code: 0 })
      expect(received.pop()).toEqual({ ids: ["-1", "--json"], text: "create", media: ["a", "b"], json: true })
    }))

  it.effect("reports a usage error once, on standard error", () =>
    Effect.gen(function*() {
      const help = "see shop things deep create --help"
      const create = (...argv: ReadonlyArray<string>) => run("things", "deep", "create", ...argv)
      expect(yield* create("1")).toEqual({ code: 2, stdout: "", stderr: `shop: shop things deep create requires --text: ${help}\n` })
      expect(yield* create("--text", "a")).toEqual({
        code: 2,
        stdout: "",
        stderr: `shop: shop things deep create requires the argument ID: ${help}\n`
      })
      expect((yield* create()).stderr).toBe(`shop: shop things deep create requires the argument ID and --text: ${help}\n`)
      expect((yield* run("things", "deep", "paint", "green\u001b[31m\n")).stderr).toBe(
        "shop: COLOUR must be one of red, blue, not \"green\u241b[31m\": see shop things deep paint --help\n"
      )
      expect((yield* run("things", "deep", "paint", "red", "blue")).stderr).toBe(
        "shop: shop things deep paint takes no further argument \"blue\": see shop things deep paint --help\n"
      )
      expect(yield* run("things", "deep", "paint")).toEqual({
        code: 2,
        stdout: "",
        stderr: "shop: shop things deep paint requires the argument COLOUR (red | blue): see shop things deep paint --help\n"
      })
      expect(yield* run("other", "1")).toEqual({
        code: 2,
        stdout: "",
        stderr: `shop: shop other takes no argument "1": see shop other --help\n`
      })
      expect(yield* run("other", "--text", "a")).toEqual({
        code: 2,
        stdout: "",
        stderr: "shop: shop other has no option --text: see shop other --help\n"
      })
      expect(yield* run("things", "deep")).toEqual({
        code: 2,
        stdout: "",
        stderr: "shop: shop things deep requires a command: use one of create, paint\n"
      })
    }))
})
