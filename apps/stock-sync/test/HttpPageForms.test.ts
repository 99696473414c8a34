/**
 * The forms in which services name the next page of a document, each by a server that has three pages.
 */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Redacted } from "effect"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import * as Http from "../src/source/Http.ts"
import { all, containing, good } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const options = { idColumn: "productId", stockColumn: "stock", poll: Duration.minutes(1), timeout: Duration.hours(1) }
const read = (source: string, more: Partial<Http.HttpOptions> = {}) =>
  Effect.gen(function*() {
    const { open } = yield* Http.makeOnNode({ ...options, source, ...more })
    return yield* all(Option.getOrThrow(yield* open(Option.none())).rows)
  })

interface Place {
  /** The number of the page, from 1. */
  readonly number: number
  /** The number of the next page; undefined for the last one. */
  readonly next: number | undefined
  readonly pages: number
  /** Before addresses: the origin of the server, or another one. */
  readonly origin: string
}

interface Form {
  readonly name: string
  readonly path: string
  /** The path with the parameters of the second request. */
  readonly second: string
  readonly more?: Partial<Http.HttpOptions>
  readonly asked: (url: URL) => number
  readonly body: (items: ReadonlyArray<unknown>, place: Place) => unknown
  readonly headers?: (place: Place) => Readonly<Record<string, string>>
  /** Whether the next page is named by an address. */
  readonly isAddress?: true
  /** The field of the next page, as a message names it. */
  readonly field: string
  /** Whether each page has the number of all items, which is 5. */
  readonly counts?: true
  /** The body of a page that is an error. */
  readonly failure?: unknown
}

/** A cursor with characters that an address must escape. */
const cursorOf = (next: number) => `c/+${next}=`
const byCursor = (name: string) => (url: URL) => Number(/\d/.exec(url.searchParams.get(name) ?? "1")?.[0])
const byPage = (name = "page", first = 1) => (url: URL) => Number(url.searchParams.get(name) ?? first) - first + 1
const cursor2 = encodeURIComponent(cursorOf(2))
const orNull = (next: number | undefined, of: (next: number) => unknown = cursorOf) => next === undefined ? null : of(next)
const set = (next: number | undefined, of: (next: number) => object) => next === undefined ? {} : of(next)

/** A cursor in a field of the document, and in the parameter. */
const cursorForm = (field: string, parameter: string, wrap: (cursor: unknown) => object): Form => ({
  name: `the cursor ${field}`,
  path: "/stock?limit=2",
  second: `/stock?limit=2&${parameter}=${cursor2}`,
  asked: byCursor(parameter),
  body: (data, { next }) => ({ data, ...wrap(orNull(next)) }),
  field
})

const graphql =
  `query($first:Int,$after:String){products(first:$first,after:$after){nodes{productId stock}pageInfo{hasNextPage endCursor}}}`
const graphqlAt = (variables: object) =>
  `/graphql?query=${encodeURIComponent(graphql)}&variables=${encodeURIComponent(JSON.stringify(variables))}`

