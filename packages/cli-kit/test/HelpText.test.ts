/**
 * Help, derived from the commands.
 */
import { describe, expect, it } from "@effect/vitest"
import { between } from "@plaza/testing/Generators"
import { Effect } from "effect"
import * as HelpText from "../src/HelpText.ts"
import * as Manual from "../src/Manual.ts"
import { program, run, runWith } from "./support/Shop.ts"

const globals = `Global options:
  -h, --help      Show help information.
  -v, --version   Show version information.
  -j, --json      Print JSON.
  --profile NAME  The profile.
`

describe("help", () => {
  it.effect("of a command has its arguments, options and examples", () =>
    Effect.gen(function*() {
      expect((yield* run("things", "deep", "create", "--help")).stdout).toBe(`Creates a thing.

With an id.

Usage: shop things deep create ID... --text TEXT [OPTION]...

Arguments:
  ID  An id.

Options:
  --text TEXT   The text. (required)
  --media FILE  A file (repeatable).
  --limit N     How many (default: 20).
  -d, --draft   Don't publish it.

${globals}
Examples:
  shop things deep create 1 --text a
`)
    }))

  it.effect("of the program lists its commands by group, and its further sections", () =>
    Effect.gen(function*() {
      expect((yield* run("--help")).stdout).toBe(`A shop.

Usage: shop COMMAND

Goods:
  things  Things.
  upload

More:
  me
  words
  region

${globals}
Examples:
  shop me

Environment:
  SHOP_REGION  The region.

Run shop COMMAND --help for the options of a command.
`)
    }))

  it.effect("of a group lists its commands without the unlisted ones", () =>
    Effect.gen(function*() {
      const { stdout } = yield* run("things", "deep", "--help")
      expect(stdout).toContain("Commands:\n  create  Creates a thing.\n  paint\n\n")
      expect(stdout).toMatch(/\nRun shop things deep COMMAND --help for the options of a command\.\n$/)
    }))

  it.effect("names optional and repeatable arguments, and the choices of an option", () =>
    Effect.gen(function*() {
      expect((yield* run("words", "--help")).stdout).toContain("Usage: shop words [WORD...] [OPTION]...\n")
      const { stdout } = yield* run("things", "deep", "paint", "--help")
      expect(stdout).toContain("Usage: shop things deep paint COLOUR [OPTION]...\n")
      expect(stdout).toContain("  COLOUR  The colour.\n")
      expect(stdout).toContain("  --size SIZE  (choices: s, m)\n")
    }))

  it.effect("on a terminal has its width, and else that of 80 columns", () =>
    Effect.gen(function*() {
      const widthOf = (text: string) => Math.max(...text.split("\n").map((line) => line.length))
      const argv = ["things", "deep", "create", "--help"]
      expect(widthOf((yield* runWith({ columns: 24 }, ...argv)).stdout)).toBe(
        "Usage: shop things deep create ID... --text TEXT [OPTION]...".length
      )
      expect((yield* runWith({ columns: 24 }, ...argv)).stdout).toContain("  --limit N\n      How many (default:\n      20).\n")
      expect((yield* runWith({ columns: 80 }, ...argv)).stdout).toBe((yield* run(...argv)).stdout)
    }))
})

describe("the lines of a page", () => {
  const flag = (name: string, description: string): Manual.Flag => ({ name, aliases: [], value: "TEXT", description, required: false })
  const page: Manual.Page = {
    path: ["a"],
    summary: "One two three four five six seven eight nine ten.",
    details: ["Eleven twelve thirteen."],
    args: [{ name: "FILE", description: "A file of lines.", required: true, variadic: false }],
    flags: [flag("text", "The text of it."), flag("a-name-that-is-much-longer-than-others", "Below its name."), flag("bare", "")],
    globals: [flag("profile", "The profile.")],
    commands: [],
    examples: ["a b --text c"],
    sections: [{ title: "Environment", entries: [{ name: "NO_COLOR", description: "Any value disables colours." }] }]
  }
  const words = (text: string): ReadonlyArray<string> => text.split(/\s+/).filter((word) => word !== "")
  // Usage, examples and names are copied, so they are never broken.
  const longest = "  --a-name-that-is-much-longer-than-others TEXT".length

  it.prop("fit any width and keep every word", [between(12, 200)], ([width]) => {
    const text = HelpText.render(page, width)
    expect(text.split("\n").filter((line) => line.length > Math.max(width, longest))).toEqual([])
    expect(words(text)).toEqual(words(`
      One two three four five six seven eight nine ten. Eleven twelve thirteen.
      Usage: a FILE [OPTION]...
      Arguments: FILE A file of lines.
      Options: --text TEXT The text of it. --a-name-that-is-much-longer-than-others TEXT Below its name. --bare TEXT
      Global options: --profile TEXT The profile.
      Examples: a b --text c
      Environment: NO_COLOR Any value disables colours.`))
  })

  it("align descriptions, except beside a name that is much longer", () => {
    expect(HelpText.render(page, 80)).toContain(`
Options:
  --text TEXT  The text of it.
  --a-name-that-is-much-longer-than-others TEXT
               Below its name.
  --bare TEXT
`)
  })
})

describe("the manual", () => {
  it.effect("has a page for each listed command, the program first", () =>
    Effect.gen(function*() {
      const pages = yield* Manual.pages(program)
      expect(pages.map(({ path }) => path.join(" "))).toEqual([
        "shop",
        "shop things",
        "shop things deep",
        "shop things deep create",
        "shop things deep paint",
        "shop upload",
        "shop me",
        "shop words",
        "shop region"
      ])
      expect(pages.filter(Manual.isRunnable).map(({ path }) => path.at(-1))).toEqual(["create", "paint", "upload", "me", "words", "region"])
      for (const { flags, globals } of pages) {
        expect(globals.map(({ name }) => name)).toEqual(["help", "version", "json", "profile"])
        expect(flags.map(({ name }) => name)).not.toContain("json")
      }
    }))
})
