/**
 * Finds in the fields around the items of a document, and in the headers of a response, what shows that the items are one page of several or
 * that reading them failed. By the forms of names and values, in any letter case and punctuation, because every API has names of its own.
 */
import TokenType from "@streamparser/json/utils/types/tokenType.js"
import * as Predicate from "effect/Predicate"
import * as Link from "./Link.ts"
import { quoted } from "./Quoted.ts"

type Kind =
  /** A further page, such as `next: "..."`. */
  | "next"
  /** Not all items, such as `has_more: true`. */
  | "partial"
  /** A failure, such as `errors: [...]`. */
  | "failure"
  /** The number of all items. */
  | "total"
  /** The number of all items, or of those of the page. */
  | "count"
  /** The number of all pages. */
  | "pages"
  /** The number of all pages or items. */
  | "pagesOrTotal"
  /** Not the first page, such as `page: 2` or `previous: "..."`. */
  | "start"
  /** May belong to a last page as well, such as `cursor: "..."`. */
  | "perhaps"
  /** The largest number of items of a page. */
  | "limit"
  /** A further page of what one element of an array holds. */
  | "inner"
  /** The last page, such as `has_more: false`. */
  | "end"

/** What one field or header shows. */
export interface Evidence {
  /** The path of the field, such as `meta.next_cursor`, or the name of the header. */
  readonly field: string
  readonly kind: Kind
  /** The value, for messages. */
  readonly shown: string
  /** The number of a total, of pages and of a limit. */
  readonly number: number
  /** How many items the field counts, as far as the document has them. */
  readonly items: number
  readonly value?: unknown
  /** The object that has the field, or the headers without `x-`. */
  readonly fields?: Fields
}

type Fields = { readonly [name: string]: unknown }

const normalized = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, "")

const items =
  "(?:items?|results?|records?|elements?|hits?|rows?|entries|entry|entities|objects?|products?|variants?|skus?|articles?|docs?|documents?|matches|data)"
const page = "(?:pages?|batch|set|chunk|part|slice|list)"
// Around the word that matters, as in `links_next`, `@odata.nextLink` and `pagination_total_count`.
const around =
  "(?:odata|opensearch|hydra|hal|links?|meta|metadata|page|paging|pagination|pager|cursors?|list|search|results?|response|collection|query)*"
const address =
  "(?:token|links?|ur[li]s?|href|path|query|cursor(?:mark|str)?|keys?|marker|offset|start(?:ing)?(?:key|index|at)?|from|after|skip|index|params?|position|anchor|request|range|continuation)*"

const whole = (...forms: ReadonlyArray<string>) => new RegExp(`^(?:${forms.join("|")})$`)