const forms: ReadonlyArray<Form> = [
  {
    name: "OData 4",
    path: "/odata/Items?$select=productId,stock",
    second: "/odata/Items?$skiptoken=2",
    more: { items: "value" },
    asked: byPage("$skiptoken"),
    body: (value, { next, origin }) => ({
      "@odata.context": `${origin}/odata/$metadata#Items`,
      value,
      ...set(next, (next) => ({ "@odata.nextLink": `${origin}/odata/Items?$skiptoken=${next}` }))
    }),
    isAddress: true,
    field: "@odata.nextLink"
  },
  {
    name: "OData 3",
    path: "/odata/Items",
    second: "/odata/Items?$skiptoken=2",
    more: { items: "value" },
    asked: byPage("$skiptoken"),
    // Relative, as some services write it.
    body: (value, { next, origin }) => ({
      value,
      ...set(next, (next) => ({ "odata.nextLink": `${origin.startsWith("http://127") ? "" : `${origin}/odata/`}Items?$skiptoken=${next}` }))
    }),
    field: "odata.nextLink"
  },
  {
    name: "OData 2",
    path: "/sap/Items",
    second: "/sap/Items?$skiptoken=2",
    more: { items: "d.results" },
    asked: byPage("$skiptoken"),
    body: (results, { next, origin }) => ({
      d: { results, ...set(next, (next) => ({ __next: `${origin}/sap/Items?$skiptoken=${next}` })) }
    }),
    isAddress: true,
    field: "d.__next",
    failure: { d: { error: "try again" } }
  },
  {
    name: "JSON:API",
    path: "/stock?page[size]=2",
    second: "/stock?page[number]=2&page[size]=2",
    asked: byPage("page[number]"),
    body: (data, { next, origin }) => ({
      data,
      links: { next: orNull(next, (next) => `${origin}/stock?page[number]=${next}&page[size]=2`) }
    }),
    isAddress: true,
    field: "links.next"
  },
  {
    name: "JSON:API with objects for links",
    path: "/stock",
    second: "/stock?page=2",
    asked: byPage(),
    body: (data, { next, origin }) => ({ data, links: { next: orNull(next, (next) => ({ href: `${origin}/stock?page=${next}` })) } }),
    isAddress: true,
    field: "links.next"
  },
  {
    name: "HAL",
    path: "/stock",
    second: "/stock?page=2",
    more: { items: "_embedded.items" },
    asked: byPage(),
    body: (items, { next, number, origin }) => ({
      _embedded: { items },
      _links: {
        self: { href: `/stock?page=${number}` },
        ...set(next, (next) => ({ next: { href: `${origin}/stock?page=${next}` } }))
      }
    }),
    isAddress: true,
    field: "_links.next",
    failure: { _embedded: { message: "try again" } }
  },
  {
    name: "a list of links",
    path: "/stock",
    second: "/stock?page=2",
    asked: byPage(),
    body: (data, { next, origin }) => ({
      data,
      links: [
        { rel: "self", href: `${origin}/stock` },
        ...(next === undefined ? [] : [{ rel: "next", href: `${origin}/stock?page=${next}` }])
      ]
    }),
    isAddress: true,
    field: "links.next"
  },
  {
    name: "Django REST",
    path: "/stock/",
    second: "/stock/?page=2",
    more: { items: "results" },
    asked: byPage(),
    body: (results, { next, number, origin }) => ({
      count: 5,
      next: orNull(next, (next) => `${origin}/stock/?page=${next}`),
      previous: number === 1 ? null : `${origin}/stock/`,
      results
    }),
    isAddress: true,
    counts: true,
    field: "next"
  },
  {
    name: "a relative next",
    path: "/stock/",
    second: "/stock/?page=2",
    more: { items: "results" },
    asked: byPage(),
    body: (results, { next }) => ({ next: orNull(next, (next) => `?page=${next}`), results }),
    field: "next"
  },
  {
    name: "Hydra",
    path: "/stock",
    second: "/stock?page=2",
    more: { items: "hydra:member" },
    asked: byPage(),
    body: (items, { next, origin }) => ({
      "hydra:member": items,
      "hydra:view": { ...set(next, (next) => ({ "hydra:next": `${origin}/stock?page=${next}` })) }
    }),
    isAddress: true,
    field: "hydra:view.hydra:next"
  },
  cursorForm("nextCursor", "cursor", (nextCursor) => ({ nextCursor })),
  cursorForm("meta.next_cursor", "cursor", (next_cursor) => ({ meta: { next_cursor } })),
  cursorForm("pagination.next_cursor", "cursor", (next_cursor) => ({ pagination: { next_cursor } })),
  cursorForm("response_metadata.next_cursor", "cursor", (cursor) => ({ response_metadata: { next_cursor: cursor ?? "" } })),
  cursorForm("nextPageToken", "pageToken", (nextPageToken) => ({ nextPageToken })),
  cursorForm("next_page_token", "page_token", (token) => ({ next_page_token: token ?? "" })),
  cursorForm("nextToken", "nextToken", (nextToken) => ({ nextToken })),
  cursorForm("pagination.nextToken", "nextToken", (nextToken) => ({ pagination: { nextToken } })),
  cursorForm("paging.next.after", "after", (after) => after === null ? {} : { paging: { next: { after } } }),
  cursorForm("cursor", "cursor", (cursor) => cursor === null ? {} : { cursor }),
  {
    name: "numbers of pages",
    path: "/stock",
    second: "/stock?page=2",
    asked: byPage(),
    body: (data, { number, pages }) => ({ data, page: number, total_pages: pages }),
    field: "total_pages"
  },
  {
    name: "numbers of pages in meta",
    path: "/stock?per_page=2",
    second: "/stock?per_page=2&page=2",
    asked: byPage(),
    body: (data, { number, pages }) => ({ data, meta: { current_page: number, last_page: pages } }),
    field: "meta.last_page"
  },
  {
    name: "numbers of pages from 0",
    path: "/stock",
    second: "/stock?page=1",
    more: { items: "content" },
    asked: byPage("page", 0),
    body: (content, { next, number, pages }) => ({
      content,
      number: number - 1,
      totalPages: pages,
      totalElements: 5,
      last: next === undefined
    }),
    counts: true,
    field: "totalPages"
  },
  {
    name: "numbers of pages by a parameter that the address has",
    path: "/stock?pageNumber=1",
    second: "/stock?pageNumber=2",
    asked: byPage("pageNumber"),
    body: (data, { number, pages }) => ({ data, pageNumber: number, pageCount: pages }),
    field: "pageCount"
  },
  {
    name: "the number of the next page",
    path: "/stock",
    second: "/stock?page=2",
    asked: byPage(),
    body: (data, { next }) => ({ data, meta: { next_page: next ?? null } }),
    field: "meta.next_page"
  },
  {
    name: "more pages behind a numbered one",
    path: "/stock",
    second: "/stock?page=2",
    asked: byPage(),
    body: (data, { next, number }) => ({ data, page_context: { page: number, has_more_page: next !== undefined } }),
    field: "page_context.has_more_page"
  },
  {
    name: "X-WP-TotalPages without links",
    path: "/wp-json/wc/v3/products",
    second: "/wp-json/wc/v3/products?page=2",
    asked: byPage(),
    body: (items) => items,
    headers: ({ pages }) => ({ "x-wp-totalpages": String(pages) }),
    field: "x-wp-totalpages"
  },
  {
    name: "X-Next-Page",
    path: "/stock",
    second: "/stock?page=2",
    asked: byPage(),
    body: (items) => items,
    headers: ({ next }) => ({ "x-next-page": String(next ?? "") }),
    field: "x-next-page"
  },
  {
    name: "GraphQL",
    path: graphqlAt({ first: 2 }),
    second: graphqlAt({ first: 2, after: cursorOf(2) }),
    more: { items: "data.products.nodes" },
    asked: (url) => Number(/"after":"c\/\+(\d)/.exec(url.searchParams.get("variables") ?? "")?.[1] ?? 1),
    body: (nodes, { next }) => ({ data: { products: { nodes, pageInfo: { hasNextPage: next !== undefined, endCursor: orNull(next) } } } }),
    field: "data.products.pageInfo.hasNextPage",
    failure: { data: null, errors: [{ message: "try again" }] }
  },
  {
    name: "an address that --next names",
    path: "/stock",
    second: "/stock?p=2",
    more: { next: { path: "more.at" } },
    asked: byPage("p"),
    body: (data, { next, origin }) => ({ data, more: { at: orNull(next, (next) => `${origin}/stock?p=${next}`) } }),
    isAddress: true,
    field: "more.at"
  },
  {
    name: "a cursor that --next names",
    path: "/stock?limit=2",
    second: `/stock?limit=2&page%5Bafter%5D=${cursor2}`,
    more: { next: { path: "meta.@page.after", parameter: "page[after]" } },
    asked: byCursor("page[after]"),
    body: (data, { next }) => ({ data, meta: { "@page.after": orNull(next) } }),
    field: "meta.@page.after"
  },
  {
    name: "a cursor in a header that --next names",
    path: "/stock",
    second: `/stock?from=${cursor2}`,
    more: { next: { path: "X-Continue", parameter: "from" } },
    asked: byCursor("from"),
    body: (data) => ({ data }),
    headers: ({ next }) => ({ "x-continue": next === undefined ? "" : cursorOf(next) }),
    field: "X-Continue"
  }
]

const item = (productId: string, stock: number) => ({ productId, stock })
const pages = [[item("A", 1), item("B", 2)], [item("C", 3), item("D", 4)], [item("E", 5)]]
const rows = [good(1, "A", 1), good(2, "B", 2), good(3, "C", 3), good(4, "D", 4), good(5, "E", 5)]

interface Behaviour {
  /** The page that follows a page in place of the next one. */
  readonly follower?: (number: number) => number | undefined
  readonly origin?: string
  readonly total?: number
  /** Responds in place of a page. Returns whether it did. */
  readonly instead?: (number: number, response: ServerResponse) => boolean
}

/** A server of three pages. */
const serve = (form: Form, { follower, instead, origin: other, total }: Behaviour = {}) =>
  Effect.gen(function*() {
    const headers: Array<IncomingHttpHeaders> = []
    let origin = ""
    const server = yield* serving((url, response, request) => {
      headers.push(request.headers)
      const number = form.asked(url)
      if (instead?.(number, response) === true) return
      const ordinary = number < pages.length ? number + 1 : undefined
      const place = { number, next: follower === undefined ? ordinary : follower(number), pages: pages.length, origin: other ?? origin }
      for (const [name, value] of Object.entries(form.headers?.(place) ?? {})) response.setHeader(name, value)
      if (total !== undefined) response.setHeader("x-total-count", String(total))
      response.setHeader("content-type", "application/json").end(JSON.stringify(form.body(pages[number - 1] ?? [], place)))
    })
    origin = server.origin
    return { ...server, headers }
  })

const sent = (path: string) => new URL(path, "http://server").href.replace("http://server", "")

for (const form of forms) {
  describe(`pages by ${form.name}`, () => {
    it.effect("are read as one list, each with the secrets of the source", () =>
      Effect.gen(function*() {
        const { asked, headers, origin } = yield* serve(form, { total: 5 })
        expect(yield* read(`${origin}${form.path}`, { ...form.more, authorization: Redacted.make("Bearer secret") })).toEqual(rows)
        expect(asked).toHaveLength(3)
        expect(asked[1]).toBe(sent(form.second))
        expect(headers.map(({ authorization }) => authorization)).toEqual(["Bearer secret", "Bearer secret", "Bearer secret"])
      }))

    it.effect("give no row if one of them is missing", () =>
      Effect.gen(function*() {
        const { origin } = yield* serve(form, {
          instead: (number, response) => number === 3 && response.writeHead(404).end() !== undefined
        })
        expect(yield* Effect.flip(read(`${origin}${form.path}`, form.more))).toMatchObject({
          _tag: "SourceError",
          message: containing("it responded 404")
        })
      }))

    it.effect("give no row if one names an earlier page, or is sent in place of another", () =>
      Effect.gen(function*() {
        const { asked, origin } = yield* serve(
          { ...form, asked: (url) => Math.min(form.asked(url), 2) },
          { follower: () => 2 }
        )
        const failure = yield* Effect.flip(read(`${origin}${form.path}`, form.more))
        expect(failure).toMatchObject({ _tag: "SourceError" })
        expect(failure.message).toMatch(/its pages form a loop|it is one page of several|in place of page 3|has the rows of an earlier one/)
        expect(asked.length).toBeLessThan(5)
      }))

    it.effect("give no row if the server sends the first page again and again", () =>
      Effect.gen(function*() {
        const { asked, origin } = yield* serve({ ...form, asked: () => 1 })
        const failure = yield* Effect.flip(read(`${origin}${form.path}`, form.more))
        expect(failure).toMatchObject({ _tag: "SourceError" })
        expect(failure.message).toMatch(/its pages form a loop|has the rows of an earlier one/)
        expect(asked.length).toBeLessThan(4)
      }))

    it.effect("give no row if the server has counted more items", () =>
      Effect.gen(function*() {
        const { origin } = yield* serve(form, { total: 6 })
        expect(yield* Effect.flip(read(`${origin}${form.path}`, form.more))).toMatchObject({
          _tag: "SourceError",
          message: containing("x-total-count is \"6\", and it has 5 items")
        })
      }))

    it.effect("give no row if one is an error with status 200", () =>
      Effect.gen(function*() {
        const { origin } = yield* serve(form, {
          instead: (number, response) =>
            number === 2 &&
            response.setHeader("content-type", "application/json").end(JSON.stringify(form.failure ?? { error: "try again" })) !== undefined
        })
        expect(yield* Effect.flip(read(`${origin}${form.path}`, form.more))).toMatchObject({
          _tag: "SourceError",
          message: containing("no row of it was used")
        })
      }))

    it.effect("end with an empty page, unless an item is missing then", () =>
      Effect.gen(function*() {
        const { asked, origin } = yield* serve({
          ...form,
          body: (items, place) => form.body(place.number === 3 ? [] : items, place)
        })
        if (form.counts) {
          expect(yield* Effect.flip(read(`${origin}${form.path}`, form.more))).toMatchObject({
            message: containing("is 5, and it has 4 items")
          })
        } else expect(yield* read(`${origin}${form.path}`, form.more)).toEqual(rows.slice(0, 4))
        expect(asked).toHaveLength(3)
      }))

    if (form.isAddress) {
      it.effect("are not followed to another origin", () =>
        Effect.gen(function*() {
          const other = yield* serve(form)
          const { origin } = yield* serve(form, { origin: other.origin })
          expect(yield* Effect.flip(read(`${origin}${form.path}`, { ...form.more, authorization: Redacted.make("Bearer secret") })))
            .toMatchObject({
              _tag: "SourceError",
              message: containing(`its next page is at another origin, ${other.origin}, and is not followed`)
            })
          expect(other.asked).toEqual([])
        }))
    }

    if (form.more?.next === undefined) {
      it.effect("are not followed if the first page alone is accepted", () =>
        Effect.gen(function*() {
          const { asked, origin } = yield* serve(form)
          const fields = [form.field, form.field.replace(/\.after$/, ""), "totalElements", "count", "last"]
          expect(yield* read(`${origin}${form.path}`, { ...form.more, acceptPartial: fields })).toEqual(rows.slice(0, 2))
          expect(asked).toHaveLength(1)
        }))
    }
  })
}

describe("a page of products without variants", () => {
  for (const field of ["cursor", "nextCursor"]) {
    it.effect(`is no last page if ${field} names another one`, () =>
      Effect.gen(function*() {
        const pages: Readonly<Record<string, object>> = {
          "": { products: [{ variants: [item("A", 1)] }], [field]: "b" },
          "b": { products: [{ variants: [] }], [field]: "c" },
          "c": { products: [{ variants: [item("C", 3)] }] }
        }
        const { asked, origin } = yield* serving((url, response) =>
          response.setHeader("x-total-count", "3").setHeader("content-type", "application/json").end(
            JSON.stringify(pages[url.searchParams.get("cursor") ?? ""])
          )
        )
        expect(yield* read(`${origin}/stock`, { items: "products.variants" })).toEqual([good(1, "A", 1), good(2, "C", 3)])
        expect(asked).toHaveLength(3)
      }))
  }
})

describe("pages whose request is not known", () => {
  const refused = (body: unknown, path = "/stock", more: Partial<Http.HttpOptions> = {}) =>
    Effect.gen(function*() {
      const { asked, origin } = yield* serving((_, response) =>
        response.setHeader("content-type", "application/json").end(JSON.stringify(body))
      )
      const { message } = yield* Effect.flip(read(`${origin}${path}`, more))
      expect(asked).toHaveLength(1)
      return message
    })
  const data = [item("A", 1)]

  for (
    const [field, body] of [
      ["continuationToken", { data, continuationToken: "t" }],
      ["next", { data, next: "abc" }],
      ["next_token", { data, next_token: "abc" }],
      ["pagination.cursor", { data, pagination: { cursor: "abc" } }],
      ["cursors.next", { data, cursors: { next: "abc" } }]
    ] as const
  ) {
    it.effect(`are refused, and the message says how to follow ${field}`, () =>
      Effect.gen(function*() {
        expect(yield* refused(body)).toContain(
          `Name the parameter that takes ${field} with --next (STOCK_SYNC_NEXT), as in --next ${field}=PARAMETER, ` +
            `provide a document with all items, or accept it with --accept-partial ${field} (STOCK_SYNC_ACCEPT_PARTIAL)`
        )
      }))
  }

  it.effect("are refused if a GraphQL query has no variable for the cursor, and the message says where it belongs", () =>
    Effect.gen(function*() {
      const body = { data: { products: { nodes: data, pageInfo: { hasNextPage: true, endCursor: "c" } } } }
      const query = "{products(first:1){nodes{productId stock}pageInfo{hasNextPage endCursor}}}"
      const message = yield* refused(body, `/graphql?query=${encodeURIComponent(query)}`, { items: "data.products.nodes" })
      expect(message).toContain("Give the query a variable for the cursor of one connection, as in products(first: 100, after: $after)")
    }))

  it.effect("are refused if the number of a page is that of a parameter with another name", () =>
    Effect.gen(function*() {
      expect(yield* refused({ data, pageNumber: 1, pageCount: 3 })).toContain(
        "pageCount is 3, and it has 1 page. Put the parameter with the number of the first page into the address, as in ?pageNumber=1"
      )
    }))

  it.effect("are refused if --next names an address that is a cursor", () =>
    Effect.gen(function*() {
      expect(yield* refused({ data, next: "abc" }, "/stock", { next: { path: "next" } })).toContain(
        "next is no address: name the parameter that takes it as well. Correct --next (STOCK_SYNC_NEXT); no row of it was used"
      )
    }))

  it.effect("are refused if --next names an object", () =>
    Effect.gen(function*() {
      expect(yield* refused({ data, page: { after: { id: 1 } } }, "/stock", { next: { path: "page.after", parameter: "after" } }))
        .toContain(
          "page.after is neither a text nor a number. Correct --next (STOCK_SYNC_NEXT)"
        )
    }))
})
