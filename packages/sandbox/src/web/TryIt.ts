/** Sends an operation from the reference: a form that is prefilled with an example, and the response. */
import type { ValidationError } from "@plaza/domain/Errors"
import type * as OpenApi from "effect/http-api/OpenApi"
import * as Result from "effect/Result"
import type { RequestDetail } from "../http/RequestLog.ts"
import type { Original } from "../http/RequestMessages.ts"
import { basePath } from "../InterfaceApi.ts"
import { invalidField } from "../Validation.ts"
import type { Example } from "./Examples.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import { body as bodyView } from "./RequestDetails.ts"
import { delivery, took } from "./RequestList.ts"
import type { ExampleIds } from "./StateQueries.ts"

/** An operation of the document with its example. */
export interface Operation {
  readonly name: string
  /** In capitals. */
  readonly method: string
  /** With braces, such as `/posts/{id}`. */
  readonly path: string
  readonly parameters: ReadonlyArray<OpenApi.OpenAPISpecParameter>
  readonly example: Example | undefined
  readonly bodyType: string | undefined
}

const inputOf = ({ name }: Operation, place: string, parameter: string): string => `${name}-${place}-${parameter}`
const bodyInput = (name: string): string => `${name}-body`

/** The parameters of a path by a template; undefined if it does not match. */
const pathValues = (template: string, path: string): ReadonlyMap<string, string> | undefined => {
  const [names, segments] = [template.split("/"), path.split("/")]
  if (names.length !== segments.length) return undefined
  const values = new Map<string, string>()
  for (const [index, segment] of segments.entries()) {
    const name = /^\{(.*)\}$/.exec(names[index] ?? "")?.[1]
    if (name === undefined && names[index] !== segment) return undefined
    if (name !== undefined) values.set(name, decoded(segment))
  }
  return values
}

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The inputs of a request. */
const inputs = (
  operation: Operation,
  { body, path, query }: { readonly path: ReadonlyMap<string, string>; readonly query: URLSearchParams; readonly body: string }
): URLSearchParams =>
  new URLSearchParams([
    ...[...path].map(([name, value]) => [inputOf(operation, "path", name), value]),
    ...[...query].map(([name, value]) => [inputOf(operation, "query", name), value]),
    [bodyInput(operation.name), body]
  ])

/** What a path of each resource begins with, the longer ones first, with the id of its parameter. */
const resources: ReadonlyArray<readonly [prefix: string, id: keyof ExampleIds]> = [
  ["/users/by-username/", "username"],
  ["/users/", "user"],
  ["/posts/", "post"],
  ["/store/orders/", "order"],
  ["/store/products/", "product"],
  ["/conversations/", "conversation"]
]

/** The ids in paths are those of the sandbox's own data, if it has such. */
const idOf = (path: string, ids: ExampleIds): string | null => {
  const [, id] = resources.find(([prefix]) => path.startsWith(prefix)) ?? []
  return id === undefined ? null : ids[id]
}

/** What the form has at first. */
const prefilled = (operation: Operation, ids: ExampleIds): URLSearchParams => {
  const { example, path: template } = operation
  const [path = "", query = ""] = (example?.path ?? template).split("?")
  const id = idOf(template, ids)
  const values = pathValues(template, path) ?? new Map()
  return inputs(operation, {
    path: id === null ? values : new Map([...values].map(([name]) => [name, id])),
    query: new URLSearchParams(query),
    body: example?.body !== undefined && "json" in example.body ? JSON.stringify(example.body.json, null, 2) : ""
  })
}

