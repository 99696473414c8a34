/** A server that repeats the secrets of its source, in any form and any place: no failure and no rejected row shows them. */
import { NodeServices } from "@effect/platform-node"
import { describe, expect, it } from "@effect/vitest"
import * as KeyEchoes from "@plaza/testing/KeyEchoes"
import { Duration, Effect, FileSystem, Option, Redacted } from "effect"
import type { ServerResponse } from "node:http"
import * as Open from "../src/source/Open.ts"
import { all, hurried } from "./support/reading.ts"
import { serving } from "./support/serving.ts"

const query = "query($after: String) { products(first: 2, after: $after) { nodes { sku stock } pageInfo { hasNextPage endCursor } } }"
const columns = { idColumn: "sku", stockColumn: "stock", timeout: Duration.hours(1) }

const json = (response: ServerResponse, text: string, status = 200) => {
  response.statusCode = status
  response.setHeader("content-type", "application/json").end(text)
}
const page = (nodes: string, info = "{\"hasNextPage\":false,\"endCursor\":null}") =>
  `{"data":{"products":{"nodes":[${nodes}],"pageInfo":${info}}}}`

/** Where a server repeats a text, which may have escapes of JSON. A header has them too. */
const places: Readonly<Record<string, (echo: string, response: ServerResponse) => void>> = {
  "the message of an error": (echo, response) => json(response, `{"errors":[{"message":"no access for ${echo}"}]}`),
  "an error that is a text": (echo, response) => json(response, `{"errors":"${echo}"}`, 400),
  "the code of an error": (echo, response) => json(response, `{"errors":[{"message":"no","extensions":{"code":"${echo}"}}]}`),
  "the end of a long message": (echo, response) => json(response, `{"errors":[{"message":"${"x".repeat(175)} ${echo}"}]}`),
  "data that is a text": (echo, response) => json(response, `{"data":"for ${echo}"}`),
  "a cursor that is none": (echo, response) => json(response, page("", `{"hasNextPage":true,"endCursor":{"a":"${echo}"}}`)),
  "a flag that is none": (echo, response) => json(response, page("", `{"hasNextPage":"${echo}"}`)),
  "the name of a field": (echo, response) => json(response, `{"${echo}":[1]}`),
  "a charset": (echo, response) => void response.setHeader("content-type", `application/json; charset="${echo}"`).end(page("")),
  "a content encoding": (echo, response) => void response.setHeader("content-encoding", echo).end(page("")),
  "the target of a redirect": (echo, response) => void response.writeHead(302, { location: `/login/${echo}?key=${echo}` }).end(),
  "another origin": (echo, response) => void response.writeHead(302, { location: `http://${echo}/` }).end(),
  "a stock": (echo, response) => json(response, page(`{"sku":"A","stock":"${echo}"},{"sku":"B","stock":"${"1".repeat(40)}${echo}"}`)),
  "the id of a rejected row": (echo, response) => json(response, page(`{"sku":"${echo}","stock":-1},{"sku":"${echo}","stock":null}`)),
  "a cell of CSV": (echo, response) => void response.setHeader("content-type", "text/csv").end(`sku,stock\nA,${echo}\n`),
  "a header line of CSV": (echo, response) => void response.setHeader("content-type", "text/csv").end(`sku,${echo}\nA,1\n`),
  "an HTML page": (echo, response) => void response.setHeader("content-type", "text/html").end(`<html><title>${echo}</title></html>`),
  "another array": (echo, response) => json(response, `{"${echo}":[{"a":1}],"x":{"${echo}":[{"a":1}]}}`),
  "the next page": (echo, response) => json(response, `{"data":[{"sku":"A","stock":1}],"next":"http://${echo}.example/"}`),
  "the status": (echo, response) => void response.writeHead(418, echo).end()
}

const shown = (source: string, more: Partial<Open.SourceOptions>) =>
  Effect.gen(function*() {
    const opened = yield* Open.make({ ...columns, source, ...more })
    const snapshot = Option.getOrThrow(yield* opened.open(Option.none()))
    return JSON.stringify(yield* all(snapshot.rows))
  }).pipe(Effect.scoped, Effect.catch(({ message }) => Effect.succeed(message)), hurried)

describe("a secret is not shown if a server repeats it in", () => {
  for (const [place, respond] of Object.entries(places)) {
    it.effect(place, () =>
      Effect.gen(function*() {
        const files = yield* FileSystem.FileSystem
        const graphql = `${yield* files.makeTempDirectoryScoped()}/stock.graphql`
        yield* files.writeFileString(graphql, query)
        let echo = ""
        const { origin } = yield* serving((_, response, request) => {
          request.resume().on("end", () => {
            try {
              respond(echo, response)
            } catch {
              // What no header can hold is sent by no server.
              response.writeHead(500).end()
            }
          })
        })
        for (const { form, key, name } of KeyEchoes.keyed()) {
          const ways: Readonly<Record<string, Partial<Open.SourceOptions>>> = {
            "a bearer": { authorization: Redacted.make(`Bearer ${key}`) },
            "a password": { authorization: Redacted.make(`Basic ${Buffer.from(`shop:${key}`).toString("base64")}`) },
            "a header": { headers: Redacted.make({ "x-token": key }) },
            "a cookie": { headers: Redacted.make({ cookie: `a=1; sid=${key}` }) }
          }
          for (const [way, secrets] of Object.entries(ways)) {
            echo = form(key)
            for (const more of [{}, { graphql }]) {
              const text = yield* shown(`${origin}/stock.json`, { ...secrets, ...more })
              expect({ name, way, isShown: KeyEchoes.isLeaking(text, key), text }).toMatchObject({ name, way, isShown: false })
            }
          }
        }
      }).pipe(Effect.provide(NodeServices.layer)), 120_000)
  }
})

it.effect("a message keeps what the server wrote beside a secret", () =>
  Effect.gen(function*() {
    const { origin } = yield* serving((_, response) =>
      json(response, `{"data":[{"sku":"A","stock":1}],"error":"the token abcdef-123456 has expired"}`)
    )
    expect(yield* shown(`${origin}/stock.json`, { authorization: Redacted.make("Bearer abcdef-123456") })).toContain(
      "the token <redacted> has expired"
    )
    expect(yield* shown(`${origin}/stock.json?api_key=abcdef-123456`, {})).toContain("the token <redacted> has expired")
  }).pipe(Effect.provide(NodeServices.layer)))

it.effect("an id that repeats a secret is read as it is, because it is what the source is read for", () =>
  Effect.gen(function*() {
    const { origin } = yield* serving((_, response) => json(response, `{"data":[{"sku":"abcdef-123456","stock":1}]}`))
    expect(yield* shown(`${origin}/stock.json`, { headers: Redacted.make({ "x-shop": "abcdef-123456" }) })).toContain("abcdef-123456")
  }).pipe(Effect.provide(NodeServices.layer)))
