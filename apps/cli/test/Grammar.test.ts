/**
 * Every command of the design exists, with help and examples that parse.
 */
import { Arguments, Manual } from "@plaza/cli-kit"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { manPage, manual } from "../src/manual.ts"

const commands = Manual.allPages(manual.page)
const leaves = commands.filter(({ page }) => page.commands.length === 0)

/** The words of a line before a redirection of the shell. */
const words = (line: string): ReadonlyArray<string> =>
  [...line.replace(/ <.*$/, "").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "")

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
      "media upload",
      "posts create",
      "posts list",
      "posts like",
      "posts comment",
      "stories create",
      "stock set",
      "stock import",
      "orders ship",
      "orders import",
      "chat list",
      "chat send",
      "api",
      "sandbox start",
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
      "verify",
      "mcp",
      "schema",
      "skills install",
      "doctor",
      "completions"
    ])
  })

  it("give an option the same syntax in every command", () => {
    const syntaxes = leaves.flatMap(({ page }) =>
      page.options.map(({ name, repeated, value }) => ({ name, repeated, hasValue: value !== undefined }))
    )
    for (const syntax of syntaxes) expect(syntaxes.filter(({ name }) => name === syntax.name)).toEqual(expect.arrayContaining([syntax]))
    expect(new Set(syntaxes.map((syntax) => JSON.stringify(syntax))).size).toBe(new Set(syntaxes.map(({ name }) => name)).size)
  })

  it.each(leaves.map(({ page, path }) => [path.join(" "), page] as const))("%s takes --json and --quiet", (_, page) => {
    expect(page.options.map(({ name }) => name)).toEqual(expect.arrayContaining(["--json", "--quiet"]))
  })

  it.each(commands.map(({ page, path }) => [path.join(" "), page] as const))("%s has a summary of one sentence and examples that parse",
    (command, page) => {
      expect(page.summary).toMatch(/^[A-Z][^.]+\.$/)
      expect(page.examples.length).toBeGreaterThan(0)
      for (const example of page.examples) {
        const request = Arguments.parse(manual.page, words(example))
        expect(Either.map(request, ({ _tag }) => _tag)).toEqual(Either.right("Run"))
        expect(`plaza ${example} `.startsWith(`${command} `)).toBe(true)
      }
    })

  it("describe every option and argument", () => {
    const undescribed = leaves.flatMap(({ page, path }) =>
      [...page.options, ...page.args].flatMap(({ description, name }) =>
        /^[A-Za-z*-].+\.$/.test(description) ? [] : [[...path, name].join(" ")]
      )
    )
    expect(undescribed).toEqual([])
  })

  it("are all in the man page", () => {
    expect(leaves.filter(({ path }) => !manPage.includes(`.SS ${path.join(" ").replaceAll("-", "\\-")}\n`))).toEqual([])
  })
})
