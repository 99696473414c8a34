/** `plaza stock` and `plaza orders`: the store. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import { UsageError } from "@plaza/cli-kit/CliError"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import { OrderId, ProductId } from "@plaza/domain/Ids"
import * as Effect from "effect/Effect"
import { connect } from "../Connection.js"
import { flags, text, withOutput } from "../Flags.js"
import { importOf } from "./Import.js"

// Strict, for a comma or an exponent means one thing here and another there. What is too long for an exact number is refused as well.
const stockOf = (written: string): Effect.Effect<number, UsageError> => {
  const stock = Number(written)
  return /^-?\d{1,15}(\.\d+)?$/.test(written) && Number.isFinite(stock)
    ? Effect.succeed(stock)
    : Effect.fail(new UsageError({ message: `the stock has to be a number such as 12, and "${written}" is none` }))
}

const product = Args.text({ name: "PRODUCT" }).pipe(Args.withDescription("The id of the product."))
const stockArgument = Args.text({ name: "N" }).pipe(Args.withDescription("The stock, in pieces."))

const set = Command.make("set", { product, written: stockArgument, ...flags },
  ({ product, written, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const stock = yield* stockOf(written)
      const { store } = yield* connect(flags)
      const updated = yield* store.setStock(ProductId.make(product), stock)
      const output = yield* Output
      yield* output.one(updated, [["id", updated.id], ["stock", updated.stock ?? stock]])
    }))).pipe(Command.withDescription(about("Set the stock of a product.", "stock set MUG-BLUE-350 12")))

export const stock = Command.make("stock").pipe(
  Command.withDescription(about("Set the stock of products.", "stock set MUG-BLUE-350 12")),
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
  ...flags
}, ({ carrier, order, trackingNumber, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const { store } = yield* connect(flags)
    const shipped = yield* store.ship(OrderId.make(order), { carrier, trackingNumber })
    const output = yield* Output
    yield* output.one(shipped, [["id", shipped.id], ["carrier", shipped.carrier ?? carrier], [
      "trackingNumber",
      shipped.trackingNumber ?? trackingNumber
    ]])
  }))).pipe(Command.withDescription(about(
    "Mark an order as shipped. An order that is shipped already is a conflict.",
    "orders ship 500001 --carrier DHL --tracking-number 00340434161094042557"
  )))

export const orders = Command.make("orders").pipe(
  Command.withDescription(about("Ship orders.", "orders ship 500001 --carrier DHL --tracking-number 00340434161094042557")),
  Command.withSubcommands([
    ship,
    importOf("orders", "orderId, carrier and trackingNumber", "orders import shipments.csv", "orders import shipments.csv --dry-run")
  ])
)
