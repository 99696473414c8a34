/**
 * What Vitest runs before each test file.
 *
 * It sets the seed of all property tests: a fixed one, or that of `PLAZA_PROPERTY_SEED` (a number, or `random`). With a fixed seed, a new
 * failure comes from a change of the code. A failing property prints its seed in every case.
 *
 * Files share a process, so it also resets what they would share: `it.effect`, because `layer` of `@effect/vitest` writes its methods into
 * Vitest's own `it`, and the metrics.
 */
import { it, makeMethods } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { globalMetricRegistry } from "effect/Metric"
import * as MutableHashMap from "effect/MutableHashMap"

makeMethods(it)

// The cast is true: the class of the registry has this field, which its interface does not show.
MutableHashMap.clear((globalMetricRegistry as typeof globalMetricRegistry & { map: MutableHashMap.MutableHashMap<unknown, unknown> }).map)

const seed = process.env["PLAZA_PROPERTY_SEED"] ?? "20261121"

if (seed !== "random") FastCheck.configureGlobal({ ...FastCheck.readConfigureGlobal(), seed: Number.parseInt(seed, 10) })
