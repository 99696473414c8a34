/** Turns changes of a running worker into notifications, and batches them. Pure. */
import type { ProductId } from "@plaza/domain/Ids"
import * as DateTime from "effect/DateTime"
import type { Account } from "../ledger/Ledger.ts"
import type { Figures } from "../ledger/snapshot/DropGuard.ts"
import type { Failure } from "../sync/SyncStatus.ts"
import type { Change } from "./Status.ts"

export interface Product {
  readonly productId: ProductId
  readonly value: number
  /** Why the service refuses the value; absent if it accepts it. */
  readonly code?: string
  readonly message?: string
}

/**
 * - `product.quarantined`, `product.healed`: the service refuses the stock of a product, and accepts it again.
 * - `product.uncertain`: nobody knows which stock of a product the store has: the response showed another one, or a proxy refused it.
 * - `snapshot.held`, `snapshot.healed`: the drop guard holds a snapshot, and a later one is accepted.
 * - `account.paused`, `account.healed`: the service refuses all requests, and accepts them again.
 */
export type Facts =
  | {
    readonly type: "product.quarantined" | "product.uncertain" | "product.healed"
    readonly products: ReadonlyArray<Product>
    readonly more: number
  }
  | { readonly type: "snapshot.held"; readonly snapshot: number; readonly rows: number; readonly figures: Figures }
  | { readonly type: "snapshot.healed"; readonly rows: number; readonly changed: number }
  | { readonly type: "account.paused"; readonly code: string; readonly message: string }
  | { readonly type: "account.healed" }

export type Notification = Facts & {
  /** A batch has the time of its first event. */
  readonly at: DateTime.Utc
  /** Undefined until the service has confirmed the account. */
  readonly account: Account | undefined
}

const longestMessage = 300

const factsOfFailure = ({ code, message, tag }: Failure) => ({ code: code ?? tag, message: message.slice(0, longestMessage) })

const factsOf = ({ before, event, isRepeated }: Change): Facts | undefined => {
  if (event._tag === "Sent") {
    const { failure, outcome, productId, value, wasQuarantined } = event
    if (outcome === "confirmed" && wasQuarantined) return { type: "product.healed", products: [{ productId, value }], more: 0 }
    if (isRepeated || failure === undefined) return undefined
    const type = outcome === "quarantined" ? "product.quarantined" : "product.uncertain"
    return { type, products: [{ productId, value, ...factsOfFailure(failure) }], more: 0 }
  }
  if (event._tag === "SnapshotHeld" && !isRepeated) {
    return { type: "snapshot.held", snapshot: event.held.number, rows: event.rows, figures: event.held.figures }
  }
  if (event._tag === "SnapshotAccepted" && before.source.held !== undefined) {
    return { type: "snapshot.healed", rows: event.rows, changed: event.result.changed }
  }
  if (event._tag !== "AccountChanged") return undefined
  if (event.account._tag === "Paused" && !before.isRefused) return { type: "account.paused", ...factsOfFailure(event.account.failure) }
  return event.account._tag === "Running" && before.isRefused ? { type: "account.healed" } : undefined
}

/** The notification of a change; undefined if it has none or repeats an earlier one. */
export const notificationOf = (change: Change): Notification | undefined => {
  const facts = factsOf(change)
  return facts === undefined ? undefined : { ...facts, at: change.event.at, account: change.before.owner }
}

/** The largest number of products in one delivery. */
export const mostProducts = 50
/** The largest number of notifications that wait. */
export const mostWaiting = 100

const batched = (last: Notification, next: Notification): Notification | undefined => {
  if (!("products" in last && "more" in last && "more" in next) || last.type !== next.type || last.account?.id !== next.account?.id)
    return undefined
  const products = [...last.products, ...next.products]
  return { ...last, products: products.slice(0, mostProducts), more: last.more + next.more + Math.max(0, products.length - mostProducts) }
}

/**
 * Adds a notification to those that wait. Joins it with the last one if both have products and the same type. Drops the oldest if too many
 * wait.
 */
export const add = (
  waiting: ReadonlyArray<Notification>,
  notification: Notification
): { readonly waiting: ReadonlyArray<Notification>; readonly dropped: number } => {
  const last = waiting.at(-1)
  const batch = last === undefined ? undefined : batched(last, notification)
  if (batch !== undefined) return { waiting: [...waiting.slice(0, -1), batch], dropped: 0 }
  const all = [...waiting, notification]
  const dropped = Math.max(0, all.length - mostWaiting)
  return { waiting: all.slice(dropped), dropped }
}

/** The body of a delivery. */
export const toJson = ({ account, at, type, ...facts }: Notification): string =>
  JSON.stringify({
    type,
    timestamp: DateTime.formatIso(at),
    // Without the fingerprint of the key.
    data: { account: account === undefined ? null : { baseUrl: account.baseUrl, id: account.id ?? null }, ...facts }
  })
