/** The form of a fault: the fields of its kind, and the schema of the kind that decodes them. */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { Fault, type Latency, methods } from "../http/Fault.ts"
import { invalidField, issuesOf } from "../Validation.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

const options = (...values: ReadonlyArray<string>) => values.map((value) => [value, value] as const)

export type Kind = Fault["kind"]

const memberOf = (kind: string) => Fault.members.find((member) => member.fields.kind.literal === kind)

/** The kinds with their meaning. */
export const kinds: Readonly<Record<Kind, string>> = {
  status: "another status or body",
  delay: "a delay",
  drop: "a closed connection",
  cut: "half a response",
  slow: "a slow response",
  garbage: "a body that is not JSON",
  sequence: "one outcome after the other"
}

export const isKind = (kind: string): kind is Kind => Object.hasOwn(kinds, kind)

/** Which calls a fault hits: the same for every kind. */
const targetFields: ReadonlyArray<Form.Field> = [
  { name: "method", label: "Method", options: [["", "any"], ...options(...methods.filter((method) => method !== "*"))] },
  { name: "path", label: "Path", hint: "Such as /posts/*/like (default: any).", code: true },
  { name: "account", label: "Account", hint: "Its id or username (default: any)." },
  { name: "key", label: "Key", hint: "The id of a key, such as k1 (default: any).", code: true },
  { name: "nth", label: "First", type: "number", hint: "The first matching call that it hits (default: 1)." },
  { name: "every", label: "Every", type: "number", hint: "10 hits every 10th matching call." },
  { name: "rate", label: "Rate", type: "number", hint: "Share of calls, from 0 to 1." },
  { name: "times", label: "Times", type: "number", hint: "Calls affected (default: 1; unlimited with a rate, with every or with lasts)." },
  { name: "lastsMillis", label: "Lasts", type: "number", hint: "Milliseconds until it ends by itself." }
]

const outcomeFields: ReadonlyArray<Form.Field> = [
  { name: "when", label: "When", options: [["before", "before the commit"], ["after", "after the commit"]] },
  { name: "status", label: "Status", type: "number", hint: "From 200 to 599." },
  { name: "millis", label: "Milliseconds", type: "number", hint: "The duration; of a distribution its minimum, mean or median." },
  {
    name: "distribution",
    label: "Distribution",
    options: [["", "the same for every call"], ["uniform", "uniform: up to the maximum"], ["normal", "normal, with a deviation"], [
      "logNormal",
      "log-normal, with a 99th percentile"
    ]]
  },
  { name: "spread", label: "Maximum, deviation or 99th percentile", type: "number", hint: "Milliseconds; of a distribution only." },
  { name: "retryAfter", label: "Retry-After", hint: "Seconds, an HTTP date, or any invalid text." },
  { name: "code", label: "Code", hint: "Of the error envelope (default: the documented code of the status).", code: true },
  { name: "message", label: "Message", hint: "Of the error envelope." },
  { name: "body", label: "Body", hint: "The whole body, instead of the error envelope.", code: true },
  { name: "emptyBody", label: "Empty body", options: [["", "no"], ["yes", "yes, instead of the error envelope"]] },
  { name: "contentType", label: "Content type", hint: "Of the body.", code: true },
  { name: "location", label: "Location", hint: "The target of a redirect.", code: true },
  {
    name: "outcomes",
    label: "Outcomes",
    long: true,
    code: true,
    hint:
      html`A JSON array of faults without a target, such as <code>[{"kind":"status","when":"after","status":503},{"kind":"pass"}]</code>.`
  }
]

export const fields: ReadonlyArray<Form.Field> = [...targetFields, ...outcomeFields]

const latencyFields = new Set(["distribution", "spread"])

const fieldsOf = (kind: Kind): ReadonlyArray<Form.Field> => {
  const known = memberOf(kind)?.fields ?? {}
  return outcomeFields
    .filter(({ name }) => name in known || (kind === "delay" && latencyFields.has(name)) || (name === "emptyBody" && "body" in known))
    .map((field) => {
      const schema: unknown = Object.entries(known).find(([name]) => name === field.name)?.[1]
      return { ...field, required: Schema.isSchema(schema) && !AST.isOptional(schema.ast) }
    })
}

