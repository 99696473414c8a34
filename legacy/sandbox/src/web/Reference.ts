/**
 * The reference, rendered from the OpenAPI document: every operation by area, and the schemas. Also serves the document.
 *
 * @since 0.1.0
 */
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import type * as OpenApi from "@effect/platform/OpenApi"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import { basePath } from "../http/ServedApi.ts"
import { openApi } from "../OpenApiDocument.ts"
import * as Examples from "./Examples.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"
import * as SchemaView from "./SchemaView.ts"

/** The scope of each operation, which OpenAPI doesn't have. */
type Scopes = Readonly<Record<string, string | undefined>>

const parameters = ({ parameters }: OpenApi.OpenAPISpecOperation, of: string): Html | false =>
  parameters.length > 0 && html`<h4>Parameters</h4>
${
    Page.table(
      `Parameters of ${of}`,
      ["Name", "In", "Required", "Type"],
      parameters.map(({ in: place, name, required, schema }) =>
        html`<tr><th scope="row"><code>${name}</code></th><td>${place}</td><td>${required ? "yes" : "no"}</td><td>${
          SchemaView.type(schema)
        }</td></tr>`
      )
    )
  }`

const media = (content: OpenApi.OpenApiSpecContent): ReadonlyArray<Html> =>
  Object.entries(content).map(([type, { schema }]) => html`<code>${type}</code> ${SchemaView.type(schema)}`)

/** The headers of a response, which the framework's type doesn't have. */
const headersOf = (response: object): ReadonlyArray<string> =>
  "headers" in response && Predicate.isReadonlyRecord(response.headers) ? Object.keys(response.headers) : []

const bodyOf = (status: number, response: OpenApi.OpenApiSpecResponse): Piece =>
  status >= 400
    ? [response.description, headersOf(response).map((name) => html` with <code>${name}</code>`)]
    : response.content === undefined
    ? "no body"
    : media(response.content)

const assumedBadge = html` <span class="badge note">assumed</span>`

/** The document shows the statuses of errors, and none of a success. */
const responses = ({ responses }: OpenApi.OpenAPISpecOperation, of: string): Html =>
  html`<h4>Responses</h4>
${
    Page.table(
      `Responses of ${of}`,
      ["Status", "Body, or codes of the error envelope"],
      Object.entries(responses).map(([status, response]: readonly [string, OpenApi.OpenApiSpecResponse]) =>
        html`<tr><th scope="row" class="nowrap">${Page.status(Number(status))}${Number(status) < 400 && assumedBadge}</th><td>${
          bodyOf(Number(status), response)
        }</td></tr>`
      )
    )
  }`

const exampleOf = (method: string, name: string): Html | false => {
  const example = Object.hasOwn(Examples.examples, name) ? Examples.examples[name] : undefined
  return example !== undefined && html`<h4>Example</h4>
<details name="example-${name}" open><summary>curl</summary>${
    Page.snippet(`curl-${name}`, `the curl command of ${name}`, Examples.curl(method, example))
  }</details>
<details name="example-${name}"><summary>TypeScript</summary>${
    Page.snippet(`ts-${name}`, `the TypeScript code of ${name}`, example.typescript)
  }</details>
<details name="example-${name}"><summary>plaza</summary>${
    Page.snippet(`plaza-${name}`, `the plaza command of ${name}`, example.plaza)
  }</details>`
}

/** The only scope that the document names. */
const documentedScope = "posts:write"

