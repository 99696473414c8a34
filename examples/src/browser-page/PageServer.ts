/**
 * Serves the page, and forwards its requests to the service. Browsers let a page call another origin only if that allows it by CORS
 * headers. The document shows none, and the sandbox sends none: so page and interface have one origin here. The server has no key.
 */
import { Effect, FileSystem, Option, Path } from "effect"
import { Headers, HttpClient, HttpClientRequest, HttpMethod, HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
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
const forward = (baseUrl: string, client: HttpClient.HttpClient) =>
  Effect.fn("PageServer.forward")(
    function*({ arrayBuffer, headers, method, url }: HttpServerRequest.HttpServerRequest) {
      if (!HttpMethod.isHttpMethod(method)) return HttpServerResponse.empty({ status: 405 })
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
    },
    Effect.orElseSucceed(() => HttpServerResponse.empty({ status: 502 }))
  )

/** The routes of the page, with the interface of `baseUrl` beside it. */
export const routes = (baseUrl: string) =>
  HttpRouter.use(Effect.fn(function*(router) {
    const fs = yield* FileSystem.FileSystem
    const client = yield* HttpClient.HttpClient
    const html = yield* fs.readFileString(yield* fileOf("index.html"))
    const code = yield* bundle
    yield* router.add("GET", "/", HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8" }))
    yield* router.add("GET", "/page.js", HttpServerResponse.text(code, { contentType: "text/javascript; charset=utf-8" }))
    yield* router.add("*", "/open/v1/*", forward(baseUrl, client))
  }))
