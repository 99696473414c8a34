/**
 * `plaza api`: any request, for what the document names without showing it. It uses the same key, rate limit,
 * delivery rules and errors as every other command.
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import { UsageError } from "@plaza/cli-kit/CliError"
import { about } from "@plaza/cli-kit/Help"
import { Output } from "@plaza/cli-kit/Output"
import { visible } from "@plaza/cli-kit/Text"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { STATUS_CODES } from "node:http"
import { connect } from "../Connection.js"
import * as Fields from "../Fields.js"
import { count, flags, text, withOutput } from "../Flags.js"
import * as HeaderOption from "../HeaderOption.js"
import * as Input from "../Input.js"
import type { Head } from "../Wire.js"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const methodOf = (written: string) =>
  Option.match(Option.fromNullable(methods.find((method) => method === written.toUpperCase())), {
    onNone: () => Effect.fail(new UsageError({ message: `"${written}" is not a method: give one of ${methods.join(", ")}` })),
    onSome: Effect.succeed
  })

const onlyWith = (holds: boolean, message: string) => holds ? Effect.void : Effect.fail(new UsageError({ message }))

const headLines = ({ headers, status }: Head): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trim(),
    ...Object.entries(headers).map(([name, value]) => visible(`${name}: ${value}`)),
    ""
  ].join("\n")

/** The body of a list's query, without what the list asks for by itself. */
const listOf = ({ cursor, limit, ...query }: Readonly<Record<string, string>>) =>
  cursor === undefined
    ? Effect.map(limit === undefined ? Effect.succeed(undefined) : count("the limit of a page", limit), (pageSize) => ({ query, pageSize }))
    : Effect.fail(
      new UsageError({ message: "--paginate begins with the first page: leave the cursor out, or read that page without --paginate" })
    )

export const api = Command.make("api", {
  writtenMethod: Args.text({ name: "METHOD" }).pipe(Args.withDescription("GET, POST, PUT, PATCH or DELETE.")),
  writtenPath: Args.text({ name: "PATH" }).pipe(Args.withDescription("A path under the base address; ids in it percent-encoded.")),
  writtenFields: text("field", "K=V",
    "A field: name=text, or name:=json. Part of the query for GET, of a JSON body otherwise; may be given more than once.").pipe(
      Options.repeated
    ),
  input: Options.optional(text("input", "FILE", "A file that is sent as the body, as it is; - for standard input.")),
  writtenHeaders: text("header", "K:V", "A header of the request, except those of the key; may be given more than once.").pipe(
    Options.repeated
  ),
  include: Options.boolean("include").pipe(Options.withDescription("Print the status and the headers of the answer before it.")),
  paginate: Options.boolean("paginate").pipe(Options.withDescription("Read all pages of a list, and print an item a line.")),
  ...flags
},
  ({ include, input, paginate, writtenFields, writtenHeaders, writtenMethod, writtenPath, ...flags }) =>
    withOutput(flags, Effect.gen(function*() {
      const method = yield* methodOf(writtenMethod)
      const target = yield* Fields.target(writtenPath)
      const fields = yield* Fields.parse(writtenFields)
      const headers = yield* HeaderOption.parse(writtenHeaders)
      yield* onlyWith(!paginate || method === "GET", "--paginate reads a list: it goes with GET alone")
      yield* onlyWith(!paginate || !include, "--include shows one answer, and --paginate reads many: leave one of them out")
      yield* onlyWith(Option.isNone(input) || method !== "GET",
        "--input is a body, and GET has none: give --field instead, or another method")
      yield* onlyWith(Option.isNone(input) || fields.size === 0, "--input and --field don't go together: put the fields into the input")
      const query = yield* Fields.query(target, method === "GET" ? fields : new Map())
      const list = paginate ? yield* listOf(query) : undefined
      const body = Option.isSome(input) ? yield* Input.text(input.value) : undefined
      const seen = yield* Ref.make(Option.none<Head>())
      const { withChanges } = yield* Effect.promise(() => import("../Wire.js"))
      const changes = { headers, body, onHead: (head: Head) => Effect.runSync(Ref.set(seen, Option.some(head))) }
      const client = yield* writtenHeaders.length > 0 || body !== undefined || include
        ? withChanges(changes)(connect(flags))
        : connect(flags)
      const output = yield* Output
      if (list !== undefined) {
        yield* output.ndjson(Stream.provideContext(client.paginate({ path: target.path, ...list, item: Schema.Unknown }), client.open))
        return
      }
      const answer = yield* Effect.either(Effect.provide(
        client.request({
          method,
          path: target.path,
          query,
          payload: method !== "GET" && fields.size > 0 ? Object.fromEntries(fields) : undefined,
          response: Schema.Unknown
        }),
        client.open
      ))
      const head = include ? yield* Ref.get(seen) : Option.none<Head>()
      if (Option.isSome(head) && flags.json)
        yield* output.value({ ...head.value, ...Either.isRight(answer) ? { body: answer.right ?? null } : {} })
      else if (Option.isSome(head)) yield* output.text(headLines(head.value))
      const value = yield* answer
      if (Option.isSome(head) ? value !== undefined && !flags.json : value !== undefined || flags.json) yield* output.value(value)
    }))).pipe(Command.withDescription(about(
      "Send any request and print the JSON that comes back. A write is sent once.",
      "api GET /me/posts --field limit=5",
      "api GET /store/products --paginate",
      `api PATCH /store/products/007/stock --field stock:=12`,
      `api POST /posts --input post.json --header "X-Source: import" --include`
    )))
