/**
 * Sets the seed of all property tests: a fixed one, or that of `PLAZA_PROPERTY_SEED` (a number, or `random`). Vitest loads this before
 * each test file. With a fixed seed, a new failure comes from a change of the code. A failing property prints its seed in every case.
 */
import * as FastCheck from "effect/FastCheck"

const seed = process.env["PLAZA_PROPERTY_SEED"] ?? "20261121"

if (seed !== "random") FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed: Number.parseInt(seed, 10) })
