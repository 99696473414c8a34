/** A GraphQL query that is sent by POST, on responses in the form of Shopify's Admin API and on ones that lack something. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Duration, Effect, FileSystem, Option, Redacted } from "effect"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import * as Open from "../src/source/Open.ts"
import { all, bad, containing, good, hurried } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const variants = `# Stock of all variants.
query Stock($after: String) {
  productVariants(first: 2, after: $after) {
    nodes { sku inventoryQuantity }
    pageInfo { hasNextPage endCursor }
  }
}`

interface Sent {
  readonly method: string | undefined
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: { readonly query?: string; readonly variables?: Readonly<Record<string, unknown>> }
}

/** A server, and what it was sent. */
const host = (respond: (sent: Sent, response: ServerResponse, number: number) => void) =>
  Effect.gen(function*() {
    const sent: Array<Sent> = []
    const { origin } = yield* serving((_, response, request) => {
      const chunks: Array<Uint8Array> = []
      request.on("data", (chunk: Uint8Array) => chunks.push(chunk))
      request.on("end", () => {
        const text = Buffer.concat(chunks).toString()
        // A test compares what it reads of it.
        const body = text === "" ? {} : JSON.parse(text) as Sent["body"]
        const one = { method: request.method, path: request.url, headers: request.headers, body }
        sent.push(one)
        respond(one, response, sent.length)
      })
    })
    return { address: `${origin}/admin/api/graphql.json`, origin, sent }
  })

const json = (response: ServerResponse, body: unknown, status = 200) => {
  response.statusCode = status
  return response.setHeader("content-type", "application/json; charset=utf-8").end(JSON.stringify(body))
}

const opened = (address: string, query: string, more: Partial<Open.SourceOptions> = {}) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const graphql = `${yield* files.makeTempDirectoryScoped()}/stock.graphql`
    yield* files.writeFileString(graphql, query)
    const source = yield* Open.make({
      source: address,
      graphql,
      idColumn: "sku",
      stockColumn: "inventoryQuantity",
      timeout: Duration.hours(1),
      ...more
    })
    return { source, graphql }
  })

