/** `plaza stock` and `plaza orders`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { Store } from "@plaza-legacy/client"
import { OrderId, ProductId } from "@plaza-legacy/domain/Ids"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Text from "@plaza/cli-kit/Text"
import * as Values from "@plaza/cli-kit/Values"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { commonOptions, text, withClient } from "./CommonOptions.ts"
import { importOf } from "./Import.ts"

const product = Args.text({ name: "PRODUCT" }).pipe(Args.withDescription("The id of the product."))

// No separators or exponents, which are ambiguous, and no number that is too long to be exact.
const stockArgument = Args.text({ name: "N" }).pipe(
  Args.withDescription("The stock."),
  Values.argument((written) => {
    const stock = Number(written)
    return /^-?\d{1,15}(\.\d+)?$/.test(written) && Number.isFinite(stock)
      ? Either.right(stock)
      : Either.left(`the stock must be a number such as 12, not "${Text.excerpt(written)}"`)
  })
)

const set = Command.make("set", { product, stock: stockArgument, ...commonOptions },
  ({ product, stock, ...flags }) =>
    withClient(flags, Effect.gen(function*() {
      const store = yield* Store
      const updated = yield* store.setStock(ProductId.make(product), stock)
      const output = yield* Output
      yield* output.one(updated, [["id", updated.id], ["stock", updated.stock ?? stock]])
    }))).pipe(Command.withDescription(describe({ summary: "Set the stock of a product.", examples: ["stock set MUG-BLUE-350 12"] })))

export const stock = Command.make("stock").pipe(
  Command.withDescription(describe({
    summary: "Set the stock of products.",
    examples: ["stock set MUG-BLUE-350 12", "stock import stock.csv"]
  })),
  Command.withSubcommands([
    set,
    importOf("stock", "productId and stock", "stock import stock.csv", "stock import - --format ndjson --json")
  ])
)

const order = Args.text({ name: "ORDER" }).pipe(Args.withDescription("The id of the order."))

const ship = Command.make("ship", {
  order,
  carrier: text("carrier", "NAME", "The carrier."),
  trackingNumber: text("tracking-number", "N", "The tracking number."),
  ...commonOptions
}, ({ carrier, order, trackingNumber, ...flags }) =>
  withClient(flags, Effect.gen(function*() {
    const store = yield* Store
    const shipped = yield* store.ship(OrderId.make(order), { carrier, trackingNumber })
    const output = yield* Output
    yield* output.one(shipped, [["id", shipped.id], ["carrier", shipped.carrier ?? carrier], [
      "trackingNumber",
      shipped.trackingNumber ?? trackingNumber
    ]])
  }))).pipe(Command.withDescription(describe({
    summary: "Mark an order as shipped.",
    details: ["Exits with 5 if the order is already shipped."],
    examples: ["orders ship 500001 --carrier DHL --tracking-number 00340434161094042557"]
  })))

export const orders = Command.make("orders").pipe(
  Command.withDescription(describe({
    summary: "Ship orders.",
    examples: ["orders ship 500001 --carrier DHL --tracking-number 00340434161094042557", "orders import shipments.csv"]
  })),
  Command.withSubcommands([
    ship,
    importOf("orders", "orderId, carrier and trackingNumber", "orders import shipments.csv", "orders import shipments.csv --dry-run")
  ])
)
