/** The hand-written pages name every operation: the method of the client and of the SDK, and the tool of `plaza mcp`. */
import { names } from "@plaza/domain/Operations"
import { texts } from "@plaza/domain/OperationTexts"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { root } from "../src/Paths.ts"

const missing = (page: string, patternOf: (name: typeof names[number]) => RegExp) => {
  const text = readFileSync(join(root, page), "utf8")
  return names.filter((name) => !patternOf(name).test(text))
}
/** A method in code, alone or with its arguments. */
const method = (name: typeof names[number]) => new RegExp(`\`${texts[name].clientMethod}[(\`]`)

describe("every operation", () => {
  it.each(["docs/client.md", "docs/sdk.md"])("has its method in %s", (page) => {
    expect(missing(page, method)).toEqual([])
  })

  it("has its tool in docs/mcp.md", () => {
    expect(missing("docs/mcp.md", (name) => new RegExp(`\`${name}\``))).toEqual([])
  })
})
