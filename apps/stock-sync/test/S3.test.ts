/** Objects of an S3 server as sources. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Option, Redacted, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import * as Open from "../src/source/Open.ts"
import type { S3Credentials } from "../src/source/remote/S3.ts"
import { listening } from "./support/listening.ts"
import { all, containing, good } from "./support/reading.ts"
import * as S3 from "./support/s3.ts"

const options = {
  idColumn: "productId",
  stockColumn: "stock",
  timeout: Duration.seconds(30),
  settle: Duration.zero,
  unfinishedWait: Duration.zero
}
const csv = "productId,stock\nA,1\nB,2\n"
const rows = [good(2, "A", 1), good(3, "B", 2)]
const credentials: S3Credentials = { accessKeyId: S3.accessKeyId, secretAccessKey: Redacted.make(S3.secretAccessKey) }

interface More extends Partial<Open.SourceOptions> {
  readonly credentials?: S3Credentials | undefined
  readonly region?: string
}

/** The source with the right keys unless others are given. */
const sourceAt = (endpoint: string, source: string, { region = "us-east-1", ...more }: More = {}) =>
  Open.make({
    ...options,
    source,
    s3: { endpoint, region },
    remoteSecrets: { sftp: {}, credentials: "credentials" in more ? more.credentials : credentials },
    ...more
  })
const readAt = (...given: Parameters<typeof sourceAt>) =>
  Effect.scoped(Effect.gen(function*() {
    const source = yield* sourceAt(...given)
    return yield* all(Option.getOrThrow(yield* source.open(Option.none())).rows)
  }))
const refusal = (...given: Parameters<typeof sourceAt>) => Effect.flip(readAt(...given))

const inTest = <A, E>(test: Effect.Effect<A, E, Effect.Services<ReturnType<typeof readAt>> | Scope.Scope>) =>
  test.pipe(Effect.scoped, Effect.provide(NodeServices.layer))

