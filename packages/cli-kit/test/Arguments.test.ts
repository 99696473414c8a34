/**
 * The words of a command line reach their commands wherever they stand, and ambiguous words are refused.
 */
import { it } from "@effect/vitest"
import { Either, FastCheck } from "effect"
import { describe, expect } from "vitest"
import { Arguments } from "../src/index.js"

const grammar: Arguments.Grammar = { valued: ["--text", "--limit", "--media"], repeated: ["--media"], flags: ["--json", "--quiet"] }
const leaf = { children: new Map(), takes: () => ["--text", "--json"] }
const commands: Arguments.Commands = new Map([["me", leaf], ["posts", {
  children: new Map([["create", leaf], ["list", leaf]]),
  takes: () => []
}]])
const normalize = (...argv: ReadonlyArray<string>) => Arguments.normalize("plaza", argv, grammar, commands)
const order = (...argv: ReadonlyArray<string>) =>
  Either.match(normalize(...argv), {
    onLeft: (error) => error.message,
    onRight: (request) => request._tag === "Run" ? request.words : request
  })

describe("the words of a command line", () => {
  it("may stand in any order", () => {
    const expected = ["posts", "create", "--text", "a", "--media", "x", "--media", "y", "--json", "--", "1"]
    expect(order("posts", "create", "--text", "a", "--media", "x", "--media", "y", "--json", "1")).toEqual(expected)
    expect(order("--json", "--text=a", "posts", "--media=x", "create", "1", "--media", "y")).toEqual(expected)
  })

  it("keep values that look like commands, flags or numbers below zero", () => {
    expect(order("posts", "create", "--text", "list", "--limit", "-5", "-3", "me", "-")).toEqual(
      ["posts", "create", "--text", "list", "--limit", "-5", "--", "-3", "me", "-"]
    )
    expect(order("me", "--", "--json", "--", "-x")).toEqual(["me", "--", "--json", "--", "-x"])
    expect(order("me", "--text=--help")).toEqual(["me", "--text", "--help"])
  })

  it.prop("give every argument behind two dashes back unchanged", [FastCheck.array(FastCheck.string(), { minLength: 1 })], ([words]) => {
    expect(order("me", "--json", "--", ...words)).toEqual(["me", "--json", "--", ...words])
  })

  it.prop("give every value behind an equals sign back unchanged", [FastCheck.string().filter((text) => text !== "--")], ([text]) => {
    expect(order("me", `--text=${text}`)).toEqual(["me", "--text", text])
  })

  it("ask for help or the version first", () => {
    expect(order()).toEqual({ _tag: "Help", path: [] })
    expect(order("posts", "--nonsense", "list", "-h")).toEqual({ _tag: "Help", path: ["posts", "list"] })
    expect(order("posts", "create", "--version")).toEqual({ _tag: "Version" })
    expect(order("help", "posts", "list")).toEqual({ _tag: "Help", path: ["posts", "list"] })
  })

  it.each([
    [["posts"], "plaza posts needs a command behind it, one of create, list"],
    [["posts", "make"], `there is no command "plaza posts make"; there are create, list`],
    [["--json"], "plaza needs a command behind it, one of me, posts"],
    [["me", "--nonsense"], "plaza me has no option --nonsense; see plaza me --help"],
    [["posts", "creat"], `there is no command "plaza posts creat"; did you mean plaza posts create?`],
    [["psots"], `there is no command "plaza psots"; did you mean plaza posts?`],
    [["help", "x"], `there is no command "plaza x"; there are me, posts`],
    [["me", "--jsno"], "plaza me has no option --jsno; did you mean --json?"],
    [["me", "--qiet"], "plaza me has no option --qiet; see plaza me --help"],
    [["posts", "create", "--text"], "--text needs a value behind it"],
    [["posts", "create", "--text", "--json"], `--text needs a value behind it; if "--json" is meant to be that value, write --text=--json`],
    [
      ["posts", "create", "--text", "--limit=3"],
      `--text needs a value behind it; if "--limit=3" is meant to be that value, write --text=--limit=3`
    ],
    [["posts", "create", "--limit", "1", "--limit", "2"], "--limit is given twice: leave one of them out"],
    [["posts", "create", "--json=yes"], "--json takes no value: leave out everything from the = on"],
    [["posts", "create", "--text=--"], "the value of --text can't be two dashes"]
  ])("%j are refused with one sentence", (argv, sentence) => {
    expect(normalize(...argv)).toMatchObject({ _tag: "Left", left: { _tag: "UsageError", message: sentence, exitCode: 2 } })
  })

  it("keep what the program takes itself from the command", () => {
    const own = { ...grammar, global: [{ name: "--alone", said: "" }] }
    expect(Arguments.normalize("plaza", ["--alone", "me", "--json"], own, commands)).toEqual(
      Either.right({ _tag: "Run", path: ["me"], words: ["me", "--json"] })
    )
  })

  it("tell a flag however wrong they are", () => {
    expect(Arguments.has(["--nonsense", "--json"], "--json")).toBe(true)
    expect(Arguments.has(["a", "--", "--json"], "--json")).toBe(false)
  })
})
