/** The commands that messages name, as a shell and the program read them. */
import { describe, expect, it } from "@effect/vitest"
import { Help } from "@plaza-legacy/cli-kit"
import * as ArgvLexer from "@plaza-legacy/cli-kit/ArgvLexer"
import { FastCheck } from "effect"
import { execFileSync } from "node:child_process"
import * as Cli from "../../src/Cli.ts"
import { ofFleet } from "../../src/ledger/LedgerCommands.ts"

const { page } = Help.manual(Cli.root, Cli.options)

/** The words of a command line, as a shell reads them. */
const words = (command: string): ReadonlyArray<string> =>
  execFileSync("bash", ["--norc", "-c", `printf '%s\\0' ${command}`], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } }).split("\0").slice(0,
    -1)

/** The arguments of a command line that the program accepts. */
const argumentsOf = (command: string) => {
  const request = ArgvLexer.parse(page, words(command).slice(1))
  return request._tag === "Run" ? request.argv.slice(request.argv.indexOf("--") + 1) : request
}

describe("the commands of a fleet's account", () => {
  it("name it so that its id is read as it is, and show no hidden character", () => {
    // Ids have no control characters. Few runs, because each starts a shell.
    const character = FastCheck.oneof(
      FastCheck.constantFrom(" ", "'", "\"", "\\", "$", "`", "!", "*", ";", "-", "\u202E", "\u200B", "é", "😀"),
      FastCheck.string({ minLength: 1, maxLength: 1, unit: "grapheme-ascii" })
    )
    const ids = FastCheck.array(character, { minLength: 1, maxLength: 12 }).map((characters) => characters.join(""))
    FastCheck.assert(
      FastCheck.property(ids, (id) => {
        const { retry } = ofFleet(id)
        expect(retry).not.toMatch(/[\p{Cc}\p{Cf}]/u)
        expect(argumentsOf(retry)).toEqual([id])
      }),
      { numRuns: 40, examples: [["-x"], ["--json"], ["--"], ["-"], ["-5"]] }
    )
  })

  it("are accepted by the program, also for an id that begins with a dash", () => {
    for (const id of ["shop-1", "-x", "--yes"]) {
      const { adopt, confirm, retry, status, statusJson } = ofFleet(id)
      const [, update = ""] = adopt.split("`")
      for (const command of [status, statusJson, retry, update]) expect([command, argumentsOf(command)]).toEqual([command, [id]])
      expect(argumentsOf(confirm(3))).toEqual([id, "3"])
    }
  })
})
