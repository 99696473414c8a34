/**
 * Finds the request for the next page in what a page shows. Follows forms whose request is known: an address, a cursor whose parameter the
 * form fixes, and numbers of pages. Of any other form, only that there is a next page is known (Envelope.ts).
 */
import * as Predicate from "effect/Predicate"
import * as Envelope from "./Envelope.ts"

/** The request for the next page. `field` shows it. */
export type Next =
  /** The address of the page, which may be relative to that of the page before. */
  | { readonly _tag: "Address"; readonly field: string; readonly target: string }
  /** The address of the page before, with this parameter. `isNumber`: it is the number of the page. */
  | { readonly _tag: "Parameter"; readonly field: string; readonly name: string; readonly value: string; readonly isNumber?: boolean }
  /** The same for a variable of a GraphQL query, in the parameter `variables`. */
  | { readonly _tag: "Variable"; readonly field: string; readonly name: string; readonly value: string }

/** A field that names the next page, by its path in the document or by the name of a header. */
export interface NamedField {
  readonly path: string
  /** The parameter that takes its value; undefined for an address. */
  readonly parameter?: string | undefined
}

/** What is known of a page. */
export interface Page {
  /** The address that was requested. */
  readonly url: URL
  readonly evidence: ReadonlyArray<Envelope.Evidence>
  /** The number of this page, from 1. */
  readonly number: number
  readonly isEmpty: boolean
}

const lastName = (field: string): string => field.slice(field.lastIndexOf(".") + 1)

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value.trim() : typeof value === "number" && Number.isFinite(value) ? String(value) : undefined

/** The target of an object such as `{ "href": "..." }`. */
const targetOf = (value: unknown): string | undefined =>
  Predicate.isObject(value)
    ? textOf(Object.entries(value).find(([name, each]) => /^(?:href|ur[li]|link)$/i.test(name) && typeof each === "string")?.[1])
    : undefined

const looksLikeAddress = (text: string): boolean => /^(?:https?:\/\/|[/?])|^[^\s?]*\?[^\s=]+=/i.test(text)

// Names of addresses, and names in an object with links. A text there is an address, also one such as `Items?$skiptoken=3` or `page/2`.
const isNameOfAddress = (field: string): boolean =>
  /(?:link|href|ur[li])s?$/i.test(lastName(field)) || /(?:^|\.)_?links?\.[^.]+$/i.test(field) || lastName(field) === "__next"

/** The parameter of a cursor, by the name of its field. */
const parameterOf = (field: string): string | undefined => {
  const name = lastName(field)
  switch (name) {
    case "nextPageToken":
      return "pageToken"
    case "next_page_token":
      return "page_token"
    case "nextToken":
    case "NextToken":
      return name
    default:
      return /^next_?cursor$/i.test(name) ? "cursor" : undefined
  }
}

const addressOf = ({ field, kind, value }: Envelope.Evidence): Next | undefined => {
  if (kind !== "next") return undefined
  const linked = targetOf(value)
  if (linked !== undefined) return { _tag: "Address", field, target: linked }
  const text = typeof value === "string" ? value.trim() : undefined
  if (text === undefined) return undefined
  // A cursor in base64 may begin with a slash.
  const isAddress = parameterOf(field) === undefined
    ? isNameOfAddress(field) || looksLikeAddress(text)
    : /^(?:https?:\/\/|\?)/i.test(text)
  return isAddress ? { _tag: "Address", field, target: text } : undefined
}

const cursorOf = ({ field, kind, value }: Envelope.Evidence): Next | undefined => {
  if (kind !== "next") return undefined
  const name = parameterOf(field)
  const text = textOf(value)
  if (name !== undefined && text !== undefined) return { _tag: "Parameter", field, name, value: text }
  // The name in the object is that of the parameter: `paging.next.after`.
  const after = Predicate.isObject(value) ? textOf(value["after"]) : undefined
  return after === undefined ? undefined : { _tag: "Parameter", field: `${field}.after`, name: "after", value: after }
}

/** The name of the variable for the cursor in a GraphQL query, unless there are several. */
const variableOf = (query: string): string | undefined => {
  const names = new Set(Array.from(query.matchAll(/\bafter\s*:\s*\$(\w+)/g), ([, name]) => name))
  return names.size === 1 ? [...names][0] : undefined
}

const connectionOf = ({ field, fields, kind }: Envelope.Evidence, url: URL): Next | undefined => {
  if (kind !== "partial" || lastName(field) !== "hasNextPage") return undefined
  const cursor = fields?.["endCursor"]
  const name = variableOf(url.searchParams.get("query") ?? "")
  return typeof cursor !== "string" || cursor === "" || name === undefined ? undefined : { _tag: "Variable", field, name, value: cursor }
}

