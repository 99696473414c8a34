/** The commands that messages name, as a shell reads them. */
import { describe, expect, it } from "@effect/vitest"
import { FastCheck } from "effect"
import { execFileSync } from "node:child_process"
import { ofFleet } from "../../src/ledger/LedgerCommands.js"

describe("the commands of a fleet's account", () => {
  it("name it so that a shell passes its id, and show no hidden character", () => {
    // Ids have no control characters. Few runs, because each starts a shell.
    const character = FastCheck.oneof(
      FastCheck.constantFrom(" ", "'", "\"", "\\", "$", "`", "!", "*", ";", "\u202E", "\u200B", "é", "😀"),
      FastCheck.string({ minLength: 1, maxLength: 1, unit: "grapheme-ascii" })
    )
    const ids = FastCheck.array(character, { minLength: 1, maxLength: 12 }).map((characters) => characters.join(""))
    FastCheck.assert(
      FastCheck.property(ids, (id) => {
        const { retry } = ofFleet(id)
        expect(retry).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        const words = execFileSync("bash", ["-c", `printf '%s\\0' ${retry}`], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } }).split("\0")
        expect(words.slice(0, -1)).toEqual(["plaza-stock-sync", "fleet", "accounts", "retry", id])
      }),
      { numRuns: 40 }
    )
  })
})
