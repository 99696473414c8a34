/** The reference, rendered from the OpenAPI document: every operation by area, and the schemas. Also serves the document. */
import * as Effect from "effect/Effect"
import type * as OpenApi from "effect/http-api/OpenApi"
import type { HttpServerResponse } from "effect/http/HttpServerResponse"
import * as Predicate from "effect/Predicate"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import { basePath } from "../InterfaceApi.ts"
import { openApi, operationsOf } from "../OpenApiDocument.ts"
import * as Examples from "./Examples.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import * as SchemaView from "./SchemaView.ts"

/** The scope of each operation, which OpenAPI doesn't have. */
type Scopes = Readonly<Record<string, string | undefined>>

const parameters = ({ parameters }: OpenApi.OpenAPISpecOperation, of: string): Html | false =>
  parameters.length > 0 && html`<h4>Parameters</h4>
${
    Layout.table(
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
  "headers" in response && Predicate.isReadonlyObject(response.headers) ? Object.keys(response.headers) : []

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
    Layout.table(
      `Responses of ${of}`,
      ["Status", "Body, or codes of the error envelope"],
      Object.entries(responses).map(([status, response]: readonly [string, OpenApi.OpenApiSpecResponse]) =>
        html`<tr><th scope="row" class="nowrap">${Layout.status(Number(status))}${Number(status) < 400 && assumedBadge}</th><td>${
          bodyOf(Number(status), response)
        }</td></tr>`
      )
    )
  }`

const exampleOf = (method: string, name: string): Html | false => {
  const example = Object.hasOwn(Examples.examples, name) ? Examples.examples[name] : undefined
  return example !== undefined && html`<h4>Example</h4>
<details name="example-${name}" open><summary>curl</summary>${
    Layout.snippet(`curl-${name}`, `the curl command of ${name}`, Examples.curl(method, example))
  }</details>
<details name="example-${name}"><summary>TypeScript</summary>${
    Layout.snippet(`ts-${name}`, `the TypeScript code of ${name}`, example.typescript)
  }</details>
<details name="example-${name}"><summary>plaza</summary>${
    Layout.snippet(`plaza-${name}`, `the plaza command of ${name}`, example.plaza)
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

/** Renders an OpenAPI document. */
export const page = (document: OpenApi.OpenAPISpec, scopes: Scopes): HttpServerResponse => {
  const operations = operationsOf(document)
  return Layout.page({
    path: Layout.paths.reference,
    title: "Reference",
    lead: `${document.info.title}, version 1`,
    body: html`<div class="sidebar">
<nav aria-label="Operations"><ul>${
      document.tags.map(({ name }) =>
        html`<li><a class="area" href="#area-${name}">${name}</a><ul>${
          operations.filter(({ operation: described }) => described.tags.includes(name)).map(({ method, operation: described, path }) =>
            html`<li><a href="#${described.operationId}"><code>${method.toUpperCase()} ${path}</code></a></li>`
          )
        }</ul></li>`
      )
    }<li><a class="area" href="#schemas">Schemas</a></li></ul></nav>
<div>
${(document.info.description ?? "").split("\n\n").map((paragraph) => html`<p>${Layout.withCode(paragraph)}</p>`)}
<p>What the document leaves open and the sandbox decided is marked as${assumedBadge}: names of scopes, statuses of successes, and whole operations. <a href="${Layout.paths.behaviour}#assumptions">All assumptions</a></p>
<p>The examples read <code>PLAZA_BASE_URL</code> and <code>PLAZA_API_KEY</code>; <a href="${Layout.paths.home}">the home page</a> has both. Those in TypeScript use the services of <code>@plaza/client</code>. <a href="${Layout.paths.openApi}">openapi.json</a> is this reference as an OpenAPI document.</p>
${
      document.tags.map(({ description, name }) =>
        html`<h2 id="area-${name}">${name}</h2>
<p class="soft">${description}</p>
${
          operations.filter(({ operation: described }) => described.tags.includes(name))
            .map(({ method, operation: described, path }) => operation(method, path, described, scopes))
        }`
      )
    }
<h2 id="schemas">Schemas</h2>
${Object.entries(document.components.schemas).map(([name, schema]) => SchemaView.section(name, schema))}
</div></div>`
  })
}

export const routes = Effect.gen(function*() {
  const assumed = yield* CurrentAssumptions
  // Rendered on first use, because most sandboxes run for one test that never opens the reference.
  const rendered = yield* Effect.cached(Effect.sync(() => {
    const document = openApi(assumed)
    return { shown: page(document, assumed.scopes), document }
  }))
  return [
    { method: "GET", path: Layout.paths.reference, handle: () => Effect.map(rendered, ({ shown }) => shown) },
    {
      method: "GET",
      path: Layout.paths.openApi,
      handle: ({ origin }) =>
        Effect.map(rendered, ({ document }) =>
          Envelope.json(200, { ...document, servers: [{ url: `${origin}${basePath}`, description: "This sandbox" }] }))
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
