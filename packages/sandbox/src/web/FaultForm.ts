/** The form of a fault: the fields of its kind, and the schema of the kind that decodes them. */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import { Fault, type Latency, maxMillis } from "../http/Fault.ts"
import { invalidField, issuesOf } from "../Validation.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

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

/** A field with the expected input, for its error. */
interface Field extends Form.Field {
  readonly expects: string
}

const paths = "paths"
const ascii = "must be printable ASCII on one line"
const count = "must be a whole number above 0, such as 3"
const millis = `must be a number of milliseconds from 0 to ${maxMillis}, such as 500`

/** Which calls a fault hits: the same for every kind. */
const targetFields: ReadonlyArray<Field> = [
  {
    name: "path",
    label: "Method and path",
    hint: "POST /posts, /posts/*, or PATCH. Empty: every call.",
    code: true,
    list: paths,
    expects: "must be a method, a path or both, such as POST /posts"
  },
  {
    name: "times",
    label: "Times",
    type: "number",
    hint: "Calls that it hits (default: 1; unlimited with Lasts, Share or Every).",
    expects: count
  },
  {
    name: "lasts",
    label: "Lasts (seconds)",
    type: "number",
    hint: "Then it ends by itself.",
    expects: "must be a number of seconds above 0, such as 60"
  },
  {
    name: "share",
    label: "Share of calls (%)",
    type: "number",
    hint: "10 hits one call in ten, by chance.",
    expects: "must be a number from 0 to 100, such as 10"
  },
  { name: "every", label: "Every nth call", type: "number", hint: "10 hits every 10th call.", expects: count },
  {
    name: "nth",
    label: "From call number",
    type: "number",
    hint: "The first call that it hits (default: 1, or that of Every).",
    expects: count
  },
  { name: "account", label: "Account", hint: "Its id or username (default: any).", expects: "must be an id or a username" },
  {
    name: "key",
    label: "Key",
    hint: "The id of a key, such as k1 (default: any).",
    code: true,
    expects: "must be the id of a key, not its value"
  }
]

const outcomeFields: ReadonlyArray<Field> = [
  {
    name: "when",
    label: "When",
    options: [["before", "before the commit"], ["after", "after the commit"]],
    expects: "must be before or after the commit"
  },
  {
    name: "status",
    label: "Status",
    type: "number",
    hint: "From 200 to 599.",
    expects: "must be a whole number from 200 to 599, such as 503"
  },
  { name: "millis", label: "Duration (ms)", type: "number", expects: millis },
  {
    name: "distribution",
    label: "Distribution",
    options: [["", "the same for every call"], ["uniform", "uniform: up to the maximum"], ["normal", "normal, with a deviation"], [
      "logNormal",
      "log-normal, with a 99th percentile"
    ]],
    hint: "The delay is its minimum, mean or median.",
    expects: "must be one of the list"
  },
  {
    name: "spread",
    label: "Maximum, deviation or 99th percentile (ms)",
    type: "number",
    hint: "Of a distribution only.",
    expects: "must be a number of milliseconds that fits the distribution: a maximum or a percentile is at least the delay"
  },
  { name: "retryAfter", label: "Retry-After", hint: "Seconds, an HTTP date, or any invalid text.", expects: ascii },
  {
    name: "code",
    label: "Code",
    hint: "Of the error envelope (default: the documented code of the status).",
    code: true,
    expects: "must be a text"
  },
  { name: "message", label: "Message", hint: "Of the error envelope.", expects: "must be a text" },
  {
    name: "body",
    label: "Body",
    hint: "The whole body, instead of the error envelope.",
    code: true,
    expects: "must be the text that is sent, such as <html>; choose \"Empty body\" to send none"
  },
  {
    name: "emptyBody",
    label: "Empty body",
    options: [["", "no"], ["yes", "yes, instead of the error envelope"]],
    expects: "must be yes or no"
  },
  { name: "contentType", label: "Content type", hint: "Of the body.", code: true, expects: ascii },
  { name: "location", label: "Location", hint: "The target of a redirect.", code: true, expects: ascii },
  {
    name: "outcomes",
    label: "Outcomes",
    long: true,
    code: true,
    hint: html`A JSON array, such as <code>[{"kind":"status","when":"after","status":503},{"kind":"pass"}]</code>.`,
    expects: "must be a JSON array of faults without a target, such as [{\"kind\":\"drop\",\"when\":\"after\"},{\"kind\":\"pass\"}]"
  }
]

