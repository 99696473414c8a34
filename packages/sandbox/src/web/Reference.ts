/**
 * The reference, rendered from the OpenAPI document: an overview, a page for each area, where every operation can be tried, and the
 * schemas. Also serves the document.
 */
import { NotFound } from "@plaza/domain/Errors"
import * as Effect from "effect/Effect"
import type * as OpenApi from "effect/http-api/OpenApi"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Keys from "../access/Keys.ts"
import { CurrentAssumptions } from "../Assumptions.ts"
import * as Envelope from "../http/Envelope.ts"
import * as KeyMask from "../http/KeyMask.ts"
import { RequestLog } from "../http/RequestLog.ts"
import { basePath } from "../InterfaceApi.ts"
import { CurrentLatitude } from "../latitude/CurrentLatitude.ts"
import { type DescribedOperation, openApi, operationsOf } from "../OpenApiDocument.ts"
import { shopId } from "../seeding/SeedData.ts"
import { Seeding } from "../seeding/Seeding.ts"
import * as Examples from "./Examples.ts"
import * as Form from "./Form.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"
import { areaPaths, pathOf } from "./ReferencePages.ts"
import type * as Replay from "./Replay.ts"
import * as SchemaView from "./SchemaView.ts"
import * as Queries from "./StateQueries.ts"
import * as Tabs from "./Tabs.ts"
import * as TryIt from "./TryIt.ts"

/** The scope of each operation, which OpenAPI doesn't have. */
type Scopes = Readonly<Record<string, string | undefined>>

const parameters = ({ parameters }: OpenApi.OpenAPISpecOperation, of: string): Html | false =>
  parameters.length > 0 && html`<h3>Parameters</h3>
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

const isAssumed = (described: OpenApi.OpenAPISpecOperation): boolean => "x-plaza-assumed" in described

/** The document shows the statuses of errors, and none of a success. */
const responses = ({ responses }: OpenApi.OpenAPISpecOperation, of: string): Html =>
  html`<h3>Responses</h3>
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

const exampleOf = (name: string): Examples.Example | undefined =>
  Object.hasOwn(Examples.examples, name) ? Examples.examples[name] : undefined

const exampleView = (method: string, name: string): Html | false => {
  const example = exampleOf(name)
  return example !== undefined && html`<h3>Example</h3>
${
    Tabs.view(`example-${name}`, `Example of ${name}`, [
      { id: "curl", name: "curl", content: Layout.snippet(`curl-${name}`, `the curl command of ${name}`, Examples.curl(method, example)) },
      { id: "ts", name: "TypeScript", content: Layout.snippet(`ts-${name}`, `the TypeScript code of ${name}`, example.typescript) },
      { id: "plaza", name: "plaza", content: Layout.snippet(`plaza-${name}`, `the plaza command of ${name}`, example.plaza) }
    ])
  }`
}

/** The only scope that the document names. */
const documentedScope = "posts:write"

const operation = ({ method, operation: described, path }: DescribedOperation, scopes: Scopes, tryIt: Html): Html => {
  const { description, operationId, requestBody, summary } = described
  const scope = scopes[operationId]
  const name = `${method.toUpperCase()} ${path}`
  return html`<section aria-labelledby="${operationId}">
<h2 id="${operationId}" class="operation">${Layout.method(method.toUpperCase())} <code>${path}</code>${
    isAssumed(described) && html` <span class="badge note">assumed operation</span>`
  }</h2>
<p>${summary !== undefined && html`<strong>${summary}.</strong> `}${description}</p>
<p>${
    scope === undefined
      ? "Requires no scope."
      : html`Requires the scope <code>${scope}</code>.${scope !== documentedScope && assumedBadge}`
  }</p>
${parameters(described, name)}
${requestBody !== undefined && html`<h3>Body</h3><p>${media(requestBody.content)}</p>`}
${exampleView(method.toUpperCase(), operationId)}
${tryIt}
${responses(described, name)}
</section>`
}

const capitalized = (area: string): string => area.charAt(0).toUpperCase() + area.slice(1)

/** The document and the parts that its pages use. */
interface Rendered {
  readonly document: OpenApi.OpenAPISpec
  readonly operations: ReadonlyArray<DescribedOperation>
  readonly areas: ReadonlyArray<
    { readonly name: string; readonly description: string; readonly operations: ReadonlyArray<DescribedOperation> }
  >
}

