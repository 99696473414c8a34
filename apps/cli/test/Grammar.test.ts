/**
 * What the commands take and what the reader of the command line knows are the same, and every command shows how it is used.
 */
import * as Options from "@effect/cli/Options"
import { Arguments, Commands, Help } from "@plaza/terminal"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { grammar, plaza } from "../src/Cli.js"

interface Found {
  readonly path: ReadonlyArray<string>
  readonly node: Commands.Node
}

const all = (node: Commands.Node, path: ReadonlyArray<string>): ReadonlyArray<Found> => [
  { path, node },
  ...[...node.children].flatMap(([name, child]) => all(child, [...path, name]))
]

const root = Commands.tree(plaza)
const commands = all(root, ["plaza"])
const leaves = commands.filter(({ node }) => node.children.size === 0)
const medium = { isTerminal: false, colour: false, columns: () => 80 }

/** The lines of help between the head of its options and the next empty line. */
const optionLines = ({ node, path }: Found) => /\nOptions:\n((?: .*\n)+)/.exec(Help.render(node, path, medium))?.[1]?.split("\n").filter((line) => line.startsWith("  -")) ?? []

const words = (line: string): ReadonlyArray<string> => [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "")

describe("the commands", () => {
  it("are those of the design", () => {
    expect(leaves.map(({ path }) => path.slice(1).join(" "))).toEqual([
      "me", "users get", "users find", "users follow", "media upload", "posts create", "posts list", "posts like", "posts comment",
      "stories create", "stock set", "orders ship", "chat list", "chat send", "api", "sandbox start", "sandbox reset", "sandbox faults list",
      "sandbox faults add", "sandbox faults clear"
    ])
  })

  it("take no option that the reader of the command line does not know, and it knows no other", () => {
    const taken = leaves.flatMap(optionLines).map((line) => line.trim().split(/ {2,}/)[0] ?? "").filter((name) => name !== "--help")
    const valued = taken.flatMap((option) => option.includes(" ") ? option.split(" ").slice(0, 1) : [])
    const flags = taken.filter((option) => !option.includes(" "))
    expect([...new Set(valued)].toSorted()).toEqual([...grammar.valued].toSorted())
    expect([...new Set(flags)].toSorted()).toEqual([...grammar.flags].toSorted())
  })

  it.each(leaves.map((found) => [found.path.join(" "), found] as const))("%s takes --json and --quiet", (_, found) => {
    const names = optionLines(found).map((line) => line.trim().split(" ")[0])
    expect(names).toEqual(expect.arrayContaining(["--json", "--quiet"]))
  })

  it.each(commands.map((found) => [found.path.join(" "), found] as const))("%s tells what it does, with examples that can be typed", (_, { node, path }) => {
    const page = Help.render(node, path, medium)
    const examples = page.split("\nExamples:\n")[1]?.trim().split("\n") ?? []
    expect(page.split("\n")[0]).toMatch(/^[A-Z].+/)
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      const [program, ...argv] = words(example.trim())
      const request = Arguments.normalize("plaza", argv, grammar, root.children)
      expect(program).toBe("plaza")
      expect(Either.map(request, ({ _tag }) => _tag)).toEqual(Either.right("Run"))
    }
  })

  it("name the options that may be given more than once as such", () => {
    expect(grammar.repeated.every((option) => grammar.valued.includes(option))).toBe(true)
    expect(Options.isOptions(root.options)).toBe(true)
  })
})
