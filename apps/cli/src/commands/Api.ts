/**
 * `plaza api`: any request, for operations that the document names without showing them. The key, the rate limit, the
 * delivery rules and the errors are those of every other command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { Plaza } from "@plaza-legacy/client"
import { UsageError } from "@plaza/cli-kit/CliError"
import { describe } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import * as Text from "@plaza/cli-kit/Text"
import * as Values from "@plaza/cli-kit/Values"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import { STATUS_CODES } from "node:http"
import * as Fields from "./api/Fields.ts"
import * as Headers from "./api/Headers.ts"
import * as RawHttp from "./api/RawHttp.ts"
import { commonOptions, text, withOutput, withServices } from "./CommonOptions.ts"
import * as Input from "./Input.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

const methodArgument = Args.text({ name: "METHOD" }).pipe(
  Args.withDescription("GET, POST, PUT, PATCH or DELETE."),
  Values.argument((written) =>
    Either.fromNullable(
      methods.find((method) => method === written.toUpperCase()),
      () => `METHOD must be one of ${methods.join(", ")}, not "${Text.excerpt(written)}"`
    )
  )
)

const require = (condition: boolean, message: string) => condition ? Effect.void : Effect.fail(new UsageError({ message }))

const formatHead = ({ headers, status }: RawHttp.ResponseHead): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trim(),
    ...Object.entries(headers).map(([name, value]) => Text.visible(`${name}: ${value}`)),
    ""
  ].join("\n")

/** The query of a list without its paging, which the client adds. */
const listQuery = ({ cursor, limit, ...query }: Readonly<Record<string, string>>) =>
  cursor === undefined
    ? Either.map(
      limit === undefined
        ? Either.right(undefined)
        : Either.mapLeft(
          Values.wholeNumber("the limit of a page", { min: 1 })(limit),
          (message) => new UsageError({ message })
        ),
      (pageSize) => ({ query, pageSize })
    )
    : Either.left(new UsageError({ message: "--paginate starts at the first page: remove the cursor, or remove --paginate" }))

export const api = Command.make("api", {
  method: methodArgument,
  writtenPath: Args.text({ name: "PATH" }).pipe(Args.withDescription("A path below the base URL, with percent-encoded ids.")),
  writtenFields: text("field", "K=V",
    "A field: name=text or name:=json. A query parameter for GET, else a field of the JSON body (repeatable).").pipe(Options.repeated),
  input: Options.optional(text("input", "FILE", "Send this file unchanged as the body; - for standard input.")),
  writtenHeaders: text("header", "K:V", "A header, except the key's, host and length (repeatable).").pipe(Options.repeated),
  include: Options.boolean("include").pipe(Options.withDescription("Print the status and the headers of the response before the body.")),
  paginate: Options.boolean("paginate").pipe(Options.withDescription("Read all pages of a list and print one item per line.")),
  ...commonOptions
},
  ({ include, input, method, paginate, writtenFields, writtenHeaders, writtenPath, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const target = yield* Fields.target(writtenPath)
      const fields = yield* Fields.parse(writtenFields)
      const headers = yield* Headers.parse(writtenHeaders)
      yield* require(!paginate || method === "GET", "--paginate reads a list: use it with GET")
      yield* require(!paginate || !include, "--include and --paginate can't be used together: remove one of them")
      yield* require(Option.isNone(input) || method !== "GET", "--input is a body, and GET has none: use --field or another method")
      yield* require(Option.isNone(input) || fields.size === 0, "--input and --field can't be used together: put the fields into the input")
      const query = yield* Fields.query(target, method === "GET" ? fields : new Map())
      const list = paginate ? yield* listQuery(query) : undefined
      const body = Option.isSome(input) ? yield* Input.text(input.value) : undefined
      const lastHead = yield* Ref.make(Option.none<RawHttp.ResponseHead>())
      const transform = RawHttp.transform({ headers, body, onResponse: (head) => Ref.set(lastHead, Option.some(head)) })
      const output = yield* Output
      yield* Effect.gen(function*() {
        if (list !== undefined) {
          return yield* output.ndjson(Plaza.paginate({ path: target.path, ...list, item: Schema.Unknown }))
        }
        const response = yield* Effect.either(Plaza.request({
          method,
          path: target.path,
          query,
          payload: method !== "GET" && fields.size > 0 ? Object.fromEntries(fields) : undefined,
          response: Schema.Unknown
        }))
        const head = include ? yield* Ref.get(lastHead) : Option.none<RawHttp.ResponseHead>()
        if (Option.isSome(head) && flags.json) {
          yield* output.value({ ...head.value, ...Either.isRight(response) ? { body: response.right ?? null } : {} })
        } else if (Option.isSome(head)) yield* output.text(formatHead(head.value))
        const value = yield* response
        if (Option.isSome(head) ? value !== undefined && !flags.json : value !== undefined || flags.json) yield* output.value(value)
      }).pipe(withServices(flags, { transform }))
    }))).pipe(Command.withDescription(describe({
      summary: "Send any request and print the JSON of the response.",
      details: ["GET is retried after a fault of the service. Other methods are sent once if their outcome is unknown."],
      examples: [
        "api GET /me/posts --field limit=5",
        "api GET /store/products --paginate",
        "api PATCH /store/products/007/stock --field stock:=12",
        `api POST /posts --input post.json --header "X-Source: import" --include`
      ]
    })))
