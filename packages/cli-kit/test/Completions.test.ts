/**
 * The completion scripts: every command and flag, global ones too, with descriptions, and files for values that are files.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { spawnSync } from "node:child_process"
import * as Completions from "../src/Completions.ts"
import * as Manual from "../src/Manual.ts"
import { program } from "./support/Shop.ts"

const pages = Effect.runSync(Manual.pages(program))
const script = (shell: Completions.Shell): string => Completions.script(program, pages, shell)

const bash = (input: string, cwd?: string) => spawnSync("bash", ["--norc", "-s"], { input, cwd, encoding: "utf8" })

/** What bash offers at the end of this line. */
const offers = (line: string, cwd?: string): ReadonlyArray<string> => {
  const words = line.split(" ")
  const { stderr, stdout } = bash(
    `${script("bash")}
COMP_LINE=${JSON.stringify(line)} COMP_POINT=${line.length} COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${
      words.length - 1
    }
_shop shop '${words.at(-1)}' '${words.at(-2)}'
printf '%s\\n' "\${COMPREPLY[@]}"
`,
    cwd
  )
  expect(stderr).toBe("")
  return stdout.split("\n").filter((word) => word !== "").toSorted()
}

describe("the completions", () => {
  it.each(Completions.shells)("for %s have every listed command and flag, with descriptions where the shell shows them", (shell) => {
    const text = script(shell)
    for (const command of ["things", "deep", "create", "paint", "upload", "words", "region"]) {
      expect(text).toMatch(new RegExp(`\\b${command}\\b`))
    }
    for (const flag of ["text", "media", "limit", "draft", "json", "profile", "help", "version"]) {
      expect(text).toMatch(new RegExp(`${shell === "fish" ? "-l " : "--"}${flag}\\b`))
    }
    for (const word of ["hidden", "wizard", "log-level", "no-json", "no-draft", "--completions"]) expect(text).not.toContain(word)
    for (const description of ["Creates a thing.", "How many (default: 20).", "The profile.", "Print JSON."]) {
      // zsh escapes the colon.
      expect(text.replaceAll("\\:", ":").includes(description)).toBe(shell !== "bash")
    }
  })

  it.each<readonly [Completions.Shell, ReadonlyArray<string>]>([
    ["bash", [`complete -F _shop shop`, `_shop--paths -f "$cur"`, `_shop--paths -d "$cur"`]],
    ["zsh", ["'(--media)--media[A file (repeatable).]:file:_files'", "':The file to upload.:_files'", "'(--json -j)-j[Print JSON.]'"]],
    ["fish", ["-l media -d 'A file (repeatable).' -r -F", "-r -F -d 'The file to upload.'", "-l json -s j -d 'Print JSON.'"]],
    ["powershell", [
      "pathType = 'file'; description = 'The file to upload.'",
      "pathType = 'file'; description = 'A file (repeatable).'",
      "forms = @('--json', '-j'); takesValue = $false; optionalValue = $true;"
    ]]
  ])("for %s offer files where a value is a file", (shell, parts) => {
    for (const part of parts) expect(script(shell)).toContain(part)
  })

  it.each<readonly [Completions.Shell, number, string]>([
    ["bash", 0, `eval "$(shop completions bash)" in ~/.bashrc`],
    ["zsh", 1, `eval "$(shop completions zsh)" in ~/.zshrc, behind compinit`],
    ["fish", 0, "shop completions fish > ~/.config/fish/completions/shop.fish"],
    ["powershell", 0, "shop completions powershell | Out-String | Invoke-Expression, in $PROFILE"]
  ])("for %s say how to install them", (shell, line, text) => {
    expect(script(shell).split("\n")[line]).toBe(`# Completions of shop for ${shell}: ${text}`)
  })

  it("for zsh begin with the line that it reads in a folder of completions", () => {
    expect(script("zsh")).toMatch(/^#compdef shop\n/)
  })

  it("for bash are valid", () => {
    expect(spawnSync("bash", ["-n"], { input: script("bash"), encoding: "utf8" })).toMatchObject({ status: 0, stdout: "", stderr: "" })
  })

  it("in bash offer commands, flags and choices", () => {
    expect(offers("shop ")).toEqual(["help", "me", "region", "things", "upload", "words"])
    expect(offers("shop help things deep ")).toEqual(["create", "paint"])
    expect(offers("shop help things deep create --")).toEqual([])
    expect(offers("shop --json things d")).toEqual(["deep"])
    expect(offers("shop --profile me things deep ")).toEqual(["create", "paint"])
    expect(offers("shop me --")).toEqual(["--help", "--json", "--profile", "--quiet", "--version"])
    expect(offers("shop me --json --j")).toEqual([])
    expect(offers("shop things deep create --l")).toEqual(["--limit"])
    expect(offers("shop things deep paint ")).toEqual(["blue", "red"])
    expect(offers("shop things deep paint --json b")).toEqual(["blue"])
    expect(offers("shop things deep paint red --size ")).toEqual(["m", "s"])
  })

  it.effect("in bash offer files and folders", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped({ prefix: "plaza-completions-" })
      yield* fs.writeFileString(`${folder}/a.png`, "")
      yield* fs.makeDirectory(`${folder}/albums`)
      expect(offers("shop upload a", folder)).toEqual(["a.png", "albums"])
      expect(offers("shop upload --json a.", folder)).toEqual(["a.png"])
      expect(offers("shop upload --to a", folder)).toEqual(["albums"])
      expect(offers("shop things deep create --media ./a.", folder)).toEqual(["./a.png"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))
})
