import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import * as Fake from "./support/FakeService.ts"

const program = fileURLToPath(new URL("support/BrowserProgram.ts", import.meta.url))

/** The program for browsers as one script. An import that doesn't resolve is an error. */
const bundled = Effect.promise(async () => {
  const bundle = await rolldown({
    input: program,
    platform: "browser",
    resolve: {
      conditionNames: ["@plaza/source", "browser", "import", "default"],
      extensionAlias: { ".js": [".ts", ".js"] }
    },
    transform: { target: "es2022" },
    onLog: (_, log) => {
      throw new Error(log.message)
    }
  })
  const { output } = await bundle.generate({ format: "iife", name: "program", minify: true })
  await bundle.close()
  return output
})

// What a page and a worker have beside the language itself.
const web = {
  AbortController,
  Headers,
  Response,
  TextDecoder,
  TextEncoder,
  URL,
  URLSearchParams,
  clearTimeout,
  console,
  crypto,
  performance,
  queueMicrotask,
  setTimeout
}

it.live("a bundle for browsers has nothing of Node and of the platform's server, stays small, and calls the service with web APIs", () =>
  Effect.gen(function*() {
    const output = yield* bundled
    expect(output).toHaveLength(1)
    const [{ code, dynamicImports, imports, moduleIds }] = output
    expect([...imports, ...dynamicImports]).toEqual([])
    expect(builtinModules.filter((name) => code.includes(`"node:${name}"`) || code.includes(`require("${name}")`))).toEqual([])
    expect(moduleIds.filter((id) => /client\/src\/(Chat|Media|Posts|Profiles|Stories)\.ts/.test(id))).toEqual([])
    expect(moduleIds.filter((id) => /\/(HttpApi|HttpRouter|HttpServer|Multipart\.js|OpenApi)/.test(id))).toEqual([])
    expect(gzipSync(code, { level: 9 }).length).toBeLessThan(100_000)

    const asked: Array<unknown> = []
    const fetch = (url: URL, init: RequestInit) => {
      asked.push([init.method, String(url), new Headers(init.headers).get("authorization"), init.redirect])
      return Promise.resolve(Response.json({ id: "p", stock: 7 }))
    }
    const page = createContext({ ...web, fetch, key: Fake.key, baseUrl: Fake.baseUrl })
    const answer: unknown = runInContext(`${code}; program.setStock(baseUrl, key, "p", 7)`, page)
    expect(yield* Effect.promise(() => Promise.resolve(answer))).toBe(7)
    expect(asked).toEqual([["PATCH", `${Fake.baseUrl}/store/products/p/stock`, `Bearer ${Fake.key}`, "manual"]])
    expect(runInContext("typeof process + typeof require + typeof Buffer", page)).toBe("undefinedundefinedundefined")
  }))
