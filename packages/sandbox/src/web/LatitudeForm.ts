/** The form of the latitude: one input for each field, derived from its schema. */
import * as AST from "effect/SchemaAST"
import * as Latitude from "../Latitude.ts"
import { meanings } from "../latitude/Meanings.ts"
import * as Form from "./Form.ts"
import type { Html } from "./Html.ts"
import { html } from "./Html.ts"
import * as Layout from "./Layout.ts"

type Name = keyof Latitude.Latitude

/** The first word of each group's fields. A field of no group is in the last one. */
const groups: ReadonlyArray<readonly [title: string, names: RegExp]> = [
  ["Fields of resources", /^(?:profileId|username|post|commentText|messageText|stock$|carrier|trackingNumber|extraFields)/],
  ["Texts, media and dates", /^(?:text$|stored|ellipsis|mediaOrder|createdAt|clock|dateHeader|idForm)/],
  ["Lists", /^(?:list|defaultPageSize|pages|cursor|lastCursor)/],
  ["Statuses and bodies", /^(?:create|update|confirm|upload)/],
  ["Headers and errors", /^(?:json|contentType|requestId|extraErrorFields|newCodes|retryAfter)/],
  ["Limits and keys", /^(?:quota|daily|key|rate|countRefused)/],
  ["Late commits and gateways", /^(?:late|gateway)/]
]

// True because the fields of the schema are the fields of its type.
const names = Object.keys(Latitude.Latitude.fields) as ReadonlyArray<Name>

const groupOf = (name: Name): string => groups.find(([, pattern]) => pattern.test(name))?.[0] ?? "Late commits and gateways"

/** The values of a field that has a closed set of them. */
const choicesOf = (ast: AST.AST): ReadonlyArray<AST.LiteralValue | null> | undefined => {
  if (AST.isLiteral(ast)) {
    return [ast.literal]
  }
  if (AST.isBoolean(ast)) {
    return [true, false]
  }
  if (AST.isNull(ast)) {
    return [null]
  }
  if (AST.isUnion(ast)) {
    const members = ast.types.map(choicesOf)
    return members.every((member) => member !== undefined) ? members.flat() : undefined
  }
  return undefined
}

const choices = new Map(names.map((name) => [name, choicesOf(Latitude.Latitude.fields[name].ast)]))

const isText = (name: Name): boolean => typeof Latitude.defaults[name] === "string" && choices.get(name) === undefined

const write = (name: Name, value: unknown): string => isText(name) ? String(value) : JSON.stringify(value)

/** The value of an input. Text that is not JSON is passed on, and the schema refuses it. */
const parse = (name: Name, text: string): unknown => {
  if (isText(name)) {
    return text
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The names of the fields as labels. */
export const labels: ReadonlyArray<Pick<Form.Field, "name" | "label">> = names.map((name) => ({ name, label: name }))

/** The fields that differ from the default. */
export const changed = (latitude: Latitude.Latitude): ReadonlyArray<Name> =>
  names.filter((name) => JSON.stringify(latitude[name]) !== JSON.stringify(Latitude.defaults[name]))

/** The number of fields. */
export const total = names.length

const shown = (value: unknown): Html => html`<code>${typeof value === "string" ? value : JSON.stringify(value)}</code>`

/** The fields that differ from the default, with their meaning and both values. */
export const differences = (latitude: Latitude.Latitude): Html =>
  Layout.table(
    "Differences from the default",
    ["Field", "What it means", "Default", "Now"],
    changed(latitude).map((name) =>
      html`<tr><th scope="row"><code>${name}</code></th><td class="long">${Layout.withCode(meanings[name])}</td><td data-label="Default">${
        shown(Latitude.defaults[name])
      }</td><td data-label="Now"><strong>${shown(latitude[name])}</strong></td></tr>`
    ),
    { kind: "stack" }
  )

/** The fields of a submitted form that differ from the current latitude, not decoded yet. */
export const read = (form: URLSearchParams, current: Latitude.Latitude): Readonly<Record<string, unknown>> =>
  Object.fromEntries(names.flatMap((name) => {
    const text = form.get(name)?.trim()
    return text === undefined || text === write(name, current[name]) ? [] : [[name, parse(name, text)]]
  }))

const fieldOf = (name: Name): Form.Field => {
  const values = choices.get(name)
  return {
    name,
    label: name,
    hint: Layout.withCode(meanings[name]),
    required: true,
    ...(values === undefined ? { code: true } : { options: values.map((value) => [JSON.stringify(value), String(value)] as const) })
  }
}

export const view = (current: Latitude.Latitude, submission: Form.Submission): Html => {
  const values = new URLSearchParams(names.map((name) => [name, submission.values.get(name) ?? write(name, current[name])]))
  return html`<form method="post" action="${Layout.paths.behaviour}"><input type="hidden" name="do" value="latitude">
${
    groups.map(([title]) => {
      const fields = names.filter((name) => groupOf(name) === title)
      const isOpen = fields.some((name) => submission.error?.details["field"] === name)
      return html`<details class="group"${isOpen && html` open`}><summary>${title} (${fields.length})</summary>
<div class="fields">${fields.map((name) => Form.field({ ...submission, values }, fieldOf(name)))}</div></details>`
    })
  }
<p><button type="submit" class="quiet">Change fields</button></p></form>`
}