/** The labels of the fields of outcomes, by name. */
export const labels: ReadonlyMap<string, string> = new Map(outcomeFields.map(({ label, name }) => [name, label]))

/** The fields that people set most, of each kind. */
const firstOf: Readonly<Record<Kind, ReadonlyArray<string>>> = {
  status: ["when", "status", "path", "times"],
  delay: ["when", "millis", "path", "times"],
  drop: ["when", "path", "times", "lasts"],
  cut: ["when", "status", "path", "times"],
  slow: ["when", "millis", "path", "times"],
  garbage: ["body", "path", "times", "lasts"],
  sequence: ["outcomes", "path", "times", "lasts"]
}

const latencyFields = new Set(["distribution", "spread"])

/** The fields of a kind, those that people set most first. */
export const fieldsOf = (kind: Kind): ReadonlyArray<Form.Field> => {
  const known = memberOf(kind)?.fields ?? {}
  const outcome = outcomeFields
    .filter(({ name }) => name in known || (kind === "delay" && latencyFields.has(name)) || (name === "emptyBody" && "body" in known))
    .map((field) => {
      const schema: unknown = Object.entries(known).find(([name]) => name === field.name)?.[1]
      return {
        ...field,
        ...(field.name === "millis" && kind === "delay" ? { label: "Delay (ms)" } : {}),
        ...(field.name === "body" && kind === "garbage" ? { hint: "The whole body, such as <html>." } : {}),
        // An empty body is chosen in another field.
        required: field.name !== "body" && Schema.isSchema(schema) && !AST.isOptional(schema.ast)
      }
    })
  const target = kind === "sequence"
    ? targetFields.map((field) =>
      field.name === "times" ? { ...field, hint: "Calls that it hits (default: one for each outcome)." } : field
    )
    : targetFields
  const all = [...outcome, ...target]
  const first = firstOf[kind].flatMap((wanted) => all.filter(({ name }) => name === wanted))
  return [...first, ...all.filter((field) => !first.includes(field))]
}

const distributions: Readonly<Record<string, (first: number, second: number) => object>> = {
  uniform: (min, max) => ({ distribution: "uniform", min, max }),
  normal: (mean, deviation) => ({ distribution: "normal", mean, deviation }),
  logNormal: (median, p99) => ({ distribution: "logNormal", median, p99 })
}

/** The fields of a distribution that the input of the delay has. */
const firstOfLatency: ReadonlySet<string> = new Set(["min", "mean", "median"])

const latencyOf = (form: URLSearchParams): unknown => {
  const first = Number(form.get("millis"))
  const name = form.get("distribution") ?? ""
  const make = Object.hasOwn(distributions, name) ? distributions[name] : undefined
  return make === undefined ? first : make(first, Number(form.get("spread")))
}

/** The value of JSON text. Undefined, which no schema accepts here, if it is invalid. */
const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** "POST /posts" as its parts, and a method or a path alone. */
const targetOf = (text: string): Readonly<Record<string, string>> => {
  const [, method = "", path = ""] = /^([a-z]*)\s*(.*?)\s*$/is.exec(text.trim()) ?? []
  return { ...(method === "" ? {} : { method: method.toUpperCase() }), ...(path === "" ? {} : { path }) }
}

const secondMillis = 1_000
const percent = 100

/** Decimal digits that survive the conversion of a unit. */
const digits = 12

/** The fields of the schema that inputs of another name or unit have. */
const converted: Readonly<Record<string, (text: string) => Readonly<Record<string, unknown>>>> = {
  path: targetOf,
  lasts: (text) => ({ lastsMillis: Number((Number(text) * secondMillis).toPrecision(digits)) }),
  share: (text) => ({ rate: Number((Number(text) / percent).toPrecision(digits)) })
}