const render = (document: OpenApi.OpenAPISpec): Rendered => {
  const operations = operationsOf(document)
  return {
    document,
    operations,
    areas: document.tags.map(({ description = "", name }) => ({
      name,
      description,
      operations: operations.filter(({ operation: { tags } }) => tags.includes(name))
    }))
  }
}

/** The other pages of the reference, and the operations of the shown one. */
const sidebar = ({ areas }: Rendered, current: string, content: Piece): Html => {
  const link = (path: string, name: string, below?: Piece) =>
    html`<li><a class="area" href="${path}"${path === current && html` aria-current="page"`}>${name}</a>${path === current && below}</li>`
  return html`<div class="sidebar"><nav aria-label="Reference"><ul>${link(Layout.paths.reference, "Overview")}${
    areas.map(({ name, operations }) =>
      link(
        pathOf(name),
        capitalized(name),
        html`<ul>${
          operations.map(({ method, operation: { operationId }, path }) =>
            html`<li><a href="#${operationId}">${Layout.method(method.toUpperCase())} <code>${path}</code></a></li>`
          )
        }</ul>`
      )
    )
  }${link(Layout.paths.schemas, "Schemas")}</ul></nav>
<div>${content}</div></div>`
}

const page = (
  path: string,
  title: string,
  lead: Piece,
  body: Html,
  submission: Form.Submission | undefined,
  fields: ReadonlyArray<Form.Field>
) =>
  Layout.page({
    path,
    title,
    lead,
    status: submission?.error?.status ?? 200,
    message: submission === undefined ? undefined : Form.errorMessage(submission, fields),
    body
  })

/** Every operation has a row with its name as id, and so has every schema: links to the one page that the reference was still lead somewhere. */
const overview = (rendered: Rendered, scopes: Scopes) => {
  const { areas, document } = rendered
  return page(
    Layout.paths.reference,
    "Reference",
    `${document.info.title}, version 1`,
    sidebar(rendered, Layout.paths.reference,
      html`${(document.info.description ?? "").split("\n\n").map((paragraph) => html`<p>${Layout.withCode(paragraph)}</p>`)}
<p>What the document leaves open and the sandbox decided is marked as${assumedBadge}: names of scopes, statuses of successes, and whole operations. <a href="${Layout.paths.behaviour}#assumptions">All assumptions</a></p>
<p>The examples read <code>PLAZA_BASE_URL</code> and <code>PLAZA_API_KEY</code>; <a href="${Layout.paths.home}">the home page</a> has both. Those in TypeScript use the services of <code>@plaza/client</code>. <a href="${Layout.paths.openApi}">openapi.json</a> is this reference as an OpenAPI document.</p>
${
        areas.map(({ description, name, operations }) =>
          html`<section aria-labelledby="area-${name}">
<h2 id="area-${name}"><a href="${pathOf(name)}">${capitalized(name)}</a></h2>
<p class="soft">${description}</p>
${
            Layout.table(
              `Operations of ${name}`,
              ["Request", "What it does", "Scope"],
              operations.map(({ method, operation: described, path }) =>
                html`<tr id="${described.operationId}"><th scope="row" class="operation"><a href="${
                  pathOf(name)
                }#${described.operationId}">${
                  Layout.method(method.toUpperCase())
                } <code>${path}</code></a></th><td class="long">${described.summary}${
                  isAssumed(described) && assumedBadge
                }</td><td class="nowrap scope"><code>${scopes[described.operationId] ?? "none"}</code></td></tr>`
              ),
              { kind: "stack" }
            )
          }
</section>`
        )
      }
<section aria-labelledby="schemas"><h2 id="schemas"><a href="${Layout.paths.schemas}">Schemas</a></h2>
<ul class="names">${
        Object.keys(document.components.schemas).map((name) =>
          html`<li id="schema-${name}"><a href="${SchemaView.pathOf(name)}">${name}</a></li>`
        )
      }</ul></section>`),
    undefined,
    []
  )
}