const names = {
  next: whole(
    `${around}next${items}?${page}?${address}`,
    `${around}next(?:${items}|${page})(?:number|num|no|id)`,
    `${around}(?:continuation|continue|resumption|resume)(?:token|key)?`,
    "lastevaluatedkey",
    `(?:load)?more(?:links?|ur[li]s?|href)`
  ),
  more: whole(
    `${around}(?:has|have|is|are|there)*(?:more|further|additional)(?:${items}|${page})?(?:available|exists?|toload|left|follows?)?`,
    `${around}(?:has|have|is|are|there|can)+(?:load)?(?:next|more)(?:${items}|${page})?(?:available|exists?)?`,
    `${around}(?:loadmore|next(?:${items}|${page})?(?:available|exists?))`,
    "remaining",
    `${around}(?:remaining(?:${items}|${page})(?:count)?|(?:${items}|${page})remaining)`
  ),
  partial: whole(
    `(?:is|was|are)?${around}${items}?(?:is|was|are)?(?:truncated|partial|incomplete|abridged|timedout|terminatedearly|exceededtransferlimit|limit(?:reached|exceeded))(?:${items}|${page}|response)?`
  ),
  last: whole(
    `${around}(?:is|at|on|reached|includes?|contains?)*(?:the)?(?:last|final|end|complete|completed|done|finished|exhausted|eof)(?:${page}|reached)?(?:of)?(?:${items}|${page})?(?:in(?:the)?(?:${page}|range|response))?`
  ),
  previous: whole(
    `${around}prev(?:ious)?${items}?${page}?${address}`,
    `${around}(?:has|have|is|are|there|can)+prev(?:ious)?(?:${items}|${page})?(?:available|exists?)?`
  ),
  first: whole("(?:is)?(?:the)?first(?:page)?"),
  total: whole(
    `${around}(?:grand|over)?totals?(?:number|num|nr)?(?:of)?${items}?(?:count|size|number|found|filtered|display)?`,
    `${around}${items}(?:total|count|found|filtered)`,
    `${around}(?:filtered|full|all|found|inline|estimated|matching|count)(?:total|count)`,
    `${around}(?:number|num|nb|nr)(?:of)?(?:total)?(?:${items}|found)`,
    `${around}(?:count|found)`,
    `${around}length`
  ),
  relation: whole(`${around}(?:total|count)?(?:${items})?relation`),
  pages: whole(
    `${around}(?:total|num|nb|nr|number|max|count)(?:of)?pages?(?:count)?`,
    `(?:meta|paging|pagination|pager)*pages?(?:total|count|max)`,
    `(?:meta|paging|pagination|pager)*lastpage(?:number|num|index)?`,
    "pages"
  ),
  page: whole("(?:meta|paging|pagination|pager)*(?:current|cur|this)?page(?:number|num|no|index|current)?"),
  offset: whole(`${around}(?:offset|skip(?:ped)?|start(?:index|at|position|offset|row|record|item)?|from(?:index|row|record)?|firstindex)`),
  // Without a size beside them, `from` and `start` may be dates, and `skipped` may count products.
  alone: whole("offset|skip|start(?:index|offset|row|record|item)|firstindex"),
  zone: whole("timezone(?:name|id)?|tz|zone|utc|dst"),
  limit: whole(
    `${around}(?:limit|perpage|pagesize|pagelimit|pagelen(?:gth)?|${items}perpage|max(?:results|items|records|perpage)|batchsize|rowlimit)`
  ),
  // Beside the number of a page.
  pageSize: whole("size|length|per|take|top|rows"),
  cursor: whole(
    `(?:meta|paging|pagination)*(?:end|last)?cursor(?:after)?|after(?:cursor)?|bookmark|marker|searchafter`,
    "(?:pag(?:e|es|ing|ination|er)|scroll|list|batch)(?:token|cursor|key|marker|id|state)"
  ),
  // In an object about pages or about a cursor.
  inCursor: whole("id|token|key|value|position|state"),
  failure: whole("fail(?:ed|ures?)(?:count)?", "(?:graphql)?(?:errors?|exceptions?|faults?)(?:s|list|messages?|msg|description|code)?"),
  success: whole("(?:is|was)?(?:success|successful|succeeded|ok)"),
  status: whole("(?:http)?(?:status|state|outcome|result)(?:code|text)?", "(?:return|response)code", "msg|message"),
  message: whole("msg|message|error|reason|description|detail"),
  range: whole(`${around}(?:range|showing|displaying|shown)`)
}

// A count that can't be that of one page.
const isOverall = /total|full|all|found|filtered|estimated|inline|matching|hits|odata/

// Objects whose fields describe the whole document.
const holder =
  /pag(?:e|ing|inat|er)|meta|link|cursor|nav|info|attributes|context|header|status|result|response|collection|summary|listing|query|search|hits|odata|envelope|view|batch|^counts?$|^totals?$|^extras?$|additional/
const pageHolder = /pag(?:e|ing|inat|er)|cursor/
const maxDepth = 4
// The patterns take too long for longer names, and no API has them.
const maxNameLength = 40

const blankTexts = new Set(["", "[]", "{}", "null", "none", "nil", "undefined", "false", "no", "0", "-1"])
const isBlankText = (text: string) => blankTexts.has(text.trim().toLowerCase())

// An object that describes a link, with or without one.
const targets = ["href", "url", "uri", "link", "cursor", "after", "token", "page", "offset", "start"]

/** Whether the field of a next page or of an error holds nothing. */
export const isBlank = (value: unknown, depth = 0): boolean => {
  if (value === null || value === undefined || value === false || value === 0 || value === -1) return true
  if (typeof value === "string") return isBlankText(value)
  if (typeof value !== "object" || depth > maxDepth) return false
  if (Array.isArray(value)) return value.every((each) => isBlank(each, depth + 1))
  const entries = Object.entries(value)
  const links = entries.filter(([name]) => targets.includes(normalized(name)))
  return (links.length > 0 ? links : entries).every(([, each]) => isBlank(each, depth + 1))
}

