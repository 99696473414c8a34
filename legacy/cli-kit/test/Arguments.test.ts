/**
 * The grammar of the command line: options anywhere, and errors for ambiguous words.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { describe, expect } from "vitest"
import { Arguments, type Manual } from "../src/index.ts"

const optional = { required: false, repeated: false }
const text = { ...optional, name: "--text", value: "TEXT" }
const limit = { ...optional, name: "--limit", value: "N" }
const media = { ...optional, name: "--media", value: "FILE", repeated: true }
const json = { ...optional, name: "--json" }
const quiet = { ...optional, name: "--quiet" }
const words = { ...optional, name: "WORD", repeated: true }
const leaf = (name: string, ...options: ReadonlyArray<Manual.OptionSyntax>): Manual.CommandSyntax => ({
  name,
  args: [words],
  options,
  commands: []
})
const program: Manual.CommandSyntax = {
  name: "plaza",
  args: [],
  options: [{ ...optional, name: "--alone" }],
  commands: [leaf("me", text, json), {
    name: "posts",
    args: [],
    options: [],
    commands: [leaf("create", text, media, json, limit), leaf("list", quiet)]
  }]
}
const parse = (...argv: ReadonlyArray<string>) => Arguments.parse(program, argv)
const order = (...argv: ReadonlyArray<string>) =>
  Either.match(parse(...argv), {
    onLeft: (error) => error.message,
    onRight: (request) => request._tag === "Run" ? request.argv : request
  })

describe("the words of a command line", () => {
  it("may stand in any order", () => {
    const expected = ["posts", "create", "--text", "a", "--media", "x", "--media", "y", "--json", "--", "1"]
    expect(order("posts", "create", "--text", "a", "--media", "x", "--media", "y", "--json", "1")).toEqual(expected)
    expect(order("--json", "--text=a", "posts", "--media=x", "create", "1", "--media", "y")).toEqual(expected)
  })

  it("keep values that look like commands, flags or negative numbers", () => {
    expect(order("posts", "create", "--text", "list", "--limit", "-5", "-3", "me", "-")).toEqual(
      ["posts", "create", "--text", "list", "--limit", "-5", "--", "-3", "me", "-"]
    )
    expect(order("me", "--", "--json", "--", "-x")).toEqual(["me", "--", "--json", "--", "-x"])
    expect(order("me", "--text=--help")).toEqual(["me", "--text", "--help"])
  })

  it.prop("keep every argument after two dashes", [FastCheck.array(FastCheck.string(), { minLength: 1 })], ([words]) => {
    expect(order("me", "--json", "--", ...words)).toEqual(["me", "--json", "--", ...words])
  })

  it.prop("keep every value after an equals sign", [FastCheck.string().filter((text) => text !== "--")], ([text]) => {
    expect(order("me", `--text=${text}`)).toEqual(["me", "--text", text])
  })

  it("request help or the version first", () => {
    expect(order()).toEqual({ _tag: "Help", path: [] })
    expect(order("posts", "--nonsense", "list", "-h")).toEqual({ _tag: "Help", path: ["posts", "list"] })
    expect(order("posts", "create", "--version")).toEqual({ _tag: "Version" })
    expect(order("help", "posts", "list")).toEqual({ _tag: "Help", path: ["posts", "list"] })
  })

  it.each([
    [["posts"], "plaza posts requires a command: use one of create, list"],
    [["posts", "make"], `unknown command "plaza posts make": use one of create, list`],
    [["--json"], "plaza requires a command: use one of me, posts"],
    [["me", "--nonsense"], "plaza me has no option --nonsense: see plaza me --help"],
    [["posts", "creat"], `unknown command "plaza posts creat": did you mean plaza posts create?`],
    [["psots"], `unknown command "plaza psots": did you mean plaza posts?`],
    [["help", "x"], `unknown command "plaza x": use one of me, posts`],
    [["me", "--jsno"], "plaza me has no option --jsno: did you mean --json?"],
    [["me", "--qiet"], "plaza me has no option --qiet: see plaza me --help"],
    [["posts", "create", "--text"], "--text requires a value: see plaza posts create --help"],
    [["posts", "create", "--text", "--"], "--text requires a value: see plaza posts create --help"],
    [["posts", "list", "--text", "a"], "plaza posts list has no option --text: see plaza posts list --help"],
    [["--media=a", "me"], "plaza me has no option --media: see plaza me --help"],
    [["posts", "create", "--text", "--json"], `--text requires a value: to use "--json" as the value, write --text=--json`],
    [
      ["posts", "create", "--text", "--limit=3"],
      `--text requires a value: to use "--limit=3" as the value, write --text=--limit=3`
    ],
    [["posts", "create", "--limit", "1", "--limit", "2"], "--limit is given twice: remove one of them"],
    [["posts", "create", "--json=yes"], `--json takes no value, but "=yes" follows it: see plaza posts create --help`],
    [["posts", "create", "--text=--"], `--text can't have the value "--": see plaza posts create --help`]
  ])("%j fail with one sentence", (argv, sentence) => {
    expect(parse(...argv)).toMatchObject({ _tag: "Left", left: { _tag: "UsageError", message: sentence } })
  })

  it("put options of the program before the command", () => {
    expect(order("me", "--json", "--alone")).toEqual(["--alone", "me", "--json"])
  })

  it("have a flag even if they are invalid", () => {
    expect(Arguments.has(["--nonsense", "--json"], "--json")).toBe(true)
    expect(Arguments.has(["a", "--", "--json"], "--json")).toBe(false)
  })
})
