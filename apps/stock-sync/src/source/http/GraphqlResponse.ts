/** Judges one response to a GraphQL query: whether it is whole, and which cursor its next page has. */
import * as AcceptPartial from "@plaza/tabular/AcceptPartial"
import * as Envelope from "@plaza/tabular/Envelope"
import type * as NextPage from "@plaza/tabular/NextPage"
import { quotedUpTo } from "@plaza/tabular/Quoted"
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Redact } from "../Secrets.ts"
import type * as GraphqlDocument from "./GraphqlDocument.ts"
import { type GraphqlQuery, isConnection } from "./GraphqlQuery.ts"

/** Why no row of a response is used. */
export interface Refusal {
  readonly reason: string
  /** Whether the same request may succeed later, and the time that the service needs until then. */
  readonly retry?: { readonly after: Duration.Duration }
}

export interface Page {
  /** The request for the next page; undefined for the last one. */
  readonly next: Extract<NextPage.Next, { readonly _tag: "Variable" }> | undefined
}

// The codes of a service that has had too many requests.
const throttled = /^(?:(?:.*_)?throttled|rate_?limit(?:ed|_exceeded)?|too_many_requests)$/i
// The codes of a service that failed, which a later request does not meet.
const failed = /^(?:internal_server_error|service_unavailable|timeout)$/i

// Enough for the field and the scope that a message names.
const quotedMessage = quotedUpTo(200)

