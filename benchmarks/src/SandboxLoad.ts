/**
 * Benchmark `sandbox`: requests per second of the sandbox, of Prism's command with the same OpenAPI file, and for `POST /posts` of a server
 * that is nothing but the platform. Each server and the load generator is a process of its own.
 */
import { Effect, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { type Form, interleave, ratios, type Row, row, summary } from "./Harness.ts"
import { usageOf } from "./ProcessUsage.ts"
import { bundle, type Program, ProgramFailed, start } from "./Programs.ts"

const file = fileURLToPath(new URL("../../packages/domain/openapi.json", import.meta.url))

const concurrency = 64

const Server = Schema.Struct({ address: Schema.String, key: Schema.String, pid: Schema.Int })
const Sample = Schema.Struct({ perSecond: Schema.Number, succeeded: Schema.Number, others: Schema.Number })

const json = { "content-type": "application/json" }
const calls = [
  { method: "GET", path: "/me", headers: {}, body: undefined, atLeast: 5 },
  { method: "POST", path: "/posts", headers: json, body: JSON.stringify({ text: "hello" }), atLeast: 3.5 },
  { method: "PATCH", path: "/store/products/P1/stock", headers: json, body: JSON.stringify({ stock: 3 }), atLeast: 3.5 }
] as const

/** Seconds of load, or a number of requests. */
type Length = { readonly duration: number } | { readonly amount: number }

/** Sends one kind of request. Fails if a response is not a success. */
const measure = (load: Program, server: Program, { body, headers, method, path }: (typeof calls)[number], length: Length) =>
  Effect.gen(function*() {
    const { address, key, pid } = yield* server.ask("where", Server)
    const before = usageOf(pid)
    const { others, perSecond, succeeded } = yield* load.ask({
      url: `${address}${path}`,
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body }),
      connections: concurrency,
      ...length
    }, Sample)
    const cpu = 1e6 * (usageOf(pid).cpu - before.cpu) / succeeded
    return others === 0
      ? { perSecond, cpu }
      : yield* new ProgramFailed({ program: address, cause: `${others} requests ${method} ${path} failed` })
  })

export const report = (form: Form): Effect.Effect<ReadonlyArray<Row>, ProgramFailed> =>
  Effect.gen(function*() {
    const [length, rounds]: readonly [Length, number] = form === "full" ? [{ duration: 3 }, 7] : [{ amount: 256 }, 1]
    const pathOf = yield* bundle(["sandbox/PlazaSandbox", "sandbox/PrismCommand", "sandbox/PlatformServer", "sandbox/Load"])
    const sandbox = yield* start(pathOf("sandbox/PlazaSandbox"), ["10"])
    const prism = yield* start(pathOf("sandbox/PrismCommand"), [file])
    const platform = yield* start(pathOf("sandbox/PlatformServer"))
    const load = yield* start(pathOf("sandbox/Load"))
    return yield* Effect.forEach(calls, (call) =>
      Effect.gen(function*() {
        const measures = {
          sandbox: measure(load, sandbox, call, length),
          prism: measure(load, prism, call, length),
          ...(call.path === "/posts" ? { platform: measure(load, platform, call, length) } : {})
        }
        // The first round compiles the code.
        if (form === "full") yield* interleave(measures, 1)
        const samples = yield* interleave(measures, rounds)
        const perSecond = (of: typeof samples.prism) => of.map(({ perSecond }) => perSecond)
        const cpu = (of: typeof samples.prism) => of.map(({ cpu }) => cpu)
        return row({
          claim: `requests \`${call.method} ${call.path}\` per second of the sandbox, ${concurrency} at a time, of Prism`,
          page: "docs/sandbox.md#on-a-socket",
          limit: { atLeast: call.atLeast },
          samples: ratios(perSecond(samples.sandbox), perSecond(samples.prism)),
          unit: "x",
          beside: [
            summary("sandbox", perSecond(samples.sandbox), "/s"),
            summary("Prism", perSecond(samples.prism), "/s"),
            ...(samples.platform === undefined
              ? []
              : [
                `the platform alone ${summary("", ratios(perSecond(samples.platform), perSecond(samples.prism)), "x").trim()} of Prism`
              ]),
            `${summary("CPU", cpu(samples.sandbox), "us")} and ${summary("", cpu(samples.prism), "us").trim()} a request`
          ].join("; ")
        })
      }))
  }).pipe(Effect.scoped)
