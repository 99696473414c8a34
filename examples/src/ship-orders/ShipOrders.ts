/**
 * Ships the orders of a CSV file, and continues after an interruption. The service accepts one shipment for each order, so a second
 * request changes nothing. A conflict after a request with an unknown outcome shows that the order is shipped, and not with which
 * number: it is listed as shipped, not verified.
 */
import { ClientError, FailureScope, Store } from "@plaza/client"
import { OrderId } from "@plaza/domain"
import { parse } from "csv-parse/sync"
import { Context, Effect, Layer, Schema, SchemaIssue } from "effect"
import { SqlClient, type SqlError, SqlSchema } from "effect/sql"

const notEmpty = Schema.isNonEmpty({ message: "must not be empty" })

// A spreadsheet rounds a long number to 3.4E+14.
const notRounded = Schema.makeFilter((text: string) =>
  !/^\d(?:[.,]\d+)?E\+\d+$/i.test(text) || "a spreadsheet has rounded the tracking number"
)

export const Row = Schema.Struct({
  orderId: OrderId.check(Schema.isTrimmed(), notEmpty),
  carrier: Schema.Trimmed.check(notEmpty),
  trackingNumber: Schema.Trimmed.check(notEmpty, notRounded)
})
export type Row = typeof Row.Type

/** Invalid rows. Nothing was sent. */
export class InvalidFile extends Schema.TaggedError<InvalidFile>()("InvalidFile", { message: Schema.String }) {}

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row), { errors: "all" })

const toIssues = SchemaIssue.makeFormatterStandardSchemaV1()

const describe = ({ issue }: Schema.SchemaError) =>
  toIssues(issue).issues
    .map(({ message, path = [] }) => `row ${Number(path[0] ?? 0) + 1}, ${typeof path[1] === "string" ? path[1] : ""}: ${message}`)
    .join("\n")

/** Reads all rows before the first one is sent. */
export const readRows = Effect.fn("ShipOrders.readRows")(function*(csv: string) {
  const records: unknown = yield* Effect.try({
    try: () => parse(csv, { bom: true, columns: true, trim: true }),
    catch: (error) => new InvalidFile({ message: error instanceof Error ? error.message : String(error) })
  })
  const rows = yield* Effect.mapError(decodeRows(records), (error) => new InvalidFile({ message: describe(error) }))
  const twice = rows.filter(({ orderId }, index) => rows.findIndex((row) => row.orderId === orderId) !== index)
  return twice.length === 0
    ? rows
    : yield* new InvalidFile({ message: twice.map(({ orderId }) => `order ${orderId}: more than one row`).join("\n") })
})

/**
 * - `sending`: a request may have been sent. The next run sends it again.
 * - `shipped`: the service has accepted this shipment.
 * - `shipped, not verified`: the order is shipped, perhaps with another carrier and number. A person compares it.
 * - `shipped before`: the order was shipped before the first request, by someone else.
 * - `refused`: the service refuses the order. After a correction, delete the entry and run the program again.
 */
const State = Schema.Literals(["sending", "shipped", "shipped, not verified", "shipped before", "refused"])

const Entry = Schema.Struct({ ...Row.fields, orderId: OrderId, state: State, detail: Schema.String })
export type Entry = typeof Entry.Type

/** What happened to each order, in a database. */
export class Journal extends Context.Service<Journal, {
  readonly entries: Effect.Effect<ReadonlyArray<Entry>, SqlError.SqlError | Schema.SchemaError>
  readonly record: (entry: Entry) => Effect.Effect<void, SqlError.SqlError>
  readonly remove: (orderId: OrderId) => Effect.Effect<void, SqlError.SqlError>
}>()("ship-orders/Journal") {
  static readonly layer = Layer.effect(
    Journal,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TABLE IF NOT EXISTS shipments (
        orderId TEXT PRIMARY KEY, carrier TEXT NOT NULL, trackingNumber TEXT NOT NULL, state TEXT NOT NULL, detail TEXT NOT NULL)`
      const findAll = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Entry,
        execute: () => sql`SELECT orderId, carrier, trackingNumber, state, detail FROM shipments ORDER BY orderId`
      })
      return Journal.of({
        entries: findAll(),
        record: (entry) =>
          Effect.asVoid(sql`INSERT INTO shipments ${sql.insert({ ...entry })}
            ON CONFLICT (orderId) DO UPDATE SET carrier = excluded.carrier, trackingNumber = excluded.trackingNumber,
              state = excluded.state, detail = excluded.detail`),
        remove: (orderId) => Effect.asVoid(sql`DELETE FROM shipments WHERE orderId = ${orderId}`)
      })
    })
  )
}

/** By the category, because the service may have codes that are newer than this program. */
const isAboutOrder = (failure: ClientError.Failure) => ["NotFound", "InvalidRequest"].includes(ClientError.categoryOf(failure))

const shipRow = Effect.fn("ShipOrders.shipRow")(function*({ orderId, ...shipment }: Row, mayBeSent: boolean) {
  const { ship } = yield* Store
  const journal = yield* Journal
  const record = (state: Entry["state"], detail = "") => journal.record({ orderId, ...shipment, state, detail })
  yield* record("sending")
  yield* Effect.matchEffect(ship(orderId, shipment), {
    onSuccess: () => record("shipped"),
    onFailure: (failure) => {
      if ("likely" in failure) return record("shipped, not verified", failure.message)
      // It stays in `sending`, and the next run sends it again.
      if (FailureScope.mayHaveHappened(failure)) return record("sending", failure.message)
      if (ClientError.categoryOf(failure) === "Conflict") {
        // A conflict with a newer code may mean another state, such as a cancelled order.
        const untouched = "code" in failure && failure.code === "CONFLICT" ? "shipped before" : "refused"
        return record(mayBeSent ? "shipped, not verified" : untouched, failure.message)
      }
      if (isAboutOrder(failure)) return record("refused", failure.message)
      // The failure concerns all orders, and the service has done nothing: it ends the run.
      return mayBeSent ? Effect.fail(failure) : Effect.andThen(journal.remove(orderId), Effect.fail(failure))
    }
  })
})

/** The result of a run. */
export interface Report {
  /** The entries of the orders of the file. */
  readonly entries: ReadonlyArray<Entry>
  /** Orders whose row has changed after their shipment. Their new carrier and number were not sent. */
  readonly changed: ReadonlyArray<OrderId>
}

/** Ships the orders that have no result yet, four at a time. A failure that concerns all orders ends the run. */
export const shipFile = Effect.fn("ShipOrders.shipFile")(function*(csv: string) {
  const journal = yield* Journal
  const rows = yield* readRows(csv)
  const before = new Map((yield* journal.entries).map((entry) => [entry.orderId, entry]))
  const open = rows.filter(({ orderId }) => (before.get(orderId)?.state ?? "sending") === "sending")
  yield* Effect.forEach(open, (row) => shipRow(row, before.has(row.orderId)), { concurrency: 4, discard: true })
  const after = new Map((yield* journal.entries).map((entry) => [entry.orderId, entry]))
  const entries = rows.flatMap(({ orderId }) => after.get(orderId) ?? [])
  const changed = rows.filter(({ carrier, orderId, trackingNumber }) => {
    const sent = after.get(orderId)
    return sent !== undefined && (sent.carrier !== carrier || sent.trackingNumber !== trackingNumber)
  }).map(({ orderId }) => orderId)
  const report: Report = { entries, changed }
  return report
})
