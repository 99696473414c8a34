/**
 * What the commands take and what the reader of the command line knows are the same, and every command shows how it is used.
 */
import { Arguments, Manual, Start } from "@plaza/cli-kit"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { grammar } from "../src/Cli.js"
import { manPage, manual } from "../src/manual.js"

const commands = Manual.allPages(manual.page)
const leaves = commands.filter(({ page }) => page.commands.length === 0)

const words = (line: string): ReadonlyArray<string> =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((match) => match[1] ?? match[2] ?? match[3] ?? "")

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
      "sandbox faults clear",
      "doctor",
      "completions"
    ])
  })

  it("take no option that the reader of the command line does not know, and it knows no other", () => {
    const taken = leaves.flatMap(({ page }) => page.options.map(({ name }) => name))
    const valued = taken.flatMap((option) => option.includes(" ") ? option.split(" ").slice(0, 1) : [])
    const flags = taken.filter((option) => !option.includes(" "))
    expect([...new Set(valued)].toSorted()).toEqual([...grammar.valued].toSorted())
    expect([...new Set(flags)].toSorted()).toEqual([...grammar.flags].toSorted())
  })

  it.each(leaves.map(({ page, path }) => [path.join(" "), page] as const))("%s takes --json and --quiet", (_, page) => {
    expect(page.options.map(({ name }) => name)).toEqual(expect.arrayContaining(["--json", "--quiet"]))
  })

  it.each(commands.map(({ page, path }) => [path.join(" "), page] as const))("%s tells what it does, with examples that can be typed",
    (command, page) => {
      expect(page.about).toMatch(/^[A-Z].+\.$/)
      expect(page.examples.length).toBeGreaterThan(0)
      for (const example of page.examples) {
        const request = Arguments.normalize("plaza", words(example), grammar, Start.commandsOf(manual.page))
        expect(Either.map(request, ({ _tag }) => _tag)).toEqual(Either.right("Run"))
        expect(`plaza ${example} `.startsWith(`${command} `)).toBe(true)
      }
    })

  it("name the options that may be given more than once as such", () => {
    expect(grammar.repeated.every((option) => grammar.valued.includes(option))).toBe(true)
  })

  it("are all in the page for man", () => {
    expect(leaves.filter(({ path }) => !manPage.includes(`.SS ${path.join(" ").replaceAll("-", "\\-")}\n`))).toEqual([])
  })
})
