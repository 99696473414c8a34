/** A script: `node ship.ts ORDER CARRIER NUMBER` ships an order. */
import { createPlaza } from "@plaza/sdk"
import { shipOrder } from "./ShipOrder.ts"

const [order = "", carrier = "", trackingNumber = ""] = process.argv.slice(2)
const { body, status } = await shipOrder(createPlaza.fromEnv(), order, { carrier, trackingNumber })
process.stdout.write(`${JSON.stringify(body)}\n`)
process.exitCode = status < 300 ? 0 : 1