describe("an object of an S3 server", () => {
  it.live("is read with a signature, and only when it has changed", () =>
    inTest(Effect.gen(function*() {
      const { endpoint, put } = yield* S3.scoped
      yield* put("out/stock.csv", csv)
      const source = yield* sourceAt(endpoint, "s3://shop/out/stock.csv")
      expect(source.name).toBe("s3://shop/out/stock.csv")
      const first = Option.getOrThrow(yield* source.open(Option.none()))
      expect(yield* all(first.rows)).toEqual(rows)
      expect(yield* source.open(first.version)).toEqual(Option.none())
      yield* put("out/stock.csv", `${csv}C,3\n`)
      expect(yield* all(Option.getOrThrow(yield* source.open(first.version)).rows)).toEqual([...rows, good(4, "C", 3)])
    })))

  it.live("may have any key and format, and may be compressed", () =>
    inTest(Effect.gen(function*() {
      const { endpoint, put } = yield* S3.scoped
      for (const key of ["a b+c%20&ü(1)'!.csv", "deep/er/=,;:@$.csv", "q?#.csv"]) {
        yield* put(key, csv)
        // A question mark is a wildcard too, which the mark itself matches.
        expect([key, yield* readAt(endpoint, `s3://shop/${key}`)]).toEqual([key, rows])
      }
      yield* put("stock.csv.gz", new Uint8Array(gzipSync(csv)))
      expect(yield* readAt(endpoint, "s3://shop/stock.csv.gz")).toEqual(rows)
      yield* put("stock.json", `[{"productId":"A","stock":1}]`)
      expect(yield* readAt(endpoint, "s3://shop/stock.json")).toEqual([good(1, "A", 1)])
    })))

  it.live("of a pattern is the newest, and messages name it", () =>
    inTest(Effect.gen(function*() {
      const { endpoint, put, setTime } = yield* S3.scoped
      for (const name of ["stock-1.csv", "stock-3.csv", "stock-2 ü.csv", "stock-9/not.csv", "note.txt"]) {
        yield* put(`out/${name}`, csv)
        yield* setTime(`out/${name}`, 1_000)
      }
      yield* put("stock-9.csv", csv)
      yield* put("out/stock-1.csv", "productId,stock\nNEW,7\n")
      yield* setTime("out/stock-1.csv", 2_000)
      expect(yield* readAt(endpoint, "s3://shop/out/stock-*.csv")).toEqual([good(2, "NEW", 7)])
      yield* put("out/stock-2 ü.csv", "id\n1\n")
      expect(yield* refusal(endpoint, "s3://shop/out/stock-*.csv")).toMatchObject({ message: containing("s3://shop/out/stock-2 ü.csv") })
      expect(yield* readAt(endpoint, "s3://shop/out/stock-?.csv")).toEqual([good(2, "NEW", 7)])
      expect(yield* refusal(endpoint, "s3://shop/other-*")).toMatchObject({ message: containing("there is no file with such a name") })
    })))

  it.live("waits for its done marker, a key beside it", () =>
    inTest(Effect.gen(function*() {
      const { endpoint, put } = yield* S3.scoped
      yield* put("out/stock.csv", csv)
      expect(yield* refusal(endpoint, "s3://shop/out/stock.csv", { doneMarker: "*.done" })).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("its done marker out/stock.csv.done does not exist")
      })
      yield* put("out/stock.csv.done", "")
      expect(yield* readAt(endpoint, "s3://shop/out/stock.csv", { doneMarker: "*.done" })).toEqual(rows)
      expect(yield* readAt(endpoint, "s3://shop/out/*", { doneMarker: "*.done" })).toEqual(rows)
    })))

  it.live("without keys is read if it is public", () =>
    inTest(Effect.gen(function*() {
      const { endpoint, put } = yield* S3.scoped
      yield* put("stock.csv", csv)
      expect(yield* readAt(endpoint, "s3://shop/stock.csv", { credentials: undefined })).toEqual(rows)
    })))

  it.live("is refused with what to do if it is missing or the keys are wrong, without a secret", () =>
    inTest(Effect.gen(function*() {
      const { endpoint, put } = yield* S3.scoped
      yield* put("stock.csv", csv)
      const source = "s3://shop/stock.csv"
      expect(yield* refusal(endpoint, "s3://shop/none.csv")).toMatchObject({
        _tag: "SourceError",
        message: containing("there is no such file")
      })
      expect(yield* refusal(endpoint, "s3://none/stock.csv")).toMatchObject({
        message: containing("there is no bucket none: correct --source")
      })
      const unknown = yield* refusal(endpoint, source, { credentials: { ...credentials, accessKeyId: "AKIANONE" } })
      expect(unknown).toMatchObject({
        _tag: "SourceError",
        message: containing("does not know the access key: correct STOCK_SYNC_S3_ACCESS_KEY_ID")
      })
      const wrong = yield* refusal(endpoint, source, { credentials: { ...credentials, secretAccessKey: Redacted.make("hidden") } })
      expect(wrong).toMatchObject({ _tag: "SourceError", message: containing("correct STOCK_SYNC_S3_SECRET_ACCESS_KEY") })
      expect(JSON.stringify(wrong)).not.toContain("hidden")
      expect(yield* refusal(endpoint, "s3://KEY:hidden@shop/stock.csv")).toMatchObject({
        message: containing("s3://shop/stock.csv: put keys into")
      })
      expect(yield* refusal(endpoint, source, { credentials: { accessKeyId: "AKIA" } })).toMatchObject({
        message: containing("set STOCK_SYNC_S3_SECRET_ACCESS_KEY or AWS_SECRET_ACCESS_KEY too")
      })
      expect(yield* refusal("ftp://x", source)).toMatchObject({ message: containing("correct --s3-endpoint") })
      expect(yield* refusal(endpoint, "s3://shop/")).toMatchObject({ message: containing("it names a folder") })
    })))
})

/** A server that responds as a test says, and what it was asked. */
const serving = (respond: (request: IncomingMessage, response: ServerResponse) => void) =>
  Effect.gen(function*() {
    const asked: Array<string> = []
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`)
      respond(request, response)
    })
    return { asked, endpoint: `http://127.0.0.1:${yield* listening(server)}` }
  })

const head = { etag: "\"1\"", "last-modified": "Sat, 28 Nov 2026 11:00:00 GMT", "content-length": String(csv.length) }

