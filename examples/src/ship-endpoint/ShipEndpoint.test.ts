/** The endpoint against the sandbox: each failure has its response, and nothing is shipped twice. */
import { createAdaptorServer, type ServerType } from "@hono/node-server"
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza, type Options, type Plaza } from "@plaza/sdk"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterEach, describe, expect, it, vi } from "vitest"
import { getPlaza } from "./Client.ts"
import { expressServer } from "./ExpressServer.ts"
import { honoServer } from "./HonoServer.ts"
import { POST } from "./NextRoute.ts"
import { shipOrder } from "./ShipOrder.ts"

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

const shipment = { carrier: "DHL", trackingNumber: "JD01" }
const order = "500001"

/** A sandbox, and the endpoint with a client of it that retries without delay. */
const start = async (options: Partial<Options> = {}) => {
  const sandbox = await startSandbox()
  const { apiKey, baseUrl, fetch } = sandbox
  const plaza = createPlaza({ apiKey, baseUrl, fetch, maxWait: "2s", retry: { times: 2, delay: 1 }, logger: () => {}, ...options })
  const app = honoServer(plaza)
  return {
    app,
    plaza,
    sandbox,
    post: async (id: string, body: unknown = shipment) => {
      const path = `/orders/${encodeURIComponent(id)}/ship`
      const response = await app.request(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) })
      const json: unknown = await response.json()
      return { status: response.status, retryAfter: response.headers.get("retry-after"), json }
    },
    /** The tracking numbers of an order, as the service was asked to store them and did. */
    shipped: async (id: string) => (await sandbox.state()).orders.find((each) => each.id === id)?.shipment?.trackingNumber,
    [Symbol.asyncDispose]: async () => {
      await plaza.close()
      await sandbox.close()
    }
  }
}

const path = "/store/orders/*/ship"

describe("the endpoint", () => {
  it("ships an order once", async () => {
    await using started = await start()
    const { post, shipped } = started
    expect(await post(order)).toEqual({ status: 200, retryAfter: null, json: { state: "shipped", ...shipment } })
    expect(await shipped(order)).toBe("JD01")
    expect(await post(order, { ...shipment, trackingNumber: "JD02" })).toMatchObject({ status: 409, json: { error: "already shipped" } })
    expect(await shipped(order)).toBe("JD01")
  })

  it("ships an order whose id has slashes", async () => {
    await using started = await start()
    const { post, sandbox, shipped } = started
    await sandbox.setOrder({ id: "SO/2026/7" })
    expect(await post("SO/2026/7")).toMatchObject({ status: 200 })
    expect(await shipped("SO/2026/7")).toBe("JD01")
  })

  it("responds with 404 for an unknown order", async () => {
    await using started = await start()
    expect(await started.post("NONE")).toEqual({ status: 404, retryAfter: null, json: { error: "unknown order" } })
  })

  it("responds with 400 for a body without a carrier and a tracking number, without a request to the service", async () => {
    await using started = await start()
    const { post, sandbox } = started
    for (const body of ["{", "", null, [], { carrier: "DHL" }, { ...shipment, trackingNumber: 5 }, { ...shipment, carrier: " " }])
      expect((await post(order, body)).status).toBe(400)
    expect(await post(order, { ...shipment, carrier: " " })).toMatchObject({ json: { error: "carrier must not be empty" } })
    expect(await sandbox.countRequests()).toBe(0)
  })

  it("responds with 202 when the service fails after it shipped the order: the next attempt meets a conflict", async () => {
    await using started = await start()
    const { post, sandbox, shipped } = started
    await sandbox.addFault({ kind: "status", when: "after", status: 503, path })
    expect(await post(order)).toEqual({ status: 202, retryAfter: null, json: { state: "shipped, check the tracking number" } })
    expect(await shipped(order)).toBe("JD01")
    expect(await sandbox.countRequests({ path })).toBe(2)
  })

  it("responds with 502 when every attempt fails, although the order is shipped", async () => {
    await using started = await start()
    const { post, sandbox, shipped } = started
    await sandbox.addFault({ kind: "status", when: "after", status: 503, path, times: 3 })
    expect(await post(order)).toEqual({ status: 502, retryAfter: null, json: { error: "the outcome is unknown, check the order" } })
    expect(await shipped(order)).toBe("JD01")
  })

  it("responds with 200 when a retry succeeds", async () => {
    await using started = await start()
    const { post, sandbox } = started
    await sandbox.addFault({ kind: "status", when: "before", status: 503, path, times: 2 })
    expect(await post(order)).toMatchObject({ status: 200 })
  })

  it("responds with 503 and the wait of the service after a 429", async () => {
    await using started = await start()
    const { post, sandbox, shipped } = started
    await sandbox.addFault({ kind: "status", when: "before", status: 429, retryAfter: "7200", path })
    expect(await post(order)).toEqual({ status: 503, retryAfter: "7200", json: { error: "try later" } })
    expect(await shipped(order)).toBeUndefined()
  })

  it("responds with 503 at once when the rate limit of the client is used up", async () => {
    vi.useFakeTimers()
    await using started = await start({ rateLimit: 1 })
    const { post, sandbox } = started
    expect(await post(order)).toMatchObject({ status: 200 })
    expect(await post("500002")).toEqual({ status: 503, retryAfter: "61", json: { error: "try later" } })
    expect(await sandbox.countRequests()).toBe(1)
    await vi.advanceTimersByTimeAsync(61_000)
    expect(await post("500002")).toMatchObject({ status: 200 })
  })

  it("responds with 503 when the service can't be reached", async () => {
    await using started = await start({ fetch: undefined, baseUrl: "http://127.0.0.1:1/open/v1" })
    expect(await started.post(order)).toEqual({ status: 503, retryAfter: "10", json: { error: "try later" } })
  })

  it("responds with 500 for a refusal of the account, and logs it", async () => {
    await using started = await start()
    const { post, sandbox } = started
    const write = vi.spyOn(process.stderr, "write").mockReturnValue(true)
    await sandbox.addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", path })
    expect(await post(order)).toEqual({ status: 500, retryAfter: null, json: { error: "the shop can't ship orders now" } })
    expect(write.mock.calls.map(([text]) => String(text))).toEqual([expect.stringContaining("\"_tag\":\"StoreBlocked\"")])
    write.mockRestore()
  })
})

