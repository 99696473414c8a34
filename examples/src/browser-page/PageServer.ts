/**
 * Serves the page, and forwards its requests to the service. Browsers let a page call another origin only if that allows it by CORS
 * headers. The document shows none, and the sandbox sends none: so page and interface have one origin here. The server has no key.
 */
import {
  FileSystem,
  Headers,
  HttpClient,
  HttpClientRequest,
  HttpRouter,
  HttpServer,
  HttpServerRequest,
  HttpServerResponse,
  Path
} from "@effect/platform"
import { Effect, Option } from "effect"
import { rolldown } from "rolldown"

const fileOf = (name: string) => Effect.flatMap(Path.Path, (path) => path.fromFileUrl(new URL(name, import.meta.url)))

/** The program of the page as one file. Any bundler can make it. */
const bundle = Effect.flatMap(fileOf("Page.ts"), (input) =>
  Effect.promise(async () => {
    const made = await rolldown({
      input,
      platform: "browser",
      // The sources of this workspace. Leave it out with installed packages.
      resolve: {
        conditionNames: ["@plaza/source", "browser", "import", "default"],
        extensionAlias: { ".js": [".ts", ".js"] }
      }
    })
    const { output: [{ code }] } = await made.generate({ format: "es", minify: true })
    await made.close()
    return code
  }))

const requestHeaders = ["authorization", "content-type", "accept"]
const responseHeaders = ["content-type", "retry-after", "date", "x-request-id"]

const only = (names: ReadonlyArray<string>, headers: Headers.Headers) =>
  names.flatMap((name) => Option.match(Headers.get(headers, name), { onNone: () => [], onSome: (value) => [[name, value] as const] }))

/** Forwards a request of the page. Without a response of the service it is a 502, which the client treats as ambiguous. */
const forward = (baseUrl: string) =>
  Effect.gen(function*() {
    const { arrayBuffer, headers, method, url } = yield* HttpServerRequest.HttpServerRequest
    const client = yield* HttpClient.HttpClient
    const request = HttpClientRequest.make(method)(baseUrl + url.slice("/open/v1".length)).pipe(
      HttpClientRequest.setHeaders(only(requestHeaders, headers)),
      method === "GET"
        ? (same) => same
        : HttpClientRequest.bodyUint8Array(new Uint8Array(yield* arrayBuffer), headers["content-type"])
    )
    const response = yield* client.execute(request)
    const body = new Uint8Array(yield* response.arrayBuffer)
    const options = { status: response.status, headers: Headers.fromInput(only(responseHeaders, response.headers)) }
    return body.length === 0 ? HttpServerResponse.empty(options) : HttpServerResponse.uint8Array(body, options)
  }).pipe(Effect.catchAll(() => HttpServerResponse.empty({ status: 502 })))

/** Serves the page on the `HttpServer`, with the interface of `baseUrl` beside it. */
export const serve = (baseUrl: string) =>
  Effect.gen(function*() {
    const fs = yield* FileSystem.FileSystem
    const html = yield* fs.readFileString(yield* fileOf("index.html"))
    const code = yield* bundle
    const page = HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8" })
    yield* HttpRouter.empty.pipe(
      HttpRouter.get("/", page),
      HttpRouter.get("/page.js", HttpServerResponse.text(code, { contentType: "text/javascript; charset=utf-8" })),
      HttpRouter.all("/open/v1/*", forward(baseUrl)),
      HttpServer.serveEffect()
    )
  })
