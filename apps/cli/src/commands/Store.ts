/** `plaza stock` and `plaza orders`. */
import * as Flags from "@plaza/cli-kit/Flags"
import { command, group } from "./Definition.ts"
import { importOf } from "./Import.ts"

const handlers = () => import("./StoreHandlers.ts")

const set = command(
  "set",
  {
    summary: "Set the stock of a product.",
    details: ["A stock is a whole number from 0, as in stock import. The interface states no bounds: plaza api sends any number."],
    examples: ["stock set MUG-BLUE-350 12"],
    output: "setStock"
  },
  {
    product: Flags.argument("PRODUCT", "The id of the product."),
    stock: Flags.parsedArgument("N", "The stock, in pieces.", Flags.parseWholeNumber("the stock", { min: 0 }))
  },
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
