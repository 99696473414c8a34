/**
 * The form that adds a fault. It has the fields of every kind of fault; the schema of the chosen kind decodes the
 * submission.
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

const options = (...values: ReadonlyArray<string>) => values.map((value) => [value, value] as const)

const kindOf = (member: (typeof Fault.members)[number]): string => member.fields.kind.literals[0]

/** The form has no list of outcomes: the control API adds sequences. */
const members = Fault.members.filter((member) => kindOf(member) !== "sequence")

/** @since 0.1.0 @category constants */
export const fields: ReadonlyArray<Form.Field> = [
  { name: "kind", label: "Kind", options: options(...members.map(kindOf)) },
  { name: "when", label: "When", options: options("before", "after"), hint: "Before or after the handler runs." },
  { name: "method", label: "Method", options: [["", "any"], ...options("GET", "POST", "PATCH", "DELETE")] },
  { name: "path", label: "Path", hint: "For example /posts/*/like." },
  { name: "key", label: "Key", hint: "Id of a key, such as k1 (default: any)." },
  { name: "account", label: "Account", hint: "Id or username (default: any)." },
  { name: "nth", label: "Nth call", type: "number", hint: "First matching call affected, from 1." },
  { name: "every", label: "Every", type: "number", hint: "Affects every nth matching call (default: all calls)." },
  { name: "times", label: "Times", type: "number", hint: "Calls affected (default: 1; unlimited with a rate or every)." },
  { name: "rate", label: "Rate", type: "number", hint: "Share of calls, from 0 to 1 (default: all calls)." },
  { name: "millis", label: "Duration", type: "number", hint: "Milliseconds of a delay or a slow response." },
  { name: "status", label: "Status", type: "number", hint: "Status of the response." },
  { name: "code", label: "Code", hint: "Code of the error envelope (default: the documented code of the status)." },
  { name: "message", label: "Message", hint: "Message of the error envelope." },
  { name: "retryAfter", label: "Retry-After", hint: "Seconds, an HTTP date, or any invalid text." },
  { name: "location", label: "Location", hint: "Target of a redirect." },
  { name: "body", label: "Body", hint: "The whole body (default: the error envelope)." },
  { name: "contentType", label: "Content type", hint: "Content type of the body." }
]

/**
 * Decodes a submitted form. Ignores empty inputs and those that the kind doesn't have.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (form: URLSearchParams): Either.Either<Fault, ValidationError> => {
  const member = members.find((known) => kindOf(known) === form.get("kind"))
  if (member === undefined) {
    return Either.left(Envelope.invalidField("kind", "is unknown"))
  }
  const inputs = fields.flatMap(({ name, type }) => {
    const value = form.get(name) ?? ""
    return name in member.fields && value !== "" ? [[name, type === "number" ? Number(value) : value]] : []
  })
  // True because every member of the union decodes to a Fault. Schema is invariant, so the compiler rejects a union of schemas.
  const decode = Schema.decodeUnknownEither(member as Schema.Schema<Fault>)
  return Either.mapLeft(decode(Object.fromEntries(inputs)), (error) => {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
    return Envelope.invalidField(String(issue?.path[0] ?? "kind"), "is missing or invalid")
  })
}

/** @since 0.1.0 @category parts */
export const view = (submission: Form.Submission): Html =>
  html`<form method="post" action="${Page.paths.console}">
<input type="hidden" name="do" value="fault">
<div class="fields">${fields.map((field) => Form.field(submission, field))}</div>
<button type="submit">Add fault</button>
</form>`
