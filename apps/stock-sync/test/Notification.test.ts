import { describe, expect, it } from "@effect/vitest"
import { arrayOf, elementOf } from "@plaza/testing/Generators"
import * as Notification from "../src/observability/Notification.ts"
import { follow } from "../src/observability/Status.ts"
import { initial, type SyncEvent } from "../src/sync/SyncStatus.ts"
import { failure, id } from "./support/events.ts"
import { utc } from "./support/utc.ts"

const owner = { baseUrl: "https://shop.example/open/v1", id: "acc_1", keyFingerprint: "f1ngerprint" }
const missing = failure({ about: "product", tag: "NotFound", code: "NOT_FOUND", message: "no such product" })

const sent = (product: string, outcome: "confirmed" | "quarantined", wasQuarantined = false): SyncEvent => ({
  _tag: "Sent",
  productId: id(product),
  priority: "rest",
  wasQuarantined,
  wasUncertain: false,
  since: utc(0),
  value: 3,
  outcome,
  failure: outcome === "confirmed" ? undefined : missing
})
const figures = { soldOut: 60, fell: 0, rose: 0, missing: 1, catalogue: 100, zeroed: 0, reverted: 0 }
const held = (number: number): SyncEvent => ({
  _tag: "SnapshotHeld",
  rows: 100,
  held: { number, figures, since: utc(0), at: utc(0), confirmed: false },
  failure: failure()
})
const taken: SyncEvent = {
  _tag: "SnapshotAccepted",
  rows: 100,
  result: { rows: 100, changed: 2, rejected: 0, negative: 0, figures, missingKept: false }
}
const paused = (nextProbe: number): SyncEvent => ({
  _tag: "AccountChanged",
  account: { _tag: "Paused", since: utc(0), failure: failure(), nextProbe: utc(nextProbe) }
})
const running: SyncEvent = { _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } }

/** What is notified of these events, one a second. */
const notified = (...events: ReadonlyArray<SyncEvent>) => {
  const change = follow({ ...initial(utc(0)), owner })
  return events.flatMap((event, index) => {
    const notification = Notification.notificationOf(change({ ...event, at: utc(index * 1_000) }))
    return notification === undefined ? [] : [notification]
  })
}

const typesOf = (...events: ReadonlyArray<SyncEvent>) => notified(...events).map(({ type }) => type)

describe("a notification", () => {
  it("is of a product when it is quarantined, and when it is accepted again", () => {
    expect(
      notified(sent("A", "confirmed"), sent("A", "quarantined"), sent("B", "confirmed"), sent("A", "confirmed", true),
        sent("A", "confirmed"))
    ).toEqual([
      {
        type: "product.quarantined",
        at: utc(1_000),
        account: owner,
        products: [{ productId: "A", value: 3, code: "NOT_FOUND", message: "no such product" }],
        more: 0
      },
      { type: "product.healed", at: utc(3_000), account: owner, products: [{ productId: "A", value: 3 }], more: 0 }
    ])
  })

  it("is not repeated while a product is refused", () => {
    expect(typesOf(sent("A", "quarantined"), sent("A", "quarantined", true), sent("A", "confirmed", true))).toEqual([
      "product.quarantined",
      "product.healed"
    ])
  })

  it("is of a product that an earlier process had quarantined, when it is accepted", () => {
    expect(typesOf(sent("A", "confirmed", true))).toEqual(["product.healed"])
  })

  it("is of the first of several held snapshots, and of the one that is accepted after them", () => {
    expect(notified(taken, held(3), held(3), held(4), taken, taken)).toEqual([
      { type: "snapshot.held", at: utc(1_000), account: owner, snapshot: 3, rows: 100, figures },
      { type: "snapshot.held", at: utc(3_000), account: owner, snapshot: 4, rows: 100, figures },
      { type: "snapshot.healed", at: utc(4_000), account: owner, rows: 100, changed: 2 }
    ])
  })

  it("is of a paused account once, and of its end", () => {
    expect(
      notified(running, paused(1), paused(2), { _tag: "AccountChanged", account: { _tag: "Starting", since: utc(0) } }, running, running)
    )
      .toEqual([
        { type: "account.paused", at: utc(1_000), account: owner, code: "INVALID_API_KEY", message: "the key is revoked" },
        { type: "account.healed", at: utc(4_000), account: owner }
      ])
  })

  it("names the account once it is known", () => {
    const change = follow(initial(utc(0)))
    const accountOf = (event: SyncEvent) => Notification.notificationOf(change({ ...event, at: utc(0) }))?.account
    expect(accountOf(sent("A", "quarantined"))).toBeUndefined()
    expect(accountOf({ _tag: "AccountBound", owner })).toBeUndefined()
    expect(accountOf(sent("B", "quarantined"))).toEqual(owner)
  })
})

describe("notifications that wait", () => {
  const add = (notifications: ReadonlyArray<Notification.Notification>) =>
    notifications.reduce<{ readonly waiting: ReadonlyArray<Notification.Notification>; readonly dropped: number }>(
      ({ dropped, waiting }, next) => {
        const added = Notification.add(waiting, next)
        return { waiting: added.waiting, dropped: dropped + added.dropped }
      },
      { waiting: [], dropped: 0 }
    )

  it("are one delivery with the first products and the number of the rest", () => {
    const { dropped, waiting } = add(notified(...Array.from({ length: 120 }, (_, index) => sent(`P${index}`, "quarantined"))))
    expect(dropped).toBe(0)
    expect(waiting).toMatchObject([{ type: "product.quarantined", more: 120 - Notification.mostProducts }])
    expect(JSON.parse(Notification.toJson(waiting[0] ?? { type: "account.healed", at: utc(0), account: undefined }))).toMatchObject({
      type: "product.quarantined",
      timestamp: "1970-01-01T00:00:00.000Z",
      data: { account: { baseUrl: owner.baseUrl, id: owner.id }, products: { length: Notification.mostProducts }, more: 70 }
    })
  })

  const some = arrayOf(elementOf(["product.quarantined", "product.healed", "account.healed"] as const), { maxLength: 400 })

  it.prop("lose no product and no event but those that are counted as dropped, and keep their order", [some], ([types]) => {
    const all = types.map((type, at): Notification.Notification =>
      type === "account.healed"
        ? { type, at: utc(at), account: owner }
        : {
          type: type === "product.healed" ? type : "product.quarantined",
          at: utc(at),
          account: owner,
          products: [{ productId: id(`P${at}`), value: 0 }],
          more: 0
        }
    )
    const { dropped, waiting } = add(all)
    expect(waiting.length).toBeLessThanOrEqual(Notification.mostWaiting)
    const events = waiting.reduce((sum, each) => sum + ("more" in each ? each.products.length + each.more : 1), 0)
    if (dropped === 0) expect(events).toBe(all.length)
    else expect(waiting.length).toBe(Notification.mostWaiting)
    expect(waiting.every(({ at }, index) => index === 0 || at > (waiting[index - 1]?.at ?? 0))).toBe(true)
    expect(waiting.at(-1)?.type).toBe(all.at(-1)?.type)
  })
})
