/**
 * The delivery rules under random faults: the client's results agree with the state of the service. `PLAZA_MODEL_RUNS` sets the number of
 * programs and `PLAZA_MODEL_SEED` the seed. A failure prints the smallest program that fails.
 */
import { describe, expect, it } from "@effect/vitest"
import { Arbitrary, Config, Effect, Option } from "effect"
import * as ModelProgram from "./support/ModelProgram.ts"
import * as ModelRules from "./support/ModelRules.ts"
import * as ModelRun from "./support/ModelRun.ts"
import * as PostModel from "./support/PostModel.ts"

const settings = Config.all({
  runs: Config.option(Config.Int("PLAZA_MODEL_RUNS")),
  seed: Config.withDefault(Config.Int("PLAZA_MODEL_SEED"), 20_261_001)
})

/** Runs random programs. Returns how often their calls had each end. Fails with the smallest program that violates a rule. */
const check = <P>(
  program: Arbitrary.Arbitrary<P>,
  usualRuns: number,
  run: (
    program: P
  ) => Effect.Effect<{ readonly ends: ReadonlyArray<string>; readonly violations: ReadonlyArray<string> }, ReadonlyArray<string>>
) =>
  Effect.gen(function*() {
    const { runs, seed } = yield* settings
    const counts = new Map<string, number>()
    const result = yield* Arbitrary.checkEffect(program, (program) =>
      Effect.flatMap(run(program), ({ ends, violations }) => {
        for (const end of ends) {
          counts.set(end, (counts.get(end) ?? 0) + 1)
        }
        return violations.length === 0 ? Effect.succeed(true) : Effect.fail(violations)
      }), { runs: Option.getOrElse(runs, () => usualRuns), seed })
    expect(Arbitrary.formatCheckFailure(result)).toBe(undefined)
    return counts
  })

/** Not vacuous: the programs met every kind of end. */
const expectEnds = (counts: ReadonlyMap<string, number>, ends: ReadonlyArray<string>) => {
  for (const end of ends) {
    expect([end, (counts.get(end) ?? 0) > 0]).toEqual([end, true])
  }
}

describe("under every sequence of faults", () => {
  it.live("the results of all writes match the state of the sandbox, in every service variant", () =>
    Effect.gen(function*() {
      const counts = yield* check(ModelProgram.program, 300, (program) =>
        Effect.map(ModelRun.run(program), (observation) => ({
          ends: observation.calls.map(ModelRules.nameOf),
          violations: ModelRules.violations(observation)
        })))
      expectEnds(counts, ["Success", "Interrupted", "OutcomeUnknown", "UnreadableSuccess", "RateLimitWaitExceeded", "Conflict"])
    }), 3_600_000)

  it.live("a new post exists once, or its outcome is unknown, with any clocks, lists and texts of the service",
    () =>
      Effect.gen(function*() {
        const counts = yield* check(PostModel.program, 2_000, (program) =>
          Effect.map(PostModel.run(program), (observation) => ({
            ends: observation.calls.map(PostModel.tagOf),
            violations: PostModel.violations(observation)
          })))
        expectEnds(counts, ["Success", "Interrupted", "OutcomeUnknown", "UnreadableSuccess", "Forbidden"])
      }), 3_600_000)
})
