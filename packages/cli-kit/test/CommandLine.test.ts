/**
 * The grammar of the command line: flags anywhere behind their command, and one sentence about an invalid line.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { arrayOf, text } from "@plaza/testing/Generators"
import { Effect, FileSystem, Option } from "effect"
import * as CommandLine from "../src/CommandLine.ts"
import { run, runWith } from "./support/Shop.ts"

const create = (...argv: ReadonlyArray<string>) => run("things", "deep", "create", ...argv)
const created = { ids: ["1"], text: "a", media: [], limit: 20, draft: false, json: false }

/** What the command received. */
const valuesOf = (...argv: ReadonlyArray<string>) =>
  Effect.map(run(...argv), ({ code, received, stderr }) => code === 0 ? received : stderr)
const createdBy = (...argv: ReadonlyArray<string>) => valuesOf("things", "deep", "create", ...argv)

describe("the words of a command line", () => {
  it.effect("may stand in any order behind the command, global flags anywhere", () =>
    Effect.gen(function*() {
      const all = { ids: ["1", "2"], text: "a", media: ["x", "y"], limit: 3, draft: true, json: true }
      for (
        const argv of [
          ["things", "deep", "create", "1", "2", "--text", "a", "--media", "x", "--media", "y", "--limit", "3", "--draft", "--json"],
          ["--json", "things", "deep", "create", "--limit=3", "1", "--media=x", "--draft", "2", "--media=y", "--text=a"],
          ["things", "--json", "deep", "create", "--draft", "--text", "a", "--media", "x", "--limit", "3", "1", "--media", "y", "2"],
          ["things", "deep", "-j", "create", "-d", "--text", "a", "--media", "x", "--limit", "3", "--media", "y", "--", "1", "2"],
          ["things", "deep", "create", "1", "2", "-dj", "--text", "a", "--media", "x", "--limit", "3", "--media", "y"]
        ]
      ) expect(yield* valuesOf(...argv)).toEqual(all)
    }))

  it.effect("keep values that look like commands, flags or negative numbers", () =>
    Effect.gen(function*() {
      expect(yield* createdBy("--text", "create", "-3", "me", "-")).toEqual({ ...created, text: "create", ids: ["-3", "me", "-"] })
      expect(yield* createdBy("--text", "-5", "1")).toEqual({ ...created, text: "-5" })
      expect(yield* createdBy("--text=--help", "1")).toEqual({ ...created, text: "--help" })
      expect(yield* createdBy("--text=--", "1")).toEqual({ ...created, text: "--" })
      expect(yield* createdBy("--text=a", "--", "--json", "--", "-x")).toEqual({ ...created, ids: ["--json", "--", "-x"] })
      expect(yield* createdBy("--text=", "1")).toEqual({ ...created, text: "" })
    }))

  it.effect("behind a flag without a value are arguments, also those that look like one", () =>
    Effect.gen(function*() {
      for (const word of ["1", "0", "yes", "no", "on", "off", "true", "false", "y", "n"]) {
        expect(yield* createdBy("--text", "a", "--json", word)).toEqual({ ...created, ids: [word], json: true })
        expect(yield* createdBy("--text", "a", "--draft", word)).toEqual({ ...created, ids: [word], draft: true })
      }
      expect(yield* createdBy("1", "--text", "a", "--json=false", "--draft=true")).toEqual({ ...created, draft: true })
    }))

  it.effect.prop("keep every argument behind two dashes", [arrayOf(text, { minLength: 1 })],
    ([words]) =>
      Effect.map(valuesOf("words", "--json", "--", ...words), (values) => {
        expect(values).toEqual({ words, text: Option.none(), json: true })
      }))

  it.effect.prop("keep every value behind an equals sign", [text], ([text]) =>
    Effect.map(valuesOf("words", `--text=${text}`), (values) => {
      expect(values).toEqual({ words: [], text: Option.some(text), json: false })
    }))

  it("have a flag even if they are invalid", () => {
    const hasJson = (...argv: ReadonlyArray<string>) => CommandLine.has(argv, "json", "j")
    for (const argv of [["--nonsense", "--json"], ["-j"], ["a", "-qj"], ["-jq"], ["-jp=x"], ["--json=true"], ["-j=yes"]]) {
      expect([argv, hasJson(...argv)]).toEqual([argv, true])
    }
    for (const argv of [["a", "--", "--json"], ["--json=false"], ["--jsonx"], ["j"], ["-q"], ["--text=-j"], ["-p=j"], ["-"]]) {
      expect([argv, hasJson(...argv)]).toEqual([argv, false])
    }
  })
})

