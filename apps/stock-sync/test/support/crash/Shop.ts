/**
 * A shop on a socket and a data file, as a process of its own, until it is stopped: `Shop.ts DATA PRODUCTS LIMIT`. Notes every stock that
 * takes effect, in that order, in a table beside its own. Prints its address and a key. Knows nothing of who calls.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Sandbox } from "@plaza/sandbox"
import Database from "better-sqlite3"
import { Duration, Effect, Redacted } from "effect"
import { writeSync } from "node:fs"
import { argv } from "node:process"

const [, , data = "", products = "0", limit = "0"] = argv

const planted = Sandbox.layerServer({
  data,
  fixtures: { products: Array.from({ length: Number(products) }, (_, index) => ({ id: `P${index}`, stock: 0 })) }
})

// The sandbox keeps its file to itself while it runs, so it is planted, given the trigger, and started anew.
const note = Effect.sync(() => {
  const database = new Database(data)
  database.exec(`
    CREATE TABLE applied (n INTEGER PRIMARY KEY, product TEXT NOT NULL, stock INTEGER NOT NULL, at INTEGER NOT NULL);
    CREATE TRIGGER note AFTER UPDATE OF stock ON products BEGIN
      INSERT INTO applied (product, stock, at) VALUES (new.id, new.stock, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER));
    END`)
  database.close()
})

const assumptions = { requestsPerWindow: Number(limit), rateWindow: Duration.seconds(1), dailyQuota: 1_000_000_000 }

const serve = Effect.flatMap(Sandbox.Sandbox, ({ apiKey, baseUrl, controlUrl }) => {
  writeSync(1, `${JSON.stringify({ baseUrl, origin: new URL(controlUrl).origin, apiKey: Redacted.value(apiKey) })}\n`)
  return Effect.never
})

NodeRuntime.runMain(
  Effect.provide(Sandbox.Sandbox, planted).pipe(
    Effect.zipRight(note),
    Effect.zipRight(Effect.provide(serve, Sandbox.layerServer({ data, assumptions })))
  )
)
