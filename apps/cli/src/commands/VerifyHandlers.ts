/** What `plaza verify` does. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Node from "@plaza/client/node"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Verify from "../verify/Verify.ts"
import * as Client from "./Client.ts"

interface VerifyInput {
  readonly write: boolean
  readonly product: Option.Option<string>
  readonly stock: Option.Option<number>
  readonly order: Option.Option<string>
  readonly conversation: Option.Option<string>
  readonly user: Option.Option<string>
  readonly post: Option.Option<string>
  readonly report: Option.Option<string>
  readonly html: Option.Option<string>
  readonly assumptionsOut: Option.Option<string>
  readonly all: boolean
  readonly plan: boolean
}

/** The stock that the test product gets if none is named. */
const defaultStock = 0

/** The test objects that writes may change; undefined without `--write`. */
const objectsOf = Effect.fnUntraced(function*({ conversation, order, post, product, stock, user, write }: VerifyInput) {
  const named = { product, order, conversation, user, post }
  const given = Record.getSomes(named)
  const [first] = Object.keys(given)
  if (write && first === undefined) {
    return yield* new UsageError({
      message: `--write changes only test objects: name one with ${Object.keys(named).map((name) => `--${name}`).join(", ")}`
    })
  }
  if (!write && first !== undefined) {
    return yield* new UsageError({ message: `--${first} names a test object to change: add --write, or remove it` })
  }
  const unsendable = Object.entries(given).find(([, id]) => ["", ".", ".."].includes(id))
  if (unsendable !== undefined) {
    return yield* new UsageError({ message: `--${unsendable[0]} must be an id: not empty, and not "." or ".."` })
  }
  if (Option.isSome(stock) && Option.isNone(product)) {
    return yield* new UsageError({ message: "--stock is the stock of a test product: add --product, or remove it" })
  }
  return write ? { ...given, stock: Option.getOrElse(stock, () => defaultStock) } : undefined
})

export const verify = Effect.fnUntraced(function*(input: VerifyInput) {
  const objects = yield* objectsOf(input)
  if (input.plan) return yield* Verify.showPlan(objects)
  const options = {
    all: input.all,
    report: Option.getOrUndefined(input.report),
    html: Option.getOrUndefined(input.html),
    assumptions: Option.getOrUndefined(input.assumptionsOut)
  }
  yield* Effect.provide(Verify.run(objects, options), Layer.merge(Client.layer(), Node.layerConfig))
})
