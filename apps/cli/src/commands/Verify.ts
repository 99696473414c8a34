/** `plaza verify`: checks the rules of the interface's document against a service. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Connection from "../profiles/Connection.ts"
import { commonOptions, text, wholeNumber, withOutput } from "./CommonOptions.ts"

const defaultStock = 0

const object = (name: string, description: string) => Options.optional(text(name, "ID", description))

const file = (name: string, description: string) => Options.optional(text(name, "FILE", description))

export const verify = Command.make("verify", {
  write: Options.boolean("write").pipe(Options.withDescription("Also send the writes of the named test objects, and only of those.")),
  product: object("product", "With --write: set the stock of this product to --stock. The stock before can't be read or restored."),
  stock: Options.optional(
    wholeNumber("stock", {
      min: 0,
      description: `The stock that --product gets (default: ${defaultStock}). Its current stock changes nothing.`
    })
  ),
  order: object("order", "With --write: ship this order, twice. It can't be undone."),
  conversation: object("conversation", "With --write: send a message in this conversation. It can't be undone."),
  user: object("user", "With --write: follow this user. The interface can't undo it."),
  post: object("post", "With --write: like this post and comment on it. The interface can't undo it."),
  report: file("report", "Write the report to this file as JSON."),
  html: file("html", "Write the report to this file as an HTML page."),
  assumptionsOut: file("assumptions-out", "Write what was learnt to this file, for plaza sandbox start --assumptions."),
  plan: Options.boolean("plan").pipe(
    Options.withDescription("Print the requests and what each write changes. Sends nothing and writes no files.")
  ),
  ...commonOptions
},
  ({ assumptionsOut, conversation, html, order, plan, post, product, report, stock, user, write, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const named = { product, order, conversation, user, post }
      const given = Object.entries(named).find(([, value]) => Option.isSome(value))
      if (write && given === undefined) {
        return yield* new UsageError({
          message: `--write changes only test objects: name one with ${Object.keys(named).map((name) => `--${name}`).join(", ")}`
        })
      }
      if (!write && given !== undefined) {
        return yield* new UsageError({ message: `--${given[0]} names a test object to change: add --write, or remove it` })
      }
      const unsendable = Object.entries(named).find(([, value]) => Option.exists(value, (id) => id === "" || id === "." || id === ".."))
      if (unsendable !== undefined) {
        return yield* new UsageError({ message: `--${unsendable[0]} must be an id: not empty, and not "." or ".."` })
      }
      if (Option.isSome(stock) && Option.isNone(product)) {
        return yield* new UsageError({ message: "--stock is the stock of a test product: add --product, or remove it" })
      }
      const objects = write
        ? {
          product: Option.getOrUndefined(product),
          order: Option.getOrUndefined(order),
          conversation: Option.getOrUndefined(conversation),
          user: Option.getOrUndefined(user),
          post: Option.getOrUndefined(post),
          stock: Option.getOrElse(stock, () => defaultStock)
        }
        : undefined
      const { run, showPlan } = yield* Effect.promise(() => import("../verify/Verify.ts"))
      if (plan) return yield* showPlan(objects)
      const Node = yield* Effect.promise(() => import("@plaza-legacy/client/node"))
      yield* run(objects, {
        report: Option.getOrUndefined(report),
        html: Option.getOrUndefined(html),
        assumptions: Option.getOrUndefined(assumptionsOut)
      }).pipe(Effect.provide(Layer.merge(Connection.layer(flags), Node.layerConfig)))
    }))).pipe(Command.withDescription(describe({
      summary: "Check the rules of the interface against a service.",
      details: [
        "Sends some 30 requests, one every 5 seconds, which takes about three minutes: a tenth of the rate limit. Reads only, unless --write " +
        "names test objects. Reports each rule as confirmed, contradicted or not observable, and what it learnt of the points that the " +
        "document leaves open. Stops when the service rejects the key (exit code 4) or limits the rate (6). Exits with 1 if a rule is " +
        "contradicted."
      ],
      examples: [
        "verify --plan",
        "verify --report verify.json --assumptions-out service.json",
        "verify --write --product 0042 --stock 7 --user 1005 --html verify.html"
      ]
    })))
