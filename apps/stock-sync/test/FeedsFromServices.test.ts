/** The commands of docs/guides/feeds-from-services.md, on responses in the form that each service sends. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as Format from "@plaza/tabular/Format"
import { Duration, Effect, FileSystem, Option, Redacted } from "effect"
import { readFileSync } from "node:fs"
import type { IncomingHttpHeaders, ServerResponse } from "node:http"
import * as Open from "../src/source/Open.ts"
import { all } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const guide = readFileSync(new URL("../../../docs/guides/feeds-from-services.md", import.meta.url), "utf8")

/** The words of a command line. */
const wordsOf = (line: string): ReadonlyArray<string> =>
  Array.from(line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, bare]) => double ?? single ?? bare ?? "")

/** The options of the commands in a section of the guide. */
const commandsOf = (section: string): ReadonlyArray<ReadonlyMap<string, string>> => {
  const text = guide.split(`\n## ${section}\n`)[1]?.split("\n## ")[0] ?? ""
  return Array.from(text.matchAll(/^\$ plaza-stock-sync plan (.*)$/gm), ([, line = ""]) => {
    const words = wordsOf(line)
    return new Map(words.flatMap((word, index) => word.startsWith("--") ? [[word.slice(2), words[index + 1] ?? ""] as const] : []))
  })
}

