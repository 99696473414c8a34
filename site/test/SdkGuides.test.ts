/** The programs of the guides without Effect against the sandbox. */
import { startSandbox } from "@plaza/sandbox/promise"
import { createPlaza } from "@plaza/sdk"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { sendIfAllowed } from "../guides/ChatRulesSdk.ts"
import { postIfPossible } from "../guides/HandleErrorsSdk.ts"
import { postWithMedia } from "../guides/PostWithMediaSdk.ts"
import { shipOrders } from "../guides/ShipOrdersSdk.ts"

const start = async () => {
  const sandbox = await startSandbox()
  const { apiKey, baseUrl, fetch } = sandbox
  return { sandbox, plaza: createPlaza({ apiKey, baseUrl, fetch, retry: { delay: 1 }, logger: () => {} }) }
}

it("a post shows its files in the given order", async () => {
  const { plaza, sandbox } = await start()
  const folder = mkdtempSync(join(tmpdir(), "plaza-guides-"))
  const paths = ["mug.jpg", "shelf.jpg", "tea.jpg"].map((name) => join(folder, name))
  for (const path of paths) writeFileSync(path, path)
  const { id } = await postWithMedia(plaza, "Back.", paths)
  const { media, posts } = await sandbox.state()
  const names = posts.find((post) => post.id === id)?.mediaIds?.map((mediaId) => media.find((file) => file.id === mediaId)?.name)
  expect(names).toEqual(["mug.jpg", "shelf.jpg", "tea.jpg"])
  rmSync(folder, { recursive: true })
})

it("orders are shipped once, and each has a state", async () => {
  const { plaza, sandbox } = await start()
  const shipment = (order: string) => ({ order, carrier: "DHL", trackingNumber: `T-${order}` })
  const [one = "", two = "", three = "", four = ""] = (await sandbox.state()).orders.map(({ id }) => id)
  await shipOrders(plaza, [shipment(one)])
  const fault = { kind: "status", when: "after", status: 503, path: "/store/orders/*/ship" } as const
  await sandbox.addFault(fault)
  expect(await shipOrders(plaza, [shipment(three)])).toEqual([{ order: three, state: "check the tracking number" }])
  await sandbox.addFault({ ...fault, times: 5 })
  expect(await shipOrders(plaza, [shipment(four)])).toEqual([{ order: four, state: "check the order" }])
  expect(await shipOrders(plaza, [shipment(one), shipment("NO SUCH"), shipment(two)])).toEqual([
    { order: one, state: "already shipped" },
    { order: "NO SUCH", state: "unknown order" },
    { order: two, state: "shipped" }
  ])
  await sandbox.addFault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED" })
  await expect(shipOrders(plaza, [shipment(one)])).rejects.toMatchObject({ _tag: "StoreBlocked" })
})

it("a message is sent where the chat rules allow it", async () => {
  const { plaza, sandbox } = await start()
  const { keys: [key] } = await sandbox.state()
  const shop = key?.accountId ?? ""
  const person = await sandbox.createAccount({ username: "new.person" })
  const conversation = await sandbox.createConversation({ peerId: person.id })
  const send = () => sendIfAllowed(plaza, conversation, "Your order is on its way.")
  expect(await send()).toBe("wait for a message or a follow")
  await sandbox.setRelation(person.id, shop, { follows: true })
  expect(await send()).toBe("sent")
  await sandbox.addFault({ kind: "status", when: "after", status: 500, method: "POST" })
  expect(await send()).toBe("look before you send again")
  await sandbox.addFault({ kind: "status", when: "before", status: 404, method: "POST" })
  expect(await send()).toBe("forget the conversation")
  await sandbox.addFault({ kind: "status", when: "before", status: 403, code: "CHAT_PAUSED", method: "POST" })
  await expect(send()).rejects.toMatchObject({ category: "Forbidden" })
  await sandbox.setRelation(person.id, shop, { blocks: true })
  expect(await send()).toBe("stop")
})

it("a post is left out while the service can't accept it", async () => {
  const { plaza, sandbox } = await start()
  await sandbox.addFault({ kind: "status", when: "before", status: 403, code: "PROFILE_INCOMPLETE", method: "POST" })
  await expect(postIfPossible(plaza, "Back in stock.")).rejects.toMatchObject({ _tag: "ProfileIncomplete" })
  expect(await postIfPossible(plaza, "Back in stock.")).toMatchObject({ text: "Back in stock." })
  await sandbox.addFault({ kind: "status", when: "before", status: 429, retryAfter: "3600", method: "POST" })
  expect(await postIfPossible(plaza, "Back in stock.")).toBeUndefined()
})
