/** The client in a page: its bundle, without Node. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { builtinModules } from "node:module"
import { fileURLToPath } from "node:url"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { rolldown } from "rolldown"
import * as Fake from "./support/FakeService.ts"

/** A program for browsers as one script. Every warning is an error, such as an import that doesn't resolve. */
const bundled = Effect.fnUntraced(function*(program: string) {
  const bundle = yield* Effect.promise(() =>
    rolldown({
      input: fileURLToPath(new URL(`support/${program}.ts`, import.meta.url)),
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
  )
  const { output } = yield* Effect.promise(() => bundle.generate({ format: "iife", name: "program", minify: true }))
  yield* Effect.promise(() => bundle.close())
  return output
})

const gzipped = (code: string): number => gzipSync(code, { level: 9 }).length

// The globals of a page and a worker beside those of the language.
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
    const output = yield* bundled("BrowserProgram")
    expect(output).toHaveLength(1)
    const [{ code, dynamicImports, imports, moduleIds }] = output
    expect([...imports, ...dynamicImports]).toEqual([])
    expect(builtinModules.filter((name) => code.includes(`"node:${name}"`) || code.includes(`require("${name}")`))).toEqual([])
    expect(moduleIds.filter((id) => /client\/src\/(Chat|Media|Posts|Profiles|Stories)\.ts/.test(id))).toEqual([])
    expect(moduleIds.filter((id) => /\/(HttpApi|HttpRouter|HttpServer|Multipart\.js|OpenApi)/.test(id))).toEqual([])
    expect(moduleIds.filter((id) => /\/(Config|ConfigProvider)\.js/.test(id))).toEqual([])
    expect(gzipped(code)).toBeLessThan(75_000)
    const [platform] = yield* bundled("BrowserPlatform")
    expect(gzipped(code) - gzipped(platform.code)).toBeLessThan(31_000)

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
