/**
 * Documents that are one page of several, as the APIs of shops and clouds write them, and documents that are whole.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Envelope from "@plaza/tabular/Envelope"
import * as Format from "@plaza/tabular/Format"
import * as Stock from "@plaza/tabular/Stock"
import * as Generate from "@plaza/testing/Generators"
import { Effect } from "effect"
import { all, inChunks } from "./support/reading.ts"

const products = (count: number) => Array.from({ length: count }, (_, index) => ({ productId: `P${index}`, stock: index + 1 }))
const twelve = products(12)

const read = (document: unknown, items?: string, names: ReadonlyArray<string> = [], chunks = 1000) =>
  all(
    Format.rows("json", Stock.schema({ idColumn: "productId", stockColumn: "stock" }), {
      source: "stock.json",
      items,
      acceptPartial: { names, option: (name) => `--accept-partial ${name}` }
    })(inChunks(JSON.stringify(document), chunks))
  )

/** Fields of the document beside its array `data`, and the one that the message names. */
const partial: ReadonlyArray<readonly [field: string, fields: Readonly<Record<string, unknown>>]> = [
  ["@odata.nextLink", { "@odata.nextLink": "https://shop.example/odata/Items?$skiptoken=12" }],
  ["nextCursor", { nextCursor: "c2" }],
  ["NEXT_CURSOR", { NEXT_CURSOR: "c2" }],
  ["next-cursor", { "next-cursor": 12 }],
  ["meta.next_cursor", { meta: { next_cursor: "c2" } }],
  ["links.next", { links: { next: "https://shop.example/products?page=2" } }],
  ["_links.next", { _links: { self: { href: "/p" }, next: { href: "/p?page=2" } } }],
  ["links.next", { links: [{ rel: "self", href: "/p" }, { rel: "next", href: "/p?page=2" }] }],
  ["link.next", { link: [{ relation: "self", url: "/p" }, { relation: "next", url: "/p?page=2" }] }],
  ["links_next", { links_next: "/p?page=2" }],
  ["has_more", { has_more: true }],
  ["hasMore", { hasMore: "true" }],
  ["has_more_items", { has_more_items: 1 }],
  ["more", { more: true }],
  ["moreResultsAvailable", { moreResultsAvailable: true }],
  ["page_context.has_more_page", { page_context: { page: 1, has_more_page: true } }],
  ["errors", { errors: [{ message: "the database timed out" }] }],
  ["errors", { errors: { P13: "timeout" } }],
  ["error", { error: "timeout" }],
  ["error", { error: { code: 500, message: "timeout" } }],
  ["success", { success: false }],
  ["status", { status: "partial" }],
  ["status", { status: 500 }],
  ["total", { total: 30 }],
  ["total", { total: "30" }],
  ["count", { count: 30, next: null, previous: null }],
  ["totalCount", { totalCount: 30 }],
  ["total_count", { total_count: 30, search_criteria: { page_size: 12, current_page: 1 } }],
  ["totalResults", { totalResults: 30 }],
  ["recordsTotal", { recordsTotal: 30, recordsFiltered: 12 }],
  ["@odata.count", { "@odata.count": 30 }],
  ["__count", { __count: "30" }],
  ["totalElements", { totalElements: 30, size: 12, number: 0 }],
  ["nbHits", { nbHits: 30, hitsPerPage: 12 }],
  ["numFound", { numFound: 30, start: 0 }],
  ["hits.total", { hits: { total: { value: 30, relation: "eq" } } }],
  ["meta.pagination.total", { meta: { pagination: { page: 1, pageSize: 12, pageCount: 1, total: 30 } } }],
  ["paging.total", { paging: { offset: 0, limit: 12, total: 30 } }],
  ["pagination.total_pages", { pagination: { current_page: 1, total_pages: 3, per_page: 12 } }],
  ["pages", { page: 1, pages: 3 }],
  ["last_page", { current_page: 1, last_page: 3 }],
  ["page.total", { page: { current: 1, total: 3 } }],
  ["next", { next: "https://shop.example/products?page=2" }],
  ["next", { next: { after: "c2" } }],
  ["paging.next.after", { paging: { "next.after": "c2" } }],
  ["next_page", { next_page: 2 }],
  ["nextPage", { nextPage: 2 }],
  ["next_page_url", { next_page_url: "/p?page=2", prev_page_url: null }],
  ["nextPageToken", { nextPageToken: "t" }],
  ["next_page_token", { next_page_token: "t" }],
  ["NextToken", { NextToken: "t" }],
  ["pagination.nextToken", { pagination: { nextToken: "t" } }],
  ["nextRecordsUrl", { nextRecordsUrl: "/query/1-12", done: false }],
  ["continuationToken", { continuationToken: "t" }],
  ["continue", { continue: { offset: 12 } }],
  ["resumptionToken", { resumptionToken: "t" }],
  ["LastEvaluatedKey", { LastEvaluatedKey: { sku: { S: "P11" } } }],
  ["pageInfo.hasNextPage", { pageInfo: { hasNextPage: true, endCursor: "c" } }],
  ["isLast", { isLast: false }],
  ["last", { last: false }],
  ["done", { done: false }],
  ["complete", { complete: false }],
  ["truncated", { truncated: true }],
  ["IsTruncated", { IsTruncated: true }],
  ["incomplete_results", { incomplete_results: true }],
  ["timed_out", { timed_out: true }],
  ["exceededTransferLimit", { exceededTransferLimit: true }],
  ["page", { page: 2 }],
  ["offset", { offset: 12, limit: 50 }],
  ["first", { first: false }],
  ["@attributes.count", { "@attributes": { count: "30", offset: "0", limit: "12" } }],
  ["Links.next", { Links: [{ Rel: "next", Href: "/p?page=2" }] }],
  ["hydra:view.hydra:next", { "hydra:view": { "hydra:next": "/p?page=2" } }],
  ["hydra:totalItems", { "hydra:totalItems": 30 }],
  ["next_starting_after", { next_starting_after: "P11" }],
  ["nextPageAvailable", { nextPageAvailable: true }],
  ["remaining", { remaining: 18 }],
  ["result", { result: "error" }],
  ["cursor", { cursor: "c2" }],
  ["offset", { offset: "itrXyz/recAbc" }],
  ["per_page", { per_page: 12 }],
  ["pagination.limit", { pagination: { limit: 12, offset: 0 } }],
  ["success", { success: 0 }],
  ["success", { success: "no" }],
  ["limit", { limit: 12, offset: 0, count: 12 }],
  ["size", { page: 0, size: 12 }],
  ["page.size", { page: { number: 0, size: 12 } }],
  ["take", { skip: 0, take: 12 }],
  ["pagingToken", { pagingToken: "abc" }],
  ["page_key", { page_key: "abc" }],
  ["scrollToken", { scrollToken: "abc" }],
  ["paging.token", { paging: { token: "abc" } }],
  ["cursor.id", { cursor: { id: "123" } }],
  ["cursor.id", { cursor: { id: 123 } }],
  ["cursor", { cursor: 123 }],
  ["search_after", { search_after: ["P11", 12] }],
  ["cursor", { cursor: "c2", count: 12 }],
  ["total", { total: "1,204" }],
  ["total", { total: "1.204" }],
  ["total", { total: "1 204" }],
  ["total", { total: "10000+" }],
  ["total", { total: "30.0" }],
  ["pageInfo.hasPreviousPage", { pageInfo: { hasNextPage: false, hasPreviousPage: true } }],
  ["has_prev", { has_next: false, has_prev: true }],
  ["previous", { count: 12, next: null, previous: "https://shop.example/products?page=1" }],
  ["prev", { prev: "/p?page=1" }],
  ["prev_page_url", { next_page_url: null, prev_page_url: "/p?page=1" }],
  ["links.prev", { links: { next: null, prev: "/p?page=1" } }],
  ["_links.prev", { _links: { prev: { href: "/p?page=1" } } }],
  ["links.prev", { links: [{ rel: "prev", href: "/p?page=1" }] }],
  ["links.previous", { links: [{ rel: "previous", href: "/p?page=1" }] }],
  ["previousPageToken", { previousPageToken: "t" }],
  ["offset", { offset: 20 }],
  ["skip", { skip: 20 }],
  ["page", { page: "3" }],
  ["page.number", { page: { number: 3 } }],
  ["number", { number: 3, size: 50, numberOfElements: 12 }],
  ["links.self", { links: { first: "/p?page=1", self: "/p?page=3" } }],
  ["links.self", { links: { self: "/p?page[number]=3" } }],
  ["links.self", { links: { first: "/p", self: "/p?page[after]=c2" } }],
  ["links.self", { links: { self: "/p?limit=50&offset=50" } }],
  ["links.last", { links: { self: "/p?page=1", last: "/p?page=9" } }],
  ["links.last", { links: { self: "/p?page[number]=1", last: "/p?page%5Bnumber%5D=9" } }],
  ["links.last", { links: { self: "/p?page=0", last: "/p?page=1" } }],
  ["links.last", { links: { self: "/p?offset=0", last: "/p?offset=12" } }],
  ["links.last", { links: [{ rel: "self", href: "/p" }, { rel: "last", href: "/p?page=9" }] }],
  ["last_page_url", { last_page_url: "/p?page=9" }],
  ["extra.totalCount", { extra: { totalCount: 50 } }],
  ["length", { length: 80 }],
  ["code", { code: 500, msg: "error" }],
  ["code", { code: "503", message: "try again" }],
  ["msg", { code: 1, msg: "error" }],
  ["status", { status: "500 Internal Server Error" }],
  ["IncludesLastItemInRange", { IncludesLastItemInRange: false }],
  ["_shards.failed", { _shards: { total: 5, successful: 4, failed: 1 } }],
  ["failed", { failed: 1 }],
  ["total.relation", { total: { value: 12, relation: "gte" } }],
  ["total_relation", { total: 12, total_relation: "gte" }],
  ["page.of", { page: { current: 1, of: 3 } }],
  ["page.last", { page: { current: 1, last: 3 } }],
  ["page", { page: "1 of 3" }],
  ["page", { page: "Page 1/3" }],
  ["page", { page: "3 of 3" }],
  ["range", { range: "1-12 of 80" }],
  ["showing", { showing: "1-12/80" }]
]