describe("an invalid command line", () => {
  it.effect("is reported once, on standard error, and runs nothing", () =>
    Effect.gen(function*() {
      expect(yield* run("things", "deep", "create", "1")).toEqual({
        code: 2,
        stdout: "",
        stderr: "shop: shop things deep create requires --text: see shop things deep create --help\n",
        received: undefined
      })
    }))

  const help = "see shop things deep create --help"
  const path = ["things", "deep", "create"]
  it.effect.each<readonly [ReadonlyArray<string>, string]>([
    [["nonsense"], `unknown command "shop nonsense": use one of things, upload, me, words, region`],
    [["thigns"], `unknown command "shop thigns": did you mean shop things?`],
    [["thi"], `unknown command "shop thi": did you mean shop things?`],
    [["things", "x"], `unknown command "shop things x": use one of deep`],
    [["things", "deep", "creat", "1"], `unknown command "shop things deep creat": did you mean shop things deep create?`],
    [["things", "deep", "hiden"], `unknown command "shop things deep hiden": use one of create, paint`],
    [["help", "x"], `unknown command "shop x": use one of things, upload, me, words, region`],
    [["help", "things", "dep"], `unknown command "shop things dep": did you mean shop things deep?`],
    [["\u001b[31mx\n"], `unknown command "shop ␛[31mx": use one of things, upload, me, words, region`],
    [["x".repeat(100)], `unknown command "shop ${"x".repeat(60)}...": use one of things, upload, me, words, region`],
    [["me", "--nonsense"], "shop me has no option --nonsense: see shop me --help"],
    [["me", "--qiet"], "shop me has no option --qiet: did you mean --quiet?"],
    [["me", "--jsno"], "shop me has no option --jsno: did you mean --json?"],
    [["me", "--prof=x"], "shop me has no option --prof: did you mean --profile?"],
    [["me", "--hlep"], "shop me has no option --hlep: did you mean --help?"],
    [["--jsno"], "shop has no option --jsno: did you mean --json?"],
    [["me", "--text", "a"], "shop me has no option --text: see shop me --help"],
    [["me", "--no-json"], "shop me has no option --no-json: see shop me --help"],
    [["me", "-x"], "shop me has no option -x: see shop me --help"],
    [["me", "--wizard"], "shop me has no option --wizard: see shop me --help"],
    [["--media=a", "me"], "shop me has no option --media: see shop me --help"],
    [["things", "--nonsense"], "shop things has no option --nonsense: options of a command stand after it, see shop things --help"],
    [["--text", "a", ...path, "1"], "shop has no option --text: options of a command stand after it, see shop --help"],
    [["things", "--draft", "deep", "create", "1"], `--draft must stand after shop things deep create: ${help}`],
    [["-d", ...path, "1"], `-d must stand after shop things deep create: ${help}`],
    [["me", "1"], `shop me takes no argument "1": see shop me --help`],
    [["me", "--", "--help"], `shop me takes no argument "--help": see shop me --help`],
    [
      ["things", "deep", "paint", "red", "blue"],
      `shop things deep paint takes no further argument "blue": see shop things deep paint --help`
    ],
    [["things", "deep", "paint"], "shop things deep paint requires the argument COLOUR (red | blue): see shop things deep paint --help"],
    [
      ["things", "deep", "paint", "green\u001b[31m\n"],
      `COLOUR must be one of red, blue, not "green␛[31m": see shop things deep paint --help`
    ],
    [["things", "deep", "paint", "red", "--size", "xl"], `--size must be one of s, m, not "xl": see shop things deep paint --help`],
    [["things", "deep", "paint", "red", "--size="], `--size must be one of s, m, not "": see shop things deep paint --help`],
    [["things", "deep", "paint", "red", "--size", ""], "--size requires a value: see shop things deep paint --help"],
    [[...path, "--text", "a"], `shop things deep create requires the argument ID: ${help}`],
    [[...path, "1", "--text"], `--text requires a value: ${help}`],
    [[...path, "1", "--text", "--"], `--text requires a value: ${help}`],
    [[...path, "1", "--text", "--limit=3"], `--text requires a value: to use "--limit=3" as the value, write --text=--limit=3`],
    [[...path, "1", "--text", "--json", "hello"], `--text requires a value: to use "--json" as the value, write --text=--json`],
    [["--json", ...path, "--text", "-j", "hello"], `--text requires a value: to use "-j" as the value, write --text=-j`],
    [["me", "--profile"], "--profile requires a value: see shop me --help"],
    [["me", "--profile", "--json"], `--profile requires a value: to use "--json" as the value, write --profile=--json`],
    [[...path, "1", "--text", "a", "--text", "b"], "--text is given twice: remove one of them"],
    [["me", "--json", "-j"], "--json is given twice: remove one of them"],
    [["me", "--profile", "a", "--profile", "b"], "--profile is given twice: remove one of them"],
    [["me", "--json=maybe"], `--json must be true or false, not "maybe": see shop me --help`],
    [["me", "--quiet="], `--quiet must be true or false, not "": see shop me --help`],
    [["me", "--help=maybe"], `--help must be true or false, not "maybe": see shop me --help`]
  ])("%j fails with one sentence", ([argv, sentence]) =>
    Effect.map(run(...argv), ({ code, stderr, stdout }) => {
      expect({ code, stderr, stdout }).toEqual({ code: 2, stderr: `shop: ${sentence}\n`, stdout: "" })
    }))

  it.effect("does not repeat a key that stands in the wrong place", () =>
    Effect.gen(function*() {
      const key = `plz_${"s3cret".repeat(8)}`
      const { stderr } = yield* run("me", key)
      expect(stderr).toMatch(/^shop: shop me takes no argument "\*\*\*\*/)
      expect(stderr).not.toContain("s3cret")
    }))
})

describe("help and the version", () => {
  it.effect("are printed on standard output whatever else stands on the line", () =>
    Effect.gen(function*() {
      const helpOfCreate = yield* create("--help")
      expect(helpOfCreate).toMatchObject({ code: 0, stderr: "", received: undefined })
      expect(helpOfCreate.stdout).toMatch(/^Creates a thing\./)
      for (
        const argv of [
          ["things", "deep", "create", "-h"],
          ["-h", "things", "deep", "create"],
          ["things", "deep", "create", "--nonsense", "1", "-jh"],
          ["help", "things", "deep", "create"],
          ["help", "things", "deep", "create", "nonsense"],
          ["help", "--json", "things", "deep", "create"]
        ]
      ) expect(yield* run(...argv)).toEqual(helpOfCreate)
      for (const argv of [["--version"], ["-v"], ["things", "deep", "create", "--nonsense", "--version"]]) {
        expect(yield* run(...argv)).toEqual({ code: 0, stdout: "1.2.3\n", stderr: "", received: undefined })
      }
    }))

  it.effect("are the default of the program and of a group", () =>
    Effect.gen(function*() {
      const ofProgram = yield* run("--help")
      expect(ofProgram).toMatchObject({ code: 0, stderr: "" })
      expect(ofProgram.stdout).toMatch(/^A shop\./)
      for (const argv of [[], ["help"], ["--json"]]) expect(yield* run(...argv)).toEqual(ofProgram)
      const ofGroup = yield* run("things", "deep", "--help")
      expect(ofGroup.stdout).toMatch(/^Deep things\.\n\nUsage: shop things deep COMMAND\n/)
      for (const argv of [["things", "deep"], ["--json", "things", "deep"], ["help", "things", "deep"]]) {
        expect(yield* run(...argv)).toEqual(ofGroup)
      }
    }))
})

describe("the variables of a command", () => {
  it.effect("that are blank count as not set", () =>
    Effect.gen(function*() {
      const found = (variables: Readonly<Record<string, string>>) =>
        Effect.map(runWith({ variables }, "region"), ({ received }) => received)
      expect(yield* found({ SHOP_REGION: "eu" })).toEqual([Option.some("eu"), Option.none()])
      for (const blank of ["", " ", "\t"]) {
        expect(yield* found({ SHOP_REGION: blank, PLAZA_API_KEY: blank })).toEqual([Option.none(), Option.none()])
      }
    }))

  it.effect("have the key of a file", () =>
    Effect.gen(function*() {
      const key = `key_${"s3cret".repeat(8)}`
      const path = yield* (yield* FileSystem.FileSystem).makeTempFileScoped()
      yield* (yield* FileSystem.FileSystem).writeFileString(path, `${key}\n`)
      expect((yield* runWith({ variables: { PLAZA_API_KEY_FILE: path } }, "region")).received).toEqual([Option.none(), Option.some(key)])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