const read = (address: string, query = variants, more: Partial<Open.SourceOptions> = {}) =>
  Effect.gen(function*() {
    const { source } = yield* opened(address, query, more)
    return yield* all(Option.getOrThrow(yield* source.open(Option.none())).rows)
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

const item = (sku: string, inventoryQuantity: number) => ({ sku, inventoryQuantity })
const stock = [[item("A", 1), item("B", 2)], [item("C", 3), item("D", -1)], [item("E", 5)]]
const cursors = ["c/+1=", "c/+2="]
const info = (hasNextPage: unknown, endCursor: unknown = null) => ({ hasNextPage, endCursor })
const cost = {
  cost: {
    requestedQueryCost: 4,
    actualQueryCost: 4,
    throttleStatus: { maximumAvailable: 2000, currentlyAvailable: 1996, restoreRate: 100 }
  }
}
const page = (nodes: unknown, pageInfo: unknown = info(false)) => ({ data: { productVariants: { nodes, pageInfo } }, extensions: cost })

/** The pages of the stock, by their cursors. */
const pageAfter = (after: unknown) => {
  const number = cursors.findIndex((cursor) => cursor === after) + 1
  const next = cursors[number]
  return page(stock[number], next === undefined ? info(false, "last") : info(true, next))
}
const shop = (instead: (sent: Sent, response: ServerResponse, number: number) => boolean = () => false) =>
  host((sent, response, number) => {
    if (!instead(sent, response, number)) json(response, pageAfter(sent.body.variables?.["after"]))
  })
const rows = [good(1, "A", 1), good(2, "B", 2), good(3, "C", 3), bad(4, "D", "is negative"), good(5, "E", 5)]

describe("the pages of a query", () => {
  it.effect("are requested by POST with the cursor, each with the secrets of the source", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop()
      const headers = Redacted.make({ "x-shopify-access-token": "shpat_example" })
      expect(yield* read(address, variants, { headers, authorization: Redacted.make("Bearer secret") })).toMatchObject(rows)
      expect(sent.map(({ body }) => body)).toEqual([
        { query: variants, variables: {} },
        { query: variants, variables: { after: "c/+1=" } },
        { query: variants, variables: { after: "c/+2=" } }
      ])
      for (const { headers, method, path } of sent) {
        expect([method, path]).toEqual(["POST", "/admin/api/graphql.json"])
        expect(headers).toMatchObject({
          "content-type": "application/json",
          "accept": "application/json",
          "x-shopify-access-token": "shpat_example",
          "authorization": "Bearer secret"
        })
      }
    }))

  it.effect("are read each time, whatever a validator says, and an edit of the query applies to the next read", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop((_, response) => response.setHeader("etag", "\"v1\"").statusCode === 0)
      yield* Effect.gen(function*() {
        const { graphql, source } = yield* opened(address, variants)
        const first = Option.getOrThrow(yield* source.open(Option.none()))
        expect(first.version).toEqual(Option.none())
        yield* all(first.rows)
        const files = yield* FileSystem.FileSystem
        yield* files.writeFileString(graphql, variants.replace("first: 2", "first: 50"))
        expect(yield* all(Option.getOrThrow(yield* source.open(Option.some("etag \"v1\""))).rows)).toHaveLength(5)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
      expect(sent).toHaveLength(6)
      expect(sent[5]?.body.query).toContain("first: 50")
      expect(sent.map(({ headers }) => headers["if-none-match"])).toEqual(Array.from({ length: 6 }, () => undefined))
    }))

  it.effect("may be edges, whose columns are those of the node", () =>
    Effect.gen(function*() {
      const query =
        "query($cursor: String) { productVariants(first: 1, after: $cursor) { edges { node { sku inventoryQuantity } } pageInfo { ...P } } } " +
        "fragment P on PageInfo { hasNextPage endCursor }"
      const { address, sent } = yield* host(({ body }, response) => {
        const isFirst = body.variables?.["cursor"] === undefined
        json(response, {
          data: { productVariants: { edges: [{ node: item(isFirst ? "A" : "B", 1) }], pageInfo: info(isFirst, "c") } }
        })
      })
      const more = { idColumn: "node.sku", stockColumn: "node.inventoryQuantity" }
      expect(yield* read(address, query, more)).toEqual([good(1, "A", 1), good(2, "B", 1)])
      expect(sent[1]?.body.variables).toEqual({ cursor: "c" })
    }))

  it.effect("may be compressed, and may end with an empty one", () =>
    Effect.gen(function*() {
      const { address } = yield* host(({ body }, response) => {
        const isFirst = body.variables?.["after"] === undefined
        response.setHeader("content-encoding", "gzip").setHeader("content-type", "application/graphql-response+json").end(
          gzipSync(JSON.stringify(page(isFirst ? stock[0] : [], isFirst ? info(true, "c") : info(false))))
        )
      })
      expect(yield* read(address)).toEqual(rows.slice(0, 2))
    }))

  it.effect("go on after an empty one that names another", () =>
    Effect.gen(function*() {
      const { address } = yield* host(({ body }, response) => {
        const after = body.variables?.["after"]
        json(response, after === undefined
          ? page([item("A", 1)], info(true, "b"))
          : after === "b"
          ? page([], info(true, "c"))
          : page([item("C", 3)]))
      })
      expect(yield* read(address)).toEqual([good(1, "A", 1), good(2, "C", 3)])
    }))

  it.effect("are not followed if the first one alone is accepted", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop()
      expect(yield* read(address, variants, { acceptPartial: ["data.productVariants.pageInfo.hasNextPage"] })).toEqual(rows.slice(0, 2))
      expect(sent).toHaveLength(1)
    }))

  it.effect("are requested again at the target of a redirect that keeps the method, without secrets at another origin", () =>
    Effect.gen(function*() {
      const other = yield* shop()
      const { address } = yield* host((_, response) => response.writeHead(308, { location: other.address }).end())
      expect(yield* read(address, variants, { authorization: Redacted.make("Bearer secret") })).toHaveLength(5)
      expect(other.sent.map(({ method }) => method)).toEqual(["POST", "POST", "POST"])
      expect(other.sent[0]?.headers.authorization).toBeUndefined()
    }))
})