const read = (command: ReadonlyMap<string, string>, source: string, more: Partial<Open.SourceOptions> = {}) =>
  Effect.gen(function*() {
    const unknown = [...command.keys()].filter((name) => !["source", "id-column", "stock-column", "items", "graphql"].includes(name))
    expect(unknown).toEqual([])
    const { open } = yield* Open.make({
      source,
      idColumn: command.get("id-column") ?? "productId",
      stockColumn: command.get("stock-column") ?? "stock",
      items: command.get("items"),
      negative: "zero",
      timeout: Duration.seconds(30),
      settle: Duration.zero,
      ...more
    })
    const rows = yield* all(Option.getOrThrow(yield* open(Option.none())).rows)
    return rows.map((row) => row._tag === "Valid" ? [row.productId, row.stock] : [row.productId, row.reason])
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** The same address at another server. */
const at = (origin: string, source = "") => {
  const { pathname, search } = new URL(source)
  return `${origin}${pathname}${search}`
}

const html = (response: ServerResponse, title: string) =>
  response.setHeader("content-type", "text/html; charset=utf-8").end(
    `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body></body></html>`
  )

interface Host {
  readonly origin: string
  readonly asked: ReadonlyArray<string>
  readonly headers: ReadonlyArray<IncomingHttpHeaders>
}

/** The queries of the guide, by the order of the commands that use them. */
const queries = Array.from(guide.matchAll(/^```graphql\n([^]*?)^```$/gm), ([, query = ""]) => query)

/** Reads a GraphQL service, which responds by the cursor. */
const readQuery = (command: ReadonlyMap<string, string>, query: string, respond: (after: unknown) => unknown) =>
  Effect.gen(function*() {
    const bodies: Array<unknown> = []
    const headers: Array<IncomingHttpHeaders> = []
    const { asked, origin } = yield* serving((_, response, request) => {
      let text = ""
      request.setEncoding("utf8").on("data", (chunk: string) => (text += chunk)).on("end", () => {
        // The program wrote it.
        const body = JSON.parse(text) as { readonly query: string; readonly variables: { readonly after?: string } }
        bodies.push(body)
        headers.push(request.headers)
        response.setHeader("content-type", "application/json; charset=utf-8").end(JSON.stringify(respond(body.variables.after)))
      })
    })
    const files = yield* FileSystem.FileSystem
    const graphql = `${yield* files.makeTempDirectoryScoped()}/${command.get("graphql")}`
    yield* files.writeFileString(graphql, query)
    const rows = yield* read(command, at(origin, command.get("source")), {
      graphql,
      headers: Redacted.make({ "x-shopify-access-token": "shpat_example" })
    })
    expect(asked).toEqual(["/admin/api/2026-10/graphql.json", "/admin/api/2026-10/graphql.json"])
    expect(headers.map((each) => each["x-shopify-access-token"])).toEqual(["shpat_example", "shpat_example"])
    expect(bodies).toEqual([{ query, variables: {} }, { query, variables: { after: "eyJsYXN0X2lkIjoxfQ==" } }])
    return rows
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))

/** A server that remembers the headers of its requests. */
const host = (respond: (url: URL, response: ServerResponse) => void) =>
  Effect.gen(function*() {
    const headers: Array<IncomingHttpHeaders> = []
    const { asked, origin } = yield* serving((url, response, request) => {
      headers.push(request.headers)
      respond(url, response)
    })
    return { origin, asked, headers } satisfies Host
  })

/** A host that redirects each request to another one. */
const redirecting = (status: number, to: (url: URL) => string) =>
  host((url, response) =>
    response.writeHead(status, { location: to(url), "content-type": "text/html; charset=UTF-8" }).end("<HTML>Moved</HTML>")
  )

const authorization = Redacted.make("Bearer secret")
const sheet = "SKU,Qty,Note\r\nSOCK-1,12,\"two\r\nlines\"\r\nSOCK-2,0,"

describe("Google Sheets", () => {
  const commands = commandsOf("Google Sheets")

  for (const [index, name] of [[0, "a published tab"], [1, "a shared sheet"]] as const) {
    it.effect(`${name} is read from the host that it redirects to, which receives no secret`, () =>
      Effect.gen(function*() {
        const command = commands[index] ?? new Map<string, string>()
        const files = yield* host((_, response) =>
          response.setHeader("content-type", "text/csv").setHeader("content-disposition", "attachment; filename=\"Stock-Sheet1.csv\"").end(
            sheet
          )
        )
        const docs = yield* redirecting(307, ({ search }) => `${files.origin}/export/54example/1AbCd/anonymous${search}`)
        expect(yield* read(command, at(docs.origin, command.get("source")), { authorization })).toEqual([["SOCK-1", 12], ["SOCK-2", 0]])
        expect(docs.headers[0]?.authorization).toBe("Bearer secret")
        expect(docs.asked[0]).toMatch(/(?:output|format)=csv/)
        expect(files.headers).toHaveLength(1)
        expect(files.headers[0]?.authorization).toBeUndefined()
      }))
  }

  it.effect("a private sheet is a login page, whose host is named", () =>
    Effect.gen(function*() {
      const [, command = new Map<string, string>()] = commands
      const login = yield* host((_, response) => html(response, "Sign in - Google Accounts"))
      const docs = yield* redirecting(302, ({ href }) => `${login.origin}/ServiceLogin?continue=${encodeURIComponent(href)}`)
      const { message } = yield* Effect.flip(read(command, at(docs.origin, command.get("source"))))
      expect(message).toBe(
        `${docs.origin}/spreadsheets/d/1AbCdExample/export, redirected to ${new URL(login.origin).host}: it is an HTML page, perhaps an ` +
          "error or a login page: check the address and its authorization; no row of it was used"
      )
      expect(guide).toContain("redirected to accounts.google.com: it is an HTML page, perhaps an error or a login page")
    }))

  it.effect("the address of the browser is an HTML page", () =>
    Effect.gen(function*() {
      const docs = yield* host((_, response) => html(response, "Stock - Google Sheets"))
      const { message } = yield* Effect.flip(read(new Map(), `${docs.origin}/spreadsheets/d/1AbCdExample/edit?gid=0`))
      expect(message).toContain("/edit: it is an HTML page")
    }))

  it.effect("another tab shows its columns", () =>
    Effect.gen(function*() {
      const [, command = new Map<string, string>()] = commands
      const docs = yield* host((_, response) => response.setHeader("content-type", "text/csv").end("Name,Price\r\nSock,9.90"))
      expect((yield* Effect.flip(read(command, at(docs.origin, command.get("source"))))).message).toContain(
        "there is no column \"SKU\"; the columns are \"Name\", \"Price\""
      )
    }))
})

const file = (response: ServerResponse, type: string, name: string, body: string) =>
  response.setHeader("content-type", type).setHeader("content-disposition", `attachment; filename="${name}"`).setHeader(
    "content-length",
    Buffer.byteLength(body)
  ).end(body)

describe("Google Drive", () => {
  const [command = new Map<string, string>()] = commandsOf("Google Drive")
  const drive = (files: Host) =>
    redirecting(303, ({ searchParams }) => `${files.origin}/download?id=${searchParams.get("id")}&export=download`)

  it.effect("a shared file is read", () =>
    Effect.gen(function*() {
      const files = yield* host((_, response) => file(response, "application/octet-stream", "stock.csv", "productId,stock\nSOCK-1,12\n"))
      const source = at((yield* drive(files)).origin, command.get("source"))
      expect(yield* read(command, source, { authorization })).toEqual([["SOCK-1", 12]])
      expect(files.asked).toEqual(["/download?id=1AbCdExample&export=download"])
      expect(files.headers[0]?.authorization).toBeUndefined()
    }))

  it.effect("a file of another format is read by --format", () =>
    Effect.gen(function*() {
      const files = yield* host((_, response) =>
        file(response, "application/octet-stream", "stock.json", `[{"productId":"SOCK-1","stock":12}]`)
      )
      const source = at((yield* drive(files)).origin, command.get("source"))
      expect((yield* Effect.flip(read(command, source))).message).toContain("it looks like JSON, not like CSV: set --format")
      expect(yield* read(command, source, { format: "json" })).toEqual([["SOCK-1", 12]])
    }))

  it.effect("the page before a large file is an HTML page, and confirm=t stays in the address", () =>
    Effect.gen(function*() {
      const files = yield* host((url, response) =>
        url.searchParams.has("confirm")
          ? file(response, "application/octet-stream", "stock.csv", "productId,stock\nSOCK-1,12\n")
          : html(response, "Google Drive - Virus scan warning")
      )
      const main = yield* redirecting(303, ({ search }) => `${files.origin}/download${search}`)
      const source = at(main.origin, command.get("source"))
      expect((yield* Effect.flip(read(command, source))).message).toContain(
        `redirected to ${new URL(files.origin).host}: it is an HTML page`
      )
      expect(yield* read(command, `${source}&confirm=t`)).toEqual([["SOCK-1", 12]])
    }))
})

describe("Dropbox", () => {
  const [command = new Map<string, string>()] = commandsOf("Dropbox")

  it.effect("a link with dl=1 is read from the host of files", () =>
    Effect.gen(function*() {
      const files = yield* host((_, response) => file(response, "application/binary", "stock.csv", "productId,stock\nSOCK-1,12\n"))
      const dropbox = yield* host((url, response) =>
        url.searchParams.get("dl") === "1" && url.searchParams.has("rlkey")
          ? response.writeHead(302, { location: `${files.origin}/cd/0/get/Example/file?dl=1` }).end()
          : html(response, "Dropbox - stock.csv")
      )
      const source = at(dropbox.origin, command.get("source"))
      expect(yield* read(command, source, { authorization })).toEqual([["SOCK-1", 12]])
      expect(files.headers[0]?.authorization).toBeUndefined()
      expect((yield* Effect.flip(read(command, source.replace("dl=1", "dl=0")))).message).toContain("stock.csv: it is an HTML page")
    }))
})

describe("Business Central", () => {
  const [command = new Map<string, string>()] = commandsOf("Business Central")
  const items = (origin: string, next: string | undefined, value: ReadonlyArray<object>) => ({
    "@odata.context": `${origin}/v2.0/TENANT/production/api/v2.0/$metadata#companies(COMPANY)/items`,
    value: value.map((each) => ({ "@odata.etag": "W/\"JzE5OzEyMzQ1Njc4OTAxOzAwOyc=\"", ...each })),
    ...(next === undefined ? {} : { "@odata.nextLink": next })
  })

  it.effect("all pages of the items of a company are read, each with the token", () =>
    Effect.gen(function*() {
      let origin = ""
      const server: Host = yield* host((url, response) => {
        const token = url.searchParams.get("$skiptoken")
        const next = `${origin}${url.pathname}?$select=number,inventory&aid=FIN&$skiptoken='1000'`
        response.setHeader("content-type", "application/json; odata.metadata=minimal; odata.streaming=true; charset=utf-8").end(
          JSON.stringify(
            token === null
              ? items(origin, next, [{ id: "a", number: "1000", inventory: 12 }, { id: "b", number: "1896-S", inventory: -3 }])
              : items(origin, undefined, [{ id: "c", number: "2000", inventory: 0 }])
          )
        )
      })
      origin = server.origin
      expect(yield* read(command, at(origin, command.get("source")), { authorization })).toEqual([["1000", 12], ["1896-S", 0], ["2000", 0]])
      expect(server.asked).toEqual([
        "/v2.0/TENANT/production/api/v2.0/companies(COMPANY)/items?$select=number,inventory",
        "/v2.0/TENANT/production/api/v2.0/companies(COMPANY)/items?$select=number,inventory&aid=FIN&$skiptoken=%271000%27"
      ])
      expect(server.headers.map((headers) => headers.authorization)).toEqual(["Bearer secret", "Bearer secret"])
    }))

  it.effect("an expired token says where the token belongs", () =>
    Effect.gen(function*() {
      const server = yield* host((_, response) =>
        response.writeHead(401, { "content-type": "application/json" }).end(
          `{"error":{"code":"Authentication_InvalidCredentials","message":"The server has rejected the client credentials."}}`
        )
      )
      expect((yield* Effect.flip(read(command, at(server.origin, command.get("source")), { authorization }))).message).toContain(
        "it responded 401: check STOCK_SYNC_SOURCE_AUTHORIZATION"
      )
    }))

  it.effect("a next page with the name of the server behind a proxy is refused", () =>
    Effect.gen(function*() {
      const server = yield* host((_, response) =>
        response.setHeader("content-type", "application/json").end(
          JSON.stringify(items("http://nav", "http://nav:7048/BC/Items?$skiptoken='1'", [{ number: "1", inventory: 1 }]))
        )
      )
      expect((yield* Effect.flip(read(command, at(server.origin, command.get("source"))))).message).toContain(
        "its next page is at another origin, http://nav:7048, and is not followed"
      )
    }))

  it.effect("the response without --items says where the items are", () =>
    Effect.gen(function*() {
      const server = yield* host((_, response) =>
        response.setHeader("content-type", "application/json").end(
          JSON.stringify(items("http://bc", undefined, [{ number: "1", inventory: 1 }]))
        )
      )
      expect(
        (yield* Effect.flip(read(new Map([["id-column", "number"], ["stock-column", "inventory"]]), `${server.origin}/items`))).message
      )
        .toContain("it has the array \"value\"; select another path with --items")
    }))
})

describe("WooCommerce", () => {
  const [rest = new Map<string, string>(), csv = new Map<string, string>()] = commandsOf("WooCommerce")
  const pages = [[{ sku: "SOCK-M", stock_quantity: 5 }, { sku: "CAP", stock_quantity: null }], [{ sku: "MUG", stock_quantity: 0 }]]

  for (const hasLinks of [true, false]) {
    it.effect(`all pages of the products are read, ${hasLinks ? "by the links" : "by the number of pages, if a proxy removes the links"}`, () =>
      Effect.gen(function*() {
        const basic = `Basic ${Buffer.from("ck_example:cs_example").toString("base64")}`
        let origin = ""
        const server: Host = yield* host((url, response) => {
          const page = Number(url.searchParams.get("page") ?? "1")
          const next = new URL(url)
          next.searchParams.set("page", String(page + 1))
          response.setHeader("content-type", "application/json; charset=UTF-8")
          response.setHeader("x-wp-total", "3").setHeader("x-wp-totalpages", "2")
          if (hasLinks && page < 2) response.setHeader("link", `<${origin}${next.pathname}${next.search}>; rel="next"`)
          response.end(JSON.stringify(pages[page - 1] ?? []))
        })
        origin = server.origin
        expect(yield* read(rest, at(origin, rest.get("source")), { authorization: Redacted.make(basic) })).toEqual([
          ["SOCK-M", 5],
          ["CAP", "stock_quantity is null, which does not count as zero"],
          ["MUG", 0]
        ])
        expect(server.headers.map((headers) => headers.authorization)).toEqual([basic, basic])
      }))
  }

  it.effect("a page that is missing gives no row", () =>
    Effect.gen(function*() {
      const server = yield* host((_, response) =>
        response.setHeader("content-type", "application/json").setHeader("x-wp-total", "3").end(JSON.stringify(pages[0]))
      )
      expect((yield* Effect.flip(read(rest, at(server.origin, rest.get("source"))))).message).toContain(
        "x-wp-total is \"3\", and it has 2 items"
      )
    }))

  it.effect("the CSV export is read", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/${csv.get("source")}`
      yield* files.writeFileString(path,
        "\uFEFFID,Type,SKU,Name,Stock,Parent\n10,simple,SOCK-M,Sock,5,\n11,variable,CAP,Cap,,\n12,variation,CAP-L,Cap - L,2,CAP\n")
      expect(yield* read(csv, path)).toEqual([["SOCK-M", 5], ["CAP", "Stock is empty, which does not count as zero"], ["CAP-L", 2]])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})

describe("Shopify", () => {
  const [
    variants = new Map<string, string>(),
    location = new Map<string, string>(),
    rest = new Map<string, string>(),
    csv = new Map<string, string>()
  ] = commandsOf("Shopify")
  const extensions = {
    cost: {
      requestedQueryCost: 12,
      actualQueryCost: 4,
      throttleStatus: { maximumAvailable: 2000, currentlyAvailable: 1996, restoreRate: 100 }
    }
  }
  const pageInfo = (after: unknown) => ({
    hasNextPage: after === undefined,
    endCursor: after === undefined ? "eyJsYXN0X2lkIjoxfQ==" : "eyJsYXN0X2lkIjoyfQ=="
  })

  it.effect("all variants are read by the cursor of the query, each page with the access token", () =>
    Effect.gen(function*() {
      const [query = ""] = queries
      const rows = yield* readQuery(variants, query, (after) => ({
        data: {
          productVariants: {
            nodes: after === undefined
              ? [{ sku: "SOCK-M", inventoryQuantity: 4 }, { sku: "SOCK-L", inventoryQuantity: -1 }]
              : [{ sku: null, inventoryQuantity: 7 }, { sku: "CAP", inventoryQuantity: 0 }],
            pageInfo: pageInfo(after)
          }
        },
        extensions
      }))
      expect(rows).toEqual([["SOCK-M", 4], ["SOCK-L", 0], [undefined, "sku is null"], ["CAP", 0]])
    }))

  it.effect("the stock of one location is read by the cursor of the query", () =>
    Effect.gen(function*() {
      const [, query = ""] = queries
      const rows = yield* readQuery(location, query, (after) => ({
        data: {
          location: {
            inventoryLevels: {
              nodes: [{ item: { sku: after === undefined ? "SOCK-M" : "CAP" }, quantities: [{ quantity: after === undefined ? 4 : 0 }] }],
              pageInfo: pageInfo(after)
            }
          }
        },
        extensions
      }))
      expect(rows).toEqual([["SOCK-M", 4], ["CAP", 0]])
    }))

  it.effect("a location that is not there is null", () =>
    Effect.gen(function*() {
      const [, query = ""] = queries
      const { message } = yield* Effect.flip(readQuery(location, query, () => ({ data: { location: null }, extensions })))
      expect(message).toContain("data.location is null")
    }))

  it.effect("the variants of all products are read by the links, each page with the access token", () =>
    Effect.gen(function*() {
      let origin = ""
      const server: Host = yield* host((url, response) => {
        const isFirst = !url.searchParams.has("page_info")
        if (isFirst) response.setHeader("link",
            `<${origin}${url.pathname}?limit=250&fields=id%2Cvariants&page_info=eyJsYXN0X2lkIjoxfQ>; rel="next"`)
        else response.setHeader("link", `<${origin}${url.pathname}?limit=250&page_info=eyJkaXJlY3Rpb24iOiJwcmV2In0>; rel="previous"`)
        response.setHeader("content-type", "application/json; charset=utf-8").end(JSON.stringify({
          products: isFirst
            ? [{ id: 1, variants: [{ sku: "SOCK-M", inventory_quantity: 4 }, { sku: "SOCK-L", inventory_quantity: -1 }] }]
            : [{ id: 2, variants: [{ sku: "", inventory_quantity: 7 }] }, { id: 3, variants: [{ sku: "CAP", inventory_quantity: 0 }] }]
        }))
      })
      origin = server.origin
      const headers = Redacted.make({ "x-shopify-access-token": "shpat_example" })
      expect(yield* read(rest, at(origin, rest.get("source")), { headers })).toEqual([
        ["SOCK-M", 4],
        ["SOCK-L", 0],
        [undefined, "sku is empty"],
        ["CAP", 0]
      ])
      expect(server.headers.map((each) => each["x-shopify-access-token"])).toEqual(["shpat_example", "shpat_example"])
    }))

  it.effect("the inventory export is read", () =>
    Effect.gen(function*() {
      const files = yield* FileSystem.FileSystem
      const path = `${yield* files.makeTempDirectoryScoped()}/${csv.get("source")}`
      yield* files.writeFileString(path,
        "Handle,Title,SKU,Location,Available (not editable),On hand (current)\nsock,Sock,SOCK-M,Shop,10,12\nsock,Sock,SOCK-L,Shop,not stocked,not stocked\n")
      expect(yield* read(csv, path)).toEqual([["SOCK-M", 10], ["SOCK-L", "Available (not editable) \"not stocked\" is not a number"]])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)))
})

describe("redirects", () => {
  it.effect("are followed up to five times", () =>
    Effect.gen(function*() {
      const files = yield* host((_, response) => response.setHeader("content-type", "text/csv").end("productId,stock\nSOCK-1,12\n"))
      const hops = (count: number) =>
        host((url, response) => {
          const hop = Number(url.searchParams.get("hop") ?? "1")
          response.writeHead(302, { location: hop < count ? `/?hop=${hop + 1}` : files.origin }).end()
        })
      expect(yield* read(new Map(), `${(yield* hops(5)).origin}/`)).toEqual([["SOCK-1", 12]])
      expect((yield* Effect.flip(read(new Map(), `${(yield* hops(6)).origin}/`))).message).toContain("it redirects too often")
    }))
})

describe("the guide", () => {
  it("has a tested command for each service", () => {
    const sections = Array.from(guide.matchAll(/^## (.*)$/gm), ([, title = ""]) => [title, commandsOf(title).length])
    expect(sections).toEqual([["Google Sheets", 2], ["Google Drive", 1], ["Dropbox", 1], ["Business Central", 1], ["WooCommerce", 2], [
      "Shopify",
      4
    ]])
  })

  it("names formats that exist", () => {
    for (const [, format = ""] of guide.matchAll(/--format (\w+)/g)) expect(Format.all).toContain(format)
  })
})