/** A `fetch` whose requests stay open, with the signals of its requests. */
const silent = () => {
  const signals: Array<AbortSignal | null | undefined> = []
  const fetch: typeof globalThis.fetch = (_, init) => {
    signals.push(init?.signal)
    return new Promise(() => {})
  }
  return { fetch, signals }
}

/** Listens on a socket, for callers that close their connection. */
const listen = async (server: ServerType) => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    post: (id: string, body: object, signal?: AbortSignal) =>
      globalThis.fetch(`http://127.0.0.1:${port}/orders/${encodeURIComponent(id)}/ship`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        ...(signal === undefined ? {} : { signal })
      }),
    [Symbol.asyncDispose]: async () => {
      server.close()
      await once(server, "close")
    }
  }
}

describe("when the caller goes away, the request to the service ends", () => {
  it("or is not sent", async () => {
    await using started = await start()
    const { plaza, sandbox } = started
    expect(await shipOrder(plaza, order, shipment, AbortSignal.abort())).toMatchObject({ status: 499 })
    expect(await sandbox.countRequests()).toBe(0)
  })

  it.each([
    ["Hono", (plaza: Plaza) => createAdaptorServer({ fetch: honoServer(plaza).fetch })],
    ["Express", (plaza: Plaza) => createServer(expressServer(plaza))]
  ])("on %s", async (_, serverOf) => {
    const { fetch, signals } = silent()
    await using started = await start({ fetch })
    await using endpoint = await listen(serverOf(started.plaza))
    const caller = new AbortController()
    const response = endpoint.post(order, shipment, caller.signal)
    response.catch(() => {})
    await expect.poll(() => signals.length).toBe(1)
    caller.abort()
    await expect.poll(() => signals[0]?.aborted).toBe(true)
  })
})

it("Express responds as Hono does", async () => {
  await using started = await start({ rateLimit: 3 })
  await using endpoint = await listen(createServer(expressServer(started.plaza)))
  const post = async (id: string, body: object) => {
    const response = await endpoint.post(id, body)
    const json: unknown = await response.json()
    return [response.status, json, response.headers.has("retry-after")]
  }
  expect(await post(order, shipment)).toEqual([200, { state: "shipped", ...shipment }, false])
  expect(await post(order, shipment)).toEqual([409, { error: "already shipped" }, false])
  expect(await post("a/b", shipment)).toEqual([404, { error: "unknown order" }, false])
  expect(await post(order, shipment)).toEqual([503, { error: "try later" }, true])
  expect(await post(order, {})).toEqual([400, { error: "carrier and trackingNumber must be texts" }, false])
})

describe("with a sandbox on a socket", () => {
  const environment = async () => {
    const sandbox = await startSandbox({ port: 0 })
    return { sandbox, variables: { PLAZA_BASE_URL: sandbox.baseUrl, PLAZA_API_KEY: sandbox.apiKey } }
  }

  it("the route handler of Next ships an order", async () => {
    const { sandbox, variables } = await environment()
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    const post = async (id: string) => {
      const request = new Request(`http://shop.example/orders/${id}/ship`, { method: "POST", body: JSON.stringify(shipment) })
      const response = await POST(request, { params: Promise.resolve({ id }) })
      const json: unknown = await response.json()
      return [response.status, json]
    }
    expect(await post(order)).toEqual([200, { state: "shipped", ...shipment }])
    expect(await post("NONE")).toEqual([404, { error: "unknown order" }])
    expect(getPlaza()).toBe(getPlaza())
    await sandbox.close()
  })

  it("the script ships an order, and exits with 1 for a failure", async () => {
    const { sandbox, variables } = await environment()
    const root = fileURLToPath(new URL("../../..", import.meta.url))
    const ship = (id: string) =>
      promisify(execFile)(process.execPath, ["--conditions=@plaza/source", "examples/src/ship-endpoint/ship.ts", id, "DHL", "JD01"], {
        cwd: root,
        env: { ...process.env, ...variables }
      })
    expect((await ship(order)).stdout).toBe("{\"state\":\"shipped\",\"carrier\":\"DHL\",\"trackingNumber\":\"JD01\"}\n")
    await expect(ship(order)).rejects.toMatchObject({ code: 1, stdout: "{\"error\":\"already shipped\"}\n" })
    await sandbox.close()
  })
})