const schemas = (rendered: Rendered) =>
  page(
    Layout.paths.schemas,
    "Schemas",
    "Of bodies and responses",
    sidebar(rendered, Layout.paths.schemas,
      html`${Object.entries(rendered.document.components.schemas).map(([name, schema]) => SchemaView.section(name, schema))}`),
    undefined,
    []
  )

/** The maximum number of forms that are kept. */
const maxSent = 20

export const routes = Effect.fnUntraced(function*(replay: Replay.Replay) {
  const assumed = yield* CurrentAssumptions
  const { seed } = yield* Seeding
  const latitude = yield* CurrentLatitude
  const mask = KeyMask.make(latitude.keyPrefixes)
  const log = yield* RequestLog
  const queries = yield* Queries.make
  // Generated on first use, because most sandboxes run for one test that never opens the reference.
  const rendered = yield* Effect.cached(Effect.sync(() => render(openApi(assumed))))

  /** The forms by the ids of their requests, so that the page after the form shows it as it was. */
  const sent = new Map<string, Form.Submission>()

  const formOf = (described: DescribedOperation): TryIt.Operation =>
    TryIt.operationOf(described, exampleOf(described.operation.operationId))

  /** The page of an area. A form that was refused is shown again. */
  const show = (path: string, query: URLSearchParams, refused?: Form.Submission & { readonly operation: TryIt.Operation }) =>
    Effect.map(rendered, (all) => {
      const area = all.areas.find(({ name }) => pathOf(name) === path)
      const ids = queries.exampleIds(shopId)
      const detail = log.detail(query.get("tried") ?? "")
      return page(
        path,
        capitalized(area?.name ?? ""),
        area?.description,
        sidebar(all, path, html`${
          area?.operations.map((described) => {
            const form = formOf(described)
            return operation(described, assumed.scopes, TryIt.view({
              operation: form,
              action: path,
              ids,
              ...(refused?.operation.name === form.name
                ? { tried: undefined, submitted: refused }
                : query.get("operation") === form.name && detail !== undefined
                ? { tried: detail, submitted: sent.get(detail.id) }
                : { tried: undefined, submitted: undefined })
            }))
          })
        }`),
        refused,
        refused === undefined ? [] : TryIt.fieldsOf(refused.operation)
      )
    })

  const send = (path: string): Layout.Route["handle"] => ({ form }) =>
    Effect.gen(function*() {
      const { operations } = yield* rendered
      const name = form.get("operation") ?? ""
      const described = operations.find(({ operation: { operationId } }) => operationId === name)
      if (described === undefined) {
        return yield* new NotFound({ message: `there is no operation "${name}"` })
      }
      const operation = formOf(described)
      const key = Redacted.value(Keys.withPrefix(Keys.seeded(seed), latitude.value.keyPrefix))
      return yield* Result.match(TryIt.requestOf(operation, form, key), {
        onFailure: (error) => show(path, new URLSearchParams(), { values: form, error, operation }),
        onSuccess: (request) =>
          Effect.map(replay.send(request), (id) => {
            // As the request log keeps it.
            sent.set(id, { values: new URLSearchParams(Array.from(form, ([field, value]) => [field, mask.text(value)])) })
            for (const oldest of [...sent.keys()].slice(0, -maxSent)) {
              sent.delete(oldest)
            }
            return Layout.seeOther(`${path}?tried=${id}&operation=${operation.name}#try-${operation.name}`)
          })
      })
    })

  return [
    { method: "GET", path: Layout.paths.reference, handle: () => Effect.map(rendered, (all) => overview(all, assumed.scopes)) },
    { method: "GET", path: Layout.paths.schemas, handle: () => Effect.map(rendered, schemas) },
    ...areaPaths.flatMap((path): ReadonlyArray<Layout.Route> => [
      { method: "GET", path, handle: ({ query }) => show(path, query) },
      { method: "POST", path, handle: Layout.byAction({ try: send(path) }) }
    ]),
    {
      method: "GET",
      path: Layout.paths.openApi,
      handle: ({ origin }) =>
        Effect.map(rendered, ({ document }) =>
          Envelope.json(200, { ...document, servers: [{ url: `${origin}${basePath}`, description: "This sandbox" }] }))
    }
  ] satisfies ReadonlyArray<Layout.Route>
})