describe("a query gives no row", () => {
  const second = (respond: (response: ServerResponse) => unknown) => (sent: Sent, response: ServerResponse) =>
    sent.body.variables?.["after"] === "c/+1=" && respond(response) !== undefined
  const body = (document: unknown) => second((response) => json(response, document))

  const cases: ReadonlyArray<readonly [name: string, instead: (sent: Sent, response: ServerResponse) => boolean, message: string]> = [
    ["if a page is missing", second((response) => response.writeHead(404).end()), "it responded 404"],
    ["if a page names itself", body(page(stock[1], info(true, "c/+1="))), "its pages form a loop"],
    ["if the server ignores the cursor", (sent, response) => {
      json(response, page(stock[0], info(true, `c${String(sent.body.variables?.["after"])}`)))
      return true
    }, "its page 2 has the rows of an earlier one, so its server seems to ignore after"],
    [
      "if a page has errors and no data",
      body({ data: null, errors: [{ message: "Internal", extensions: { code: "ACCESS_DENIED" } }] }),
      "it reports an error: \"Internal\" (ACCESS_DENIED)"
    ],
    [
      "if a page has errors beside its data",
      body({ ...page(stock[1]), errors: [{ message: "first" }, { message: "second" }] }),
      "it reports 2 errors, the first is: \"first\""
    ],
    ["if the errors are a text", body({ errors: "Not Found" }), "it reports an error: \"Not Found\""],
    ["if the data is null", body({ data: null }), "its data is null"],
    ["if there is no data", body({ ok: true }), "its data is missing"],
    ["if a page is a list", body([page(stock[1])]), "its data is missing"],
    ["if the connection is null", body({ data: { productVariants: null } }), "data.productVariants is null"],
    ["if the connection is missing", body({ data: {} }), "data.productVariants is missing"],
    ["if the connection is a list", body({ data: { productVariants: stock[1] } }), "data.productVariants is in a list"],
    ["if the nodes are null", body(page(null)), "data.productVariants.nodes is null, so items may be missing"],
    ["if the nodes are missing", body({ data: { productVariants: { pageInfo: info(false) } } }), "data.productVariants.nodes is missing"],
    [
      "if a page has no pageInfo",
      body({ data: { productVariants: { nodes: stock[1] } } }),
      "data.productVariants.pageInfo.hasNextPage is missing, so nothing shows whether there is a next page"
    ],
    ["if pageInfo is null", body(page(stock[1], null)), "hasNextPage is missing"],
    ["if hasNextPage is null", body(page(stock[1], info(null))), "hasNextPage is null"],
    ["if hasNextPage is a text", body(page(stock[1], info("false"))), "hasNextPage is \"false\""],
    [
      "if there is a next page without a cursor",
      body(page(stock[1], info(true))),
      "data.productVariants.pageInfo.hasNextPage is true, but data.productVariants.pageInfo.endCursor is null, so its next page can't be requested"
    ],
    ["if the cursor is empty", body(page(stock[1], info(true, ""))), "endCursor is \"\""],
    ["if the cursor is a number", body(page(stock[1], info(true, 3))), "endCursor is 3"],
    [
      "if a total is larger than the number of all items",
      body({ data: { productVariants: { ...page(stock[1]).data.productVariants, totalCount: 9 } } }),
      "data.productVariants.totalCount is 9, and it has"
    ],
    [
      "if a header names a next page",
      second((response) => json(response.setHeader("link", "</more>; rel=next"), page(stock[1]))),
      "its header link names a next page"
    ],
    [
      "if a page is HTML",
      second((response) => response.setHeader("content-type", "text/html").end("<!DOCTYPE html><html></html>")),
      "it is an HTML page"
    ],
    ["if an error says nothing", body({ ...page(stock[1]), errors: [null] }), "it reports an error: \"null\""],
    [
      "if a code is long, of which the message has the beginning",
      body({ errors: [{ message: "x".repeat(900), extensions: { code: "C ".repeat(900) } }] }),
      `it reports an error: "${"x".repeat(200)}…" ("${"C ".repeat(29)}C…)`
    ],
    [
      "if a value that a message quotes is long",
      body(page(stock[1], info(true, { a: "x".repeat(900) }))),
      `endCursor is {"a":"${"x".repeat(54)}…, so its next page can't be requested`
    ],
    [
      "if its data comes twice, because readers differ in which of them counts",
      second((response) =>
        response.setHeader("content-type", "application/json").end(
          `{"data":${JSON.stringify(page(stock[0]).data)},"data":${JSON.stringify(page(stock[1]).data)}}`
        )
      ),
      "it has the field \"data\" twice in one object. Write it once, or accept it with --accept-partial data"
    ],
    [
      "if each page has the rows of the first one, which no setting changes",
      (sent, response) => (json(response, page(stock[0], info(true, JSON.stringify(sent.body.variables)))), true),
      "so its server seems to ignore after. Correct the query, or ask the operator of the server; no row of it was used"
    ],
    ["if a page is cut", second((response) => response.end(JSON.stringify(page(stock[1])).slice(0, 70))), "it is truncated"],
    ["if a page has a second document", second((response) => response.end(`${JSON.stringify(page(stock[1]))}{}`)), "not JSON"],
    ["if a page is a part", second((response) => json(response, page(stock[1]), 206)), "it responded 206"],
    [
      "if a page has more than 16 MiB",
      second((response) => json(response, { ...page(stock[1]), pad: "x".repeat(17_000_000) })),
      "one of its pages has more than 16 MiB: ask for fewer items at once by a smaller first"
    ],
    [
      "if the status is that of an invalid request",
      second((response) => json(response, { errors: [{ message: "Field 'skuu' doesn't exist on type 'ProductVariant'" }] }, 400)),
      "it responded 400, and it reports an error: \"Field 'skuu' doesn't exist on type 'ProductVariant'\""
    ],
    [
      "if the token is refused",
      second((response) => json(response, { errors: "[API] Invalid API key or access token" }, 401)),
      "it responded 401: check STOCK_SYNC_SOURCE_AUTHORIZATION and STOCK_SYNC_SOURCE_HEADERS"
    ],
    [
      "if a redirect would make it a GET",
      second((response) => response.writeHead(302, { location: "https://shop.example/login?key=1" }).end()),
      "it redirects to https://shop.example/login with 302, after which no POST is sent: name that address with --source"
    ]
  ]
  for (const [name, instead, message] of cases) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const { address, sent } = yield* shop(instead)
        expect(yield* Effect.flip(read(address))).toMatchObject({ _tag: "SourceError", message: containing(message) })
        expect(sent.length).toBeLessThan(4)
      }))
  }

  it.effect("if the message of an error repeats a secret, which is not shown", () =>
    Effect.gen(function*() {
      const { address } = yield* host((_, response) =>
        json(response, { errors: [{ message: "no access for hunter2hunter2 (shpat_example)" }] })
      )
      const { message } = yield* Effect.flip(read(address, variants, {
        authorization: Redacted.make("Bearer hunter2hunter2"),
        headers: Redacted.make({ "x-shopify-access-token": "shpat_example" })
      }))
      expect(message).toContain("it reports an error: \"no access for <redacted> (<redacted>)\"")
    }))

  it.effect("unless errors beside its data are accepted", () =>
    Effect.gen(function*() {
      const { address } = yield* host((_, response) => json(response, { ...page([item("A", 1)]), errors: [{ message: "x" }] }))
      expect((yield* Effect.flip(read(address))).message).toContain("--accept-partial errors (STOCK_SYNC_ACCEPT_PARTIAL)")
      expect(yield* read(address, variants, { acceptPartial: ["errors"] })).toEqual([good(1, "A", 1)])
    }))
})