/** Fields of documents that are whole. */
const whole: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  {},
  { next: null },
  { next: "" },
  { next: false },
  { next: {} },
  { next: { href: null, title: "Next" } },
  { next_cursor: null, has_more: false },
  { nextPageToken: "" },
  { next_page: 0 },
  { links: { self: "/p", next: null, last: "/p?page=1" } },
  { links: [{ rel: "self", href: "/p" }, { rel: "last", href: "/p?page=1" }] },
  { has_more: false },
  { hasMore: "false" },
  { more: { information: "https://shop.example/help" } },
  { errors: [] },
  { errors: null },
  { errors: {} },
  { error: "", error_code: 0, message: "ok" },
  { errors: "[]", result: "success", remaining: 0 },
  { error: { code: 0, message: "success" } },
  { success: true, status: 200 },
  { status: "success" },
  { total: 12 },
  { total: "12", limit: 12 },
  { total: 11 },
  { count: 12, next: null, previous: null },
  { count: 0 },
  { page: 1, pages: 1, per_page: 12 },
  { page: 0, totalPages: 1, totalElements: 12, last: true, first: true, size: 12 },
  { page: { current: 1, total: 1 } },
  { page: { number: 0, size: 50, total: 12 } },
  { pageInfo: { hasNextPage: false, endCursor: "c" } },
  { cursor: "c", has_more: false },
  { limit: 12, has_more: false },
  { limit: 50, offset: 0 },
  { limit: 12, total: 12 },
  { done: true, totalSize: 12 },
  { IsTruncated: false },
  { isLast: true },
  { nextUpdate: "2026-12-01T00:00:00Z", next_delivery: "Monday", nextSyncToken: "t" },
  { shop: { total: 30, next: "x", has_more: true } },
  { warehouses: [{ total: 500, has_more: true, next: "x" }] },
  { totalStock: 500, total_quantity: 500, totalValue: 9000 },
  { offset: "+02:00" },
  { offset: "-0500", timezone: "America/New_York" },
  { offset: 3600, timezone: "Europe/Berlin" },
  { offset: 0 },
  { skipped: 3, from: 2020, start: 20_260_101 },
  { success: 1 },
  { success: "yes" },
  { limit: 12, offset: 0, total: 12 },
  { page: 0, size: 50 },
  { size: 12 },
  { size: 4096 },
  { token: "secret", access_token: "secret", csrfToken: "secret" },
  { cursor: { id: 0 } },
  { cursor: { id: null } },
  { search_after: [] },
  { total: "12.0" },
  { total: "1,204 EUR", total_price: "1,204.50" },
  { pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: "a", endCursor: "c" } },
  { next_page_url: null, prev_page_url: null, first_page_url: "/p?page=1", last_page_url: "/p?page=1", current_page: 1, last_page: 1 },
  { links: [{ rel: "self", href: "/p?page=1" }, { rel: "first", href: "/p?page=1" }, { rel: "prev", href: null }] },
  { links: { self: "/p", first: "/p?page=0", last: "/p?page=0" } },
  { links: { self: "/p?page=1", first: "/p?page=1", last: "/p?page=1", prev: null, next: null } },
  { links: { self: "/p?page=0", first: "/p?page=0", last: "/p?page=0" } },
  { links: { self: "/p?page[size]=500&sort=sku&version=3" } },
  { links: { self: "/p?offset=0&limit=50", first: "/p?offset=0&limit=50", last: "/p?offset=0&limit=50" } },
  { links: [{ text: "Shipping", href: "/shipping" }, { rel: "help", href: "/help?page=7" }] },
  { previous_stock: 12, previousUpdate: "2026-11-30", previous_export: "stock-1.json" },
  { length: 12 },
  { extra: { totalCount: 12, note: "x" } },
  { code: 0, msg: "success" },
  { code: 200, msg: "OK" },
  { code: 450, name: "warehouse" },
  { code: "DE", message: "12 products" },
  { msg: "no errors", message: "exported" },
  { IncludesLastItemInRange: true },
  { took: 3, timed_out: false, _shards: { total: 5, successful: 5, skipped: 0, failed: 0 } },
  { total: { value: 12, relation: "eq" } },
  { page: { current: 1, of: 1 } },
  { page: "1 of 1" },
  { page: "https://shop.example/stock" },
  { range: "1-12 of 12" },
  { range: "2026-01-01/2026-12-31" },
  { countries: ["DE"], counter: 40, discount: 30, account: 4711, accounts: 4711 },
  { version: 3, generated_at: "2026-12-01", currency: "EUR", timezone: "+01:00", extensions: { cost: { requestedQueryCost: 400 } } }
]