const integerOf = (value: unknown): number | undefined => {
  const text = textOf(value)
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** The parameter of an address that selects a page, and its value. */
const pageInAddress = (url: URL): readonly [name: string, value: string] | undefined =>
  [...url.searchParams].find(([name, value]) => Envelope.isPageParameter(name) && integerOf(value) !== undefined)

/** The number of the page, and the parameter that selects it, by the fields beside the number of all pages. */
const currentOf = (fields: { readonly [name: string]: unknown }, url: URL) => {
  const inAddress = pageInAddress(url)
  const entries = Object.entries(fields).map(([name, value]) => [name.toLowerCase().replace(/[^a-z0-9]/g, ""), integerOf(value)] as const)
  const at = (pattern: RegExp) => entries.find(([name, value]) => pattern.test(name) && value !== undefined)
  const isSpring = entries.some(([name]) => name === "totalelements")
  const plain = at(isSpring ? /^(?:number|page)$/ : /^(?:current|cur)?page$/)
  const [, current] = plain ?? at(/^(?:current|cur|this)?page(?:number|num|no|index)$/) ?? []
  return current === undefined
    ? undefined
    : { current, parameter: inAddress?.[0] ?? (plain === undefined ? undefined : "page") }
}

const numberOf = ({ field, fields = {}, kind, number, value }: Envelope.Evidence, page: Page): Next | undefined => {
  const inAddress = pageInAddress(page.url)
  const next = (name: string | undefined, value: number): Next | undefined =>
    name === undefined ? undefined : { _tag: "Parameter", field, name, value: String(value), isNumber: true }
  if (kind === "next" && /^(?:x-)?next[_-]?page$/i.test(lastName(field))) {
    const following = integerOf(value)
    return following === undefined ? undefined : next(inAddress?.[0] ?? "page", following)
  }
  const isLast = kind === "pages" ? page.number >= number : !(kind === "partial" && /more/i.test(lastName(field)))
  if (isLast) return undefined
  const found = currentOf(fields, page.url) ??
    (field !== "x-wp-totalpages"
      ? undefined
      : { current: inAddress === undefined ? page.number : integerOf(inAddress[1]), parameter: inAddress?.[0] ?? "page" })
  if (found?.current === undefined) return undefined
  // The first page is 0 or 1. A server that goes on with another page than the next one has left some out.
  const first = found.current - page.number + 1
  return first === 0 || first === 1 ? next(found.parameter, found.current + 1) : undefined
}

/** A cursor that may also be that of the page itself, so that only items show that another page may follow. */
const bareCursorOf = ({ field, kind, value }: Envelope.Evidence, page: Page): Next | undefined => {
  const text = textOf(value)
  return kind === "perhaps" && field === "cursor" && text !== undefined && !page.isEmpty &&
      page.evidence.every((each) => each.kind !== "end")
    ? { _tag: "Parameter", field, name: "cursor", value: text }
    : undefined
}

/** The number of the page that its fields show. */
export const numberIn = ({ evidence, url }: Pick<Page, "evidence" | "url">): number | undefined => {
  for (const { field, fields = {}, kind } of evidence) {
    const found = kind === "pages" || (kind === "partial" && /more/i.test(lastName(field))) ? currentOf(fields, url)?.current : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** The request for the page after this one; undefined if it is the last one, or if the form of its fields fixes no request. */
export const find = (page: Page): Next | undefined => {
  const first = (of: (evidence: Envelope.Evidence) => Next | undefined): Next | undefined => {
    for (const each of page.evidence) {
      const next = of(each)
      if (next !== undefined) return next
    }
    return undefined
  }
  return first(addressOf) ?? first(cursorOf) ?? first((each) => connectionOf(each, page.url)) ?? first((each) => numberOf(each, page)) ??
    first((each) => bareCursorOf(each, page))
}

/** The value at a path. Names may have dots themselves, such as `@odata.nextLink`. */
const valueAt = (value: unknown, path: string): unknown => {
  if (!Predicate.isObject(value)) return undefined
  if (Object.hasOwn(value, path)) return value[path]
  for (let dot = path.indexOf("."); dot !== -1; dot = path.indexOf(".", dot + 1)) {
    const name = path.slice(0, dot)
    const found = Object.hasOwn(value, name) ? valueAt(value[name], path.slice(dot + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * The request that a named field shows: in a document without its items, else in the headers. Returns a text if its value is neither
 * an address nor fits a parameter.
 */
export const named = (
  { parameter, path }: NamedField,
  document: unknown,
  headers: Readonly<Record<string, string | undefined>>
): Next | string | undefined => {
  const value = valueAt(document, path) ?? headers[path.toLowerCase()]
  if (Envelope.isBlank(value)) return undefined
  const text = textOf(value) ?? targetOf(value)
  if (text === undefined) return `${path} is neither a text nor a number`
  if (parameter !== undefined) return { _tag: "Parameter", field: path, name: parameter, value: text }
  return looksLikeAddress(text) || isNameOfAddress(path)
    ? { _tag: "Address", field: path, target: text }
    : `${path} is no address: name the parameter that takes it as well`
}