describe("a service that is busy", () => {
  const throttled = (requestedQueryCost = 504, currentlyAvailable = 4) => ({
    errors: [{ message: "Throttled", extensions: { code: "THROTTLED", documentation: "https://shopify.dev/api/usage/rate-limits" } }],
    extensions: {
      cost: { requestedQueryCost, actualQueryCost: null, throttleStatus: { maximumAvailable: 2000, currentlyAvailable, restoreRate: 100 } }
    }
  })

  const busy: ReadonlyArray<readonly [name: string, respond: (response: ServerResponse) => unknown]> = [
    ["with a code in status 200", (response) => json(response, throttled())],
    ["with a message alone", (response) => json(response, { errors: [{ message: "Throttled" }] })],
    ["with status 429", (response) => json(response.setHeader("retry-after", "2.0"), { errors: "Throttled" }, 429)],
    ["with status 503", (response) => response.writeHead(503).end()],
    [
      "with an internal error",
      (response) => json(response, { data: null, errors: [{ message: "Internal error", extensions: { code: "INTERNAL_SERVER_ERROR" } }] })
    ],
    ["with no response", (response) => response.socket?.destroy()],
    ["with half a response", (response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "1000" }).write("{\"data\":")
      setImmediate(() => response.socket?.destroy())
    }]
  ]
  for (const [name, respond] of busy) {
    it.effect(`${name} is sent the same page again, and no page twice`, () =>
      Effect.gen(function*() {
        let failures = 0
        const { address, sent } = yield* shop(({ body }, response) =>
          body.variables?.["after"] === "c/+1=" && failures++ < 2 && (respond(response), true)
        )
        expect(yield* hurried(read(address))).toMatchObject(rows)
        expect(sent.map(({ body }) => body.variables?.["after"])).toEqual([undefined, "c/+1=", "c/+1=", "c/+1=", "c/+2="])
      }))
  }

  it.effect("is sent the same page again, also if errors beside data are accepted", () =>
    Effect.gen(function*() {
      let failures = 0
      const partial = page([item("Z", 9)])
      const { address, sent } = yield* shop(({ body }, response) =>
        body.variables?.["after"] === "c/+1=" && failures++ < 2 &&
        (json(response, failures === 1 ? throttled() : { ...throttled(), ...partial }), true)
      )
      expect(yield* hurried(read(address, variants, { acceptPartial: ["errors"] }))).toMatchObject(rows)
      expect(sent).toHaveLength(5)
    }))

  for (const cost of [1e15, 1e300]) {
    it.effect(`may ask for points that are never restored (${cost})`, () =>
      Effect.gen(function*() {
        const { address } = yield* shop((_, response) => (json(response, throttled(cost)), true))
        expect(yield* Effect.flip(read(address))).toMatchObject({ _tag: "SourceUnreachable" })
      }))
  }

  it.effect("is not followed for ever", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop((_, response) => (json(response, throttled()), true))
      expect(yield* Effect.flip(hurried(read(address)))).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("it reports an error: \"Throttled\" (THROTTLED); it asks to wait until 1970-01-01T00:0")
      })
      expect(sent).toHaveLength(4)
    }))

  it.effect("is left alone until its points are restored, which the failure names if that takes longer than two minutes", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop((_, response) => (json(response, throttled(20_004)), true))
      expect(yield* Effect.flip(read(address))).toMatchObject({
        _tag: "SourceUnreachable",
        retryAt: DateTime.makeUnsafe(200_000),
        message: containing("; it asks to wait until 1970-01-01T00:03:20.000Z; no row of it was used")
      })
      expect(sent).toHaveLength(1)
    }))

  it.effect("is left alone for its Retry-After beside a code in status 200", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop((_, response) => (json(response.setHeader("retry-after", "600"), throttled()), true))
      expect(yield* Effect.flip(read(address))).toMatchObject({ retryAt: DateTime.makeUnsafe(600_000) })
      expect(sent).toHaveLength(1)
    }))
})

