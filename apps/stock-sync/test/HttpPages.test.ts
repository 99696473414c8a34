/**
 * An address whose rows come in pages.
 */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Redacted } from "effect"
import type { ServerResponse } from "node:http"
import * as Http from "../src/source/Http.ts"
import * as Pages from "../src/source/http/Pages.ts"
import { all, containing, good } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const options = { idColumn: "productId", stockColumn: "stock", poll: Duration.minutes(1), timeout: Duration.hours(1) }
const make = (source: string, more: Partial<Http.HttpOptions> = {}) => Http.makeOnNode({ ...options, source, ...more })
const read = (source: string, more: Partial<Http.HttpOptions> = {}) =>
  Effect.gen(function*() {
    const { open } = yield* make(source, more)
    return yield* all(Option.getOrThrow(yield* open(Option.none())).rows)
  })

const json = (response: ServerResponse, body: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(body))
const item = (productId: string, stock: number) => ({ productId, stock })

describe("a body with next_cursor", () => {
  const bodies: Readonly<Record<string, unknown>> = {
    "": { data: [item("A", 1), item("B", 2)], next_cursor: "b/+ 1" },
    "b/+ 1": { next_cursor: "c", data: [item("C", 3)] },
    "c": { data: [item("D", 4)], next_cursor: null }
  }

  it.effect("is followed beside the other parameters, and its items are numbered as one list", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((url, response) => json(response, bodies[url.searchParams.get("cursor") ?? ""]))
      expect(yield* read(`${origin}/stock?limit=2&sign=a%2Fb`)).toEqual([
        good(1, "A", 1),
        good(2, "B", 2),
        good(3, "C", 3),
        good(4, "D", 4)
      ])
      expect(asked).toEqual([
        "/stock?limit=2&sign=a%2Fb",
        "/stock?limit=2&sign=a%2Fb&cursor=b%2F%2B%201",
        "/stock?limit=2&sign=a%2Fb&cursor=c"
      ])
    }))

  it.effect("is refused with all pages if a number of one contradicts that of another", () =>
    Effect.gen(function*() {
      const { origin } = yield* serving((url, response) =>
        json(response, url.searchParams.has("cursor")
          ? { data: [{ productId: "B", stock: "2.5" }] }
          : { data: [{ productId: "A", stock: "5.500" }], next_cursor: "b" })
      )
      expect(yield* Effect.flip(read(`${origin}/stock`))).toMatchObject({
        _tag: "SourceError",
        message: containing("item 1: stock \"5.500\" is a whole number only if \".\" groups thousands, and item 2: stock \"2.5\"")
      })
    }))

  it.effect("may end with an empty page", () =>
    Effect.gen(function*() {
      const { origin } = yield* serving((url, response) =>
        json(response, url.searchParams.has("cursor")
          ? { result: { rows: [] }, next_cursor: null }
          : { result: { rows: [item("A", 1)] }, next_cursor: "b" })
      )
      expect(yield* read(`${origin}/stock`, { items: "result.rows" })).toEqual([good(1, "A", 1)])
    }))

  for (const rest of [[], [{ variants: [] }]]) {
    it.effect(`may end with a page ${rest.length === 0 ? "without outer items" : "whose outer items hold none"}`, () =>
      Effect.gen(function*() {
        const { origin } = yield* serving((url, response) =>
          json(response, url.searchParams.has("cursor")
            ? { products: rest, next_cursor: null }
            : { products: [{ variants: [item("A", 1)] }], next_cursor: "b" })
        )
        expect(yield* read(`${origin}/stock`, { items: "products.variants" })).toEqual([good(1, "A", 1)])
      }))
  }

  for (
    const [name, second, message] of [
      ["says next to nothing", (response) => json(response, { error: "try again" }), "one of its pages holds no array of items"],
      ["is not there", (response) => response.writeHead(404).end(), "it responded 404"],
      ["is no JSON", (response) => response.setHeader("content-type", "application/json").end("<html>"), "it is an HTML page"],
      ["is cut short", (response) => response.end(`{"data":[{"productId":"C","stock":1},`), "it is truncated"],
      ["is only a part", (response) => response.writeHead(206).end(`{"data":[]}`), "it responded 206"]
    ] satisfies ReadonlyArray<readonly [string, (response: ServerResponse) => unknown, string]>
  ) {
    it.effect(`takes nothing if the second page ${name}`, () =>
      Effect.gen(function*() {
        const { origin } = yield* serving((url, response) =>
          url.searchParams.has("cursor") ? void second(response) : json(response, { data: [item("A", 1)], next_cursor: "b" })
        )
        expect(yield* Effect.flip(read(`${origin}/stock`))).toMatchObject({ message: containing(message) })
      }))
  }

  for (
    const [name, next] of [["the same cursor again", () => "b"], [
      "the cursors of two pages in turn",
      (now: string | null) => (now === "b" ? "c" : "b")
    ]] as const
  ) {
    it.effect(`is refused if it names ${name}`, () =>
      Effect.gen(function*() {
        const { asked, origin } = yield* serving((url, response) =>
          json(response, { data: [item("A", 1)], next_cursor: next(url.searchParams.get("cursor")) })
        )
        expect(yield* Effect.flip(read(`${origin}/stock`))).toMatchObject({
          _tag: "SourceError",
          message: containing("its pages form a loop")
        })
        expect(asked.length).toBeLessThan(4)
      }))
  }

  it.effect("is read again in full each time, whatever the first page's validators say", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((url, response, request) => {
        response.setHeader("etag", "\"v1\"")
        if (request.headers["if-none-match"] === "\"v1\"") response.writeHead(304).end()
        else json(response, bodies[url.searchParams.get("cursor") ?? ""])
      })
      const { open } = yield* make(`${origin}/stock`)
      const first = Option.getOrThrow(yield* open(Option.none()))
      yield* all(first.rows)
      expect(yield* all(Option.getOrThrow(yield* open(first.version)).rows)).toHaveLength(4)
      expect(asked).toHaveLength(6)
    }))

  it.effect("is an ordinary body without one", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((_, response) => json(response, { data: [item("A", 1)], next_cursor: null }))
      expect(yield* read(`${origin}/stock`)).toEqual([good(1, "A", 1)])
      expect(asked).toHaveLength(1)
    }))
})

