/** Benchmarks `embedded` and `fresh`: the time until a program can use a sandbox of its own. */
import { Effect, Schema } from "effect"
import { BenchmarkFailed, type Form, interleave, type Row, row, summary } from "./Harness.ts"
import { bare, run, time } from "./Processes.ts"
import { bundle, type ProgramFailed } from "./Programs.ts"

const roundsOf = (form: Form) => form === "full" ? 21 : 1

/** Loads the built packages as they are, without bundling. */
export const embedded = (form: Form): Effect.Effect<ReadonlyArray<Row>, BenchmarkFailed | ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["sandbox/EmbeddedSandbox", "sandbox/LoadedPackages", "sandbox/PlatformPackages"], { installed: true })
    const measures = {
      bare,
      embedded: time([pathOf("sandbox/EmbeddedSandbox")]),
      loaded: time([pathOf("sandbox/LoadedPackages")]),
      platform: time([pathOf("sandbox/PlatformPackages")])
    }
    if (form === "full") yield* interleave(measures, 1)
    const samples = yield* interleave(measures, roundsOf(form))
    const beside = `${summary("the platform's modules alone", samples.platform, "ms")}; ${summary("`node -e 0`", samples.bare, "ms")}`
    return [
      row({
        claim: "a process that embeds a sandbox, makes one call and ends, with modules that are not bundled",
        page: "docs/sandbox.md#start",
        limit: { atMost: 400 },
        samples: samples.embedded,
        unit: "ms",
        beside
      }),
      row({
        claim: "a process that loads `@plaza/client`, `@plaza/sandbox` and `effect` and ends, with modules that are not bundled",
        page: "docs/sandbox.md#start",
        limit: { atMost: 400 },
        samples: samples.loaded,
        unit: "ms",
        beside
      })
    ]
  })

const Wall = Schema.Struct({ wallMillis: Schema.Number })
const Fresh = Schema.fromJsonString(Schema.Struct({ first: Wall, further: Schema.NonEmptyArray(Wall) }))

const fresh = (path: string, form: Form) =>
  Effect.flatMap(run([path, form === "full" ? "20" : "3"]), ({ output }) =>
    Effect.mapError(Schema.decodeEffect(Fresh)(output), () =>
      new BenchmarkFailed({ message: `FreshSandbox printed ${output}` })))

/** A sandbox in process, as in a test. */
export const inTests = (form: Form): Effect.Effect<ReadonlyArray<Row>, BenchmarkFailed | ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["sandbox/FreshSandbox"])
    const samples = yield* interleave({ bare, fresh: fresh(pathOf("sandbox/FreshSandbox"), form) }, roundsOf(form))
    const beside = summary("`node -e 0`", samples.bare, "ms")
    return [
      row({
        claim: "the first sandbox of a test process, from its start to its first response, with modules loaded",
        page: "docs/sandbox.md#start",
        limit: { atMost: 40 },
        samples: samples.fresh.map(({ first }) => first.wallMillis),
        unit: "ms",
        beside
      }),
      row({
        claim: "each further sandbox of the process",
        page: "docs/sandbox.md#start",
        limit: { atMost: 6 },
        samples: samples.fresh.flatMap(({ further }) => further.map(({ wallMillis }) => wallMillis)),
        unit: "ms",
        beside
      })
    ]
  })
