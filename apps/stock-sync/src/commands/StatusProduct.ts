/** `status PRODUCT`: what is wanted, what the store has, why it is not sent and when it is, and the rows and rules behind it. */
import { Output } from "@plaza/cli-kit/Output"
import type { Row } from "@plaza/tabular/Stock"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { mismatchTag } from "../ledger/Entry.ts"
import { type HistoryEntry, Ledger, type ProductStatus } from "../ledger/Ledger.ts"
import { type Commands, LedgerCommands } from "../ledger/LedgerCommands.ts"
import { placeOf, type SnapshotPolicy } from "../ledger/Snapshot.ts"
import type { SourceOptions } from "../source/Open.ts"
import * as ProductRules from "../source/rules/ProductRules.ts"
import { type Snapshot, Source, type Unit } from "../source/Source.ts"
import * as Format from "./Format.ts"
import * as UnknownProduct from "./UnknownProduct.ts"
import * as WaitingSource from "./WaitingSource.ts"

/** Why a product is not sent now, and when it is. */
interface Explanation {
  readonly why: string
  readonly next: string
}

const atTime = (time: DateTime.Utc | undefined): string => Format.shortTime(time) ?? ""

/** Pure. The moments of the product decide, whatever a running worker does. */
export const explain = (status: ProductStatus, { retryProduct }: Pick<Commands, "retryProduct">): Explanation => {
  const { ahead, attempts, doubt, dueAt, listing, productId, refusal, state } = status
  const retry = `\`${retryProduct(productId)}\``
  const answered = Format.refusalText(refusal)
  if (listing === "excluded") return { why: "a rule excludes it", next: "when no rule excludes it" }
  switch (state) {
    case "sending":
      return { why: "a request is in flight", next: "now" }
    case "settled":
      return { why: "the store has the wanted stock", next: "when another stock is wanted" }
    case "quarantined":
      return { why: `the service refuses it: ${answered}`, next: `${atTime(dueAt)}, or after ${retry}` }
    case "uncertain":
      return {
        why: refusal?.tag === mismatchTag ? `the store may have another stock: ${answered}` : `a proxy refused it: ${answered}`,
        next: dueAt === undefined ? `when another stock is wanted, or after ${retry}` : `${atTime(dueAt)}, or after ${retry}`
      }
    case "doubtful":
    case "pending":
      return {
        why: dueAt !== undefined
          ? state === "doubtful" && doubt?.until !== undefined && attempts === 0
            ? "an earlier request may still take effect"
            : `the last attempt failed: ${answered}`
          : ahead === 0
          ? "it is the next one"
          : `${Format.count(ahead ?? 0, "product")} ${ahead === 1 ? "is" : "are"} sent before it`,
        next: dueAt === undefined ? "when the rate limit allows" : atTime(dueAt)
      }
  }
}

/** How the stock of a product comes about. */
interface Origin {
  readonly unit: Unit
  readonly rows: ReadonlyArray<Row>
  /** The rows of its components. */
  readonly components: ReadonlyArray<{ readonly productId: string; readonly quantity: number; readonly stock: number | undefined }>
  /** What each step leaves, in order. */
  readonly steps: ReadonlyArray<readonly [rule: string, stock: number]>
}

const percent = (share: number): string => `${share / 100}%`

/** The steps from a sum of rows, or of what components allow, to the stock that is sent. */
export const stepsOf = (sum: number, adjustment: ProductRules.Adjustment): Origin["steps"] => {
  const { atLeast = 0, buffer = 0, bufferShare = 0, max } = adjustment
  const buffered = ProductRules.adjust(sum, { buffer, bufferShare })
  const enough = ProductRules.adjust(sum, { buffer, bufferShare, atLeast })
  const sizes = [...(buffer > 0 ? [String(buffer)] : []), ...(bufferShare > 0 ? [percent(bufferShare)] : [])]
  return [
    ...(sizes.length === 0 ? [] : [[`buffer ${sizes.join(" or ")}`, buffered] as const]),
    ...(atLeast === 0 ? [] : [[`at least ${atLeast}`, enough] as const]),
    ...(max === undefined ? [] : [[`max ${max}`, ProductRules.adjust(sum, adjustment)] as const])
  ]
}

