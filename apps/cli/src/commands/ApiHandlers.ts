/** What `plaza api` does. The key, the rate limit, the delivery rules and the errors are those of every other command. */
import { UsageError } from "@plaza/cli-kit/CliError"
import * as Flags from "@plaza/cli-kit/Flags"
import * as InputFile from "@plaza/cli-kit/InputFile"
import { Output } from "@plaza/cli-kit/Output"
import * as Text from "@plaza/cli-kit/Text"
import { Plaza } from "@plaza/client"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { STATUS_CODES } from "node:http"
import * as Fields from "./api/Fields.ts"
import * as Headers from "./api/Headers.ts"
import * as RawHttp from "./api/RawHttp.ts"
import * as Client from "./Client.ts"
import * as Input from "./Input.ts"
import * as Write from "./Write.ts"

const invalid = (message: string) => Result.fail(new UsageError({ message }))

const formatHead = ({ headers, status }: RawHttp.ResponseHead): string =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trim(),
    ...Object.entries(headers).map(([name, value]) => Text.visible(`${name}: ${value}`)),
    ""
  ].join("\n")

/** The query of a list without its paging, which the client adds. */
const listQuery = ({ cursor, limit, ...query }: Readonly<Record<string, string>>) =>
  cursor !== undefined
    ? invalid("--paginate starts at the first page: remove the cursor, or remove --paginate")
    : limit === undefined
    ? Result.succeed({ query, pageSize: undefined })
    : Result.mapBoth(Flags.parseWholeNumber("the limit of a page", { min: 1 })(limit), {
      onFailure: (message) => new UsageError({ message }),
      onSuccess: (pageSize) => ({ query, pageSize })
    })

interface Request {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly path: string
  readonly fields: ReadonlyArray<string>
  readonly input: Option.Option<string>
  readonly headers: ReadonlyArray<string>
  readonly include: boolean
  readonly paginate: boolean
}

/** What to send, without the content of the input. */
const validate = ({ fields: writtenFields, headers: writtenHeaders, include, input, method, paginate, path }: Request) =>
  Result.gen(function*() {
    const target = yield* Fields.target(path)
    const fields = yield* Fields.parse(writtenFields)
    const headers = yield* Headers.parse(writtenHeaders)
    if (paginate && method !== "GET") return yield* invalid("--paginate reads a list: use it with GET")
    if (paginate && include) return yield* invalid("--include and --paginate can't be used together: remove one of them")
    if (Option.isSome(input) && method === "GET") {
      return yield* invalid("--input is a body, and GET has none: use --field or another method")
    }
    if (Option.isSome(input) && fields.size > 0) {
      return yield* invalid("--input and --field can't be used together: put the fields into the input")
    }
    const query = yield* Fields.query(target, method === "GET" ? fields : new Map())
    return {
      path: target.path,
      headers,
      query,
      payload: method !== "GET" && fields.size > 0 ? Object.fromEntries(fields) : undefined,
      list: paginate ? yield* listQuery(query) : undefined
    }
  })

// Marks of UTF-8 and UTF-16. JSON must have none, and programs of Windows write them.
const hasMark = (bytes: Buffer): boolean => /^(?:efbbbf|fffe|feff)/.test(bytes.toString("hex", 0, 3))

/** JSON in UTF-8 without a byte order mark; any other content unchanged. */
const bodyOf = (bytes: Buffer): Buffer => {
  if (!hasMark(bytes)) return bytes
  const text = Text.decode(bytes)
  return Result.isSuccess(Input.parse(text, "the input")) ? Buffer.from(text) : bytes
}

export const api = Effect.fnUntraced(function*(request: Request) {
  const { headers, list, path, payload, query } = yield* Effect.fromResult(validate(request))
  const body = Option.isNone(request.input)
    ? undefined
    : bodyOf(Buffer.concat(yield* Stream.runCollect(InputFile.bytes(request.input.value))))
  const output = yield* Output
  let head: RawHttp.ResponseHead | undefined
  const transform = RawHttp.transform({
    headers,
    body,
    onResponse: (last) => {
      if (request.include) head = last
    }
  })
  yield* Effect.gen(function*() {
    if (list !== undefined) return yield* output.ndjson(Plaza.paginate({ path, ...list, item: Schema.Unknown }))
    const call = Plaza.request({ method: request.method, path, query, payload, response: Schema.Unknown })
    const response = yield* Effect.result(request.method === "GET" ? call : Write.follow("request")(call))
    if (head !== undefined && !output.json) yield* output.text(formatHead(head))
    if (head !== undefined && output.json) {
      yield* output.value({ ...head, ...(Result.isSuccess(response) ? { body: response.success ?? null } : {}) })
    }
    const value = yield* Effect.fromResult(response)
    if (head !== undefined ? value !== undefined && !output.json : value !== undefined || output.json) yield* output.value(value)
  }).pipe(Client.provide({ transform }))
})