describe("a document", () => {
  for (const [field, fields] of partial) {
    it.effect(`is one page of several with ${JSON.stringify(fields)}`, () =>
      Effect.gen(function*() {
        for (const document of [{ ...fields, data: twelve }, { data: twelve, ...fields }]) {
          const error = yield* Effect.flip(read(document))
          expect(error._tag).toBe("SourceError")
          expect(error.message).toContain(`${field} is `)
          const [, value = ""] = /--accept-partial (\S*); no row of it was used$/.exec(error.message) ?? []
          expect(value.split(",")).toContain(field)
          expect(yield* read(document, undefined, value.split(","))).toHaveLength(12)
        }
        const accepted = Object.keys(fields).length === 1 || field.includes(".") ? [field] : [field, ...Object.keys(fields)]
        expect(yield* read({ data: twelve, ...fields }, undefined, accepted)).toHaveLength(12)
      }))
  }

  for (const fields of whole) {
    it.effect(`is whole with ${JSON.stringify(fields)}`, () =>
      Effect.forEach([1, 1000], (chunks) =>
        Effect.gen(function*() {
          expect(yield* read({ ...fields, data: twelve }, undefined, [], chunks)).toHaveLength(12)
          expect(yield* read({ data: twelve, ...fields }, undefined, [], chunks)).toHaveLength(12)
        })))
  }

  it.effect("is judged by the fields around its items, at every level", () =>
    Effect.gen(function*() {
      const refused = (document: unknown, items: string) => Effect.map(Effect.flip(read(document, items)), ({ message }) => message)
      expect(yield* refused({ result: { items: twelve, has_more: true } }, "result.items")).toContain("result.has_more is true")
      expect(yield* refused({ has_more: true, result: { items: twelve } }, "result.items")).toContain("has_more is true")
      const graphql = (hasNextPage: boolean, errors?: unknown) => ({
        data: { products: { edges: twelve.map((node) => ({ node, ...node })), pageInfo: { hasNextPage } } },
        errors
      })
      expect(yield* refused(graphql(true), "data.products.edges")).toContain("data.products.pageInfo.hasNextPage is true")
      expect(yield* refused(graphql(false, [{ message: "throttled" }]), "data.products.edges")).toContain("errors is 1 of them")
      expect(yield* read(graphql(false), "data.products.edges")).toHaveLength(12)
    }))

  it.effect("is not judged by the fields of its items, nor by those of a product that holds them", () =>
    Effect.gen(function*() {
      const busy = {
        count: 500,
        total: 500,
        next: "x",
        errors: ["x"],
        page: 3,
        limit: 1,
        prev: "x",
        complete: false,
        code: 500,
        msg: "error"
      }
      const more = { ...busy, has_more: true }
      expect(yield* read({ data: twelve.map((item) => ({ ...item, ...more, meta: more })) })).toHaveLength(12)
      expect(yield* read({ products: [{ ...busy, variants: twelve }, { ...busy, variants: [] }] }, "products.variants")).toHaveLength(12)
      expect(yield* read([{ ...busy, variants: twelve }], "variants")).toHaveLength(12)
    }))

  it.effect("counts the items of the array beside a total: the outer or the inner ones", () =>
    Effect.gen(function*() {
      const outer = [{ variants: twelve }, { variants: [] }, { variants: products(3) }]
      expect(yield* read({ total: 3, products: outer }, "products.variants")).toHaveLength(15)
      expect((yield* Effect.flip(read({ total: 9, products: outer }, "products.variants"))).message).toContain(
        "total is 9, and it has 3 items"
      )
      const inner = (total: number) => ({
        products: [{ variants: { total: 12, nodes: twelve } }, { variants: { total, nodes: products(3) } }]
      })
      expect(yield* read(inner(3), "products.variants.nodes")).toHaveLength(15)
      expect((yield* Effect.flip(read(inner(4), "products.variants.nodes"))).message).toContain("products.variants.total is 4")
      const paged = { products: [{ variants: { nodes: twelve, pageInfo: { hasNextPage: true } } }] }
      expect((yield* Effect.flip(read(paged, "products.variants.nodes"))).message).toContain(
        "products.variants.pageInfo.hasNextPage is true"
      )
    }))

  for (
    const fields of [
      { has_more: true, total: 50 },
      { hasNextPage: true },
      { truncated: true },
      { next_page_token: "t" },
      { variants_count: 50 },
      { totalVariants: 50 },
      { variantCount: 50 },
      { hasMoreVariants: true }
    ]
  ) {
    it.effect(`is a part if an object that leads to its items has ${JSON.stringify(fields)}`, () =>
      Effect.gen(function*() {
        const [field] = Object.keys(fields)
        const products = { products: [{ variants: [] }, { ...fields, variants: twelve }] }
        expect((yield* Effect.flip(read(products, "products.variants"))).message).toContain(`--accept-partial products.${field};`)
        expect(yield* read(products, "products.variants", [`products.${field}`])).toHaveLength(12)
        expect((yield* Effect.flip(read([{ ...fields, variants: twelve }], "variants"))).message).toContain(`${field} is `)
      }))
  }

  const several: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, ReadonlyArray<string>]> = [
    ["Spring", { totalElements: 30, totalPages: 3, last: false, size: 12, number: 0 }, ["totalElements", "totalPages", "last"]],
    ["Laravel", { current_page: 1, last_page: 3, next_page_url: "/p?page=2", total: 30 }, ["last_page", "next_page_url", "total"]],
    ["Salesforce", { totalSize: 30, done: false, nextRecordsUrl: "/query/1-12" }, ["totalSize", "done", "nextRecordsUrl"]],
    ["a cursor", { next_cursor: "c2", has_more: true, total: 30 }, ["next_cursor", "has_more", "total"]],
    ["doubts", { cursor: "c2", limit: 12 }, ["cursor", "limit"]]
  ]
  for (const [name, fields, expected] of several) {
    it.effect(`is refused with all fields that show a part at once: ${name}`, () =>
      Effect.gen(function*() {
        const { message } = yield* Effect.flip(read({ ...fields, data: twelve }))
        for (const field of expected) expect(message).toContain(`${field} is `)
        const [, accepted = ""] = /--accept-partial ([^;]*);/.exec(message) ?? []
        expect(accepted.split(",").toSorted()).toEqual([...expected].toSorted())
        expect(yield* read({ ...fields, data: twelve }, undefined, accepted.split(","))).toHaveLength(12)
      }))
  }

  it.effect("is refused with five of its fields, and a value that accepts all", () =>
    Effect.gen(function*() {
      const document = { data: twelve, total: 30, count: 31, totalCount: 32, has_more: true, done: false, next: "x", errors: ["x"] }
      const { message } = yield* Effect.flip(read(document))
      expect(Object.keys(document).filter((field) => message.includes(` ${field} is `))).toHaveLength(5)
      expect(message).toContain(", and 2 more. Provide")
      const [, accepted = ""] = /--accept-partial ([^;]*);/.exec(message) ?? []
      expect(yield* read(document, undefined, accepted.split(","))).toHaveLength(12)
    }))

  it.effect("is accepted by the words of its message also if its fields have spaces and commas", () =>
    Effect.gen(function*() {
      const document = { data: twelve, "has more": true, "has,next": true }
      const [, accepted = ""] = /--accept-partial (\S*);/.exec((yield* Effect.flip(read(document))).message) ?? []
      expect(yield* read(document, undefined, accepted.split(","))).toHaveLength(12)
    }))

  it.effect.prop("is accepted by a name in any case and punctuation, and by no other", [
    Generate.elementOf(["hasMore", "has_more", "HAS-MORE", "has more"]),
    Generate.elementOf(["hasMore", "has_more", "HAS-MORE", "hasmore"])
  ], ([field, name]) =>
    Effect.gen(function*() {
      const document = { data: twelve, [field]: true }
      expect(yield* read(document, undefined, [name])).toHaveLength(12)
      expect((yield* Effect.result(read(document, undefined, ["more", "has"])))._tag).toBe("Failure")
    }))

  it.effect("does not show the parameters of the address of its next page", () =>
    Effect.map(Effect.flip(read({ data: twelve, next: "https://shop.example/p?signature=secret" })), ({ message }) => {
      expect(message).toContain("next is set (\"https://shop.example/p?…\")")
      expect(message).not.toContain("secret")
    }))

  it.effect("whose last item is none is cut", () =>
    Effect.gen(function*() {
      const cut = [...twelve, { error: "the connection to the database was lost" }]
      expect((yield* Effect.flip(read(cut))).message).toContain("its last item has none of the columns")
      expect((yield* Effect.flip(read(cut))).message).toContain("--accept-partial last-row")
      expect(yield* read(cut, undefined, ["last-row"])).toHaveLength(13)
      expect(yield* read([{ error: "x" }, ...twelve])).toHaveLength(13)
    }))
})