/** The smallest PNG: one transparent pixel. */
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)
const fileName = "pixel.png"
const boundary = "plaza-sandbox-reference"
const upload = Buffer.concat([
  Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\nContent-Type: image/png\r\n\r\n`
  ),
  pixel,
  Buffer.from(`\r\n--${boundary}--\r\n`)
])

/** The request of a submitted form. Fails for a parameter of the path that is empty: the path would be another one. */
export const requestOf = (
  operation: Operation,
  form: URLSearchParams,
  key: string
): Result.Result<Pick<Original, "method" | "url" | "headers" | "body">, ValidationError> => {
  const value = (place: string, name: string) => form.get(inputOf(operation, place, name)) ?? ""
  const missing = operation.parameters.find(({ in: place, name }) => place === "path" && value(place, name) === "")
  if (missing !== undefined) {
    return Result.fail(invalidField(inputOf(operation, "path", missing.name), "must not be empty: write an id of this sandbox"))
  }
  const path = operation.path.replaceAll(/\{(.*?)\}/g, (_, name: string) => encodeURIComponent(value("path", name)))
  const query = new URLSearchParams(
    operation.parameters.flatMap(({ in: place, name }) =>
      place === "query" && value(place, name) !== "" ? [[name, value(place, name)]] : []
    )
  ).toString()
  const isUpload = operation.bodyType === "multipart/form-data"
  const text = form.get(bodyInput(operation.name)) ?? ""
  return Result.succeed({
    method: operation.method,
    url: `${basePath}${path}${query === "" ? "" : `?${query}`}`,
    headers: {
      authorization: `Bearer ${key}`,
      accept: "application/json",
      ...(isUpload
        ? { "content-type": `multipart/form-data; boundary=${boundary}` }
        : operation.bodyType === undefined
        ? {}
        : { "content-type": "application/json" })
    },
    body: isUpload ? upload : operation.bodyType === undefined ? undefined : new TextEncoder().encode(text)
  })
}

/** The fields of an operation. */
export const fieldsOf = (operation: Operation): ReadonlyArray<Form.Field> => [
  ...operation.parameters.map(({ in: place, name, required }) => ({
    name: inputOf(operation, place, name),
    label: name,
    required,
    code: true
  })),
  ...(operation.bodyType === "application/json"
    ? [{ name: bodyInput(operation.name), label: "Body", long: true, code: true, required: true }]
    : [])
]

const result = (operation: Operation, detail: RequestDetail): Html =>
  html`<div class="result" role="region" aria-label="Response of ${operation.name}">
<p>${delivery(detail)} <span class="soft">${
    took(detail.durationMillis)
  }</span> <a href="${Layout.paths.request}?id=${detail.id}">Show the request in the console</a></p>
${
    detail.messages?.response === null || detail.messages === null
      ? html`<p>The caller received no response: the connection was closed.</p>`
      : bodyView(`${operation.name}-response`, `Body from ${operation.name}`, detail.messages.response.body)
  }
</div>`

/** The form of an operation, and the response of the request that it sent. */
export const view = (
  { action, ids, operation, submitted, tried }: {
    readonly operation: Operation
    /** The path of the page. */
    readonly action: string
    readonly ids: ExampleIds
    /** The request that the form sent. */
    readonly tried: RequestDetail | undefined
    /** The submitted form, if known, and the reason of the refusal. */
    readonly submitted: Form.Submission | undefined
  }
): Html => {
  const submission = submitted ?? { values: prefilled(operation, ids) }
  const { method, name, path } = operation
  return html`<details class="try" id="try-${name}"${
    (tried !== undefined || submitted !== undefined) && html` open`
  }><summary aria-label="Try it: ${name}">Try it</summary>
<div><form method="post" action="${action}#try-${name}">
<input type="hidden" name="do" value="try"><input type="hidden" name="operation" value="${name}">
<div class="fields">${fieldsOf(operation).map((field) => Form.field(submission, field))}</div>
${operation.bodyType === "multipart/form-data" && html`<p>Uploads <code>${fileName}</code>, an image of one pixel.</p>`}
<div class="actions"><button type="submit" aria-label="Send ${method} ${path}">Send</button> <span class="soft small">With the key of the seeded shop.${
    method !== "GET" && " The data of this sandbox changes."
  }</span></div>
</form>
${tried !== undefined && result(operation, tried)}</div></details>`
}

/** An operation of the document as its form needs it. */
export const operationOf = (
  { method, operation: { operationId: name, parameters, requestBody }, path }: {
    readonly method: string
    readonly path: string
    readonly operation: OpenApi.OpenAPISpecOperation
  },
  example: Example | undefined
): Operation => ({
  name,
  method: method.toUpperCase(),
  path,
  parameters,
  example,
  bodyType: requestBody === undefined ? undefined : Object.keys(requestBody.content)[0]
})