const operation = (method: string, path: string, described: OpenApi.OpenAPISpecOperation, scopes: Scopes): Html => {
  const { description, operationId, requestBody, summary } = described
  const scope = scopes[operationId]
  const name = `${method.toUpperCase()} ${path}`
  return html`<section aria-labelledby="${operationId}">
<h3 id="${operationId}"><span class="method">${method.toUpperCase()}</span> <code>${path}</code>${
    "x-plaza-assumed" in described && html` <span class="badge note">assumed operation</span>`
  }</h3>
<p>${summary !== undefined && html`<strong>${summary}.</strong> `}${description}</p>
<p>${
    scope === undefined
      ? "Requires no scope."
      : html`Requires the scope <code>${scope}</code>.${scope !== documentedScope && assumedBadge}`
  }</p>
${parameters(described, name)}
${requestBody !== undefined && html`<h4>Body</h4><p>${media(requestBody.content)}</p>`}
${responses(described, name)}
${exampleOf(method.toUpperCase(), operationId)}
</section>`
}

/** Renders backticks as code. Descriptions use no other Markdown. */
const withCode = (text: string): ReadonlyArray<Piece> =>
  text.split("`").map((part, index) => index % 2 === 1 ? html`<code>${part}</code>` : part)

interface Described {
  readonly method: string
  readonly path: string
  readonly described: OpenApi.OpenAPISpecOperation
}

const operationsOf = ({ paths }: OpenApi.OpenAPISpec): ReadonlyArray<Described> =>
  Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, described]) => ({ method, path, described })))

/**
 * Renders an OpenAPI document.
 *
 * @since 0.1.0
 * @category pages
 */
export const page = (document: OpenApi.OpenAPISpec, scopes: Scopes): HttpServerResponse => {
  const operations = operationsOf(document)
  return Page.page({
    path: Page.paths.reference,
    title: "Reference",
    lead: `${document.info.title}, version 1`,
    body: html`<div class="sidebar">
<nav aria-label="Operations"><ul>${
      document.tags.map(({ name }) =>
        html`<li><a class="area" href="#area-${name}">${name}</a><ul>${
          operations.filter(({ described }) => described.tags.includes(name)).map(({ described, method, path }) =>
            html`<li><a href="#${described.operationId}"><code>${method.toUpperCase()} ${path}</code></a></li>`
          )
        }</ul></li>`
      )
    }<li><a class="area" href="#schemas">Schemas</a></li></ul></nav>
<div>
${(document.info.description ?? "").split("\n\n").map((paragraph) => html`<p>${withCode(paragraph)}</p>`)}
<p>What the document leaves open and the sandbox decided is marked as${assumedBadge}: names of scopes, statuses of successes, and whole operations. <a href="${Page.paths.behaviour}#assumptions">All assumptions</a></p>
<p>The examples read <code>PLAZA_BASE_URL</code> and <code>PLAZA_API_KEY</code>; <a href="${Page.paths.home}">the home page</a> has both. Those in TypeScript use the services of <code>@plaza-legacy/client</code>. <a href="${Page.paths.openApi}">openapi.json</a> is this reference as an OpenAPI document.</p>
${
      document.tags.map(({ description, name }) =>
        html`<h2 id="area-${name}">${name}</h2>
<p class="soft">${description}</p>
${
          operations.filter(({ described }) => described.tags.includes(name))
            .map(({ described, method, path }) => operation(method, path, described, scopes))
        }`
      )
    }
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(([name, schema]) => SchemaView.section(name, schema))}
</div></div>`
  })
}

/** @since 0.1.0 @category pages */
export const routes = Effect.gen(function*() {
  const assumed = yield* CurrentAssumptions
  // Rendered on first use, because most sandboxes run for one test that never opens the reference.
  const rendered = yield* Effect.cached(Effect.sync(() => {
    const document = openApi(assumed)
    return { shown: page(document, assumed.scopes), document }
  }))
  return [
    { method: "GET", path: Page.paths.reference, handle: () => Effect.map(rendered, ({ shown }) => shown) },
    {
      method: "GET",
      path: Page.paths.openApi,
      handle: ({ origin }) =>
        Effect.map(rendered, ({ document }) =>
          Envelope.json(200, { ...document, servers: [{ url: `${origin}${basePath}`, description: "This sandbox" }] }))
    }
  ] satisfies ReadonlyArray<Page.Route>
})
