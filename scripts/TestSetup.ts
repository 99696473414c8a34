/**
 * What Vitest runs before each test file.
 *
 * It sets the seed of all property tests: a fixed one, or that of `PLAZA_PROPERTY_SEED` (a number, or `random`). With a fixed seed, a new
 * failure comes from a change of the code. A failing property prints its seed in every case.
 *
 * It restores `it.effect`: `layer` of `@effect/vitest` writes its methods into Vitest's own `it`, and files share a process.
 */
import { it, makeMethods } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"

makeMethods(it)

const seed = process.env["PLAZA_PROPERTY_SEED"] ?? "20261121"

if (seed !== "random") FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed: Number.parseInt(seed, 10) })
