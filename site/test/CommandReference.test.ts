/** The committed pages of the commands are those of the programs. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as CommandReference from "../src/CommandReference.ts"
import { root } from "../src/Paths.ts"

describe("the reference of commands", () => {
  it.each([...CommandReference.make()])("%s is current: run `pnpm --filter @plaza/site commands` after a change", (file, text) => {
    expect(readFileSync(join(root, file), "utf8")).toBe(text)
  })

  it("has every command of both programs, with its own options", () => {
    const texts = [...CommandReference.make().values()].join("\n")
    for (
      const heading of ["plaza orders import", "plaza sandbox start", "plaza-stock-sync once", "plaza-stock-sync fleet accounts import"]
    ) {
      expect(texts).toContain(`\n## ${heading}\n`)
    }
    expect(texts).toContain("| `--freeze-clock` |")
    expect(texts).toContain("| `--max-bad-rows ")
  })
})
