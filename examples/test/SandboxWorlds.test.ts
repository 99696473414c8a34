/** The fixture for Node in docs/sandbox-in-tests.md. */
import { startSandbox } from "@plaza/sandbox/promise"
import { afterAll, test } from "vitest"

const sandbox = await startSandbox({ port: 0, freezeClock: true })
afterAll(() => sandbox.close())

/** The code under test. It may be repeated, so it tries again after a failure of the service. */
const setStock = async (baseUrl: string, apiKey: string, product: string, stock: number): Promise<void> => {
  const url = `${baseUrl}/store/products/${encodeURIComponent(product)}/stock`
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" }
  for (let attempt = 1;; attempt++) {
    const { status } = await fetch(url, { method: "PATCH", headers, body: JSON.stringify({ stock }) })
    if (status < 400) return
    if (status < 500 || attempt === 3) throw new Error(`the stock of ${product} is not set: ${status}`)
  }
}

test.concurrent("tries again after failures of the service", async ({ expect }) => {
  await using world = await sandbox.worlds.create()
  await world.addFault({
    kind: "sequence",
    method: "PATCH",
    outcomes: [
      { kind: "status", when: "before", status: 503 },
      { kind: "status", when: "after", status: 500 },
      { kind: "pass" }
    ]
  })
  await setStock(world.baseUrl, world.apiKey, "0042", 7)
  expect(await world.countRequests({ method: "PATCH", path: "/store/products/0042/stock" })).toBe(3)
  // The second attempt took effect, although its caller received a 500.
  expect(await world.countRequests({ operation: "setStock", status: "200" })).toBe(2)
})

test.concurrent("does not try again after a refusal", async ({ expect }) => {
  await using world = await sandbox.worlds.create()
  await expect(setStock(world.baseUrl, world.apiKey, "unknown", 7)).rejects.toThrow("404")
  expect(await world.countRequests({ operation: "setStock", status: "4*" })).toBe(1)
})
