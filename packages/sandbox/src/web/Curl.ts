/** A recorded request as a curl command. The key is `$PLAZA_API_KEY`. */
import type { RequestDetail } from "../http/RequestLog.ts"

/** Headers of the connection, or that curl sets itself. */
const omitted = new Set([
  "authorization",
  "accept-encoding",
  "connection",
  "content-length",
  "cookie",
  "expect",
  "host",
  "keep-alive",
  "transfer-encoding",
  "user-agent"
])

/** A text as one word of a POSIX shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** The command in POSIX shell syntax. `baseUrl` ends with the base path of the interface. */
export const format = (baseUrl: string, { messages, method, path, query }: RequestDetail): string => {
  const request = messages?.request
  const isUpload = request?.body.form === "binary" && (request.headers["content-type"] ?? "").startsWith("multipart/")
  const headers = Object.entries(request?.headers ?? {}).filter(([name, value]) =>
    !omitted.has(name.toLowerCase()) && !name.startsWith("sec-") && !(name === "accept" && value === "*/*") &&
    !(isUpload && name === "content-type")
  )
  const cut = request?.body.truncated === true ? ["# The recorded body was cut."] : []
  const url = `${baseUrl}${path}${query === "" ? "" : `?${query}`}`
  // Without the option, brackets and braces are patterns of several URLs.
  const globoff = /[[\]{}]/.test(url) ? "--globoff " : ""
  return [
    ...cut,
    [
      `curl ${globoff}${method === "GET" ? "" : method === "HEAD" ? "--head " : `-X ${method} `}${quote(url)}`,
      ...(request?.headers["authorization"] === undefined ? [] : [`-H "Authorization: Bearer $PLAZA_API_KEY"`]),
      // With a colon, curl removes a header without a value.
      ...headers.map(([name, value]) => `-H ${quote(value === "" ? `${name};` : `${name}: ${value}`)}`),
      ...(isUpload ? [`-F ${quote(`file=@FILE;type=${request.body.contentType ?? "application/octet-stream"}`)}`] : []),
      ...(request?.body.text === null || request === undefined ? [] : [`--data-raw ${quote(request.body.text)}`])
    ].join(" \\\n  ")
  ].join("\n")
}