describe("an address that shows other pages", () => {
  type Page = { readonly body?: unknown; readonly csv?: string; readonly headers?: Readonly<Record<string, string>> }
  /** Pages by the parameter `cursor`. */
  const paged = (pages: Readonly<Record<string, Page>>) =>
    serving((url, response) => {
      const { body, csv, headers = {} } = pages[url.searchParams.get("cursor") ?? ""] ?? {}
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      if (csv === undefined) json(response, body)
      else response.setHeader("content-type", "text/csv").end(csv)
    })
  const csv = "productId,stock\nA,1\nB,2\n"
  const three = (first: object, last: object = {}): Readonly<Record<string, Page>> => ({
    "": { body: { data: [item("A", 1), item("B", 2)], next_cursor: "b", ...first } },
    "b": { body: { data: [item("C", 3)], next_cursor: null, ...last } }
  })
  const link = { link: "<?cursor=b>; rel=next" }

  const refusals: ReadonlyArray<readonly [name: string, field: string, pages: Readonly<Record<string, Page>>]> = [
    ["a cursor of another name", "continuationToken", { "": { body: { data: [item("A", 1)], continuationToken: "b" } } }],
    ["a next page that is no address", "next", { "": { body: { data: [item("A", 1)], next: "b" } } }],
    ["a total of its header", "x-total-count", { "": { csv, headers: { "x-total-count": "30" } } }],
    ["a next page in a header", "x-next-cursor", { "": { csv, headers: { "x-next-cursor": "b" } } }],
    ["a range", "content-range", { "": { csv, headers: { "content-range": "items 0-1/30" } } }],
    ["more pages in a header", "x-total-pages", { "": { body: [item("A", 1)], headers: { "x-total-pages": "3" } } }],
    ["errors", "errors", { "": { body: { data: [item("A", 1)], errors: [{ message: "timeout" }] } } }],
    ["more after its last page", "has_more", three({ has_more: true }, { has_more: true })],
    ["a cursor of another name on its last page", "cursors.next", three({}, { cursors: { next: "x" } })],
    ["errors on its first page", "errors", three({ errors: ["timeout"] })],
    ["more items than all pages have", "total", three({ total: 5 }, { total: 5 })],
    ["more items than all pages have, on the first one", "total", three({ total: 5 })],
    ["more pages than were read", "total_pages", three({ total_pages: 3 }, { total_pages: 3 })],
    ["more items than the linked pages have", "x-total-count", {
      "": { csv, headers: { ...link, "x-total-count": "5" } },
      "b": { csv: "productId,stock\nC,1\nD,2\n", headers: { "x-total-count": "5" } }
    }],
    ["more on an empty last page", "has_more", three({}, { data: [], has_more: true })],
    ["that it is a later page", "page", { "": { body: { data: [item("A", 1)], page: 2 } } }]
  ]

  for (const [name, field, pages] of refusals) {
    it.effect(`is refused with ${name}, unless ${field} is accepted`, () =>
      Effect.gen(function*() {
        const { origin } = yield* paged(pages)
        const error = yield* Effect.flip(read(`${origin}/stock`))
        expect(error).toMatchObject({ _tag: "SourceError", message: containing(field) })
        expect(error.message).toContain(`--accept-partial ${field} (STOCK_SYNC_ACCEPT_PARTIAL); no row of it was used`)
        expect((yield* read(`${origin}/stock`, { acceptPartial: [field] })).length).toBeGreaterThan(0)
      }))
  }

  const wholes: ReadonlyArray<readonly [name: string, rows: number, pages: Readonly<Record<string, Page>>]> = [
    [
      "a total of all pages",
      3,
      three({ total: 3, has_more: true, page: 1, total_pages: 2 }, { total: 3, has_more: false, page: 2, total_pages: 2 })
    ],
    [
      "a cursor of another name beside the one that is followed",
      3,
      three({ nextCursor: "b", next: "/x" }, { nextCursor: null, next: null })
    ],
    ["an offset on later pages", 3, three({ offset: 0, limit: 2 }, { offset: 2, limit: 2 })],
    ["full pages", 4, three({ limit: 2 }, { limit: 2, data: [item("C", 3), item("D", 4)] })],
    ["an empty last page", 2, three({ total: 2 }, { data: [], total: 2 })],
    ["headers that count all linked pages", 4, {
      "": { csv, headers: { ...link, "x-total-count": "4", "x-total-pages": "2", "x-next-page": "2" } },
      "b": { csv: "productId,stock\nC,1\nD,2\n", headers: { "x-total-count": "4", "x-total-pages": "2", "x-next-page": "" } }
    }],
    ["a total of the outer items", 2, { "": { body: { total: 1, products: [{ variants: [item("A", 1), item("B", 2)] }] } } }],
    ["headers that count the outer items", 2, {
      "": { body: { products: [{ variants: [item("A", 1), item("B", 2)] }, { variants: [] }] }, headers: { "x-total-count": "2" } }
    }]
  ]

  for (const [name, rows, pages] of wholes) {
    it.effect(`is read to its end with ${name}`, () =>
      Effect.gen(function*() {
        const { origin } = yield* paged(pages)
        const items = JSON.stringify(pages).includes("variants") ? { items: "products.variants" } : {}
        expect(yield* read(`${origin}/stock`, items)).toHaveLength(rows)
      }))
  }

  it.effect("is transferred each time while it is a part, and not again once it is whole", () =>
    Effect.gen(function*() {
      let more = true
      const { asked, origin } = yield* serving((_, response, request) => {
        response.setHeader("etag", more ? "\"v1\"" : "\"v2\"")
        if (request.headers["if-none-match"] === "\"v2\"") response.writeHead(304).end()
        else json(response, { data: [item("A", 1)], has_more: more })
      })
      const { open } = yield* make(`${origin}/stock`)
      const rows = (accepted: Option.Option<string>) => Effect.flatMap(open(accepted), (snapshot) => all(Option.getOrThrow(snapshot).rows))
      yield* Effect.flip(rows(Option.none()))
      yield* Effect.flip(rows(Option.some("etag \"v1\"")))
      more = false
      expect(yield* rows(Option.none())).toHaveLength(1)
      expect(yield* open(Option.some("etag \"v2\""))).toEqual(Option.none())
      expect(asked).toHaveLength(4)
    }))
})

