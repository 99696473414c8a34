/** What a fleet tells a person: which accounts, from the database. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Layer, Redacted, Ref } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import * as FleetDatabase from "../../src/fleet/FleetDatabase.ts"
import { FleetDatabaseError } from "../../src/fleet/FleetError.ts"
import type { RunnerState } from "../../src/fleet/FleetRunner.ts"
import * as FleetNotify from "../../src/fleet/operations/FleetNotify.ts"
import * as FleetStatus from "../../src/fleet/operations/FleetStatus.ts"
import * as MonotonicClock from "../../src/sync/MonotonicClock.ts"
import * as Support from "../support/fleetStatus.ts"

const { accounts, heldSnapshot, products, rowIssue, runnerRow } = Support

const inFleet = Support.fleets()

describe("the accounts of a fleet that need a person", () => {
  it.effect("have a problem, a held snapshot or refused products, and are not paused", () =>
    inFleet(Effect.gen(function*() {
      yield* runnerRow("one")
      yield* runnerRow("two", 60_000)
      yield* accounts({
        alpha: { runner: "one" },
        beta: { runner: "one", problem: "STORE_BLOCKED: the store is blocked" },
        gamma: { paused: true, problem: "the variable KEY is not set" },
        delta: { runner: "one" },
        epsilon: { runner: "one" },
        zeta: { paused: true }
      })
      yield* products("alpha", [{ as: "settled", count: 3 }])
      yield* products("delta", [{ as: "quarantined", count: 2 }])
      yield* heldSnapshot("delta", 5_000)
      yield* rowIssue(["epsilon", "zeta"], "rejected")
      yield* rowIssue(["alpha", "epsilon"], "negative")
      const { sql } = yield* FleetDatabase.FleetDatabase
      yield* sql`INSERT INTO row_issue (account, place, line, product_id, kind, reason)
        SELECT account, 10 + n, n, 'P' || n / 2, 'rejected', 'odd' FROM fleet_account, generate_series(0, 999) AS n WHERE id = 'epsilon'`
      const needy = yield* FleetStatus.needyAccounts
      expect(needy).toMatchObject([
        { id: "beta", problem: "STORE_BLOCKED: the store is blocked", held: null, products: 0 },
        { id: "delta", problem: null, products: 2, rejectedRows: 0, rejectedIds: [] },
        { id: "epsilon", problem: null, held: null, products: 0, rejectedRows: 1_001, rejectedWithoutId: 1 }
      ])
      // Two rows of each, of which the first hundred are compared.
      expect(needy[2]?.rejectedIds).toHaveLength(100)
      expect(new Set(needy[2]?.rejectedIds).size).toBe(100)
      expect(needy[1]?.held).toBeGreaterThan(0)
      expect(needy.flatMap(FleetNotify.problemsOf).map(({ kind }) => kind)).toEqual(["account", "held", "products", "rejected"])
      expect(FleetNotify.speakerOf(yield* FleetStatus.runners)).toBe("one")
    })))
})

/** The loop of the runner reaches the database as long as the test lasts. */
const reached = { lastTurnAt: 0, lastReachedAt: Duration.toMillis("1 day") }

/** A chat in memory, and a runner that writes to it until the effect ends. */
const chat = Effect.map(Ref.make<ReadonlyArray<string>>([]), (received) => {
  const client = HttpClient.make((request) =>
    Effect.as(
      Ref.update(received, (all) => [...all, request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""]),
      HttpClientResponse.fromWeb(request, new Response(null, { status: 200 }))
    )
  )
  const runner = (state: Ref.Ref<RunnerState>) =>
    FleetNotify.layer({ url: Redacted.make(new URL("https://chat.example/")) }).pipe(
      Layer.fresh,
      Layer.provide(Layer.merge(Support.layerRunner(state), Layer.succeed(HttpClient.HttpClient, client)))
    )
  const stateOf = (name: string) =>
    Effect.flatMap(Support.readyState, (state) => Ref.make<RunnerState>({ ...state, runner: name, loop: reached }))
  const speaking = <A, E, R>(name: string, use: Effect.Effect<A, E, R>) =>
    Effect.flatMap(stateOf(name), (state) => Effect.provide(use, runner(state)))
  return { received: Ref.get(received), runner, speaking, stateOf }
})

/** The database as a runner sees it that may be cut off from it. */
const cutOff = (isCutOff: Ref.Ref<boolean>) =>
  Layer.effect(FleetDatabase.FleetDatabase, Effect.gen(function*() {
    const database = yield* FleetDatabase.FleetDatabase
    const gate = (run: typeof database.run): typeof database.run => (statements) =>
      Effect.flatMap(Ref.get(isCutOff),
        (isCutOff) =>
          isCutOff ? Effect.fail(new FleetDatabaseError({ database: "fleet", message: "the database does not respond" })) : run(statements))
    return { ...database, run: gate(database.run), report: gate(database.report) }
  }))