describe("a response of S3", () => {
  for (
    const [code, status, more, sentence] of [
      ["AccessDenied", 403, "", "the access key may not read it: allow it s3:GetObject"],
      ["RequestTimeTooSkewed", 403, "", "the clock of this machine differs too much"],
      ["ExpiredToken", 400, "", "the session token has expired"],
      ["PermanentRedirect", 301, "<Endpoint>x</Endpoint>", "its bucket is at another endpoint: correct --s3-region"],
      [
        "AuthorizationHeaderMalformed",
        400,
        "<Region>eu-central-1</Region>",
        "its bucket is in the region eu-central-1, not us-east-1: set --s3-region"
      ],
      ["InvalidObjectState", 403, "", "it is in an archive"],
      ["Whatever", 400, "<Message>two\nlines &amp; more</Message>", "the server responded 400 Whatever: two lines & more"]
    ] as const
  ) {
    it.live(`that is the error ${code} is one sentence`, () =>
      inTest(Effect.gen(function*() {
        const { asked, endpoint } = yield* serving((request, response) => {
          response.writeHead(status, { "content-type": "application/xml" })
          response.end(request.method === "HEAD" ? undefined : `<?xml version="1.0"?>\n<Error><Code>${code}</Code>${more}</Error>`)
        })
        expect(yield* refusal(endpoint, "s3://shop/stock.csv")).toMatchObject({ _tag: "SourceError", message: containing(sentence) })
        expect(asked).toEqual(["HEAD /shop/stock.csv", "GET /shop/stock.csv"])
      })))
  }

  it.live("that lists a page of many names says where the next begins", () =>
    inTest(Effect.gen(function*() {
      const page = (names: ReadonlyArray<string>, next = "") =>
        `<?xml version="1.0"?>\n<ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${next !== ""}</IsTruncated>${
          next === "" ? "" : `<NextContinuationToken>${next}</NextContinuationToken>`
        }${
          names.map((name, index) =>
            `<Contents><Key>out/${name}</Key><LastModified>2026-11-28T11:00:0${index}.000Z</LastModified><Size>1</Size></Contents>`
          ).join("")
        }</ListBucketResult>`
      const { asked, endpoint } = yield* serving((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? "", "http://host")
        if (pathname === "/shop") {
          response.end(
            searchParams.get("continuation-token") === "a/+=" ? page(["a.csv", "c%20%C3%BC.csv"]) : page(["z.csv", "b.csv"], "a/+=")
          )
        } else {
          response.writeHead(200, head)
          response.end(request.method === "HEAD" ? undefined : csv)
        }
      })
      expect(yield* readAt(endpoint, "s3://shop/out/*.csv")).toEqual(rows)
      // Of two with the same time, the last by name.
      expect(asked).toEqual([
        "GET /shop?delimiter=%2F&encoding-type=url&list-type=2&prefix=out%2F",
        "GET /shop?continuation-token=a%2F%2B%3D&delimiter=%2F&encoding-type=url&list-type=2&prefix=out%2F",
        "HEAD /shop/out/c%20%C3%BC.csv",
        "GET /shop/out/c%20%C3%BC.csv"
      ])
    })))

  it.live("that is cut short is not used", () =>
    inTest(Effect.gen(function*() {
      const { endpoint } = yield* serving((request, response) => {
        response.writeHead(200, head)
        if (request.method === "HEAD") response.end()
        else response.write(csv.slice(0, -4), () => response.destroy())
      })
      expect(yield* refusal(endpoint, "s3://shop/stock.csv")).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("the response was cut short; no row of it was used")
      })
    })))

  it.live("that is of another version than was found is not used", () =>
    inTest(Effect.gen(function*() {
      const { endpoint } = yield* serving((request, response) => {
        response.writeHead(200, { ...head, etag: request.method === "HEAD" ? "\"1\"" : "\"2\"" })
        response.end(request.method === "HEAD" ? undefined : csv)
      })
      expect(yield* refusal(endpoint, "s3://shop/stock.csv")).toMatchObject({
        _tag: "SourceUnreachable",
        message: containing("was changed while it was read")
      })
    })))

  it.live("that comes from a server that falls silent fails after the time for that", () =>
    inTest(Effect.gen(function*() {
      const { endpoint } = yield* serving((request, response) => {
        response.writeHead(200, head)
        if (request.method === "HEAD") response.end()
        else response.write(csv.slice(0, 5))
      })
      expect(yield* refusal(endpoint, "s3://shop/stock.csv", { timeout: Duration.millis(50) })).toMatchObject({
        message: containing("no response for 50ms; no row of it was used")
      })
    })))
})
