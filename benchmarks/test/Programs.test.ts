/**
 * The generated list, the shares of a CPU profile, and the failure of a benchmark when a child process fails.
 */
import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { bundle, service, start } from "../src/Programs.js"
import { attribute, partOf } from "../src/programs/calls/ProfileShares.js"
import { page } from "../src/programs/ListedPosts.js"

interface Page {
  readonly data: ReadonlyArray<{ readonly id: string; readonly createdAt: string }>
  readonly next_cursor: string | null
}

const readAll = (total: number, limit: number): ReadonlyArray<Page> => {
  const pages: Array<Page> = []
  let cursor: string | null = null
  do {
    const next = JSON.parse(page(total, limit, cursor)) as Page // True: `page` generates this form.
    pages.push(next)
    cursor = next.next_cursor
  } while (cursor !== null)
  return pages
}

describe("the generated list", () => {
  it.each([[250, 100, [100, 100, 50]], [200, 100, [100, 100]], [1, 100, [1]], [0, 100, [0]]])(
    "of %i posts, %i per page, contains each post once",
    (total, limit, sizes) => {
      const pages = readAll(total, limit)
      expect(pages.map(({ data }) => data.length)).toEqual(sizes)
      expect(new Set(pages.flatMap(({ data }) => data.map(({ id }) => id))).size).toBe(total)
    }
  )

  it("begins with the newest post", () => {
    const dates = readAll(250, 100).flatMap(({ data }) => data.map(({ createdAt }) => createdAt))
    expect(dates).toEqual(dates.toSorted().toReversed())
  })
})

const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 9 })
const library = (path: string) => `file:///repo/node_modules/.pnpm/x@1/node_modules/${path}`

describe("a profile", () => {
  it.each([
    ["node itself", frame("f", "node:net")],
    ["garbage collector", frame("(garbage collector)", "")],
    ["system and natives", frame("writev", "")],
    ["@effect/platform", frame("f", library("@effect/platform/dist/esm/HttpClient.js"))],
    ["undici", frame("f", library("undici/lib/core/util.js"))],
    ["effect, schemas", frame("f", library("effect/dist/esm/ParseResult.js"))],
    ["effect, fibers and the rest", frame("f", library("effect/dist/esm/internal/fiberRuntime.js"))],
    ["plaza", frame("f", "file:///repo/benchmarks/.programs/PlazaOnUndici.mjs")]
  ])("counts the code of %s", (part, callFrame) => {
    expect(partOf(callFrame)).toBe(part)
  })

  it("gives each part its share of the time in which code ran", () => {
    const nodes = [
      { id: 1, callFrame: frame("(idle)", "") },
      { id: 2, callFrame: frame("run", library("effect/dist/esm/internal/fiberRuntime.js")) },
      { id: 3, callFrame: frame("", "file:///repo/benchmarks/.programs/PlazaOnUndici.mjs") }
    ]
    expect(attribute({ nodes, samples: [1, 2, 3, 2, 1], timeDeltas: [500, 20, 25, 55, 500] })).toEqual({
      parts: [["effect, fibers and the rest", 0.75], ["plaza", 0.25]],
      functions: [["run fiberRuntime.js:10", 0.75], ["(anonymous) PlazaOnUndici.mjs:10", 0.25]]
    })
  })
})

describe("a program", () => {
  it("makes calls and returns their cost, or fails with the status of a failed call", async () => {
    const program = Effect.gen(function*() {
      const pathOf = yield* bundle(["LocalService", "calls/PlazaOnUndici", "calls/BareFetch"])
      const address = yield* service(pathOf("LocalService"))
      const task = { kind: "cost", address, call: "setStock", calls: 3, concurrency: 2 }
      const plaza = yield* start(pathOf("calls/PlazaOnUndici"))
      const bare = yield* start(pathOf("calls/BareFetch"))
      const cost = yield* plaza.ask(task, Schema.Struct({ cpu: Schema.Positive, perSecond: Schema.Positive }))
      const failure = yield* Effect.flip(bare.ask({ ...task, address: `${address}/elsewhere` }, Schema.Unknown))
      return { cost, failure }
    })
    const { cost, failure } = await Effect.runPromise(Effect.scoped(program))
    expect(cost.cpu).toBeGreaterThan(0)
    expect(failure.message).toBe("BareFetch failed: status 404")
  })
})
