/**
 * Three runners of the built program that are killed, suspended, restarted and cut off from their database, while sources change and the
 * service fails. `PLAZA_FLEET_ACCOUNTS` (default: 20), `PLAZA_FLEET_CHANGES` (200), `PLAZA_FLEET_FAULTS` (a list of `kill`, `freeze`,
 * `restartAll`, `cutDatabase`, `forgetConnections`, `stopWithoutDatabase`, `slowStart` and `killWithoutDatabase`, or how many are chosen by
 * the seed; default: `kill`, and the first six with `PLAZA_NIGHTLY`),
 * `PLAZA_FLEET_OUTAGE` in seconds (8), `PLAZA_FLEET_SEED` (1) and `PLAZA_FLEET_SEEDS`, the number of runs (1).
 * `PLAZA_FLEET_LOGS` is a folder for the logs of the runners.
 */
import { NodeContext } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Random } from "effect"
import { env, stdout } from "node:process"
import * as Failover from "../support/failover/Failover.ts"

const accounts = Number(env["PLAZA_FLEET_ACCOUNTS"] ?? 20)
const changes = Number(env["PLAZA_FLEET_CHANGES"] ?? 200)
const planned = env["PLAZA_FLEET_FAULTS"] ??
  (env["PLAZA_NIGHTLY"] === undefined ? "kill" : "kill freeze restartAll cutDatabase forgetConnections stopWithoutDatabase")
const outage = Duration.seconds(Number(env["PLAZA_FLEET_OUTAGE"] ?? 8))
const first = Number(env["PLAZA_FLEET_SEED"] ?? 1)
const seeds = Array.from({ length: Number(env["PLAZA_FLEET_SEEDS"] ?? 1) }, (_, index) => first + index)

const faultsOf = (seed: number): ReadonlyArray<Failover.Fault> => {
  if (!/^\d+$/.test(planned)) return planned.split(" ").filter(Failover.isFault)
  const random = Random.make(["faults", seed])
  const shuffled = Effect.runSync(random.shuffle(Failover.everyFault))
  return Array.from({ length: Number(planned) }, (_, index) => [...shuffled][index % Failover.everyFault.length] ?? "kill")
}

describe("the checks of a fleet's requests", () => {
  it("count the requests in the fullest window", () => {
    expect(Failover.mostWithin(Duration.millis(10), [0, 1, 9, 10, 11, 30])).toBe(3)
    expect(Failover.mostWithin(Duration.millis(10), [0, 10, 20])).toBe(1)
  })

  it("recognise a request of a runner whose account another runner has taken over", () => {
    const sent = (runner: string, at: number) => ({ account: "a", runner, at, set: undefined, counted: true, exceeded: false })
    const taken = (pid: number, at: number) => ({ account: "a", pid, at })
    const pids = new Map([["one", 1], ["two", 2]])
    const stale = (...arrivals: ReadonlyArray<ReturnType<typeof sent>>) =>
      Failover.staleOf(arrivals, [taken(1, 0), taken(2, 10_000), taken(1, 30_000)], pids).map(({ at }) => at)
    expect(stale(sent("one", 1), sent("one", 10_005), sent("two", 10_010), sent("one", 30_010))).toEqual([])
    expect(stale(sent("two", 10_010), sent("one", 10_020), sent("one", 29_000))).toEqual([10_020, 29_000])
    expect(stale(sent("two", 1), sent("one", 12_000), sent("two", 32_000))).toEqual([1, 12_000, 32_000])
  })
})

describe("a fleet of three runners that are killed, suspended, restarted and cut off from the database", () => {
  it.live.each(seeds)("sends no older value after a newer one, exceeds no allowance and ends equal to the sources (seed %i)",
    (seed) =>
      Effect.gen(function*() {
        const { figures, ...found } = yield* Failover.run({
          accounts,
          changes,
          faults: faultsOf(seed),
          seed,
          outage,
          logs: env["PLAZA_FLEET_LOGS"]
        })
        stdout.write(`fleet with seed ${seed}: ${JSON.stringify(figures)}\n`)
        expect(found).toEqual({
          different: [],
          left: [],
          failing: [],
          unrecorded: [],
          outOfOrder: [],
          overAllowance: [],
          stale: [],
          exits: [],
          unserved: [],
          leaks: []
        })
        // Otherwise nothing of the above means anything.
        expect(figures.takeovers).toBeGreaterThan(accounts)
        // Changes of a product that come faster than its requests are one request.
        expect(figures.requests).toBeGreaterThan(Math.min(changes, accounts * Failover.products.length))
        expect(figures.failedRequests).toBeGreaterThan(0)
      }).pipe(Effect.provide(NodeContext.layer)), 600_000 + changes * 100)
})