const products = `query($after: String) {
  products(first: 2, after: $after) {
    nodes { title variants(first: 2) { nodes { sku inventoryQuantity } pageInfo { hasNextPage } } }
    pageInfo { hasNextPage endCursor }
  }
}`

describe("a connection within another one", () => {
  const nested = { items: "data.products.nodes.variants.nodes" }
  const product = (nodes: unknown, pageInfo: unknown = info(false)) => ({ title: "Sock", variants: { nodes, pageInfo } })
  const document = (...nodes: ReadonlyArray<unknown>) => ({ data: { products: { nodes, pageInfo: info(false) } } })
  const refused = (body: unknown, query = products, more: Partial<Open.SourceOptions> = nested) =>
    Effect.gen(function*() {
      const { address } = yield* host((_, response) => json(response, body))
      return (yield* Effect.flip(read(address, query, more))).message
    })
  const whole = document(product([item("A", 1), item("B", 2)]), product([item("C", 3)]))

  it.effect("is read if each is whole, also of products without any", () =>
    Effect.gen(function*() {
      const { address } = yield* host(({ body }, response) =>
        json(response, body.variables?.["after"] === undefined
          ? { data: { products: { ...whole.data.products, pageInfo: info(true, "b") } } }
          : document({ ...product([]), title: "x".repeat(70_000) }))
      )
      expect(yield* read(address, products, nested)).toEqual([good(1, "A", 1), good(2, "B", 2), good(3, "C", 3)])
    }))

  it.effect("is refused if one has a next page, unless that is accepted", () =>
    Effect.gen(function*() {
      const part = document(product([item("A", 1)]), product([item("B", 2), item("C", 3)], info(true)))
      const field = "data.products.nodes.variants.pageInfo.hasNextPage"
      const { address } = yield* host((_, response) => json(response, part))
      expect((yield* Effect.flip(read(address, products, nested))).message).toBe(
        `${address}: data.products.nodes.variants has a next page (${field} is true), and only the pages of data.products are followed. ` +
          "Ask for more of its items at once by a larger first, or query it on its own as the connection with the cursor, or accept it with " +
          `--accept-partial ${field} (STOCK_SYNC_ACCEPT_PARTIAL); no row of it was used`
      )
      expect(yield* read(address, products, { ...nested, acceptPartial: [field] })).toHaveLength(3)
    }))

  it.effect("is refused if one has a next page beside the items", () =>
    Effect.gen(function*() {
      const query = products.replace("title", "title media(first: 1) { edges { node { id } } pageInfo { hasNextPage } }")
      const body = document({ ...product([item("A", 1)]), media: { edges: [], pageInfo: info(true) } })
      expect(yield* refused(body, query)).toContain("data.products.nodes.media has a next page")
      // Within an item.
      expect(yield* refused(body, query, { idColumn: "title" })).toContain("data.products.nodes.media has a next page")
    }))

  it.effect("is refused if another one beside it has a next page, under an alias too", () =>
    Effect.gen(function*() {
      const query = products.replace("products(", "more: orders(first: 1) { nodes { id } pageInfo { hasNextPage } } products(")
      expect(yield* refused({ data: { ...whole.data, more: { nodes: [], pageInfo: info(true, "c") } } }, query)).toContain(
        "data.more has a next page"
      )
    }))

  for (
    const [name, body, message] of [
      ["null", document({ title: "Sock", variants: null }), "data.products.nodes.variants is null, so items may be missing"],
      ["missing", document({ title: "Sock" }), "data.products.nodes.variants is missing"],
      ["a list", document({ title: "Sock", variants: [item("A", 1)] }), "data.products.nodes.variants.pageInfo.hasNextPage is missing"],
      [
        "a connection without pageInfo",
        document(product([item("A", 1)], null)),
        "data.products.nodes.variants.pageInfo.hasNextPage is missing"
      ],
      ["a connection whose items are null", document(product(null)), "data.products.nodes.variants.nodes is null"],
      ["in a product that is null", document(product([item("A", 1)]), null), "data.products.nodes has an element that is null"]
    ] as const
  ) {
    it.effect(`is refused if one is ${name}`, () =>
      Effect.gen(function*() {
        expect(yield* refused(body)).toContain(message)
      }))
  }

  it.effect("may be one of some types only", () =>
    Effect.gen(function*() {
      const query = products.replace("title variants", "__typename ... on Product { variants").replace("hasNextPage } } }",
        "hasNextPage } } } }")
      const { address } = yield* host((_, response) => json(response, document({ __typename: "Page" }, product([item("A", 1)]))))
      expect(yield* read(address, query, nested)).toEqual([good(1, "A", 1)])
    }))

  it.effect("may hold the cursor, if it is that of one object", () =>
    Effect.gen(function*() {
      const query = `query($after: String) { location(id: "gid://shopify/Location/1") { inventoryLevels(first: 1, after: $after) {
        nodes { item { sku } quantities(names: ["available"]) { quantity } } pageInfo { hasNextPage endCursor } } } }`
      const { address } = yield* host(({ body }, response) => {
        const isFirst = body.variables?.["after"] === undefined
        json(response, {
          data: {
            location: {
              inventoryLevels: {
                nodes: [{ item: { sku: isFirst ? "A" : "B" }, quantities: [{ quantity: 7 }] }],
                pageInfo: info(isFirst, isFirst ? "c" : null)
              }
            }
          }
        })
      })
      expect(yield* read(address, query, { idColumn: "item.sku", stockColumn: "quantities.0.quantity" }))
        .toEqual([good(1, "A", 7), good(2, "B", 7)])
    }))

  it.effect("can't hold the cursor in a list", () =>
    Effect.gen(function*() {
      const query =
        "query($after: String) { locations { levels(first: 1, after: $after) { nodes { sku } pageInfo { hasNextPage endCursor } } } }"
      expect(yield* refused({ data: { locations: [{ levels: { nodes: [], pageInfo: info(false) } }] } }, query, {})).toContain(
        "data.locations.levels is in a list, and the pages of one connection are followed: query it on its own"
      )
    }))
})