describe("a link to the next page", () => {
  it.effect("is followed for CSV, whose lines are numbered as those of one text", () =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((url, response, request) => {
        const page = Number(url.searchParams.get("page") ?? "1")
        if (page < 3) response.setHeader("link", `</stock?page=1>; rel="first", <?page=${page + 1}>; title="a, b"; rel="next last"`)
        expect(request.headers.authorization).toBe("Bearer secret")
        response.setHeader("content-type", "text/csv").end(page === 3 ? "productId,stock\n" : `productId,stock\nA${page},1\nB${page},2\n`)
      })
      expect(yield* read(`${origin}/stock`, { authorization: Redacted.make("Bearer secret") })).toEqual([
        good(2, "A1", 1),
        good(3, "B1", 2),
        good(5, "A2", 1),
        good(6, "B2", 2)
      ])
      expect(asked).toEqual(["/stock", "/stock?page=2", "/stock?page=3"])
    }))

  it.effect("to another origin is refused, and nothing is asked there", () =>
    Effect.gen(function*() {
      const other = yield* serving((_, response) => response.end("productId,stock\nB,2\n"))
      const { origin } = yield* serving((_, response) =>
        response.setHeader("link", `<${other.origin}/stock>; rel=next`).end("productId,stock\nA,1\n")
      )
      expect(yield* Effect.flip(read(`${origin}/stock`))).toMatchObject({
        _tag: "SourceError",
        message: containing("is at another origin")
      })
      expect(other.asked).toEqual([])
    }))

  for (
    const [value, target] of [
      ["<https://a.example/?p=2>; rel=\"next\"", "https://a.example/?p=2"],
      ["</2>;rel=next", "/2"],
      ["</1>; rel=prev, </2>; rel=NEXT; type=\"a/b\"", "/2"],
      ["</2,3;4>; rel=\"prev next\"", "/2,3;4"],
      ["</1>; title=\"<x>; rel=next\"; rel=prev", undefined],
      ["</1>; rel=\"nextpage\"", undefined],
      ["</1>", undefined],
      ["", undefined]
    ] as const
  ) {
    it(`is ${target ?? "not"} in ${value === "" ? "nothing" : value}`, () => {
      expect(Pages.ofLink(value)).toBe(target)
    })
  }
})
