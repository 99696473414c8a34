/** The built program in an environment with proxy variables. */
import { NodeFileSystem } from "@effect/platform-node"
import { layer } from "@effect/vitest"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { expect } from "vitest"
import { environment, run } from "./support/Plaza.ts"

/** A company's proxy, which refuses addresses of this machine, and what it was asked for. */
const refusing = Effect.acquireRelease(
  Effect.callback<{ readonly address: string; readonly asked: ReadonlyArray<string | undefined>; readonly close: () => void }>((resume) => {
    const asked: Array<string | undefined> = []
    const server = createServer()
    server.on("connect", (request, socket) => {
      asked.push(request.url)
      socket.end("HTTP/1.1 403 Forbidden\r\n\r\n")
    })
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resume(Effect.succeed({ address: `127.0.0.1:${port}`, asked, close: () => void server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const commands = [["me"], ["--sandbox", "me"], ["sandbox", "faults", "list"], ["doctor"], ["verify", "--plan"]]

layer(Layer.merge(Sandbox.layerServer(), NodeFileSystem.layer))("a proxy variable", (it) => {
  it.effect("does not come between a command and a sandbox on this machine", () =>
    Effect.gen(function*() {
      const { address, asked } = yield* refusing
      for (const argv of commands) {
        const env = { ...yield* environment, HTTP_PROXY: address, HTTPS_PROXY: address }
        expect([argv, yield* run(argv, { env })]).toEqual([argv, expect.objectContaining({ code: 0 })])
      }
      expect(asked).toEqual([])
    }))

  for (const [name, value] of [["HTTP_PROXY", "socks5://user:secret@proxy"], ["https_proxy", "http://user:sec/ret@proxy:3128"]] as const) {
    it.effect(`ends commands with 2 and its name, if ${name} is ${value}`, () =>
      Effect.gen(function*() {
        for (const argv of [["me"], ["--sandbox", "me"], ["sandbox", "faults", "list"], ["api", "GET", "/me"], ["verify"]]) {
          const { code, stderr, stdout } = yield* run(argv, { env: { ...yield* environment, [name]: value } })
          expect([argv, code, stdout]).toEqual([argv, 2, ""])
          expect(stderr).toMatch(new RegExp(`^plaza: ${name} must be the address of an?`))
          expect(stderr).not.toMatch(/secret|sec.ret/)
        }
      }))
  }

  it.effect("whose proxy can't be reached is named in the remedy", () =>
    Effect.gen(function*() {
      const env = { ...yield* environment, PLAZA_BASE_URL: "https://service.test/open/v1", HTTPS_PROXY: "127.0.0.1:1" }
      const { code, stderr } = yield* run(["me"], { env })
      expect(code).toBe(7)
      expect(stderr).toContain("Check the proxy in HTTPS_PROXY")
    }))
})