/** More rows would not help a reader. All of them count. */
const maxRows = 20

/** The source, and what it does with several rows of one product. */
export interface ConfiguredSource extends SourceOptions {
  readonly duplicates: SnapshotPolicy["duplicates"]
}

const sumOf = (rows: ReadonlyArray<Row>, duplicates: SnapshotPolicy["duplicates"]): number | undefined =>
  rows.length > 0 && (rows.length === 1 || duplicates === "sum") && rows.every((row) => row._tag === "Valid")
    ? rows.reduce((sum, row) => sum + (row._tag === "Valid" ? row.stock : 0), 0)
    : undefined

const originOf = (productId: string, snapshot: Snapshot, { duplicates }: ConfiguredSource) =>
  Effect.gen(function*() {
    const { adjustments = ProductRules.unadjusted, kits, rows, unit } = snapshot
    const parts = kits?.get(productId)
    const wanted = new Set<string | undefined>(parts === undefined ? [productId] : parts.keys())
    const found = yield* Stream.runCollect(Stream.filter(rows, (row) => wanted.has(row.productId)))
    const rowsOf = (id: string) => found.filter((row) => row.productId === id)
    const components = Array.from(parts ?? [], ([id, quantity]) => {
      const sum = sumOf(rowsOf(id), duplicates)
      return {
        productId: id,
        quantity,
        stock: sum === undefined ? undefined : ProductRules.adjust(sum, ProductRules.adjustmentOf(adjustments, id))
      }
    })
    const sum = parts === undefined
      ? sumOf(found, duplicates)
      : components.some(({ stock }) => stock === undefined)
      ? undefined
      : Math.min(...components.map(({ quantity, stock = 0 }) => Math.floor(stock / quantity)))
    return {
      unit,
      rows: found,
      components,
      steps: sum === undefined ? [] : [
        ...(parts === undefined ? found.length > 1 ? [["sum of its rows", sum] as const] : [] : [["possible kits", sum] as const]),
        ...stepsOf(sum, ProductRules.adjustmentOf(adjustments, productId))
      ]
    } satisfies Origin
  })

/** The rows and rules of the configured source; a message if it can't be read; none without a source. */
const readOrigin = (productId: string, source: ConfiguredSource | undefined) =>
  source === undefined
    ? Effect.succeed(Option.none<Origin | string>())
    : Effect.flatMap(Source,
      ({ open }) => Effect.flatMap(open(Option.none()), (snapshot) => originOf(productId, Option.getOrThrow(snapshot), source))).pipe(
        Effect.provide(WaitingSource.layer(source)),
        Effect.catch((failure) => Effect.succeed(failure.message)),
        Effect.map(Option.some<Origin | string>),
        Effect.scoped
      )

const listings: Readonly<Record<ProductStatus["listing"], string | undefined>> = {
  named: undefined,
  missing: "the source no longer names it, so it keeps its stock (--gone leave)",
  zeroed: "the source no longer names it, so its stock is 0 (--gone zero)",
  excluded: undefined
}

const requestText = ({ code, message, outcome, sentAt, value }: HistoryEntry): string =>
  `${value} at ${Format.shortTime(sentAt)}: ${outcome}${
    code === undefined ? "" : ` (${code}${message === undefined ? "" : `: ${message}`})`
  }`

const rowText = (row: Row): string =>
  row._tag === "Valid" ? `${row.productId}: ${row.stock}${row.negative === true ? " (below zero)" : ""}` : row.reason

