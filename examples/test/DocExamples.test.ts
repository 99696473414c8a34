/**
 * Every `@example` in the sources of the libraries compiles and runs, each in a shop of its own. A line `// => VALUE` says what the constant
 * above it is, or what its Effect, Stream or Promise results in; of an object, VALUE has some of the fields.
 */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Plaza } from "@plaza/client"
import { Sandbox } from "@plaza/sandbox"
import { type StartedSandbox, startSandbox } from "@plaza/sandbox/promise"
import { compile, type Module, withModules } from "@plaza/testing/Compiler"
import { ConfigProvider, Effect, Layer, Logger, type Scope, Stream } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const folder = join(root, "examples")

/** The examples of a source. */
const examplesIn = (source: string): ReadonlyArray<string> =>
  [...source.matchAll(/\/\*\*[^]*?\*\//g)].flatMap(([comment]) => {
    const text = comment.slice(0, -2).replace(/^[^\S\n]*\* ?/gm, "")
    return text.split(/^@example$/m).slice(1).map((rest) => rest.split(/^(?:@|Source: )/m)[0] ?? "")
  })

/** An example whose constants are exports, with what they should be under `expected`. */
const moduleOf = (code: string): string => {
  const shown = [...code.matchAll(/^(?:export )?const (\w+)(?:(?!^(?:export )?const )[^])*?^\/\/ => (.+)$/gm)]
  if (shown.length !== code.split("// =>").length - 1) throw new Error(`a value is not below a constant: ${code}`)
  return [
    code.replace(/^const (?=\w+ =)/gm, "export const "),
    "export const expected: Readonly<Record<string, unknown>> = {",
    ...shown.map(([, name = "", value = ""]) => `  ${name}: ${value},`),
    "}\n"
  ].join("\n")
}

const examplesOf = (name: string): ReadonlyArray<Module> => {
  const sources = join(root, "packages", name, "src")
  return readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts")).toSorted().flatMap((file) =>
    examplesIn(readFileSync(join(sources, file), "utf8")).map((code, index) => ({
      name: `${name}-${file.replaceAll("/", "-").slice(0, -3)}-${index}.ts`,
      code: moduleOf(code)
    }))
  )
}

const packages = ["domain", "client", "sdk", "sandbox"].map((name) => ({ name, examples: examplesOf(name) }))

type Provided = HttpClient.HttpClient | Layer.Success<typeof NodeServices.layer> | Plaza.Services | Sandbox.Sandbox | Scope.Scope

/** What an example may require: the services of a client with a sandbox in process, an HTTP client, and the variables of a sandbox on a socket. */
const servicesWith = ({ apiKey, baseUrl }: StartedSandbox): Layer.Layer<Exclude<Provided, Scope.Scope>, unknown> =>
  Layer.mergeAll(
    Layer.unwrap(Effect.map(Sandbox.Sandbox, ({ apiKey, baseUrl }) => Plaza.layer({ apiKey, baseUrl }))).pipe(
      Layer.provideMerge(Sandbox.layerHttpClient())
    ),
    ConfigProvider.layer(ConfigProvider.fromEnv({ env: { PLAZA_API_KEY: apiKey, PLAZA_BASE_URL: baseUrl } })),
    NodeServices.layer,
    Logger.layer([])
  ).pipe(Layer.merge(FetchHttpClient.layer))

/** What a constant of an example results in. */
const resultOf = async (value: unknown, services: ReturnType<typeof servicesWith>): Promise<unknown> => {
  const run = (effect: Effect.Effect<unknown, unknown, Provided>) => Effect.runPromise(Effect.scoped(Effect.provide(effect, services)))
  // The casts are true if the example requires nothing else. If it does, it fails here.
  if (Layer.isLayer(value)) return run(Layer.build(value as Layer.Layer<unknown, unknown, Provided>))
  if (Stream.isStream(value)) return run(Stream.runCollect(value as Stream.Stream<unknown, unknown, Provided>))
  if (Effect.isEffect(value)) return run(value as Effect.Effect<unknown, unknown, Provided>)
  return typeof value === "function" && value.length === 0 ? Promise.resolve((value as () => unknown)()) : value
}

/** Runs the example of a module. Returns what its constants result in, and what it shows of them. */
const runExample = async (module: Module) => {
  await using sandbox = await startSandbox({ port: 0 })
  const before = process.cwd()
  const work = mkdtempSync(join(tmpdir(), "plaza-example-"))
  try {
    process.chdir(work)
    const code = module.code.replaceAll("https://host/open/v1", sandbox.baseUrl).replaceAll("\"a key\"", JSON.stringify(sandbox.apiKey))
      .replaceAll("http://127.0.0.1:4010", new URL(sandbox.baseUrl).origin)
    return await withModules(folder, [{ ...module, code }], async (folder) => {
      // True of a module of `moduleOf`.
      const { expected, ...constants } = await import(/* @vite-ignore */ join(folder, module.name)) as
        & Readonly<Record<string, unknown>>
        & { readonly expected: Readonly<Record<string, unknown>> }
      const results: Record<string, unknown> = {}
      for (const [name, constant] of Object.entries(constants)) results[name] = await resultOf(constant, servicesWith(sandbox))
      return { results, expected }
    })
  } finally {
    process.chdir(before)
    rmSync(work, { recursive: true })
  }
}

it("every example compiles", async () => {
  expect(await compile(folder, packages.flatMap(({ examples }) => examples))).toBe("")
})

it("an example with a wrong name does not compile", async () => {
  expect(await compile(folder, [{ name: "Wrong.ts", code: moduleOf(`import { Failures } from "@plaza/client"\n`) }])).toContain("Failures")
})

describe.each(packages)("the examples of $name", ({ examples }) => {
  it.each(examples)("$name runs, and results in what it shows", async (module) => {
    const { expected, results } = await runExample(module)
    expect(results).toMatchObject(expected)
  })
})

it("what an example shows is read, and an example that fails or requires something unknown is reported", async () => {
  const effect = (code: string) => moduleOf(`import { Profiles } from "@plaza/client"\nimport { Context, Effect } from "effect"\n${code}`)
  const me = "const program = Effect.map(Effect.flatMap(Profiles, ({ me }) => me), ({ username }) => username)\n// => \"another\"\n"
  expect(await runExample({ name: "Other.ts", code: effect(me) })).toEqual({
    results: { program: "corner-shop" },
    expected: { program: "another" }
  })
  const fails = "const program = Effect.fail(new Error(\"broken\"))\n"
  await expect(runExample({ name: "Fails.ts", code: effect(fails) })).rejects.toThrow("broken")
  const own = "class Own extends Context.Service<Own, number>()(\"Own\") {}\nconst program = Effect.map(Own, String)\n"
  await expect(runExample({ name: "Own.ts", code: effect(own) })).rejects.toThrow("Own")
  expect(() => moduleOf("let text = 1\n// => 1\n")).toThrow("a value is not below a constant")
})
