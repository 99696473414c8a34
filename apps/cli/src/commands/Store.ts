/** `plaza stock` and `plaza orders`. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Text from "@plaza/cli-kit/Text"
import * as Result from "effect/Result"
import { command, group } from "./Definition.ts"
import { importOf } from "./Import.ts"

const handlers = () => import("./StoreHandlers.ts")

// No separators or exponents, which are ambiguous, and no number that is too long to be exact.
const parseStock: Flags.Parse<number> = (written) => {
  const stock = Number(written)
  return /^-?\d{1,15}(\.\d+)?$/.test(written) && Number.isFinite(stock)
    ? Result.succeed(stock)
    : Result.fail(`the stock must be a number such as 12, not "${Text.excerpt(written)}"`)
}

const set = command(
  "set",
  { summary: "Set the stock of a product.", examples: ["stock set MUG-BLUE-350 12"], output: "setStock" },
  { product: Flags.argument("PRODUCT", "The id of the product."), stock: Flags.parsedArgument("N", "The stock.", parseStock) },
  () => handlers().then(({ set }) => set)
)

export const stock = group(
  "stock",
  { summary: "Set the stock of products.", examples: ["stock set MUG-BLUE-350 12", "stock import stock.csv"] },
  [set, importOf("stock", "productId and stock", "stock import stock.csv", "stock import - --format ndjson --json")]
)

const ship = command(
  "ship",
  {
    summary: "Mark an order as shipped.",
    details: ["Exits with 5 if the order is already shipped."],
    examples: ["orders ship 500001 --carrier DHL --tracking-number 00340434161094042557"],
    output: "shipOrder"
  },
  {
    order: Flags.argument("ORDER", "The id of the order."),
    carrier: Flags.text("carrier", "NAME", "The carrier."),
    trackingNumber: Flags.text("tracking-number", "N", "The tracking number.")
  },
  () => handlers().then(({ ship }) => ship)
)

export const orders = group(
  "orders",
  {
    summary: "Ship orders.",
    examples: ["orders ship 500001 --carrier DHL --tracking-number 00340434161094042557", "orders import shipments.csv"]
  },
  [
    ship,
    importOf("orders", "orderId, carrier and trackingNumber", "orders import shipments.csv", "orders import shipments.csv --dry-run")
  ]
)
