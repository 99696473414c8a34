/** Turns events of a running worker into notifications, and batches them. Pure. */
import type { ProductId } from "@plaza-legacy/domain/Ids"
import * as DateTime from "effect/DateTime"
import type { Account } from "../ledger/Ledger.ts"
import type * as DropGuard from "../sync/DropGuard.ts"
import type { StampedEvent } from "../sync/SyncStatus.ts"

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
  | { readonly type: "snapshot.held"; readonly snapshot: number; readonly rows: number; readonly figures: DropGuard.Figures }
  | { readonly type: "snapshot.healed"; readonly rows: number; readonly changed: number }
  | { readonly type: "account.paused"; readonly code: string; readonly message: string }
  | { readonly type: "account.healed" }

export type Notification = Facts & {
  /** Milliseconds since the epoch. A batch has the time of its first event. */
  readonly at: DateTime.Utc
  /** Undefined until the service has confirmed the account. */
  readonly account: Account | undefined
}

/** Conditions that were notified and have not ended. */
export interface Before {
  readonly account: Account | undefined
  /** The number of the held snapshot. */
  readonly held: number | undefined
  readonly paused: boolean
}

export const initial: Before = { account: undefined, held: undefined, paused: false }

const longestMessage = 300

const factsOf = (event: StampedEvent, before: Before): Facts | undefined => {
  switch (event._tag) {
    case "Sent": {
      const { failure, outcome, productId, value, wasQuarantined, wasUncertain } = event
      if (outcome === "confirmed" && wasQuarantined) return { type: "product.healed", products: [{ productId, value }], more: 0 }
      const begins = (outcome === "quarantined" && !wasQuarantined) || (outcome === "uncertain" && !wasUncertain)
      if (!begins || failure === undefined) return undefined
      const { code, message, tag } = failure
      return {
        type: outcome === "quarantined" ? "product.quarantined" : "product.uncertain",
        products: [{ productId, value, code: code ?? tag, message: message.slice(0, longestMessage) }],
        more: 0
      }
    }
    case "SnapshotHeld": {
      const { figures, number } = event.held
      return before.held === number ? undefined : { type: "snapshot.held", snapshot: number, rows: event.rows, figures }
    }
    case "SnapshotAccepted":
      return before.held !== undefined ? { type: "snapshot.healed", rows: event.rows, changed: event.result.changed } : undefined
    case "AccountChanged": {
      const { account } = event
      if (account._tag === "Paused" && !before.paused) {
        const { code, message, tag } = account.failure
        return { type: "account.paused", code: code ?? tag, message: message.slice(0, longestMessage) }
      }
      return account._tag === "Running" && before.paused ? { type: "account.healed" } : undefined
    }
    case "AccountBound":
    case "LedgerChanged":
    case "SourceUnchanged":
    case "SourceFailed":
    case "Reconciled":
    case "ReconciliationFailed":
    case "Stopping":
      return undefined
  }
}

/** The notification of an event; undefined if it has none or repeats an earlier one. */
export const notificationOf = (event: StampedEvent, before: Before): Notification | undefined => {
  const facts = factsOf(event, before)
  return facts === undefined ? undefined : { ...facts, at: event.at, account: before.account }
}

/** The conditions after an event and its notification. */
export const after = (before: Before, event: StampedEvent, notification: Notification | undefined): Before => {
  const bound = event._tag === "AccountBound" ? { ...before, account: event.owner } : before
  switch (notification?.type) {
    case undefined:
    case "product.quarantined":
    case "product.uncertain":
    case "product.healed":
      return bound
    case "snapshot.held":
      return { ...bound, held: notification.snapshot }
    case "snapshot.healed":
      return { ...bound, held: undefined }
    case "account.paused":
    case "account.healed":
      return { ...bound, paused: notification.type === "account.paused" }
  }
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
