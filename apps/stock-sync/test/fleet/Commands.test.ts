/** The commands that messages name, as a shell and the program read them. */
import { describe, expect, it } from "@effect/vitest"
import * as Generate from "@plaza/testing/Generators"
import * as Postgres from "@plaza/testing/Postgres"
import { Arbitrary, Effect, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { ofFleet } from "../../src/ledger/LedgerCommands.ts"
import * as Command from "../support/command.ts"
import { prepared } from "../support/ledger/fleet.ts"
import * as Program from "../support/program.ts"
import { shared } from "../support/shared.ts"

let server = ""
shared(Effect.tap(Postgres.scoped, ({ url }) => prepared(Redacted.make(url))), ({ url }) => {
  server = url
})

/** The words of a command line, as a shell reads them. */
const words = (command: string): ReadonlyArray<string> =>
  execFileSync("bash", ["--norc", "-c", `printf '%s\\0' ${command}`], { encoding: "utf8", env: { LC_ALL: "C.UTF-8" } }).split("\0").slice(0,
    -1)

/** Runs a command line in a fleet without accounts, and returns how it fails. */
const run = (command: string) => {
  const [program, ...args] = words(command)
  expect(program).toBe("plaza-stock-sync")
  return Effect.map(Command.run(["--json", ...args.filter((word) => word !== "--json")], { STOCK_SYNC_FLEET_DATABASE: server }),
    ({ stderr }) => Program.parsed(stderr))
}

/** The program has read this id and looked for its account. */
const expectLookedFor = (id: string, ended: unknown, label = id) =>
  expect([label, ended]).toMatchObject([label, {
    error: {
      tag: "AccountNotFound",
      message: `there is no account ${id}: plaza-stock-sync fleet accounts list shows the accounts`
    }
  }])

// Ids have no control characters.
const character = Generate.oneOf(
  Generate.anyOf([" ", "'", "\"", "\\", "$", "`", "!", "*", ";", "-", "\u202E", "\u200B", "é", "😀"]),
  Arbitrary.map(Generate.between(0x20, 0x7e), (code) => String.fromCharCode(code))
)
const anyId = Arbitrary.map(Generate.arrayOf(character, { minLength: 1, maxLength: 12 }), (characters) => characters.join(""))

describe("the commands of a fleet's account", () => {
  // Few runs, because each starts a shell.
  it.effect.prop("name it so that its id is read as it is, and show no hidden character", [anyId], ([id]) =>
    Effect.gen(function*() {
      const { retry } = ofFleet(id)
      expect(retry).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      expectLookedFor(id, yield* run(retry))
    }), { arbitrary: { runs: 40 } })

  it.effect("are accepted by the program, also for an id that begins with a dash", () =>
    Effect.gen(function*() {
      for (const id of ["shop-1", "-x", "--yes", "--json ", "--", "-", "-5"]) {
        const { adopt, confirm, retry, status, statusJson } = ofFleet(id)
        const [, update = ""] = adopt.split("`")
        for (const command of [status, statusJson, retry, confirm(3), update.replace("REFERENCE", "env:KEY")]) expectLookedFor(id,
            yield* run(command), command)
      }
    }))
})