describe("a query that can't be read whole is refused before it is sent", () => {
  const inner = "variants(first: 9) { nodes { sku } }"
  const cases: ReadonlyArray<readonly [name: string, query: string, message: string]> = [
    ["an empty file", " # nothing\n", "it has no query: write one, such as query($after: String) { products("],
    ["a text", "SELECT sku FROM stock", "it is no GraphQL query, see line 1, column 1: Unexpected Name \"SELECT\""],
    ["a query that is cut", variants.slice(0, -1), "it is no GraphQL query, see line 7, column 1: Expected Name, found <EOF>"],
    [
      "a character that is none",
      variants.replace("sku", "sku;"),
      "it is no GraphQL query, see line 4, column 16: Unexpected character: \";\""
    ],
    [
      "a text that would clear the screen",
      "{ \"\"\"\u001b[2J\n\"\"\" }",
      "it is no GraphQL query, see line 1, column 3: Expected Name, found BlockString \"␛[2J\""
    ],
    [
      "a long string in place of a field",
      `{ "${"x".repeat(1_000)}" }`,
      `it is no GraphQL query, see line 1, column 3: Expected Name, found String "${"x".repeat(91)}…`
    ],
    [
      "a JSON document",
      JSON.stringify({ query: variants }),
      "it is no GraphQL query, see line 1, column 2: Expected Name, found String \"query\""
    ],
    [
      "a mutation",
      `mutation($after: String) { productUpdate { id } }`,
      "it has a mutation, and a source is only read: leave one query in it"
    ],
    ["a mutation beside a query", `${variants} mutation M { a }`, "it has a mutation, and a source is only read"],
    ["a subscription", "subscription { a }", "it has a subscription, and a source is only read"],
    ["two queries", `${variants} query B { a }`, "it has 2 queries: leave one in it"],
    ["a definition of types", "type Query { a: Int }", "it defines a schema, and a source is only read: leave one query in it"],
    [
      "a query without a cursor",
      variants.replace(", after: $after", ""),
      "no connection of it takes its cursor from a variable: write it as query($after: String)"
    ],
    [
      "a cursor that is not declared",
      variants.replace("($after: String)", ""),
      "it does not declare $after: begin it with query($after: String)"
    ],
    ["a cursor that is required", variants.replace("String)", "String!)"), "$after is required, and the first request has no cursor"],
    ["a cursor with a default", variants.replace("String)", "String = \"c\")"), "$after has a default, which would replace the first page"],
    [
      "a variable without a value",
      variants.replace("String)", "String, $n: [Int!]!)"),
      "$n has no value: write the value into the query, or declare a default"
    ],
    [
      "two cursors",
      `query($after: String) { a(first: 1, after: $after) { nodes { b } } c(first: 1, after: $after) { nodes { b } } }`,
      "data.a and data.c take a cursor, and the pages of one connection are followed: leave one of them"
    ],
    [
      "the cursor of an inner connection",
      products.replace(", after: $after", "").replace("variants(first: 2", "variants(first: 2, after: $after"),
      "data.products.nodes.variants takes the cursor within the connection data.products, whose pages would be missing: give the cursor to data.products"
    ],
    [
      "a connection without pageInfo",
      variants.replace("pageInfo { hasNextPage endCursor }", ""),
      "data.productVariants does not select pageInfo { hasNextPage endCursor }, so nothing would show its next page: add it"
    ],
    [
      "a connection without endCursor",
      variants.replace("endCursor", ""),
      "data.productVariants does not select pageInfo { hasNextPage endCursor }"
    ],
    [
      "a hasNextPage of another name",
      variants.replace("hasNextPage", "more: hasNextPage"),
      "data.productVariants does not select pageInfo"
    ],
    [
      "an inner connection without pageInfo",
      variants.replace("sku", inner),
      "data.productVariants.nodes.variants does not select pageInfo { hasNextPage }, so nothing would " +
      "show whether it is whole. Add it, or accept it with --accept-partial data.productVariants.nodes.variants (STOCK_SYNC_ACCEPT_PARTIAL)"
    ],
    [
      "an inner connection of a fragment",
      `${variants.replace("sku", "...V")} fragment V on ProductVariant { ${inner} }`,
      "data.productVariants.nodes.variants does not select pageInfo"
    ],
    [
      "an inner list with a limit",
      variants.replace("sku", "levels(limit: 5) { stock }"),
      "data.productVariants.nodes.levels does not select pageInfo"
    ],
    [
      "an inner connection that begins later",
      variants.replace("sku", inner.replace("9", "9, after: \"c\"").replace("sku }", "sku } pageInfo { hasNextPage }")),
      "data.productVariants.nodes.variants takes after, so its first items would be missing: remove the argument"
    ],
    [
      "a connection that is read backward",
      variants.replace("first: 2", "last: 2"),
      "data.productVariants takes last, so hasNextPage does not show"
    ],
    ["a fragment that is missing", variants.replace("sku", "...V"), "it has no fragment \"V\", which it uses"],
    [
      "a fragment that contains itself",
      `${variants.replace("sku", "...V")} fragment V on V { sku ...V }`,
      "it is nested more than 50 levels deep, or a fragment of it contains itself"
    ],
    [
      "a fragment that contains itself in a field",
      `${variants.replace("sku", "...V")} fragment V on V { v { ...V } }`,
      "it is nested more than 50 levels deep, or a fragment of it contains itself"
    ],
    [
      "fragments that multiply",
      `${variants.replace("sku", "...A")} ${
        Array.from({ length: 20 }, (_, n) =>
          `fragment ${String.fromCharCode(65 + n)} on V { ${`...${String.fromCharCode(66 + n)} `.repeat(9)} }`).join(" ")
      } fragment U on V { sku }`,
      "it has more than 5000 fields"
    ],
    ["many braces", "{a".repeat(20_000), "it is nested more than 50 levels deep"],
    ["many brackets", `query($after: String = ${"[".repeat(20_000)}`, "it is nested more than 50 levels deep"],
    ["a long file", `${variants}${" ".repeat(70_000)}`, "it is longer than 64 KiB, so it is no query"],
    [
      "a connection without nodes and edges",
      variants.replace("nodes", "list"),
      "data.productVariants selects neither nodes nor edges: select one, or set --items"
    ]
  ]
  for (const [name, query, message] of cases) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const { address, sent } = yield* shop()
        const failure = yield* Effect.flip(read(address, query))
        expect(failure).toMatchObject({ _tag: "SourceError", message: containing(`stock.graphql: ${message}`) })
        expect(failure.message).not.toContain("\n")
        expect(sent).toEqual([])
      }))
  }

  it.effect("items that are elsewhere", () =>
    Effect.gen(function*() {
      const { address, sent } = yield* shop()
      expect((yield* Effect.flip(read(address, variants, { items: "data.products.nodes" }))).message).toContain(
        "the items data.products.nodes are not in data.productVariants, whose pages are followed: correct --items (STOCK_SYNC_ITEMS)"
      )
      expect(sent).toEqual([])
    }))

  it.effect("an inner connection without pageInfo may be accepted", () =>
    Effect.gen(function*() {
      const { address } = yield* host((_, response) => json(response, page([{ ...item("A", 1), variants: { nodes: [] } }])))
      expect(yield* read(address, variants.replace("sku", `sku ${inner}`), { acceptPartial: ["data.productVariants.nodes.variants"] }))
        .toEqual([good(1, "A", 1)])
    }))

  it.effect("strings, comments, block strings and directives are none of its fields", () =>
    Effect.gen(function*() {
      const query = variants.replace(
        "first: 2",
        `first: 2, query: "tag:'a' } # \\" "\n, note: """ " } \\""" """, filter: { ids: [1, $after], on: true, x: -1.5e3 }`
      ).replace("sku", "sku @include(if: true) # } mutation\n").replace("query Stock", "query Stock @cached(ttl: 1)")
        .replace("query Stock @cached(ttl: 1)($after: String)", "query Stock($after: String @x) @cached(ttl: 1)")
      const { address } = yield* shop()
      expect(yield* read(address, query)).toHaveLength(5)
    }))
})
