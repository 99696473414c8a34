/**
 * Sets the seed of all property tests: a fixed one, or that of `PLAZA_PROPERTY_SEED` (any text, or `random`). With a fixed seed, a new
 * failure comes from a change of the code. A failing property prints a token that replays it.
 *
 * Vitest runs it for each project on Effect 4. It is here because the `effect` of `scripts` is Effect 3.
 */
import * as Arbitrary from "effect/Arbitrary"

const seed = process.env["PLAZA_PROPERTY_SEED"] ?? "20261121"

Arbitrary.configureGlobal(seed === "random" ? {} : { check: { seed } })
