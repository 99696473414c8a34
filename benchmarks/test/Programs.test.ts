/** The generated list, and the failure of a benchmark when a child process fails. */
import { Effect, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { bundle, service, start } from "../src/Programs.ts"
import { page } from "../src/programs/ListedPosts.ts"

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

describe("a program", () => {
  it("makes calls and returns their cost, or fails with the status of a failed call", async () => {
    const program = Effect.gen(function*() {
      const pathOf = yield* bundle(["LocalService", "calls/PlazaOnUndici", "calls/BareFetch"])
      const address = yield* service(pathOf("LocalService"))
      const task = { address, calls: 3, concurrency: 2 }
      const plaza = yield* start(pathOf("calls/PlazaOnUndici"))
      const bare = yield* start(pathOf("calls/BareFetch"))
      const cost = yield* plaza.ask(task, Schema.Struct({ cpu: Schema.Finite, perSecond: Schema.Finite }))
      const failure = yield* Effect.flip(bare.ask({ ...task, address: `${address}/elsewhere` }, Schema.Unknown))
      return { cost, failure }
    })
    const { cost, failure } = await Effect.runPromise(Effect.scoped(program))
    expect(cost.cpu).toBeGreaterThan(0)
    expect(failure.message).toBe("BareFetch failed: status 404")
  })
})
