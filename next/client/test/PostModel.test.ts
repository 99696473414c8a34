import { expect, it } from "@effect/vitest"
import { Arbitrary, Config, Effect } from "effect"
import * as PostModel from "./support/PostModel.ts"

const options = Config.all({
  runs: Config.withDefault(Config.Int("PLAZA_MODEL_RUNS"), 500),
  seed: Config.withDefault(Config.Int("PLAZA_MODEL_SEED"), 20_261_001)
})

it.live("x", () =>
  Effect.gen(function*() {
    const { runs, seed } = yield* options
    const endings = new Map<string, number>()
    const result = yield* Arbitrary.checkEffect(PostModel.program, (program) =>
      Effect.flatMap(PostModel.run(program), (observation) => {
        for (const call of observation.calls) {
          endings.set(PostModel.tagOf(call), (endings.get(PostModel.tagOf(call)) ?? 0) + 1)
        }
        const violations = PostModel.violations(observation)
        return violations.length === 0 ? Effect.succeed(true) : Effect.fail(violations)
      }), { runs, seed, size: 100, maxShrinks: 3000 })
    console.log(endings)
    expect(Arbitrary.formatCheckFailure(result)).toBe(undefined)
  }), 3_600_000)