export const run = Effect.fnUntraced(function*(productId: string, source: ConfiguredSource | undefined) {
  const output = yield* Output
  const ledger = yield* Ledger
  const commands = yield* LedgerCommands
  const status = yield* ledger.product(productId)
  const last = yield* Stream.runHead(ledger.history(Option.some(productId)))
  const issues = yield* Stream.runCollect(Stream.take(Stream.filter(ledger.rowIssues, (issue) => issue.productId === productId), maxRows))
  const { held, unit } = yield* ledger.snapshot
  const change = Option.isNone(held)
    ? Option.none()
    : yield* Stream.runHead(Stream.filter(ledger.heldChanges, (each) => each.productId === productId))
  // A product that was never accepted may have a rejected row.
  if (Option.isNone(status) && issues.length === 0 && Option.isNone(change)) return yield* UnknownProduct.failure([productId])
  const origin = Option.getOrUndefined(yield* readOrigin(productId, source))
  const explained = Option.getOrUndefined(Option.map(status, (found) => explain(found, commands)))
  const entry = Option.getOrUndefined(status)
  const read = typeof origin === "string" ? undefined : origin

  if (output.json) {
    return yield* output.value({
      productId,
      ...(entry === undefined ? { state: null } : { ...Format.entryJson(entry), listing: entry.listing, ahead: entry.ahead ?? null }),
      why: explained?.why ?? null,
      next: explained?.next ?? null,
      lastRequest: Option.getOrNull(Option.map(last, (request) => ({
        stock: request.value,
        sentAt: Format.isoTime(request.sentAt),
        endedAt: Format.isoTime(request.endedAt),
        outcome: request.outcome,
        code: request.code ?? null,
        message: request.message ?? null
      }))),
      rowIssues: issues.map(Format.issueJson),
      heldChange: Option.getOrNull(Option.map(change, ({ from, kind, to }) => ({ from, to, kind }))),
      source: origin === undefined ? null : typeof origin === "string" ? { error: origin } : {
        rows: origin.rows.map((row) => ({
          row: row.line,
          productId: row.productId ?? null,
          stock: row._tag === "Valid" ? row.stock : null,
          reason: row._tag === "Valid" ? null : row.reason
        })),
        components: origin.components.map((component) => ({ ...component, stock: component.stock ?? null })),
        rules: origin.steps.map(([rule, stock]) => ({ rule, stock }))
      }
    })
  }
  yield* output.one({}, [
    ["product", productId],
    ...(entry === undefined || explained === undefined ? [["state", "not accepted yet"] as const] : [
      ["state", entry.state] as const,
      ["wanted", entry.wanted] as const,
      ["confirmed", entry.confirmed === undefined ? "never" : `${entry.confirmed} at ${Format.shortTime(entry.confirmedAt)}`] as const,
      ["why", explained.why] as const,
      ["sent next", explained.next] as const,
      ...(listings[entry.listing] === undefined ? [] : [["source", listings[entry.listing] ?? ""] as const])
    ]),
    ["last request", Option.match(last, { onNone: () => "none in the history", onSome: requestText })],
    ...Option.match(change, {
      onNone: () => [],
      onSome: (
        { from, to }
      ) => [["held", `snapshot ${Option.isSome(held) ? held.value.number : ""} would change it from ${from} to ${to}`] as const]
    }),
    ...issues.map((issue) => [placeOf(issue, unit), issue.reason] as const),
    ...(typeof origin === "string" ? [["source", origin] as const] : []),
    ...(read?.rows ?? []).slice(0, maxRows).map((row) => [`${read?.unit ?? unit} ${row.line}`, rowText(row)] as const),
    ...((read?.rows.length ?? 0) > maxRows ? [["further rows", (read?.rows.length ?? 0) - maxRows] as const] : []),
    ...(read?.components ?? []).map(({ productId, quantity, stock }) => [`${quantity} x ${productId}`, stock ?? "not known"] as const),
    ...(read?.steps ?? [])
  ])
  if (source === undefined) {
    yield* output.note("set STOCK_SYNC_SOURCE, or the source in the config file, to see the rows and rules of the product")
  }
})
