/**
 * Benchmark `sandbox`: requests per second and CPU per request of the sandbox with growing data, of Prism with the same OpenAPI file (as a
 * command and as a library), and of a minimal Node server. Each server and the load generator is a process of its own. CPU per request
 * compares servers; the rate also depends on the load generator, which shares the machine.
 */
import { Effect, Schema, type Scope } from "effect"
import { fileURLToPath } from "node:url"
import { interleave, median, type Report, round } from "./Harness.js"
import { usageOf } from "./ProcessUsage.js"
import { bundle, type Program, type ProgramFailed, start } from "./Programs.js"

const file = fileURLToPath(new URL("../../packages/domain/openapi.json", import.meta.url))

const concurrency = 64
const seconds = 2

const Server = Schema.Struct({ address: Schema.String, key: Schema.String, pid: Schema.Int })
const Sample = Schema.Struct({
  perSecond: Schema.Number,
  /** Milliseconds. */
  p99: Schema.Number,
  answered: Schema.Number,
  others: Schema.Number
})

const json = { "content-type": "application/json" }
const calls = {
  "GET /me": { method: "GET", path: "/me", headers: {}, body: undefined },
  "POST /posts": { method: "POST", path: "/posts", headers: json, body: JSON.stringify({ text: "hello" }) },
  "GET /me/posts?limit=100": { method: "GET", path: "/me/posts?limit=100", headers: {}, body: undefined },
  // Autocannon replaces the placeholder by a new text each time, so that no cached response fits.
  "the same, new query each time": { method: "GET", path: "/me/posts?limit=100&new=[<id>]", headers: {}, body: undefined },
  "PATCH stock": { method: "PATCH", path: "/store/products/0042/stock", headers: json, body: JSON.stringify({ stock: 3 }) }
}
type Call = (typeof calls)[keyof typeof calls]

const command = "Prism, command"
const library = "Prism, library"
const bare = "bare node:http"
const sizes = [0, 1_000, 10_000, 100_000]
const nameOf = (rows: number) => rows === 0 ? "sandbox, seeded data" : `sandbox, ${rows.toLocaleString("en")} more posts and products`

/** Sends one kind of request for some seconds. The benchmark fails if a response is not a success. */
const measure = (load: Program, server: Program, { body, headers, method, path }: Call) =>
  Effect.gen(function*() {
    const { address, key, pid } = yield* server.ask("where", Server)
    const before = usageOf(pid)
    const sample = yield* load.ask({
      url: `${address}${path}`,
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body }),
      idReplacement: true,
      connections: concurrency,
      duration: seconds
    }, Sample)
    const after = usageOf(pid)
    return sample.others === 0
      ? { ...sample, cpu: 1_000_000 * (after.cpu - before.cpu) / sample.answered, memory: after.memory }
      : yield* Effect.dieMessage(`${sample.others} requests ${method} ${path} failed`)
  })

type Measured = Effect.Effect.Success<ReturnType<typeof measure>>
type Contender = readonly [name: string, server: Program]

const rowsOf = (load: Program, servers: ReadonlyArray<Contender>, rounds: number) =>
  Effect.forEach(Object.entries(calls), ([title, call]) =>
    Effect.gen(function*() {
      const all = yield* interleave(Object.fromEntries(servers.map(([name, server]) => [name, measure(load, server, call)])), rounds)
      const medianOf = (name: string, of: (sample: Measured) => number) => median((all.get(name) ?? []).map(of))
      const perSecond = (name: string) => medianOf(name, (sample) => sample.perSecond)
      const cpu = (name: string) => medianOf(name, (sample) => sample.cpu)
      return servers.map(([name]) => [
        name,
        title,
        round(perSecond(name), 0),
        `${round(perSecond(name) / perSecond(command), 1)}x`,
        `${round(perSecond(name) / perSecond(library), 1)}x`,
        round(cpu(name), 0),
        `${round(cpu(command) / cpu(name), 2)}x`,
        round(medianOf(name, ({ p99 }) => p99), 0),
        round(Math.max(...(all.get(name) ?? []).map(({ memory }) => memory)), 0)
      ])
    }))

export const report = (rounds: number): Effect.Effect<Report, ProgramFailed> =>
  Effect.gen(function*() {
    const pathOf = yield* bundle(["sandbox/PlazaSandbox", "sandbox/PrismCommand", "sandbox/PrismMock", "sandbox/BareNode", "sandbox/Load"])
    const sandbox = (rows: number): Effect.Effect<Contender, ProgramFailed, Scope.Scope> =>
      Effect.map(start(pathOf("sandbox/PlazaSandbox"), [String(rows)]), (program) => [nameOf(rows), program])
    const servers = [
      [command, yield* start(pathOf("sandbox/PrismCommand"), [file])] as const,
      [library, yield* start(pathOf("sandbox/PrismMock"), [file])] as const,
      [bare, yield* start(pathOf("sandbox/BareNode"))] as const,
      ...(yield* Effect.forEach(sizes, sandbox))
    ]
    const load = yield* start(pathOf("sandbox/Load"))
    // The first round compiles the code.
    yield* rowsOf(load, servers, 1)
    const rows = yield* rowsOf(load, servers, rounds)
    return {
      name: "sandbox",
      about:
        `requests per second on loopback, ${concurrency} at a time, median of ${rounds} interleaved rounds of ${seconds} s; memory of the server after each`,
      columns: ["server", "call", "per s", "of Prism, command", "of Prism, library", "CPU us", "less than Prism, command", "p99 ms", "MiB"],
      rows: rows.flat()
    }
  }).pipe(Effect.scoped)