describe("the headers of a response", () => {
  const judged = (headers: Readonly<Record<string, string>>) => {
    const pages = new Envelope.Pages()
    pages.add(Envelope.ofHeaders(headers, 12))
    return pages.complaint(() => false)?.fields[0]
  }

  for (
    const [name, value] of [
      ["x-total-count", "30"],
      ["x-total", "30"],
      ["total-count", "30"],
      ["x-wp-total", "30"],
      ["x-wp-totalpages", "3"],
      ["x-total-pages", "3"],
      ["x-pagination-page-count", "3"],
      ["x-next-page", "2"],
      ["x-next-cursor", "c2"],
      ["x-ms-continuation", "t"],
      ["x-has-more", "true"],
      ["x-page", "2"],
      ["next-range", "id ]12..; max=12"],
      ["content-range", "items 0-11/30"],
      ["content-range", "items 12-23/*"],
      ["x-truncated", "true"],
      ["x-prev-page", "1"],
      ["x-wp-page", "3"],
      ["x-total-count", "1,204"]
    ] as const
  ) {
    it(`show one page of several by ${name}: ${value}`, () => {
      expect(judged({ [name]: value })).toBe(name)
    })
  }

  it("show nothing by those of a last page that is the first", () => {
    expect(judged({ "x-page": "1", "x-per-page": "20", "x-total": "12", "x-total-pages": "1", "x-next-page": "", "x-prev-page": "" }))
      .toBeUndefined()
    expect(judged({ link: "<https://shop.example/p?page=1>; rel=\"first\", <https://shop.example/p?page=1>; rel=\"last\"" }))
      .toBeUndefined()
    expect(judged({ link: "</style.css>; rel=preload; as=style, <https://shop.example/page/3>; rel=\"canonical\"" })).toBeUndefined()
  })

  for (
    const [field, value] of [
      ["link.prev", "<https://shop.example/p?page=1>; rel=\"prev\""],
      ["link.previous", "</p?page=1>; title=\"a, b; c\"; rel=\"first previous\""],
      ["link.prev", "</p>; rel=self, </p?page=1>; rel=prev"],
      ["link.last", "</p?page=9>; rel=\"last\""],
      ["link.self", "</p?page=1>; rel=\"first\", </p?page=3>; rel=\"self\""]
    ] as const
  ) {
    it(`show one page of several by Link: ${value}`, () => {
      expect(judged({ link: value })).toBe(field)
    })
  }

  it("show a later page by an offset beside a limit", () => {
    expect(judged({ "x-offset": "24", "x-limit": "24" })).toBe("x-offset")
  })

  it("show one page of several by an object in X-Pagination", () => {
    expect(judged({ "x-pagination": "{\"TotalCount\":30,\"PageSize\":12}" })).toBe("x-pagination.TotalCount")
  })

  for (
    const [name, value] of [
      ["x-total-count", "12"],
      ["x-next-page", ""],
      ["x-page", "1"],
      ["x-per-page", "20"],
      ["x-items-per-page", "20"],
      ["x-wp-per-page", "20"],
      ["x-page-size", "20"],
      ["x-prev-page", ""],
      ["x-total-pages", "1"],
      ["x-wp-total", "12"],
      ["content-range", "items 0-11/12"],
      ["content-range", "items 0-11/*"],
      ["content-length", "5000"],
      ["x-ratelimit-remaining", "59"],
      ["x-rate-limit-total", "120"],
      ["ratelimit-limit", "120"],
      ["x-retry-count", "40"],
      ["x-request-count", "40"],
      ["x-cache-hits", "40"],
      ["x-envoy-upstream-service-time", "40"],
      ["age", "40"],
      ["status", "200 OK"]
    ] as const
  ) {
    it(`show nothing by ${name}: ${value}`, () => {
      expect(judged({ [name]: value })).toBeUndefined()
    })
  }
})
