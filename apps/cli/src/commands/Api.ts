/** `plaza api`: any request, for operations that the document names without showing them. */
import * as Flags from "@plaza/cli-kit/Flags"
import * as Text from "@plaza/cli-kit/Text"
import * as Flag from "effect/cli/Flag"
import * as Result from "effect/Result"
import { command } from "./Definition.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const parseMethod: Flags.Parse<(typeof methods)[number]> = (written) =>
  Result.fromNullishOr(
    methods.find((method) => method === written.toUpperCase()),
    () => `METHOD must be one of ${methods.join(", ")}, not "${Text.excerpt(written)}"`
  )

export const api = command(
  "api",
  {
    summary: "Send any request and print the JSON of the response.",
    details: ["GET is retried after a fault of the service. Other methods are sent once if their outcome is unknown."],
    examples: [
      "api GET /me/posts --field limit=5",
      "api GET /store/products --paginate",
      "api PATCH /store/products/007/stock --field stock:=12",
      `api POST /posts --input post.json --header "X-Source: import" --include`
    ],
    output: "api"
  },
  {
    method: Flags.parsedArgument("METHOD", "GET, POST, PUT, PATCH or DELETE.", parseMethod),
    path: Flags.argument("PATH", "A path below the base URL, with percent-encoded ids."),
    fields: Flags.repeatable(
      "field",
      "K=V",
      "A field: name=text or name:=json. A query parameter for GET, else a field of the JSON body."
    ).pipe(Flag.withAlias("f")),
    input: Flags.text("input", "FILE", "Send this file unchanged as the body; - for standard input (default: no body).").pipe(
      Flag.optional
    ),
    headers: Flags.repeatable("header", "K:V", "A header, except the key's, host and length.").pipe(Flag.withAlias("H")),
    include: Flags.boolean("include", "Print the status and the headers of the response before the body.").pipe(Flag.withAlias("i")),
    paginate: Flags.boolean("paginate", "Read all pages of a list and print one item per line.")
  },
  () => import("./ApiHandlers.ts").then(({ api }) => api)
)
