/** The built program hands the commands of a fleet over to their own program: in the same process, with the same words, signals and exit code. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Postgres from "@plaza/testing/Postgres"
import { Effect, FileSystem } from "effect"
import { cpSync } from "node:fs"
import { wordsFor } from "../src/commands/fleet/Program.ts"
import { eventually } from "./support/eventually.ts"
import { dist, parsed, run, start } from "./support/program.ts"
import { containing } from "./support/reading.ts"

const inFolder = <A, E, R>(test: (cwd: string) => Effect.Effect<A, E, R>) =>
  Effect.provide(
    Effect.flatMap(Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped()), test),
    NodeServices.layer
  )

describe("the commands of a fleet", () => {
  it.live("migrate, list and run accounts, and a runner ends with 0 at a signal", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const { url } = yield* Postgres.scoped
        const env = { STOCK_SYNC_FLEET_DATABASE: url, STOCK_SYNC_FLEET_SECRET: "k4bq0XvJ7mS2tQ9wZ1rLp8" }
        expect(yield* run(["--json", "fleet", "migrate"], { cwd, env })).toMatchObject({ status: 0, stderr: "" })
        const list = yield* run(["fleet", "accounts", "list", "--prefix", "shop"], { cwd, env })
        expect(list).toEqual({ status: 0, stdout: "", stderr: "There are no accounts whose id begins with shop.\n" })
        for (const signal of ["SIGTERM", "SIGINT"] as const) {
          const runner = yield* start(["fleet", "run", "--log-format=json"], { cwd, env })
          yield* eventually(Effect.sync(() => runner.stderr()), (log) => log.includes("fleet.started"))
          yield* runner.kill(signal)
          expect((yield* runner.ended).status).toBe(0)
        }
      })
    ), 60_000)

  it.live("fail as the fleet's program does", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const without = yield* run(["-j", "fleet", "status", "-q"], { cwd })
        expect(without).toMatchObject({ status: 2, stdout: "" })
        expect(parsed(without.stderr)).toMatchObject({ error: { tag: "UsageError", message: containing("STOCK_SYNC_FLEET_DATABASE") } })
        const port = yield* run(["fleet", "run", "--port", "many"], { cwd })
        expect(port).toMatchObject({ status: 2 })
        expect(port.stderr).toContain("--port or STOCK_SYNC_PORT")
      })
    ))

  it.live("are described and checked without it", () =>
    inFolder((cwd) =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        cpSync(dist, `${cwd}/moved`, { recursive: true })
        yield* files.remove(`${cwd}/moved/fleet.cjs`)
        const program = `${cwd}/moved/plaza-stock-sync.cjs`
        const help = yield* run(["fleet", "accounts", "add", "--help"], { cwd, program })
        expect(help).toMatchObject({ status: 0, stderr: "" })
        expect(help.stdout).toContain("--stock-column COLUMN")
        expect(yield* run(["fleet", "accounts", "add"], { cwd, program })).toMatchObject({
          status: 2,
          stderr:
            "plaza-stock-sync: plaza-stock-sync fleet accounts add requires the argument ID: see plaza-stock-sync fleet accounts add --help\n"
        })
      })
    ))
})

describe("the words for the fleet's program", () => {
  it.each([
    [["fleet", "status", "shop-1"], { json: false, quiet: false }, ["fleet", "status", "shop-1"]],
    [["-jq", "fleet", "status", "--", "-j"], { json: true, quiet: true }, ["fleet", "status", "--json", "--quiet", "--", "-j"]],
    [["fleet", "--json=false", "run", "-q", "--port=0"], { json: false, quiet: true }, ["fleet", "run", "--port=0"]]
  ])("of %j", (words, options, expected) => {
    expect(wordsFor(words, options)).toEqual(expected)
  })
})
