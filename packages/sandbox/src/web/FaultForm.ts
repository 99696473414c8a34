/**
 * The form that asks for a fault: its fields are those of every kind, and what was sent is taken by the kind's own schema.
 *
 * @since 0.1.0
 */
import type { ValidationError } from "@plaza/domain/Errors"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import * as Envelope from "../http/Envelope.js"
import { Fault } from "../http/Fault.js"
import * as Form from "./Form.js"
import type { Html } from "./Html.js"
import { html } from "./Html.js"
import * as Page from "./Page.js"

const choices = (...values: ReadonlyArray<string>) => values.map((value) => [value, value] as const)

const kindOf = (member: (typeof Fault.members)[number]): string => member.fields.kind.literals[0]

/** @since 0.1.0 @category constants */
export const fields: ReadonlyArray<Form.Field> = [
  { name: "kind", label: "Kind", options: choices(...Fault.members.map(kindOf)) },
  { name: "when", label: "When", options: choices("before", "after"), hint: "Before or after it has taken effect." },
  { name: "method", label: "Method", options: [["", "any"], ...choices("GET", "POST", "PATCH", "DELETE")] },
  { name: "path", label: "Path", hint: "As /posts/*/like." },
  { name: "times", label: "Times", type: "number", hint: "Calls affected (default: 1; without an end when a share is set)." },
  { name: "rate", label: "Share of calls", type: "number", hint: "From 0 to 1." },
  { name: "millis", label: "Milliseconds", type: "number", hint: "That a delay or a slow answer takes." },
  { name: "status", label: "Status", type: "number", hint: "Of the answer instead." },
  { name: "code", label: "Code", hint: "Of its envelope." },
  { name: "message", label: "Message", hint: "Of its envelope." },
  { name: "retryAfter", label: "Retry-After", hint: "Seconds, a date, or nonsense." },
  { name: "location", label: "Location", hint: "Where a redirect leads." },
  { name: "body", label: "Body", hint: "All of it, instead of the envelope." },
  { name: "contentType", label: "Content type", hint: "Of the body." }
]

/**
 * Takes what was sent. What a kind has no use for is left out, as are inputs that were left empty.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (form: URLSearchParams): Either.Either<Fault, ValidationError> => {
  const member = Fault.members.find((known) => kindOf(known) === form.get("kind"))
  if (member === undefined) {
    return Either.left(Envelope.invalidField("kind", "is none that there is"))
  }
  const given = fields.flatMap(({ name, type }) => {
    const value = form.get(name) ?? ""
    return name in member.fields && value !== "" ? [[name, type === "number" ? Number(value) : value]] : []
  })
  // The members of the union differ in what they decode to, which a decoder of any of them can't tell.
  const decode = Schema.decodeUnknownEither(member as Schema.Schema<Fault>)
  return Either.mapLeft(decode(Object.fromEntries(given)), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return Envelope.invalidField(String(issue?.path[0] ?? "kind"), "is missing or not possible here")
  })
}

/** @since 0.1.0 @category parts */
export const view = (sent: Form.Sent): Html =>
  html`<form method="post" action="${Page.paths.inspector}">
<input type="hidden" name="do" value="fault">
<div class="fields">${fields.map((field) => Form.field(sent, field))}</div>
<button type="submit">Add the fault</button>
</form>`
