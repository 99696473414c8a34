/** `plaza verify`: checks the rules of the interface's document against a service. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Flag from "effect/cli/Flag"
import { command } from "./Definition.ts"

const optional = (name: string, metavar: string, description: string) => Flag.optional(Flags.text(name, metavar, description))

const flags = {
  write: Flags.boolean("write", "Also send the writes of the named test objects, and only of those."),
  product: optional("product", "ID", "With --write: set the stock of this product to --stock. The stock before can't be read or restored."),
  stock: Flag.optional(
    Flags.wholeNumber("stock", {
      min: 0,
      description: "The stock that --product gets (default: 0). Its current stock changes nothing."
    })
  ),
  order: optional("order", "ID", "With --write: ship this order, twice. It can't be undone."),
  conversation: optional("conversation", "ID", "With --write: send a message in this conversation. It can't be undone."),
  user: optional("user", "ID", "With --write: follow this user. The interface can't undo it."),
  post: optional("post", "ID", "With --write: like this post and comment on it. The interface can't undo it."),
  report: optional("report", "FILE", "Write the report to this file as JSON, with every rule."),
  html: optional("html", "FILE", "Write the report to this file as an HTML page, with every rule."),
  assumptionsOut: optional("assumptions-out", "FILE", "Write what was learnt to this file, for plaza sandbox start --assumptions."),
  all: Flags.boolean("all", "Print every rule, also the confirmed and the not observable ones.").pipe(Flag.withAlias("a")),
  plan: Flags.boolean("plan", "Print the requests and what each write changes. Sends nothing and writes no files.")
}

export const verify = command(
  "verify",
  {
    summary: "Check the rules of the interface against a service.",
    details: [
      "Sends some 30 requests, one every 5 seconds, which takes about three minutes: a tenth of the rate limit. Reads only, unless --write " +
      "names test objects. Checks whether the service confirms or contradicts each rule, or whether the rule is not observable. Prints the " +
      "contradicted rules and what it learnt of the points that the document leaves open; with --all every rule. Stops when the service " +
      "rejects the key (exit code 4) or limits the rate (6). Exits with 1 if a rule is contradicted."
    ],
    examples: [
      "verify --plan",
      "verify --report verify.json --assumptions-out service.json",
      "verify --write --product 0042 --stock 7 --user 1005 --html verify.html"
    ],
    output: "verify"
  },
  flags,
  () => import("./VerifyHandlers.ts").then(({ verify }) => verify)
)
