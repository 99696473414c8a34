/**
 * Benchmark `calls`: the CPU of a call by the client, by the SDK, by the platform's HTTP client, by openapi-fetch, by a bare `fetch` and by a bare
 * `undici.request`. Each caller is a process of its own, against a minimal server on loopback.
 */
import { Effect, Record, Schema } from "effect"
import { type Form, interleave, ratios, type Row, row, summary } from "./Harness.ts"
import { bundle, type ProgramFailed, service, start } from "./Programs.ts"
import type { Task } from "./programs/calls/Caller.ts"

const callers = {
  plaza: "calls/PlazaOnUndici",
  platform: "calls/PlatformClient",
  openapiFetch: "calls/OpenapiFetch",
  fetch: "calls/BareFetch",
  undici: "calls/BareUndici"
}

/** Those that load packages as a user installs them. */
const installed = { sdk: "calls/Sdk", sdkOnFetch: "calls/SdkOnFetch" }

const Sample = Schema.Struct({
  /** Microseconds of CPU of the calling process for one call, user and system. */
  cpu: Schema.Number,
  perSecond: Schema.Number
})

const sampleSeconds = 0.3

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed> =>
  Effect.gen(function*() {
    const [warmUp, rounds] = form === "full" ? [8_000, 15] : [100, 1]
    const pathOf = yield* bundle(["LocalService", ...Object.values(callers)])
    const address = yield* service(pathOf("LocalService"))
    const installedPathOf = yield* bundle(Object.values(installed), { installed: true })
    const programs = yield* Effect.all({
      ...Record.map(callers, (path) => start(pathOf(path))),
      ...Record.map(installed, (path) => start(installedPathOf(path)))
    })
    const samples = (concurrency: number) =>
      Effect.gen(function*() {
        const measures = yield* Effect.all(Record.map(programs, ({ ask }) => {
          const make = (calls: number) => ask({ address, concurrency, calls } satisfies Task, Sample)
          // The first calls connect and compile, the next ones show how many calls a sample has.
          return Effect.map(Effect.andThen(make(warmUp), make(warmUp)),
            ({ perSecond }) => Effect.map(make(form === "full" ? Math.ceil(perSecond * sampleSeconds) : warmUp), ({ cpu }) => cpu))
        }))
        return yield* interleave(measures, rounds)
      })
    const page = "docs/client.md#http-clients"
    const one = yield* samples(1)
    const many = yield* samples(64)
    const beside = (measured: typeof many) =>
      [
        summary("client", measured.plaza, "us"),
        summary("SDK", measured.sdk, "us"),
        summary("SDK on fetch", measured.sdkOnFetch, "us"),
        summary("`fetch`", measured.fetch, "us"),
        summary("`openapi-fetch`", measured.openapiFetch, "us"),
        summary("the platform's client", measured.platform, "us"),
        summary("`undici.request`", measured.undici, "us")
      ].join("; ")
    return [
      row({
        claim: "CPU of `GET /me` by the client, one call at a time, of a bare `fetch`",
        page,
        limit: { atMost: 1.2 },
        samples: ratios(one.plaza, one.fetch),
        unit: "x",
        beside: beside(one)
      }),
      row({
        claim: "the same with 64 calls at a time",
        page,
        limit: { atMost: 1.2 },
        samples: ratios(many.plaza, many.fetch),
        unit: "x",
        beside: beside(many)
      }),
      row({
        claim: "CPU of `GET /me` by `@plaza/sdk`, one call at a time, of the client",
        page: "docs/sdk.md#runtimes",
        limit: { atMost: 1.25 },
        samples: ratios(one.sdk, one.plaza),
        unit: "x",
        beside: summary("of `fetch`", ratios(one.sdk, one.fetch), "x")
      }),
      row({
        claim: "the same with 64 calls at a time",
        page: "docs/sdk.md#runtimes",
        limit: { atMost: 1.25 },
        samples: ratios(many.sdk, many.plaza),
        unit: "x",
        beside: summary("of `fetch`", ratios(many.sdk, many.fetch), "x")
      }),
      row({
        claim: "CPU of `GET /me` by the client with 64 calls at a time, of a bare `undici.request`",
        page,
        limit: { atMost: 5 },
        samples: ratios(many.plaza, many.undici),
        unit: "x",
        beside: summary("the platform's client", ratios(many.platform, many.undici), "x")
      })
    ]
  }).pipe(Effect.scoped)