/** The input of each field of the schema that has another name. */
const inputNames: Readonly<Record<string, string>> = { method: "path", lastsMillis: "lasts", rate: "share" }

/** Decodes a submitted form. Ignores empty inputs and those that the kind doesn't have. */
export const read = (form: URLSearchParams): Result.Result<Fault, ValidationError> => {
  const kind = form.get("kind") ?? ""
  const member = memberOf(kind)
  if (member === undefined || !isKind(kind)) {
    return Result.fail(invalidField("kind", `must be one of ${Object.keys(kinds).join(", ")}`))
  }
  const fields = fieldsOf(kind)
  const inputs = fields.flatMap(({ name, type }): ReadonlyArray<readonly [string, unknown]> => {
    const value = form.get(name) ?? ""
    const convert = converted[name]
    return value === "" || latencyFields.has(name) || name === "emptyBody"
      ? []
      : convert !== undefined
      ? Object.entries(convert(value))
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
    const [wrong = "kind", inner] = (issue?.path ?? []).map(String)
    const name = wrong === "millis" && inner !== undefined && !firstOfLatency.has(inner) ? "spread" : inputNames[wrong] ?? wrong
    const expected = [...outcomeFields, ...targetFields].find((field) => field.name === name)?.expects ?? "is invalid"
    // The schema knows best what is wrong with a path, and where in a list of outcomes.
    return invalidField(
      name,
      wrong === "path" && issue?.message.startsWith("must ") === true
        ? issue.message
        : wrong === "outcomes" && inner !== undefined
        ? `have a wrong outcome at ${issue?.path.slice(1).map(String).join(".") ?? ""}, counted from 0: ${
          expected.replace("must be", "write")
        }`
        : expected
    )
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
export const inputsOf = ({ lastsMillis, method = "*", path, rate, ...fault }: Fault): URLSearchParams =>
  new URLSearchParams(
    Object.entries({
      ...fault,
      ...(fault.kind === "delay" ? latencyInputs(fault.millis) : {}),
      ...(fault.kind === "sequence" ? { outcomes: JSON.stringify(fault.outcomes, null, 2) } : {}),
      ...("body" in fault && fault.body === "" ? { emptyBody: "yes" } : {}),
      path: [method === "*" ? [] : method, path ?? []].flat().join(" "),
      lasts: lastsMillis === undefined ? "" : lastsMillis / secondMillis,
      share: rate === undefined ? "" : Number((rate * percent).toPrecision(digits))
    }).flatMap(([name, value]) => value === undefined || value === "" ? [] : [[name, String(value)]])
  )

/** The form. With an id it changes that fault. `targets`: the endpoints, such as `POST /posts`. */
export const view = (
  { id, kind, submission, targets }: {
    readonly kind: Kind
    readonly submission: Form.Submission
    readonly id: string | undefined
    readonly targets: ReadonlyArray<string>
  }
): Html => {
  const fields = fieldsOf(kind)
  const shown = fields.slice(0, firstOf[kind].length)
  const further = fields.slice(shown.length)
  const isOpen = further.some(({ name }) => (submission.values.get(name) ?? "") !== "" || submission.error?.details["field"] === name)
  return html`<form method="get" action="${Layout.paths.faults}#form" class="inline">
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
<div class="fields even">${shown.map((field) => Form.field(submission, field))}</div>
<datalist id="${paths}">${targets.map((target) => html`<option value="${target}"></option>`)}</datalist>
<details${isOpen && html` open`}><summary>More (${further.length})</summary>
<div class="fields">${further.map((field) => Form.field(submission, field))}</div></details>
<div class="actions"><button type="submit">${id === undefined ? "Add fault" : `Change ${id}`}</button>${
    id !== undefined && html` <a href="${Layout.paths.faults}">Cancel</a>`
  }</div>
</form>`
}