// `1204`, `12.0`, `1,204`, `10000+`
const numeral = /^\s*(?:(\d{1,3}(?:[,.'’_\s]\d{3}){1,4})|(\d{1,15})(?:[.,]0{1,2})?)\s*\+?\s*$/

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number"
    ? value
    : typeof value === "string"
    ? numberOfText(value)
    // Elasticsearch has `total: { value, relation }`.
    : Predicate.hasProperty(value, "value")
    ? numberOf(value.value)
    : undefined

const numberOfText = (text: string): number | undefined => {
  const [, grouped, plain] = numeral.exec(text) ?? []
  const digits = grouped?.replace(/\D/g, "") ?? plain
  return digits === undefined ? undefined : Number(digits)
}

const booleanOf = (value: unknown): boolean | undefined => {
  if (typeof value === "boolean") return value
  const text = typeof value === "number" || typeof value === "string" ? String(value).trim().toLowerCase() : undefined
  return text === "true" || text === "yes" || text === "1" ? true : text === "false" || text === "no" || text === "0" ? false : undefined
}

// The parameters of an address may hold a signature.
const shownOf = (value: unknown): string =>
  typeof value === "string"
    ? quoted(value.replace(/\?.*$/s, "?…"))
    : typeof value === "object" && value !== null
    ? Array.isArray(value) ? `${value.length} of them` : "an object"
    : String(value)

// Not a date, such as that since when products have changed, and not the offset of a time zone.
const isCursor = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(isCursor)
    : typeof value === "number"
    ? value > 0
    : typeof value === "string" && !isBlankText(value) && !/^(?:\d{4}-\d\d-\d\d|\s*(?:UTC|GMT)?[-+]\d\d?(?::?\d\d)?\s*$)/.test(value)

const isFine = (value: unknown): boolean =>
  isBlank(value) ||
  (typeof value === "string" && /^(?:ok|okay|success|successful|no error|200)\.?$/i.test(value.trim())) ||
  // `{ "code": 0, "message": "success" }`.
  (Predicate.hasProperty(value, "code") && (isFine(value.code) || value.code === 200))

const isFailedStatus = (value: unknown): boolean =>
  typeof value === "string"
    ? /^(?:[45]\d\d|206)(?:\s+\D.*)?$|^(?:(?:internal |server |unknown )*error|fail|failed|failure|fault|partial|incomplete|truncated|time(?:d)?[ _-]?out|unauthorized|forbidden)$/i
      .test(value.trim())
    : typeof value === "number" && (value === 206 || (value >= 400 && value < 600))

interface Place {
  /** Whether the object that holds the field describes pages only, such as `page`. */
  readonly isPage: boolean
  /** Whether it describes a cursor. */
  readonly isCursor: boolean
  /** Whether the object also has a limit or a total, so that an offset is one of items. */
  readonly hasSize: boolean
  /** Whether the object also has the number of a page or of an item, so that a size is one of pages. */
  readonly hasPosition: boolean
  /** Whether the object also has a message, so that a code is one of an error. */
  readonly hasMessage: boolean
  /** Whether the object also has a time zone. */
  readonly hasZone: boolean
  /** Names that count the elements of an array, such as `variants_count`. */
  readonly counts: RegExp | undefined
}

const placeOf = (fields: Fields, path: string, array: string | undefined): Place => {
  const own = Object.keys(fields).map(normalized).filter((name) => name.length <= maxNameLength)
  const isPage = /(?:^|\.)pages?$/i.test(path)
  const isSpring = own.includes("size") && own.some((name) => /^(?:totalpages|totalelements|numberofelements)$/.test(name))
  return {
    isPage: isPage || isSpring,
    isCursor: /(?:cursors?|paging|pagination|pager)$/i.test(path),
    hasSize: own.some((name) => names.limit.test(name) || names.total.test(name)),
    hasPosition: isPage ||
      Object.entries(fields).some(([name, value]) =>
        numberOf(value) !== undefined && [names.page, names.offset].some((pattern) => pattern.test(normalized(name)))
      ),
    hasMessage: own.some((name) => names.message.test(name)),
    hasZone: own.some((name) => names.zone.test(name)),
    counts: array === undefined ? undefined : countsOf(array)
  }
}

const countsOf = (array: string): RegExp | undefined => {
  const one = normalized(array).replace(/s$/, "")
  return one === "" || one.length > maxNameLength
    ? undefined
    : whole(`(?:total|number|num|nb)(?:of)?${one}s?(?:count)?`, `${one}s?(?:total|number|count)(?:count)?`)
}

// `1 of 3`, `Page 1/3`
const pageOfPages = /^\s*(?:page\s*)?(\d{1,9})\s*(?:of|\/)\s*(\d{1,9})\s*$/i
// `items 0-11/30`, `1-12 of 80`
const itemsOfItems = /^[a-z\s:]*(\d{1,9})\s*-\s*(\d{1,9})\s*(?:of|\/)\s*(\d{1,9})\b(?!-)/i

/** What a field shows by its name and value. */
const classify = (written: string, value: unknown, place: Place): readonly [kind: Kind, number?: number] | undefined => {
  const name = normalized(written)
  if (name.length > maxNameLength) return undefined
  const { hasSize, isPage } = place
  const number = numberOf(value)
  const flag = booleanOf(value)
  if (names.next.test(name)) return isBlank(value) ? ["end"] : ["next"]
  if (names.previous.test(name)) return isBlank(value) || booleanOf(value) === false ? undefined : ["start"]
  if (names.more.test(name)) {
    if (flag !== undefined) return flag ? ["partial"] : ["end"]
    if (number !== undefined) return number > 0 ? ["partial"] : undefined
    return typeof value === "string" && /^(?:https?:|[/?])/i.test(value) ? ["next"] : undefined
  }
  if (names.partial.test(name)) return flag === true ? ["partial"] : undefined
  if (number !== undefined && (names.pages.test(name) || (isPage && /^(?:of|last)$/.test(name)))) return ["pages", number]
  if (names.last.test(name) && typeof value !== "number") return flag === undefined ? undefined : flag ? ["end"] : ["partial"]
  if (names.first.test(name) && typeof value !== "number") return flag === false ? ["start"] : undefined
  if (place.hasPosition && names.pageSize.test(name)) return number === undefined ? undefined : ["limit", number]
  if (place.counts?.test(name) === true) return number === undefined ? undefined : ["count", number]
  if (names.total.test(name)) {
    return number === undefined
      ? undefined
      : [/total|of|last/.test(name) && isPage ? "pagesOrTotal" : isOverall.test(name) ? "total" : "count", number]
  }
  if (names.relation.test(name)) return typeof value === "string" && /^(?:gte?|>=?)$/i.test(value) ? ["partial"] : undefined
  if (names.page.test(name) || (isPage && /^(?:number|index|current)$/.test(name))) {
    const [, current, pages] = (typeof value === "string" ? pageOfPages.exec(value) : undefined) ?? []
    if (Number(current ?? number) > 1) return ["start"]
    return pages === undefined ? undefined : ["pages", Number(pages)]
  }
  if (names.offset.test(name)) {
    if (number !== undefined) return number > 1 && (hasSize || (names.alone.test(name) && !place.hasZone)) ? ["start"] : undefined
    // Airtable has an opaque text.
    return name === "offset" && isCursor(value) ? ["perhaps"] : undefined
  }
  if (names.range.test(name)) {
    const [, , to, all] = (typeof value === "string" ? itemsOfItems.exec(value) : undefined) ?? []
    return Number(to) < Number(all) - 1 ? ["partial"] : undefined
  }
  if (names.limit.test(name)) return number === undefined ? undefined : ["limit", number]
  if (names.cursor.test(name)) return isCursor(value) ? ["perhaps"] : undefined
  if (place.isCursor && names.inCursor.test(name)) return isCursor(value) ? ["perhaps"] : isBlank(value) ? ["end"] : undefined
  if (names.failure.test(name)) return isFine(value) ? undefined : ["failure"]
  if (names.success.test(name)) return flag === false ? ["failure"] : undefined
  if (name === "code" && place.hasMessage) return isFailedStatus(value) ? ["failure"] : undefined
  return names.status.test(name) && isFailedStatus(value) ? ["failure"] : undefined
}

const relations: ReadonlySet<string> = new Set(["next", "prev", "previous", "first", "self", "last"])

/** The links of a list by their relations, such as `[{ "rel": "next", "href": "..." }]`. */
const linksOf = (list: ReadonlyArray<unknown>): Fields =>
  Object.fromEntries(list.flatMap((link) =>
    Predicate.isObject(link)
      ? Object.entries(link).flatMap(([name, relation]) =>
        ["rel", "relation", "type"].includes(normalized(name))
          ? [relation].flat().flatMap((each) => typeof each === "string" ? each.toLowerCase().split(/\s+/) : [])
          : []
      ).flatMap((relation) => relations.has(relation) ? [[relation, link]] : [])
      : []
  ))

const relationNames = whole(`${around}(first|self|last)${page}?${address}`)
const positionNames = {
  page: /^(?:page|pages?(?:number|num|no|index)|currentpage|pg|p)$/,
  offset: /^(?:page)?(?:offset|skip|startindex)$/,
  cursor: /^(?:page)?(?:cursor|after|token|startingafter|startafter|nexttoken|continuationtoken)$/
}

/** Whether a parameter of an address selects a page by its number. */
export const isPageParameter = (name: string): boolean => positionNames.page.test(normalized(name))

interface Position {
  readonly page: number | undefined
  readonly offset: number | undefined
  /** The text of whatever selects a page other than the first. */
  readonly later: string | undefined
}

/** The page that an address selects by its parameters. */
const positionOf = (address: string): Position => {
  const parameters = [...new URLSearchParams(/\?([^#]*)/.exec(address)?.[1] ?? "")].map(([name, value]) =>
    [normalized(name), value] as const
  )
  const at = (pattern: RegExp) => parameters.find(([name]) => pattern.test(name))?.[1]
  const [page, offset] = [at(positionNames.page), at(positionNames.offset)].map((text) =>
    text === undefined ? undefined : numberOfText(text)
  )
  const later = page !== undefined && page > 1 ? `page ${page}` : offset !== undefined && offset > 1 ? `offset ${offset}` : undefined
  return { page, offset, later: later ?? at(positionNames.cursor) }
}

const addressOf = (link: unknown): string | undefined => {
  const address = Predicate.isObject(link) ? Object.entries(link).find(([name]) => /^(?:href|ur[li]|link)$/i.test(name))?.[1] : link
  return typeof address === "string" && /[/?]/.test(address) ? address : undefined
}

/** What the addresses of the page itself, of the first and of the last page show together. */
const inspectLinks = (fields: Fields, add: (name: string, kind: Kind, shown: string, number: number) => void): void => {
  const found = new Map<string, Position & { readonly name: string }>()
  for (const [name, value] of Object.entries(fields)) {
    const [, relation] = name.length > maxNameLength ? [] : relationNames.exec(normalized(name)) ?? []
    const address = relation === undefined ? undefined : addressOf(value)
    if (relation !== undefined && address !== undefined) found.set(relation, { name, ...positionOf(address) })
  }
  const [first, last, self] = [found.get("first"), found.get("last"), found.get("self")]
  const isFirst = first !== undefined && first.page === self?.page && first.offset === self?.offset && first.later === self?.later
  if (self !== undefined && !isFirst) {
    const isAfter = first?.page !== undefined && self.page !== undefined && self.page > first.page
    if (self.later !== undefined || isAfter) add(self.name, "start", self.later ?? `page ${self.page}`, 0)
  }
  if (last?.page !== undefined) {
    add(last.name, "pages", `page ${last.page}`, last.page - (first?.page ?? (self?.page === 0 ? 0 : 1)) + 1)
  } else if (last?.offset !== undefined && self !== undefined && last.offset > (self.offset ?? 0)) {
    add(last.name, "partial", `offset ${last.offset}`, 0)
  }
}

const isCount = (value: unknown): value is number => typeof value === "number"

/** The number of failures in an object that counts attempts, such as the shards of a search; undefined in another one. */
const failuresIn = (value: Fields): readonly [name: string, number: number] | undefined => {
  const entries = Object.entries(value)
  const failed = entries.find(([name]) => normalized(name) === "failed")
  return failed !== undefined && isCount(failed[1]) &&
      entries.some(([name, each]) => /^(?:success(?:ful)?|succeeded|ok|passed)$/.test(normalized(name)) && isCount(each))
    ? [failed[0], failed[1]]
    : undefined
}

const inspect = (
  fields: Fields,
  path: string,
  count: number | undefined,
  skipped: string | undefined,
  add: (evidence: Evidence) => void,
  depth: number,
  isHeld: boolean
): void => {
  const place = placeOf(fields, path, skipped)
  for (const [name, value] of Object.entries(fields)) {
    if (name === skipped) continue
    const field = join(path, name)
    if (Predicate.isObject(value)) {
      const failures = failuresIn(value)
      if (failures !== undefined) {
        const [failed, number] = failures
        if (number > 0) add({ field: join(field, failed), kind: "failure", number: 0, shown: String(number), items: 0 })
        continue
      }
      // Elasticsearch stops to count at a limit.
      const relation = own(value, "relation")
      if (classify("relation", relation, place) !== undefined) {
        add({ field: `${field}.relation`, kind: "partial", number: 0, shown: shownOf(relation), items: 0 })
      }
    }
    const found = classify(name, value, place)
    if (found !== undefined) {
      const [kind, number = 0] = found
      if (!isTotal(kind) || count !== undefined) add({ field, kind, number, shown: shownOf(value), items: count ?? 0, value, fields })
    } else if (Array.isArray(value)) {
      if (/link/i.test(name)) inspect(linksOf(value), field, count, undefined, add, maxDepth, true)
    } else if (Predicate.isObject(value) && depth < maxDepth && (isHeld || holder.test(normalized(name)))) {
      inspect(value, field, count, undefined, add, depth + 1, true)
    }
  }
  inspectLinks(fields, (name, kind, shown, number) => add({ field: join(path, name), kind, number, shown, items: count ?? 0 }))
}

const isTotal = (kind: Kind) => kind === "total" || kind === "count" || kind === "pagesOrTotal"

const own = (fields: Fields, name: string): unknown => Object.hasOwn(fields, name) ? fields[name] : undefined

/** The number of elements of the first array on the way to the items. */
export const countBelow = (value: unknown, rest: ReadonlyArray<string>): number | undefined => {
  if (Array.isArray(value)) return value.length
  const [name, ...further] = rest
  return name === undefined || !Predicate.isObject(value) ? undefined : countBelow(own(value, name), further)
}

// Elements of an array repeat the same fields.
const maxFields = 100

/** Whether a field of a product tells of further pages of what it holds. */
const isAboutPages = (name: string): boolean =>
  /^(?:is)?truncated$/.test(name) || (names.more.test(name) && name !== "remaining") ||
  (names.next.test(name) && /token|cursor|page|link|ur[li]/.test(name))

/** Collects what the objects around the items show. */
class Collector {
  readonly found: Array<Evidence> = []
  private readonly inElements = new Set<string>()

  /** An object on the way to the items; `rest` has the names that lead on. `inArray`: an array around it holds others like it. */
  object(value: Fields, rest: ReadonlyArray<string>, path: string, inArray: boolean, isElement: boolean): void {
    const add = (evidence: Evidence) => {
      if (!inArray) this.found.push(evidence)
      // The other pages have other elements, so this one is judged alone.
      else if (
        !this.inElements.has(evidence.field) && this.inElements.size < maxFields && complaintOf(evidence, evidence.items, 1) !== undefined
      ) {
        this.inElements.add(evidence.field)
        this.found.push({ ...evidence, kind: "inner" })
      }
    }
    // The fields of an element are those of a product, unless they are together in an object about pages, or can be about pages only.
    const [array] = rest
    const counts = array === undefined ? undefined : countsOf(array)
    const fields = isElement
      ? Object.fromEntries(
        Object.entries(value).filter(([key, each]) => {
          const name = normalized(key)
          return name.length <= maxNameLength &&
            (Predicate.isObject(each) ? pageHolder.test(name) : isAboutPages(name) || counts?.test(name) === true)
        })
      )
      : value
    inspect(fields, path, countBelow(value, rest), rest[0], add, 0, false)
  }

  /** A value and all on the way from it to the items. */
  walk(value: unknown, rest: ReadonlyArray<string>, path = "", inArray = false, isElement = false): void {
    const [name, ...further] = rest
    if (name === undefined) return
    if (Array.isArray(value)) { for (const element of value) this.walk(element, rest, path, true, true) }
    else if (Predicate.isObject(value)) {
      this.object(value, rest, path, inArray, isElement)
      this.walk(own(value, name), further, join(path, name), inArray)
    }
  }
}

const join = (path: string, name: string): string => path === "" ? name : `${path}.${name}`

/** What the fields around the items of a document show. `way` has the names that lead from the document to the items. */
export const ofDocument = (document: unknown, way: ReadonlyArray<string>): ReadonlyArray<Evidence> => {
  const collector = new Collector()
  collector.walk(document, way)
  return collector.found
}

interface Token {
  readonly token: TokenType
  readonly value: unknown
}

interface Container {
  readonly value: { [name: string]: unknown } | Array<unknown>
  /** The name of the value that follows in an object. */
  name: string | undefined
  /** The names that lead on to the items; undefined beside the way to them. */
  readonly rest: ReadonlyArray<string> | undefined
  readonly path: string
  readonly isElement: boolean
}

/** Collects the same from the tokens of a document, in constant memory: without its items, and without elements that have ended. */
export class Reader {
  private readonly collector = new Collector()
  private readonly way: ReadonlyArray<string>
  private readonly stack: Array<Container> = []
  /** The open brackets and braces from the array of items on. */
  private depth = 0
  /** The number of items in their array so far. */
  private count = 0
  private outer = 0
  private root: unknown
  /** The first field that occurs twice in one object. */
  repeated: string | undefined

  constructor(way: ReadonlyArray<string>) {
    this.way = way
  }

  get evidence(): ReadonlyArray<Evidence> {
    return this.collector.found
  }

  /** The number of elements of the outermost array on the way to the items. */
  get outerCount(): number {
    return this.outer
  }

  /** The document without its items, once it has ended. */
  get document(): unknown {
    return this.root
  }

  write({ token, value }: Token): void {
    const isOpening = token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET
    if (this.depth > 0) return this.skip(token, isOpening)
    const top = this.stack.at(-1)
    if (isOpening) this.open(top, token === TokenType.LEFT_BRACKET)
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.close()
    else if (top === undefined || token === TokenType.COLON) return
    else if (token === TokenType.COMMA) top.name = undefined
    else if (token === TokenType.STRING && !Array.isArray(top.value) && top.name === undefined) this.name(top, String(value))
    else this.put(top, value)
  }

  private name(top: Container, name: string): void {
    top.name = name
    // Other fields of an element are those of a product.
    if (Object.hasOwn(top.value, name) && (!top.isElement || top.rest?.[0] === name)) this.repeated ??= join(top.path, name)
  }

  /** Counts the items. */
  private skip(token: TokenType, isOpening: boolean): void {
    const isClosing = token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET
    if (this.depth === 1 && !isClosing && token !== TokenType.COMMA) this.count++
    if (isOpening) this.depth++
    else if (isClosing) {
      this.depth--
      if (this.depth > 0) return
      const top = this.stack.at(-1)?.value
      if (Array.isArray(top)) top.length = this.count
      this.count = 0
      this.close()
    }
  }

  private open(top: Container | undefined, isArray: boolean): void {
    const isElement = top !== undefined && Array.isArray(top.value)
    const isOnWay = top === undefined || isElement || (top.rest !== undefined && top.rest[0] === top.name)
    const rest = top === undefined ? this.way : isOnWay ? isElement ? top.rest : top.rest?.slice(1) : undefined
    this.stack.push({
      value: isArray ? [] : {},
      name: undefined,
      rest: rest?.length === 0 && !isArray ? undefined : rest,
      path: top === undefined ? "" : isElement ? top.path : join(top.path, top.name ?? ""),
      isElement
    })
    if (isArray && rest?.length === 0) this.depth = 1
  }

  private close(): void {
    const ended = this.stack.pop()
    if (ended === undefined) return
    const { isElement, path, rest, value } = ended
    const top = this.stack.at(-1)
    if (top === undefined) {
      this.root = value
      this.collector.walk(value, this.way)
      this.outer = countBelow(value, this.way) ?? 0
    } else if (isElement && rest !== undefined) {
      this.collector.walk(value, rest, path, true, true)
      if (Array.isArray(top.value)) top.value.length++
    } else this.put(top, value)
  }

  private put({ name, value }: Container, child: unknown): void {
    if (Array.isArray(value)) value.push(child)
    else if (name !== undefined) Object.defineProperty(value, name, { value: child, enumerable: true, configurable: true, writable: true })
  }
}

/** What an object shows that is no item although it is in the place of one. */
export const ofObject = (fields: Fields): ReadonlyArray<Evidence> => {
  const found: Array<Evidence> = []
  inspect(fields, "", 0, undefined, (evidence) => found.push(evidence), 0, false)
  return found
}

// Their numbers are not those of items.
const otherHeaders =
  /^(?:access-control|content|link|etag|age|date|server|via|vary|alt)|rate|quota|throttle|cost|time|retry|cache|byte|length|request|trace/
const headerKinds: ReadonlySet<Kind> = new Set<Kind>(["next", "partial", "total", "count", "pages", "start", "end"])

/** What the headers of a response show. `count` is the number of its rows. */
export const ofHeaders = (headers: Readonly<Record<string, string | undefined>>, count: number): ReadonlyArray<Evidence> => {
  const found: Array<Evidence> = []
  const forms: Fields = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => otherHeaders.test(name) ? [] : [[bareName(name), value] as const])
  )
  const place = placeOf(forms, "", undefined)
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    if (name === "link") {
      // The next page is followed.
      const links = Object.fromEntries(
        Link.parse(value).flatMap(({ relations, target }) =>
          relations.filter((each) => each !== "next").map((each) => [each, target] as const)
        ).toReversed()
      )
      inspect(links, name, count, undefined, (evidence) => found.push(evidence), maxDepth, true)
      continue
    }
    if (name === "content-range") {
      const [, from, to, all] = /(\d+)\s*-\s*(\d+)\s*\/\s*(\d+|\*)/.exec(value) ?? []
      if (from !== undefined && (Number(from) > 0 || (all !== "*" && Number(to) + 1 < Number(all)))) {
        found.push({ field: name, kind: "partial", number: 0, shown: quoted(value), items: count })
      }
      continue
    }
    if (otherHeaders.test(name)) continue
    const bare = bareName(name)
    const parsed = /pagina|paging/.test(bare) && value.trimStart().startsWith("{") ? parseObject(value) : undefined
    if (parsed !== undefined) inspect(parsed, name, count, undefined, (evidence) => found.push(evidence), 0, true)
    // Some have the name of their program in front: X-WP-Total.
    for (const form of [bare, bare.replace(/^[^-]+-/, "")]) {
      const evidence = classify(form, value, place)
      if (evidence !== undefined && headerKinds.has(evidence[0])) {
        found.push({ field: name, kind: evidence[0], number: evidence[1] ?? 0, shown: quoted(value), items: count, value, fields: forms })
      }
      // The end of X-Per-Page is no page.
      if (isKnown(form)) break
    }
  }
  return found
}

const bareName = (name: string) => name.replace(/^x-/, "")

const isKnown = (written: string): boolean => {
  const name = normalized(written)
  return name.length <= maxNameLength && Object.values(names).some((pattern) => pattern.test(name))
}

const parseObject = (text: string): Fields | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return Predicate.isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`

interface Finding {
  readonly verdict: string
  readonly text: string
}

const several = "it is one page of several"

/** Why a field shows that something is missing, by the number of all its items and pages. */
const complaintOf = ({ field, kind, number, shown }: Evidence, count: number, pages: number): Finding | undefined => {
  switch (kind) {
    case "next":
      return { verdict: several, text: `${field} is set (${shown})` }
    case "partial":
    case "inner":
      return { verdict: `${several}, or cut`, text: `${field} is ${shown}` }
    case "failure":
      return { verdict: "it reports a failure", text: `${field} is ${shown}` }
    case "start":
      return { verdict: "it is not the first page", text: `${field} is ${shown}` }
    case "total":
    case "count":
      return number > count ? { verdict: several, text: `${field} is ${shown}, and it has ${counted(count, "item")}` } : undefined
    case "pages":
      return number > pages ? { verdict: several, text: `${field} is ${shown}, and it has ${counted(pages, "page")}` } : undefined
    case "pagesOrTotal":
      return number > pages && number !== count
        ? { verdict: several, text: `${field} is ${shown}, and it has ${counted(count, "item")}` }
        : undefined
    case "limit":
    case "perhaps":
    case "end":
      return undefined
  }
}

/** That something is missing, and the fields that show it. */
export interface Complaint {
  readonly fields: ReadonlyArray<string>
  readonly reason: string
}

// An envelope with more is described by these as well.
const maxShown = 5

/** One sentence about all findings, with each verdict once. */
const complaint = (findings: ReadonlyMap<string, Finding>, end = ""): Complaint | undefined => {
  if (findings.size === 0) return undefined
  const shown = [...findings.values()].slice(0, maxShown)
  const clauses = [...new Set(shown.map(({ verdict }) => verdict))].map((verdict) =>
    `${verdict}: ${shown.filter((each) => each.verdict === verdict).map(({ text }) => text).join("; ")}`
  )
  const more = findings.size - maxShown
  return { fields: [...findings.keys()], reason: `${clauses.join("; ")}${more > 0 ? `, and ${more} more` : ""}${end}` }
}

/** Judges the pages of one document. */
export class Pages {
  private pages = 0
  private readonly counts = new Map<string, number>()
  /** By field: what holds for all pages, from the last page that has it. */
  private readonly overall = new Map<string, Evidence>()
  /** What no further page repairs. */
  private readonly final: Array<Evidence> = []
  private last: ReadonlyArray<Evidence> = []

  /** Adds the next page. */
  add(evidence: ReadonlyArray<Evidence>): void {
    this.pages++
    for (const each of evidence) {
      if (each.kind === "pages" || isTotal(each.kind)) {
        this.counts.set(each.field, (this.counts.get(each.field) ?? 0) + each.items)
        this.overall.set(each.field, each)
      } else if (each.kind === "failure" || each.kind === "inner" || (each.kind === "start" && this.pages === 1)) this.final.push(each)
    }
    this.last = evidence
  }

  /** Why the pages are not all, once no other follows. Fields that are accepted show nothing. */
  complaint(isAccepted: (field: string) => boolean): Complaint | undefined {
    const found = new Map<string, Finding>()
    const ofLast = this.last.filter(({ kind }) => kind === "next" || kind === "partial")
    for (const each of [...this.final, ...ofLast, ...this.overall.values()]) {
      const finding = complaintOf(each, this.counts.get(each.field) ?? 0, this.pages)
      if (finding !== undefined && !found.has(each.field)) found.set(each.field, finding)
    }
    if (found.size > 0) return complaint(new Map([...found].filter(([field]) => !isAccepted(field))))
    if (this.pages > 1 || this.last.some(isEnd)) return undefined
    const doubts = this.last.filter(({ field, items, kind, number }) =>
      (kind === "perhaps" || (kind === "limit" && number > 0 && number === items)) && !isAccepted(field)
    ).map(({ field, kind, shown }) =>
      [field, {
        verdict: "it may be one page of several",
        text: `${field} is ${shown}${kind === "limit" ? ", as many as it has items" : ""}`
      }] as const
    )
    return complaint(new Map(doubts), ", and nothing shows that no other page follows")
  }
}

const isEnd = ({ items, kind, number }: Evidence): boolean =>
  kind === "end" || (kind === "total" && number === items) || (kind === "pages" && number === 1) ||
  (kind === "pagesOrTotal" && (number === 1 || number === items))