const distributions: Readonly<Record<string, (first: number, second: number) => object>> = {
  uniform: (min, max) => ({ distribution: "uniform", min, max }),
  normal: (mean, deviation) => ({ distribution: "normal", mean, deviation }),
  logNormal: (median, p99) => ({ distribution: "logNormal", median, p99 })
}

const latencyOf = (form: URLSearchParams): unknown => {
  const first = Number(form.get("millis"))
  const name = form.get("distribution") ?? ""
  const make = Object.hasOwn(distributions, name) ? distributions[name] : undefined
  return make === undefined ? first : make(first, Number(form.get("spread")))
}

/** The value of JSON text; undefined, which no schema accepts here, if it is none. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Decodes a submitted form. Ignores empty inputs and those that the kind doesn't have. */
export const read = (form: URLSearchParams): Result.Result<Fault, ValidationError> => {
  const kind = form.get("kind") ?? ""
  const member = memberOf(kind)
  if (member === undefined) {
    return Result.fail(invalidField("kind", "is unknown"))
  }
  const inputs = fields.flatMap(({ name, type }) => {
    const value = form.get(name) ?? ""
    return !(name in member.fields) || value === ""
      ? []
      : name === "millis" && kind === "delay"
      ? [[name, latencyOf(form)]]
      : name === "outcomes"
      ? [[name, parse(value)]]
      : [[name, type === "number" ? Number(value) : value]]
  })
  const decode: (input: unknown) => Result.Result<Fault, Schema.SchemaError> = Schema.decodeUnknownResult(member, {
    onExcessProperty: "error"
  })
  const body = "body" in member.fields && form.get("emptyBody") === "yes" ? { body: "" } : {}
  return Result.mapError(decode({ kind, ...body, ...Object.fromEntries(inputs) }), (error) => {
    const [issue] = issuesOf(error)
    const [name = "kind", inner] = issue?.path ?? []
    return name === "millis" && inner !== undefined
      ? invalidField("spread", "is missing or does not fit the distribution")
      : invalidField(String(name), "is missing or invalid")
  })
}

const latencyInputs = (latency: Latency): Readonly<Record<string, number | string>> => {
  if (typeof latency === "number") {
    return { millis: latency }
  }
  const { distribution } = latency
  switch (distribution) {
    case "uniform":
      return { distribution, millis: latency.min, spread: latency.max }
    case "normal":
      return { distribution, millis: latency.mean, spread: latency.deviation }
    case "logNormal":
      return { distribution, millis: latency.median, spread: latency.p99 }
  }
}

/** The inputs of the form for an existing fault. */
export const inputsOf = (fault: Fault): URLSearchParams =>
  new URLSearchParams(
    Object.entries({
      ...fault,
      ...(fault.kind === "delay" ? latencyInputs(fault.millis) : {}),
      ...(fault.kind === "sequence" ? { outcomes: JSON.stringify(fault.outcomes, null, 2) } : {}),
      ...("body" in fault && fault.body === "" ? { emptyBody: "yes" } : {}),
      ...(fault.method === "*" ? { method: "" } : {})
    }).flatMap(([name, value]) => value === undefined ? [] : [[name, String(value)]])
  )

/** The form. With an id it changes that fault. */
export const view = (kind: Kind, submission: Form.Submission, id: string | undefined): Html =>
  html`<form method="get" action="${Layout.paths.faults}#form" class="inline">
${id !== undefined && html`<input type="hidden" name="edit" value="${id}">`}
<label for="kind">Kind</label>
<select id="kind" name="kind" data-submit>${
    Object.entries(kinds).map(([value, meaning]) =>
      html`<option value="${value}"${value === kind && html` selected`}>${value}: ${meaning}</option>`
    )
  }</select>
<button type="submit" class="quiet">Show its fields</button>
</form>
<form method="post" action="${Layout.paths.faults}#form">
<input type="hidden" name="do" value="${id === undefined ? "add" : "replace"}"><input type="hidden" name="kind" value="${kind}">
${id !== undefined && html`<input type="hidden" name="id" value="${id}">`}
<h3>What happens</h3>
<div class="fields">${fieldsOf(kind).map((field) => Form.field(submission, field))}</div>
<h3>Which calls</h3>
<div class="fields">${targetFields.map((field) => Form.field(submission, field))}</div>
<div class="actions"><button type="submit">${id === undefined ? "Add fault" : `Change ${id}`}</button>${
    id !== undefined && html` <a href="${Layout.paths.faults}">Cancel</a>`
  }</div>
</form>`
