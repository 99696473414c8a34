/** The HTTP of Node: proxies, and what a failed connection says. */
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza } from "@plaza/sdk"
import * as Http from "node:http"
import * as Net from "node:net"
import { afterEach, expect, it, vi } from "vitest"
import { failureOf } from "./support/Outcome.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

const key = "k".repeat(50)

const listen = async (server: Net.Server): Promise<number> => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** A proxy that tunnels every connection to a port of this machine, and keeps the hosts that it was asked for. */
const startProxy = async (target: number) => {
  const asked: Array<string | undefined> = []
  const server = Http.createServer()
  server.on("connect", (request: Http.IncomingMessage, client: Net.Socket) => {
    asked.push(request.url)
    const service = Net.connect(target, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n")
      service.pipe(client).pipe(service)
    })
    service.on("error", () => client.destroy())
    client.on("error", () => service.destroy())
  })
  const port = await listen(server)
  return {
    asked,
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => void server.close(resolve))
    }
  }
}

it("requests go through the proxy of the option or of the environment, and those to this machine never", async () => {
  await using sandbox = await startSandbox({ port: 0, allowedHosts: ["shop.example"] })
  await using proxy = await startProxy(Number(new URL(sandbox.baseUrl).port))
  const options = { apiKey: sandbox.apiKey, baseUrl: "http://shop.example/open/v1", allowInsecureHttp: true }
  {
    await using plaza = createPlaza({ ...options, proxy: proxy.url })
    expect(await plaza.profiles.me()).toMatchObject({ username: "corner-shop" })
  }
  vi.stubEnv("HTTP_PROXY", proxy.url)
  {
    await using plaza = createPlaza(options)
    expect(await plaza.profiles.me()).toMatchObject({ username: "corner-shop" })
  }
  expect(proxy.asked).toEqual(["shop.example:80", "shop.example:80"])
  await using local = createPlaza({ ...options, baseUrl: sandbox.baseUrl, proxy: proxy.url })
  expect(await local.profiles.me()).toMatchObject({ username: "corner-shop" })
  expect(proxy.asked).toHaveLength(2)
})

it("a write without a connection never happened, and one whose connection broke is unknown", async () => {
  const server = Net.createServer((socket) => socket.once("data", () => socket.destroy()))
  const baseUrl = `http://127.0.0.1:${await listen(server)}/open/v1`
  await using plaza = createPlaza({ baseUrl, apiKey: key, retry: false })
  expect(await failureOf(plaza.chat.send("1", "Hello"))).toMatchObject({
    _tag: "OutcomeUnknown",
    mayHaveHappened: true,
    cause: { _tag: "ConnectionLost" }
  })
  await new Promise((resolve) => void server.close(resolve))
  expect(await failureOf(plaza.chat.send("1", "Hello"))).toMatchObject({
    _tag: "ConnectionFailed",
    reason: "ECONNREFUSED",
    mayHaveHappened: false
  })
})

it("the stack of an error has the line of the call", async () => {
  await using plaza = createPlaza({ baseUrl: "http://127.0.0.1:1/open/v1", apiKey: key, retry: false })
  const lookUp = async () => {
    const { username } = await plaza.profiles.get("1")
    return username
  }
  const { stack } = await failureOf(lookUp())
  expect(stack).toContain("lookUp")
})
