/**
 * Recorded requests as an HTTP Archive (HAR 1.2), which browsers and other tools open. Keys are masked.
 *
 * @since 0.1.0
 */
import * as DateTime from "effect/DateTime"
import { STATUS_CODES } from "node:http"
import type { RequestDetail } from "../http/RequestLog.ts"
import type { RecordedBody } from "../http/RequestMessages.ts"

type Headers = Readonly<Record<string, string>>

const pairs = (values: Iterable<readonly [string, string]>) => Array.from(values, ([name, value]) => ({ name, value }))

const mimeType = ({ contentType }: RecordedBody): string => contentType ?? ""

const postData = (body: RecordedBody) =>
  body.form === "empty" ? {} : {
    postData: {
      mimeType: mimeType(body),
      text: body.text ?? "",
      ...(body.form === "text" ? {} : { comment: body.form === "binary" ? "binary, not recorded" : "not read by the sandbox" })
    }
  }

const none: RecordedBody = { form: "empty", contentType: null, size: 0, text: null, truncated: false }

const common = (headers: Headers, { size }: RecordedBody) => ({
  httpVersion: "HTTP/1.1",
  cookies: [],
  headers: pairs(Object.entries(headers)),
  headersSize: -1,
  bodySize: size ?? -1
})

const entry = (baseUrl: string, detail: RequestDetail) => {
  const { at, delivered, durationMillis, id, messages, method, path, query, rule } = detail
  const request = messages?.request ?? { headers: {}, body: none }
  const response = messages?.response ?? { status: 0, headers: {}, body: none }
  return {
    startedDateTime: DateTime.formatIso(at),
    time: durationMillis ?? 0,
    request: {
      method,
      url: `${baseUrl}${path}${query === "" ? "" : `?${query}`}`,
      queryString: pairs(new URLSearchParams(query)),
      ...common(request.headers, request.body),
      ...postData(request.body)
    },
    response: {
      status: response.status,
      statusText: STATUS_CODES[response.status] ?? "",
      content: {
        size: response.body.size ?? 0,
        mimeType: mimeType(response.body),
        ...(response.body.text === null ? {} : { text: response.body.text })
      },
      redirectURL: response.headers["location"] ?? "",
      ...common(response.headers, response.body)
    },
    cache: {},
    timings: { send: 0, wait: durationMillis ?? 0, receive: 0 },
    comment: `${id}, decided by ${rule ?? "no rule"}, response ${delivered}`
  }
}

/**
 * The archive, oldest request first.
 *
 * @since 0.1.0
 * @category formatting
 */
export const format = (baseUrl: string, details: ReadonlyArray<RequestDetail>) => ({
  log: {
    version: "1.2",
    creator: { name: "Plaza sandbox", version: "1" },
    entries: details.map((detail) => entry(baseUrl, detail))
  }
})
