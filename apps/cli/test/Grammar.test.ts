/**
 * Every command of the design exists, with help and examples that parse.
 */
import * as Manual from "@plaza/cli-kit/Manual"
import { isWrite, names } from "@plaza/domain/Operations"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { manPage, pages } from "../src/manual.ts"
import { plaza } from "./support/InProcess.ts"

const leaves = pages.filter(Manual.isRunnable)
const nameOf = ({ path }: Manual.Page): string => path.join(" ")

/** The words of a line before a redirection of the shell, without the program. */
const words = (line: string): ReadonlyArray<string> =>
  [...line.replace(/ <.*$/, "").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "").slice(1)

const run = (...argv: ReadonlyArray<string>) => Effect.runPromise(plaza(argv, {}))

describe("the commands", () => {
  it("are those of the design", () => {
    expect(leaves.map(({ path }) => path.slice(1).join(" "))).toEqual([
      "auth login",
      "auth status",
      "auth list",
      "auth use",
      "auth logout",
      "me",
      "users get",
      "users find",
      "users follow",
      "posts create",
      "posts list",
      "posts like",
      "posts comment",
      "media upload",
      "stories create",
      "chat list",
      "chat send",
      "stock set",
      "stock import",
      "orders ship",
      "orders import",
      "sandbox start",
      "sandbox health",
      "sandbox reset",
      "sandbox seed",
      "sandbox faults list",
      "sandbox faults add",
      "sandbox faults remove",
      "sandbox faults clear",
      "sandbox snapshot save",
      "sandbox snapshot restore",
      "sandbox snapshot list",
      "sandbox snapshot remove",
      "api",
      "verify",
      "schema",
      "doctor",
      "mcp",
      "agent setup",
      "skills install",
      "completions",
      "version"
    ])
  })

  it("follow every write, so that the report of an interruption says what became of it", () => {
    const folder = new URL("../src/commands/", import.meta.url)
    const files = readdirSync(folder).filter((file) => file.endsWith(".ts"))
    const sources = files.map((file) => readFileSync(new URL(file, folder), "utf8")).join("\n")
    const followed = Array.from(sources.matchAll(/Write\.follow\("(\w+)"\)/g), ([, name]) => name)
    // Uploads report each file.
    expect(names.filter((name) => isWrite(name) && name !== "uploadMedia" && !followed.includes(name))).toEqual([])
  })

  it("give an option the same syntax in every command", () => {
    const syntaxes = leaves.flatMap(({ flags }) =>
      flags.map(({ aliases, description, name, value }) => ({
        name,
        aliases,
        hasValue: value !== undefined,
        isRepeatable: description.includes("(repeatable)")
      }))
    )
    for (const syntax of syntaxes) expect(syntaxes.filter(({ name }) => name === syntax.name)).toEqual(expect.arrayContaining([syntax]))
    expect(new Set(syntaxes.map((syntax) => JSON.stringify(syntax))).size).toBe(new Set(syntaxes.map(({ name }) => name)).size)
  })

  it("give a letter to one option only", () => {
    const options = [...pages[0].globals, ...leaves.flatMap(({ flags }) => flags)]
    const letters = options.flatMap(({ aliases, name }) => aliases.map((alias) => `${alias} ${name}`))
    const isTaken = [...new Set(letters)].map((letter) => letter.slice(0, 2))
    expect(isTaken.filter((letter, index) => isTaken.indexOf(letter) !== index)).toEqual([])
  })

  it.each(pages.map((page) => [nameOf(page), page] as const))("%s has the options of every command", (_, page) => {
    expect(page.globals.map(Manual.fullLabelOf)).toEqual([
      "-h, --help",
      "-v, --version",
      "-j, --json",
      "--fields A,B",
      "-q, --quiet",
      "-p, --profile NAME",
      "--base-url URL",
      "--sandbox"
    ])
    const names = page.globals.map(({ name }) => name)
    expect(page.flags.filter(({ name }) => names.includes(name))).toEqual([])
  })

  it.each(pages.map((page) => [nameOf(page), page] as const))("%s has a summary of one sentence and examples that parse",
    async (name, page) => {
      expect(page.summary).toMatch(/^[A-Z][^.]+\.$/)
      expect(page.examples.length).toBeGreaterThan(0)
      for (const example of page.examples) {
        expect(example.startsWith("plaza ")).toBe(true)
        const command = words(example).filter((word) => !word.startsWith("-"))
        expect(`plaza ${command.join(" ")} `.startsWith(`${name} `)).toBe(true)
        // `--fields` without `--json` fails behind the parser, before the command does anything.
        const { code, stderr } = await run(...words(example).filter((word) => word !== "--json"), "--fields=x")
        expect({ example, code, stderr }).toEqual({ example, code: 2, stderr: "plaza: --fields selects fields of JSON: add --json\n" })
      }
    })

  it("describe every option and argument", () => {
    const undescribed = pages.flatMap((page) =>
      [...page.flags, ...page.globals, ...page.args].flatMap(({ description, name }) =>
        /^[A-Za-z*-].+\.$/.test(description) ? [] : [`${nameOf(page)} ${name}: ${description}`]
      )
    )
    expect(undescribed).toEqual([])
  })

  it("name the default of every option with a value, except one that adds something, and what is required", async () => {
    const adds = new Set(
      ("freeze-at fixtures latitude people follows posts products orders conversations input product order conversation user post report " +
        "html assumptions assumptions-out").split(" ")
    )
    const silent = leaves.flatMap((page) =>
      page.flags.flatMap(({ description, name, required, value }) =>
        value === undefined || required || adds.has(name) || /\(default: .+|\(repeatable\)/.test(description)
          ? []
          : [`${nameOf(page)} --${name}`]
      )
    )
    expect(silent).toEqual([])
    expect((await run("stock", "import", "--help")).stdout).toMatch(/--concurrency N .*\(default: 16\)\./)
    const { stdout } = await run("posts", "comment", "--help")
    expect(stdout).toContain("Usage: plaza posts comment ID --text TEXT [OPTION]...")
    expect(stdout).toMatch(/--text TEXT +The text of the comment\. \(required\)/)
    expect((await run("posts", "list", "--help")).stdout).toMatch(/-n, --limit N +The maximum number of items \(default: 20\)\./)
    expect((await run("posts", "create", "--help")).stdout).toContain("Usage: plaza posts create [OPTION]...")
  })

  it("are all in the man page", () => {
    expect(leaves.filter((page) => !manPage.includes(`.SS ${nameOf(page).replaceAll("-", "\\-")}\n`))).toEqual([])
  })
})

describe("a command line", () => {
  /** The help of a command, which shows that its words were understood. */
  const helpOf = (...path: ReadonlyArray<string>) => run(...path, "--help")

  it("may have the options of every command anywhere", async () => {
    const { stdout } = await run("sandbox", "start", "--help")
    for (const argv of [["--help", "sandbox", "start"], ["sandbox", "-h", "start"], ["-j", "sandbox", "start", "-qh", "--profile", "x"]]) {
      expect(await run(...argv)).toEqual({ code: 0, stdout, stderr: "" })
    }
    const { stderr } = await run("--json", "posts", "--fields", "id,text", "list", "--limit=x", "-q")
    expect(JSON.parse(stderr)).toMatchObject({
      error: { tag: "UsageError", message: "--limit must be a whole number of at least 1, not \"x\"" }
    })
  })

  it("has the options of a command behind its words only", async () => {
    expect(await run("--limit", "3", "posts", "list")).toEqual({
      code: 2,
      stdout: "",
      stderr: "plaza: plaza has no option --limit: options of a command stand after it, see plaza --help\n"
    })
  })

  it("of a group alone shows its help", async () => {
    const { stdout } = await helpOf("posts")
    expect(stdout).toContain("Usage: plaza posts COMMAND\n")
    for (const argv of [["posts"], ["help", "posts"], ["posts", "--help"], ["posts", "--quiet"]]) {
      expect(await run(...argv)).toEqual({ code: 0, stdout, stderr: "" })
    }
    expect(await run()).toEqual(await helpOf())
    expect(await run("help")).toEqual(await helpOf())
  })

  it("that begins with help shows the help of a command, and suggests one for a word that is none", async () => {
    expect(await run("help", "sandbox", "faults", "add")).toEqual(await helpOf("sandbox", "faults", "add"))
    for (
      const [argv, sentence] of [
        [["help", "psots"], "unknown command \"plaza psots\": did you mean plaza posts?"],
        [["help", "posts", "lst"], "unknown command \"plaza posts lst\": did you mean plaza posts list?"],
        [["help", "posts", "nope"], "unknown command \"plaza posts nope\": use one of create, list, like, comment"]
      ] as const
    ) expect(await run(...argv)).toEqual({ code: 2, stdout: "", stderr: `plaza: ${sentence}\n` })
  })

  it("suggests commands and options that are similar, also those of every command", async () => {
    for (
      const [argv, similar] of [
        [["psots", "list"], "plaza posts"],
        [["posts", "lits"], "plaza posts list"],
        [["posts", "list", "--limt", "3"], "--limit"],
        [["me", "--jsn"], "--json"],
        [["--quite", "me"], "--quiet"]
      ] as const
    ) expect((await run(...argv)).stderr).toMatch(new RegExp(`: did you mean ${similar}\\?\n$`))
  })

  it("takes the word behind an option without a value for an argument", async () => {
    // The stock is checked after the words are parsed.
    expect((await run("stock", "set", "--json", "1", "x")).stderr).toContain(`not \\"x\\"`)
    for (const word of ["1", "0", "yes", "no", "true", "false"]) {
      expect(await run("stock", "set", "--quiet", word)).toEqual({
        code: 2,
        stdout: "",
        stderr: "plaza: plaza stock set requires the argument N: see plaza stock set --help\n"
      })
    }
    expect((await run("posts", "list", "--json=false", "--limit=x")).stderr).toMatch(/^plaza: --limit must be/)
    expect((await run("posts", "list", "--json=true", "--limit=x")).stderr).toMatch(/^\{"error":/)
  })

  it("may have values that begin with a dash: numbers, and others behind =", async () => {
    const texts: ReadonlyArray<ReadonlyArray<string>> = [["--text=--json"], ["--text=-x"], ["--text=--"], ["--text=a=b"], ["-t=-x"], [
      "--text",
      "-3"
    ]]
    for (const text of texts) {
      // The id is checked by the client, so the words are understood.
      expect((await run("posts", "comment", ...text, "--", "--id")).stderr).toMatch(/^plaza: no base URL is set/)
    }
    expect((await run("posts", "comment", "1", "--text", "--json")).stderr).toContain("write --text=--json")
  })

  it("may repeat an option where its help says so, and no other", async () => {
    expect((await run("posts", "create", "--text", "a", "--media-id", "1", "--media-id", "2")).stderr).toMatch(/^plaza: no base URL is set/)
    for (const argv of [["--limit", "1", "--limit", "2"], ["--limit=1", "-n", "2"], ["-n1"], ["--all", "--all"], ["-aa"]]) {
      expect((await run("posts", "list", ...argv)).code).toBe(2)
    }
    expect((await run("posts", "list", "-n", "1", "--limit=2")).stderr).toBe("plaza: --limit is given twice: remove one of them\n")
  })

  it("that lacks several things names the first", async () => {
    expect((await run("orders", "ship")).stderr).toBe(
      "plaza: plaza orders ship requires the argument ORDER: see plaza orders ship --help\n"
    )
    expect((await run("orders", "ship", "1")).stderr).toBe("plaza: plaza orders ship requires --carrier: see plaza orders ship --help\n")
  })
})