/** A value of the service in a message. */
const shown = (value: unknown, redact: Redact): string => {
  const text = redact(JSON.stringify(value))
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

interface ReportedError {
  readonly text: string
  readonly isThrottled: boolean
  readonly isTemporary: boolean
}

const errorOf = (error: unknown, redact: Redact): ReportedError => {
  const extensions = Predicate.hasProperty(error, "extensions") ? error.extensions : undefined
  const found = [extensions, error].map((each) => Predicate.hasProperty(each, "code") ? each.code : undefined)
  const code = found.find((each) => typeof each === "string")
  const message = Predicate.hasProperty(error, "message") ? error.message : error
  const text = typeof message === "string" ? message : JSON.stringify(message)
  return {
    text: `${quotedMessage(redact(text))}${code === undefined ? "" : ` (${isPlain(code) ? redact(code) : shown(code, redact)})`}`,
    isThrottled: throttled.test(code ?? text),
    isTemporary: throttled.test(code ?? text) || failed.test(code ?? text)
  }
}

/** What a response reports as errors, of which there is at least one. */
export const errorsOf = (
  document: unknown,
  redact: Redact
): { readonly reason: string; readonly isThrottled: boolean; readonly isTemporary: boolean } | undefined => {
  const errors = Predicate.hasProperty(document, "errors") ? document.errors : undefined
  // An empty list is no error; an error that says nothing is one.
  if (Array.isArray(errors) ? errors.length === 0 : Envelope.isBlank(errors)) return undefined
  const all = (Array.isArray(errors) ? errors : [errors]).map((error) => errorOf(error, redact))
  const [first, ...others] = all
  return first && {
    reason: `it reports ${others.length === 0 ? "an error" : `${others.length + 1} errors, the first is`}: ${first.text}`,
    isThrottled: all.some(({ isThrottled }) => isThrottled),
    isTemporary: all.some(({ isTemporary }) => isTemporary)
  }
}

const isPlain = (code: string): boolean => /^[\w.:-]{1,60}$/.test(code)

const at = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce<unknown>((value, name) => Predicate.isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined, value)

/** Longer waits are no times that a server can mean, and not all of them are times. */
const longestWait = 86_400

/** Until when a bucket of points that fills up again holds the cost of the query, as Shopify reports both. */
const untilRestored = (document: unknown): Duration.Duration => {
  const cost = at(document, "extensions", "cost")
  const [requested, available, rate] = [
    at(cost, "requestedQueryCost"),
    at(cost, "throttleStatus", "currentlyAvailable"),
    at(cost, "throttleStatus", "restoreRate")
  ].map((value) => typeof value === "number" && Number.isFinite(value) ? value : undefined)
  return requested === undefined || available === undefined || rate === undefined || rate <= 0
    ? Duration.zero
    : Duration.seconds(Math.min(longestWait, Math.max(0, Math.ceil((requested - available) / rate))))
}

const hasConnection = (field: GraphqlDocument.Field): boolean => isConnection(field) || field.fields.some(hasConnection)

/** Walks through a response along the fields of its query. */
class Judge {
  next: Page["next"]
  private isFollowed = false
  private readonly query: GraphqlQuery
  private readonly accepted: AcceptPartial.AcceptPartial
  private readonly redact: Redact

  constructor(query: GraphqlQuery, accepted: AcceptPartial.AcceptPartial, redact: Redact) {
    this.query = query
    this.accepted = accepted
    this.redact = redact
  }

  judge(data: unknown): string | undefined {
    if (!Predicate.isObject(data)) return `its data is ${this.shown(data)}`
    return this.object(this.query.fields, data, "data", false) ??
      (this.isFollowed ? undefined : `${this.query.connection} is missing`)
  }

  private object(
    fields: ReadonlyArray<GraphqlDocument.Field>,
    object: { readonly [name: string]: unknown },
    path: string,
    isElement: boolean
  ): string | undefined {
    for (const field of fields) {
      const reason = this.field(field, at(object, field.key), `${path}.${field.key}`, isElement)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  private field(field: GraphqlDocument.Field, value: unknown, path: string, isElement: boolean): string | undefined {
    const { connection, items } = this.query
    const leadsToItems = items === path || items.startsWith(`${path}.`)
    if (!leadsToItems && !hasConnection(field)) return undefined
    // Of another type, or left out by a directive.
    if (value === undefined && field.isConditional && path !== connection) return undefined
    if (value === undefined) return `${path} is missing`
    if (value === null) return leadsToItems || isConnection(field) || isList(field) ? this.partial(path, `${path} is null`) : undefined
    if (path === connection && (isElement || Array.isArray(value))) {
      return `${path} is in a list, and the pages of one connection are followed: query it on its own`
    }
    if (isConnection(field)) {
      const reason = this.connection(value, path)
      if (reason !== undefined) return reason
    }
    return this.value(field, value, path, isElement)
  }

  private value(field: GraphqlDocument.Field, value: unknown, path: string, isElement: boolean): string | undefined {
    if (Predicate.isObject(value)) return this.object(field.fields, value, path, isElement)
    if (!Array.isArray(value)) return `${path} is neither an object nor a list`
    // An item that is null is a rejected row.
    if (path === this.query.items && !field.fields.some(hasConnection)) return undefined
    for (const element of value) {
      const reason = element === null ? this.partial(path, `${path} has an element that is null`) : this.value(field, element, path, true)
      if (reason !== undefined) return reason
    }
    return undefined
  }

  private connection(value: unknown, path: string): string | undefined {
    const more = at(value, "pageInfo", "hasNextPage")
    const field = `${path}.pageInfo.hasNextPage`
    if (path === this.query.connection) this.isFollowed = true
    if (more === false) return undefined
    if (more !== true) {
      return path === this.query.connection
        ? `${field} is ${this.shown(more)}, so nothing shows whether there is a next page`
        : this.partial(path, `${field} is ${this.shown(more)}`)
    }
    if (AcceptPartial.accepts(this.accepted, field)) return undefined
    if (path !== this.query.connection) {
      return AcceptPartial.pageRefusal(this.accepted, [field],
        `${path} has a next page (${field} is true), and only the pages of ${this.query.connection} are followed`,
        "Ask for more of its items at once by a larger first, or query it on its own as the connection with the cursor")
    }
    const cursor = at(value, "pageInfo", "endCursor")
    if (typeof cursor !== "string" || cursor === "") {
      return AcceptPartial.pageRefusal(this.accepted, [field],
        `${field} is true, but ${path}.pageInfo.endCursor is ${this.shown(cursor)}, so its next page ` +
          "can't be requested")
    }
    this.next = { _tag: "Variable", field, name: this.query.variable, value: cursor }
    return undefined
  }

  private shown(value: unknown): string {
    return value === undefined ? "missing" : shown(value, this.redact)
  }

  private partial(path: string, reason: string): string | undefined {
    return AcceptPartial.accepts(this.accepted, path)
      ? undefined
      : AcceptPartial.pageRefusal(this.accepted, [path], `${reason}, so items may be missing`, "Correct the query, or read it later")
  }
}

const isList = ({ name }: GraphqlDocument.Field): boolean => name === "nodes" || name === "edges"

/** Judges a response with status 200. */
export const judge = (
  document: unknown,
  query: GraphqlQuery,
  accepted: AcceptPartial.AcceptPartial,
  redact: Redact
): Result.Result<Page, Refusal> => {
  const errors = errorsOf(document, redact)
  // Who accepts a field that fails each time does not accept a response to too many requests.
  const accepts = errors?.isThrottled !== true && AcceptPartial.accepts(accepted, "errors")
  const judge = new Judge(query, accepted, redact)
  // Errors may come beside data, which then lacks what failed.
  const reason = errors === undefined || accepts ? judge.judge(at(document, "data")) : errors.reason
  if (reason === undefined) return Result.succeed({ next: judge.next })
  if (errors?.isTemporary === true) return Result.fail({ reason: errors.reason, retry: { after: untilRestored(document) } })
  return Result.fail({
    reason: errors === undefined || accepts
      ? reason
      : AcceptPartial.pageRefusal(accepted, ["errors"], reason, "Correct the query, or what its user may read")
  })
}
