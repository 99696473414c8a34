/** The parts of the benchmark `allowance`, and its budget, which does not depend on the machine because the time is virtual. */
import { Deferred, Duration, Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { fixedTimes, measure, servers } from "../src/Allowance.ts"
import { limiters } from "../src/Limiters.ts"
import { fixedWindow, slidingLog, tokenBucket } from "../src/RateServers.ts"
import * as SharedOnPostgres from "../src/SharedOnPostgres.ts"
import * as VirtualTime from "../src/VirtualTime.ts"

const times = <A>(count: number, f: () => A): ReadonlyArray<A> => Array.from({ length: count }, f)
const accepted = (waits: ReadonlyArray<number>) => waits.filter((wait) => wait === 0).length

/** Runs a program in virtual time, and returns how long it took. */
const elapsed = <A, E>(program: Effect.Effect<A, E>) =>
  Effect.runPromise(VirtualTime.run(Effect.map(Effect.timed(program), ([duration]) => Duration.toMillis(duration))))

describe("virtual time", () => {
  it("passes a year of sleep at once and wakes sleepers by time, and then in the order of their start", async () => {
    const order: Array<string> = []
    const sleeper = (name: string, millis: number) => Effect.andThen(Effect.sleep(millis), Effect.sync(() => order.push(name)))
    const sleepers = [sleeper("b", 20), sleeper("c", 20), sleeper("a", 10), sleeper("d", 31_536_000_000)]
    expect(await elapsed(Effect.all(sleepers, { concurrency: "unbounded" }))).toBe(31_536_000_000)
    expect(order).toEqual(["a", "b", "c", "d"])
  })

  it("ends with the program, and not with the sleepers that it has interrupted", async () => {
    expect(await elapsed(Effect.timeoutOption(Effect.sleep(1_000), 10))).toBe(10)
  })

  it("reports a program that waits for an event that never comes", async () => {
    const never = VirtualTime.run(Effect.flatMap(Deferred.make<void>(), Deferred.await))
    await expect(Effect.runPromise(never)).rejects.toThrow("outside of virtual time")
  })

  it("stands still while an effect is held", async () => {
    const turns = Array.from({ length: 20 }, () => Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void))))
    const held = Effect.andThen(Effect.forkChild(Effect.sleep(1_000)), VirtualTime.hold(Effect.all(turns, { discard: true })))
    expect(await elapsed(held)).toBe(0)
    expect(await elapsed(Effect.andThen(Effect.sleep(5), held))).toBe(5)
  })

  it("returns the exit of the program", async () => {
    expect(await Effect.runPromiseExit(VirtualTime.run(Effect.fail("no")))).toEqual(Exit.fail("no"))
    expect(await Effect.runPromiseExit(VirtualTime.run(VirtualTime.hold(Effect.fail("no"))))).toEqual(Exit.fail("no"))
  })
})

describe("a server with", () => {
  it("a fixed window counts from 0 in each minute of its own clock", () => {
    const server = fixedWindow(59_000)
    expect(accepted(times(130, () => server(0)))).toBe(120)
    expect(server(400)).toBe(1)
    expect(accepted(times(130, () => server(1_000)))).toBe(120)
    expect(server(1_000)).toBe(60)
  })

  it("a sliding log accepts 120 requests in any 60 seconds", () => {
    const server = slidingLog()
    expect(accepted(times(60, () => server(0)))).toBe(60)
    expect(accepted(times(70, () => server(30_000)))).toBe(60)
    expect(server(30_000)).toBe(30)
    expect(accepted(times(70, () => server(60_000)))).toBe(60)
  })

  it("a bucket gets two tokens a second and holds at most 120", () => {
    const server = tokenBucket()
    expect(accepted(times(130, () => server(0)))).toBe(120)
    expect(server(0)).toBe(1)
    expect(accepted(times(5, () => server(1_000)))).toBe(2)
    expect(accepted(times(130, () => server(1_000_000)))).toBe(120)
  })
})

const limiterNames = Object.keys(limiters) as Array<keyof typeof limiters> // The keys of a constant record are its names.

describe("the client's limiter", () => {
  it.each(Object.keys(servers))("uses at least 99 percent of the allowance with a backlog and sees no 429, with a %s", async (name) => {
    const serverAt = servers[name] ?? slidingLog
    for (const seed of [11, 12]) {
      const outcome = await Effect.runPromise(measure(limiters["Plaza RateLimit"], serverAt, 1_000, seed))
      expect(outcome).toMatchObject({ refused: 0, busiest: 120 })
      expect(outcome.used).toBeGreaterThan(0.99)
      expect(outcome.used).toBeLessThanOrEqual(1)
    }
  })
})

describe("four processes that share an allowance on Postgres", () => {
  it.for(Object.keys(servers))("use at least 98 percent of it and see no 429, with a %s", (name, { skip }) => {
    const serverAt = servers[name] ?? slidingLog
    const measured = Effect.gen(function*() {
      const database = yield* SharedOnPostgres.database
      for (const seed of [11, 12]) {
        const outcome = yield* SharedOnPostgres.measure(database, serverAt, { processes: 4, calls: 480, seed })
        expect(outcome).toMatchObject({ refused: 0, busiest: 120 })
        expect(outcome.used).toBeGreaterThan(0.98)
        expect(outcome.used).toBeLessThanOrEqual(1)
      }
    })
    const orSkipped = Effect.catchTag(Effect.scoped(measured), "NoPostgres", ({ message }) => Effect.sync(() => skip(message)))
    return Effect.runPromise(orSkipped)
  })
})

describe("the measure of the allowance", () => {
  it("compares the CPU with calls that need no limiter to cause no 429", async () => {
    expect(await Effect.runPromise(measure(fixedTimes, slidingLog, 600, 1))).toMatchObject({ refused: 0, busiest: 120 })
  })

  it.each(limiterNames)("waits until every call of %s is accepted, and counts no refused call as accepted", async (name) => {
    const accepted: Array<number> = []
    const recording = () => {
      const server = slidingLog()
      return (at: number) => {
        const wait = server(at)
        if (wait === 0) accepted.push(at)
        return wait
      }
    }
    const outcome = await Effect.runPromise(measure(limiters[name], recording, 300, 1))
    expect(accepted).toHaveLength(300)
    expect(outcome.used).toBeLessThanOrEqual(1)
  })

  it("is the same for the same seed and different for another seed", async () => {
    const first = (seed: number) => Effect.runPromise(measure(limiters["Plaza RateLimit"], slidingLog, 250, seed))
    expect(await first(1)).toEqual(await first(1))
    expect(await first(1)).not.toEqual(await first(2))
  })

  it("counts the 429s of a sender without a limiter, which does not get more requests accepted", async () => {
    const outcome = await Effect.runPromise(measure({ make: Effect.succeed((call) => call) }, slidingLog, 240, 1))
    expect(outcome.refused).toBeGreaterThan(0)
    expect(outcome.busiest).toBeGreaterThan(120)
    expect(outcome.used).toBeLessThanOrEqual(1)
  })
})
