/**
 * Sets the seed of all property tests: a fixed one, or that of `PLAZA_PROPERTY_SEED` (any text, or `random`). With a fixed seed, a new
 * failure comes from a change of the code. A failing property prints a token that replays it.
 *
 * Vitest runs it before each test file.
 */
import * as Arbitrary from "effect/Arbitrary"

const seed = process.env["PLAZA_PROPERTY_SEED"] ?? "20261121"

Arbitrary.configureGlobal(seed === "random" ? {} : { check: { seed } })
