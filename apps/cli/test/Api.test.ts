/**
 * `plaza api` on the wire: what is sent of a file, a field and a header, and what is shown of an answer.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Context, Effect, FileSystem, Layer } from "effect"
import { createServer, type IncomingHttpHeaders } from "node:http"
import { text } from "node:stream/consumers"
import { expect } from "vitest"
import { run } from "./support/Plaza.ts"

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

class Service extends Context.Service<Service, {
  readonly env: Readonly<Record<string, string>>
  readonly seen: Array<Seen>
}>()("@plaza/cli/test/Service") {}

const key = `key_${"x".repeat(40)}`
const envelope = { error: { code: "NOT_FOUND", message: "there is no such thing", thing: "x" } }

/** Tells the key again in a header, as a proxy may. */
const service = Layer.effect(
  Service,
  Effect.gen(function*() {
    const seen: Array<Seen> = []
    const server = yield* Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => {
          void text(request).then((body) => {
            seen.push({ method: request.method, url: request.url, headers: request.headers, body })
            const missing = request.url === "/open/v1/missing"
            response.writeHead(missing ? 404 : 200, {
              "content-type": "application/json",
              "x-request-id": "r1",
              "x-echo": request.headers.authorization ?? ""
            })
            response.end(JSON.stringify(missing ? envelope : { data: [{ id: "1" }], next_cursor: null }))
          })
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    return { env: { PLAZA_BASE_URL: `http://127.0.0.1:${port}/open/v1`, PLAZA_API_KEY: key }, seen }
  })
)

const api = (argv: ReadonlyArray<string>, stdin = "") =>
  Effect.gen(function*() {
    const { env, seen } = yield* Service
    const ended = yield* run(["api", ...argv], { env, stdin })
    expect(`${ended.stdout}${ended.stderr}`).not.toContain(key)
    return { ...ended, seen: seen.at(-1) }
  })

layer(service, { excludeTestServices: true })("plaza api", (it) => {
  it.effect("sends a file as it is, whatever is in it", () =>
    Effect.gen(function*() {
      const body = `{ "n": 12345678901234567890,\n"text": "ä" }\n`
      expect((yield* api(["POST", "/x", "--input", "-"], body)).seen).toMatchObject({
        method: "POST",
        url: "/open/v1/x",
        body,
        headers: { "content-type": "application/json", accept: "application/json", authorization: `Bearer ${key}` }
      })
      expect((yield* api(["PUT", "x", "--input", "-", "--header", "Content-Type: text/plain"], "{")).seen).toMatchObject({
        body: "{",
        headers: { "content-type": "text/plain" }
      })
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped({ prefix: "plaza-api-" })}/body`
      // No UTF-8.
      yield* fs.writeFile(file, new Uint8Array([0xff, 0xfe, 0]))
      expect((yield* api(["POST", "/x", "--input", file])).seen).toMatchObject({ headers: { "content-length": "3" } })
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("sends JSON without the byte order mark of its file, in UTF-8", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped({ prefix: "plaza-api-" })}/body`
      const body = `{ "text": "ä" }`
      for (const bytes of [Buffer.from(`\uFEFF${body}`), Buffer.from(`\uFEFF${body}`, "utf16le")]) {
        yield* fs.writeFile(file, bytes)
        expect((yield* api(["POST", "/x", "--input", file])).seen).toMatchObject({ body })
      }
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.effect("sends nothing to a whole URL", () =>
    Effect.gen(function*() {
      const { seen } = yield* Service
      const before = seen.length
      expect(yield* api(["GET", "https://x/me"])).toMatchObject({
        code: 2,
        stdout: "",
        stderr: "plaza: PATH is a path below the base URL, not a whole URL: write /me, and set another base URL with --base-url\n"
      })
      expect(seen).toHaveLength(before)
    }))

  it.effect("sends the given headers and no others", () =>
    Effect.gen(function*() {
      const { seen } = yield* api([
        "POST",
        "/x",
        "--field",
        "a=1",
        "--field",
        "b:=[2]",
        "--header",
        "X-Source: import",
        "--header",
        "accept: text/plain"
      ])
      expect(seen).toMatchObject({
        body: `{"a":"1","b":[2]}`,
        headers: { "x-source": "import", accept: "text/plain", authorization: `Bearer ${key}` }
      })
      expect((yield* api(["POST", "/x"])).seen).toMatchObject({ url: "/open/v1/x", body: "" })
      expect((yield* api(["GET", "/x?a=1", "--field", "b=2"])).seen).toMatchObject({ url: "/open/v1/x?a=1&b=2", body: "" })
    }))

  it.effect("reads all pages of a list, of the size that is asked for", () =>
    Effect.gen(function*() {
      expect(yield* api(["GET", "/x", "--field", "limit:=7", "--field", "a=1", "--paginate"])).toMatchObject({
        code: 0,
        stdout: `{"id":"1"}\n`,
        seen: { url: "/open/v1/x?a=1&limit=7" }
      })
    }))

  it.effect("shows the status and the headers before the body with --include, without the key that came back in them", () =>
    Effect.gen(function*() {
      const { stdout } = yield* api(["GET", "/x", "--include"])
      expect(stdout).toMatch(
        /^HTTP\/1\.1 200 OK\ncontent-type: application\/json\n(.+: .+\n)*x-echo: Bearer <redacted>\n(.+: .+\n)*\n\{"data":\[\{"id":"1"\}\],"next_cursor":null\}\n$/
      )
      const json = yield* api(["GET", "/x", "--include", "--json"])
      expect(JSON.parse(json.stdout)).toMatchObject({ status: 200, headers: { "x-request-id": "r1" }, body: { data: [{ id: "1" }] } })
    }))

  it.effect("fails by what the envelope of the answer says, and shows its head before that", () =>
    Effect.gen(function*() {
      const failed = yield* api(["GET", "/missing", "--include", "--json"])
      expect(failed.code).toBe(3)
      expect(JSON.parse(failed.stdout)).toMatchObject({ status: 404, headers: { "x-request-id": "r1" } })
      expect(JSON.parse(failed.stderr)).toMatchObject({
        error: { code: "NOT_FOUND", status: 404, message: "there is no such thing", details: { thing: "x" } }
      })
      expect((yield* api(["GET", "/missing", "--include"])).stdout).toMatch(/^HTTP\/1\.1 404 Not Found\n(.+: .+\n)+\n$/)
    }))
})
