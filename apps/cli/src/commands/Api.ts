/**
 * `plaza api`: any request, for what the document names without showing it. The key, the allowance, the delivery rules and the errors
 * are those of every other command.
 *
 * @since 0.1.0
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { about } from "@plaza/terminal/Help"
import { Output } from "@plaza/terminal/Output"
import { UsageError } from "@plaza/terminal/Problem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { connect } from "../Connection.js"
import * as Fields from "../Fields.js"
import { flags, text, withOutput } from "../Flags.js"
import * as Input from "../Input.js"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const methodOf = (written: string) =>
  Option.match(Option.fromNullable(methods.find((method) => method === written.toUpperCase())), {
    onNone: () => Effect.fail(new UsageError({ message: `"${written}" is not a method: give one of ${methods.join(", ")}` })),
    onSome: Effect.succeed
  })

const onlyWith = (holds: boolean, message: string) => holds ? Effect.void : Effect.fail(new UsageError({ message }))

/** @since 0.1.0 @category commands */
export const api = Command.make("api", {
  writtenMethod: Args.text({ name: "METHOD" }).pipe(Args.withDescription("GET, POST, PUT, PATCH or DELETE.")),
  writtenPath: Args.text({ name: "PATH" }).pipe(Args.withDescription("A path under the base address; ids in it percent-encoded.")),
  writtenFields: text("field", "K=V", "A field: name=text, or name:=json. Part of the query for GET, of a JSON body otherwise; may be given more than once.").pipe(Options.repeated),
  input: Options.optional(text("input", "FILE", "A file that holds the body as JSON; - for standard input.")),
  paginate: Options.boolean("paginate").pipe(Options.withDescription("Read all pages of a list, and print an item a line.")),
  ...flags
}, ({ input, paginate, writtenFields, writtenMethod, writtenPath, ...flags }) =>
  withOutput(flags, Effect.gen(function*() {
    const method = yield* methodOf(writtenMethod)
    const target = yield* Fields.target(writtenPath)
    const fields = yield* Fields.parse(writtenFields)
    yield* onlyWith(!paginate || method === "GET", "--paginate reads a list: it goes with GET alone")
    yield* onlyWith(Option.isNone(input) || method !== "GET", "--input is a body, and GET has none: give --field instead, or another method")
    yield* onlyWith(Option.isNone(input) || fields.size === 0, "--input and --field don't go together: put the fields into the input")
    const body = yield* Option.match(input, {
      onNone: () => Effect.succeed(method !== "GET" && fields.size > 0 ? Object.fromEntries(fields) : undefined),
      onSome: Input.json
    })
    const query = method === "GET" ? { ...target.query, ...Fields.toQuery(fields) } : target.query
    const client = yield* connect(flags)
    const output = yield* Output
    if (paginate) {
      // The size of a page and the place to go on from are asked for by the list itself.
      const { cursor: _cursor, limit: _limit, ...rest } = query
      yield* output.ndjson(Stream.provideContext(client.paginate({ path: target.path, query: rest, item: Schema.Unknown }), client.open))
      return
    }
    const answer = yield* Effect.provide(client.request({ method, path: target.path, query, payload: body, response: Schema.Unknown }), client.open)
    if (answer !== undefined || flags.json) yield* output.value(answer)
  }))).pipe(Command.withDescription(about(
    "Send any request and print the JSON that comes back. A write is sent once.",
    "api GET /me/posts --field limit=5",
    `api PATCH /store/products/007/stock --field stock:=12`
  )))
