/**
 * HTML forms: fields with accessible labels, hints and errors, and parsing of submissions.
 *
 * @since 0.1.0
 */
import type { RequestError } from "@effect/platform/HttpServerError"
import type { DocumentedError } from "@plaza-legacy/domain/Errors"
import { ValidationError } from "@plaza-legacy/domain/Errors"
import * as Effect from "effect/Effect"
import type { ServerRequest } from "../http/ServerRequest.ts"
import type { Html, Piece } from "./Html.ts"
import { html } from "./Html.ts"
import * as Page from "./Page.ts"

/**
 * Reads a submitted form.
 *
 * @since 0.1.0
 * @category reading
 */
export const read = (request: ServerRequest, maxBytes: number): Effect.Effect<URLSearchParams, DocumentedError | RequestError> =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")
    ? Effect.map(request.readBytes(maxBytes), (bytes) => new URLSearchParams(new TextDecoder().decode(bytes)))
    : Effect.fail(new ValidationError({ message: "the body must be a form of this page (application/x-www-form-urlencoded)" }))

/**
 * A submitted form and its error. The page shows the form again with both.
 *
 * @since 0.1.0
 * @category models
 */
export interface Submission {
  readonly values: URLSearchParams
  readonly error?: DocumentedError
}

/**
 * No submission.
 *
 * @since 0.1.0
 * @category models
 */
export const empty: Submission = { values: new URLSearchParams() }

/** The field that the error names. */
const fieldOf = ({ error }: Submission): string | undefined =>
  typeof error?.details["field"] === "string" ? error.details["field"] : undefined

/** @since 0.1.0 @category models */
export interface Field {
  readonly name: string
  readonly label: string
  readonly hint?: Piece
  readonly required?: boolean
  /** Renders a text area. */
  readonly long?: boolean
  readonly type?: "url" | "number" | "text"
  readonly max?: number
  /** The id of a datalist. */
  readonly list?: string
  readonly options?: ReadonlyArray<readonly [value: string, name: string]>
  /** In a monospace font. */
  readonly code?: boolean
}

/**
 * The error of a submission, with the label of the field.
 *
 * @since 0.1.0
 * @category parts
 */
export const errorMessage = (submission: Submission, fields: ReadonlyArray<Pick<Field, "name" | "label">>): Html | undefined => {
  if (submission.error === undefined) {
    return undefined
  }
  const { message } = submission.error
  const field = fields.find(({ name }) => name === fieldOf(submission))
  return field === undefined
    ? Page.problem(message)
    : Page.problem(html`<a href="#${field.name}">${message.replace(`"${field.name}"`, field.label)}</a>`)
}

/** @since 0.1.0 @category parts */
export const field = (
  submission: Submission,
  { code, hint, label, list, long, max, name, options, required, type = "text" }: Field
): Html => {
  const value = submission.values.get(name) ?? ""
  const invalid = fieldOf(submission) === name
  const describedBy = [hint !== undefined && `${name}-hint`, invalid && `${name}-error`].filter((id) => id !== false)
  const attributes = html`id="${name}" name="${name}"${required === true && html` required`}${
    max !== undefined && html` maxlength="${max}"`
  }${invalid && html` aria-invalid="true"`}${describedBy.length > 0 && html` aria-describedby="${describedBy.join(" ")}"`}${
    list !== undefined && html` list="${list}"`
  }${code === true && html` class="code"`}`
  const input = options !== undefined
    ? html`<select ${attributes}>${
      options.map(([option, text]) => html`<option value="${option}"${option === value && html` selected`}>${text}</option>`)
    }</select>`
    : long === true
    // HTML drops a line break right after the tag.
    ? html`<textarea ${attributes}>
${value}</textarea>`
    : html`<input ${attributes} type="${type}"${type === "number" && html` step="any"`} value="${value}">`
  return html`<div class="field${long === true && " long"}">
<label for="${name}"${required === true && html` class="required"`}>${label}${
    required !== true && options === undefined && html` <span class="soft optional">(optional)</span>`
  }</label>
${input}
${invalid && html`<span class="error" id="${name}-error">${submission.error?.message.replace(`"${name}"`, label)}</span>`}
${hint !== undefined && html`<span class="soft" id="${name}-hint">${hint}</span>`}
</div>`
}

/** @since 0.1.0 @category parts */
export const checkbox = (name: string, value: string, label: Piece, checked: boolean): Html =>
  html`<div class="choice"><input type="checkbox" id="${name}-${value}" name="${name}" value="${value}"${
    checked && html` checked`
  }><label for="${name}-${value}">${label}</label></div>`

/**
 * A form with hidden values and one button. With a question the script asks in a dialog before it submits; without scripts
 * `Page.confirmed` asks.
 *
 * @since 0.1.0
 * @category parts
 */
export const button = (options: {
  readonly action: string
  readonly values: Readonly<Record<string, string>>
  readonly text: string
  /** What the button acts on, for screen readers and the question. */
  readonly of?: string
  readonly kind?: "quiet" | "danger"
  readonly question?: Page.Question
}): Html =>
  html`<form method="post" action="${options.action}"${
    options.question !== undefined &&
    html` data-title="${options.question.title}" data-text="${options.question.text}" data-button="${options.question.button}"`
  }>${Object.entries(options.values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}${
    options.question !== undefined && options.of !== undefined && html`<input type="hidden" name="subject" value="${options.of}">`
  }<button type="submit" class="${options.kind ?? ""}"${
    options.of !== undefined && html` aria-label="${options.text} ${options.of}"`
  }>${options.text}</button></form>`
