/**
 * The delivery rules under random faults: the client's results agree with the state of the sandbox. `PLAZA_MODEL_RUNS` sets the
 * number of programs and `PLAZA_MODEL_SEED` the seed. A failure prints the seed and the smallest program that fails.
 */
import { describe, expect, it } from "@effect/vitest"
import { Sandbox } from "@plaza-legacy/sandbox"
import { Config, Effect, FastCheck as fc, Runtime, TestContext } from "effect"
import { allowance, type Program, program } from "./support/ModelProgram.ts"
import * as ModelRules from "./support/ModelRules.ts"
import * as ModelRun from "./support/ModelRun.ts"
import * as Virtual from "./support/Virtual.ts"

const world = Sandbox.layerHttpClient({ assumptions: { requestsPerWindow: allowance } })

const told = Config.all({
  numRuns: Config.withDefault(Config.integer("PLAZA_MODEL_RUNS"), 500),
  seed: Config.withDefault(Config.integer("PLAZA_MODEL_SEED"), 20_261_001)
})

/** The parts of an outcome that are equal in every run of a program, without causes and objects of the client. */
const outline = ({ after, calls, requests }: ModelRun.Observation) => ({
  calls: calls.map((call) => [ModelRules.nameOf(call), call.sent]),
  requests: requests.map(({ at, deliveredStatus, path, status }) => [at.epochMillis, path, status, deliveredStatus]),
  posts: after.posts.map(({ createdAt, id, text }) => [createdAt.epochMillis, id, text]),
  orders: after.orders,
  products: after.products
})

/** Removes the order of events at one instant, which no clock determines. */
const timed = (random: Program): Program => ({
  ...random,
  latitude: { ...random.latitude, lateCommitMillis: 0 },
  retries: "once, at once",
  steps: random.steps.flatMap((step) =>
    step.calls.map((call) => ({
      ...step,
      others: [],
      calls: [{ ...call, leavesAfter: call.leavesAfter === 0 ? null : call.leavesAfter }]
    }))
  )
})

it.effect("simulated time gives the same results as the test clock, to the millisecond", () =>
  Effect.gen(function*() {
    for (const random of fc.sample(program, { numRuns: 12, seed: 7 }).map(timed)) {
      const simulated = yield* ModelRun.run(random)
      const tested = yield* Virtual.run(ModelRun.runAsIs(random), "1 hour").pipe(Effect.provide(TestContext.TestContext))
      expect(outline(simulated)).toEqual(outline(tested))
    }
  }).pipe(Effect.provide(world)))

describe("under every sequence of faults", () => {
  it.live("the outcomes of the client match the state of the service", () =>
    Effect.gen(function*() {
      const options = yield* told
      const runPromise = Runtime.runPromise(yield* Effect.runtime<Effect.Effect.Context<ReturnType<typeof ModelRun.run>>>())
      const endings = new Map<string, number>()
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(program, async (random) => {
            const observation = await runPromise(ModelRun.run(random))
            for (const call of observation.calls) {
              endings.set(ModelRules.nameOf(call), (endings.get(ModelRules.nameOf(call)) ?? 0) + 1)
            }
            const violations = ModelRules.violations(observation)
            if (violations.length > 0) {
              throw new Error(violations.join("\n"))
            }
          }),
          options
        )
      )
      // Not vacuous: the programs met every kind of ending.
      for (
        const ending of options.numRuns < 300
          ? []
          : ["Success", "Interrupted", "OutcomeUnknown", "UnreadableSuccess", "RateLimitWaitExceeded", "Conflict"]
      ) {
        expect([ending, (endings.get(ending) ?? 0) > 0]).toEqual([ending, true])
      }
    }).pipe(Effect.provide(world)), 3_600_000)
})
