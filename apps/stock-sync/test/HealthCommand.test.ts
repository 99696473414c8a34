/** `health`, as the health check of a container runs it. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import { run } from "./support/command.ts"

/** A port that responds to the paths with these statuses and bodies, and accepts requests to others without a response. */
const responding = (responses: Readonly<Record<string, readonly [status: number, body: string]>>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: Effect.Effect<void> }>((resume) => {
      const server = createServer(({ url = "" }, response) => {
        const [status, body] = responses[url] ?? [404, ""]
        response.writeHead(status).end(body)
      })
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({
          port: typeof address === "object" && address !== null ? address.port : 0,
          close: Effect.callback<void>((closed) => {
            server.closeAllConnections()
            server.close(() => closed(Effect.void))
          })
        }))
      })
    }),
    ({ close }) => close
  )

it.live("exits with 0 if the process lives, and with --ready only if it works", () =>
  Effect.gen(function*() {
    const { port } = yield* responding({
      "/healthz": [200, "ok\n"],
      "/readyz": [503, `{"ready":false,"reasons":["sourceFailing","ledgerFailing"]}`]
    })
    const url = `http://127.0.0.1:${port}`
    expect(yield* run(["health", "--port", String(port)], {})).toEqual({
      status: 0,
      stdout: `${url}/healthz responds with 200.\n`,
      stderr: ""
    })
    expect(yield* run(["health", "--ready"], { STOCK_SYNC_PORT: String(port) })).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringContaining(`${url}/readyz responds with 503: sourceFailing, ledgerFailing\n`) as string
    })
  }).pipe(Effect.scoped))

it.live("reaches a process that listens on every address, and prints JSON with --json", () =>
  Effect.gen(function*() {
    const { port } = yield* responding({ "/readyz": [200, `{"ready":true,"reasons":[]}`] })
    const result = yield* run(["health", "--ready", "--json"], { STOCK_SYNC_HOST: "0.0.0.0", STOCK_SYNC_PORT: String(port) })
    expect(result).toEqual({ status: 0, stdout: `{"url":"http://127.0.0.1:${port}/readyz","status":200}\n`, stderr: "" })
  }).pipe(Effect.scoped))

it.live("exits with 1 if nothing responds, and with 2 if the port is not set", () =>
  Effect.gen(function*() {
    const { close, port } = yield* responding({})
    yield* close
    expect(yield* run(["health", "--port", String(port)], {})).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`http://127.0.0.1:${port}/healthz does not respond\n`) as string
    })
    expect(yield* run(["health"], {})).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("use --port or STOCK_SYNC_PORT") as string
    })
  }).pipe(Effect.scoped))