// The runner's own statements of a turn, one after another, end before as many later ones.
const passes = (minutes: number) =>
  Effect.replicateEffect(Effect.andThen(TestClock.adjust("20 seconds"), Effect.replicateEffect(FleetStatus.runners, 10)), minutes * 3)

describe("the runner that writes for a fleet", () => {
  it.effect("goes on where the one before it has ended", () =>
    inFleet(Effect.gen(function*() {
      const { received, speaking } = yield* chat
      const { sql } = yield* FleetDatabase.FleetDatabase
      // Seen in an hour by the clock of the database, so alive until then.
      const seen = -3_600_000
      yield* runnerRow("one", seen)
      yield* accounts({ alpha: { runner: "one", problem: "STORE_BLOCKED: the store is blocked" }, beta: { runner: "one" } })
      yield* products("beta", [{ as: "quarantined", count: 2 }])
      yield* speaking("one", passes(17))
      expect(yield* received).toEqual([
        expect.stringContaining("beta: 2 products need you."),
        expect.stringContaining("alpha: STORE_BLOCKED: the store is blocked.")
      ])
      yield* sql`DELETE FROM fleet_runner`
      yield* runnerRow("two", seen)
      // What ended while nobody wrote.
      yield* sql`UPDATE fleet_account SET problem = NULL`
      yield* speaking("three", passes(3))
      expect(yield* received).toHaveLength(2)
      yield* speaking("two", passes(8))
      expect((yield* received).slice(2)).toEqual([expect.stringMatching(/alpha: Over after \d+ min[^:]*: not up to date\./)])
    })), 120_000)

  it.effect("and was cut off from the database meanwhile, goes on with what another one has announced",
    () =>
      inFleet(Effect.gen(function*() {
        const { received, runner, speaking, stateOf } = yield* chat
        const { sql } = yield* FleetDatabase.FleetDatabase
        const seen = -6 * 3_600_000
        const problem = (id: string, problem: string | null) => sql`UPDATE fleet_account SET problem = ${problem} WHERE id = ${id}`
        yield* runnerRow("one", seen)
        yield* runnerRow("two", seen)
        yield* accounts({ alpha: { runner: "one", problem: "STORE_BLOCKED: blocked" }, beta: { runner: "one" }, gamma: { runner: "one" } })
        const isCutOff = yield* Ref.make(false)
        const one = yield* stateOf("one")
        const reaches = (lastReachedAt: number) => Ref.update(one, (state) => ({ ...state, loop: { ...state.loop, lastReachedAt } }))
        const world = Effect.gen(function*() {
          yield* passes(10)
          yield* problem("gamma", "INVALID_API_KEY: expired")
          yield* passes(7)
          expect(yield* received).toEqual([expect.stringContaining("alpha: STORE_BLOCKED: blocked.")])
          // The others see a runner that is silent.
          yield* sql`UPDATE fleet_runner SET seen_at = 0 WHERE name = 'one'`
          yield* Ref.set(isCutOff, true)
          yield* reaches(yield* MonotonicClock.now)
          yield* problem("alpha", null)
          yield* problem("beta", "INVALID_API_KEY: revoked")
          yield* passes(20)
          expect((yield* received).slice(1)).toEqual([
            expect.stringContaining("The database of the fleet is unavailable"),
            expect.stringContaining("alpha: Over after"),
            // By the other one, as it sees them: the first one can't know whether they last.
            expect.stringMatching(/beta: INVALID_API_KEY: revoked\..*gamma: INVALID_API_KEY: expired\./)
          ])
          yield* sql`UPDATE fleet_runner SET seen_at = (SELECT max(seen_at) FROM fleet_runner) WHERE name = 'one'`
          yield* Ref.set(isCutOff, false)
          yield* reaches(Duration.toMillis("1 day"))
          yield* passes(20)
          expect((yield* received).slice(4)).toEqual([expect.stringMatching(/Over after \d+ min[^:]*: the ledger was unavailable\./)])
          yield* problem("beta", null)
          yield* problem("gamma", null)
          yield* passes(8)
          expect((yield* received).slice(5)).toEqual([expect.stringMatching(/beta: Over after.*gamma: Over after/)])
        })
        yield* speaking("two", Effect.provide(world, Layer.provide(runner(one), cutOff(isCutOff))))
      })), 240_000)
})
