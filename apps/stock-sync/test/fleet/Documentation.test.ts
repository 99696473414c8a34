/** What the documentation of the fleet names exists: reasons and log events. */
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const page = readFileSync(new URL("../../../../docs/fleet.md", import.meta.url), "utf8")
const sources = new URL("../../src/", import.meta.url)

/** The cells of every table row of a text, the header's rule left out. */
const rowsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> =>
  text.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("|--")).map((line) =>
    line.slice(1, -1).split("|").map((cell) => cell.trim())
  )

describe("the reasons of docs/fleet.md", () => {
  it("are those of the program", () => {
    const [, reasons = ""] = page.split("\nThe reasons in `/readyz`:\n")
    const source = readFileSync(new URL("fleet/operations/FleetReadiness.ts", sources), "utf8")
    const written = Array.from(source.matchAll(/reason: "(\w+)"/g), ([, reason = ""]) => reason)
    expect(written.length).toBeGreaterThan(3)
    const documented = rowsOf(reasons.split("\n#")[0] ?? "").slice(1).map(([name = ""]) => name.replaceAll("`", ""))
    expect(documented.toSorted()).toEqual(written.toSorted())
  })
})

describe("the log events of docs/fleet.md", () => {
  it("are those that a runner adds", () => {
    const files = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) => /^(commands\/)?fleet\/.*\.ts$/.test(name))
    const text = files.map((name) => readFileSync(new URL(name, sources), "utf8")).join("\n")
    const written = Array.from(text.matchAll(/"((?:account|fleet|metrics|notify|runner)\.[a-zA-Z]+)"/g), ([, event = ""]) => event)
    const [, log = ""] = page.split("\n### Log\n")
    const documented = rowsOf(log.split("\n### ")[0] ?? "").flatMap(([names = ""]) =>
      Array.from(names.matchAll(/`([^`]+)`/g), ([, name = ""]) => name)
    )
    expect(documented.length).toBeGreaterThan(10)
    expect(documented.toSorted()).toEqual(Array.from(new Set(written)).toSorted())
  })
})
