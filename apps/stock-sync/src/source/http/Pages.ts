/**
 * Reads the pages of a document as one snapshot. The next page is named by a `Link` header (RFC 8288) or by fields of the body, in the
 * forms of NextPage.ts or as a setting says, or by the cursor of a GraphQL query (GraphqlResponse.ts).
 */
import * as AcceptPartial from "@plaza/tabular/AcceptPartial"
import * as Envelope from "@plaza/tabular/Envelope"
import type * as Format from "@plaza/tabular/Format"
import * as Link from "@plaza/tabular/Link"
import * as NextPage from "@plaza/tabular/NextPage"
import * as Numerals from "@plaza/tabular/Numerals"
import * as SourceError from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import { Wording } from "../../Wording.ts"
import * as Rows from "../Rows.ts"
import type { SourceFailure } from "../Source.ts"
import type { Fetched } from "./Requests.ts"

/** How the page after a page is requested. */
export type Following<Page extends Fetched> =
  | {
    readonly _tag: "Address"
    readonly fetch: (url: URL) => Effect.Effect<Page, SourceFailure>
    /** The field that names the next page, before all others. */
    readonly next?: NextPage.NamedField | undefined
  }
  /** A query that is sent again with another value of a variable. */
  | {
    readonly _tag: "Query"
    /** A text says why the page can't be used. */
    readonly nextOf: (page: Page) => NextVariable | string | undefined
    readonly documentOf: (page: Page) => unknown
    readonly fetch: (next: NextVariable) => Effect.Effect<Page, SourceFailure>
  }

type NextVariable = Extract<NextPage.Next, { readonly _tag: "Variable" }>

export interface PagesOptions<Page extends Fetched> extends Rows.RowOptions {
  readonly source: string
  readonly format: Format.Format
  readonly address: URL
  readonly accepted: AcceptPartial.AcceptPartial
  readonly refused: (reason: string) => SourceError.SourceError
  readonly following: Following<Page>
  readonly bytesOf: (page: Page) => Stream.Stream<Uint8Array, SourceFailure>
  /** The charset that the content type of a page names, if it is known. */
  readonly charsetOf: (fetched: Fetched) => string | undefined
  /** Called at the end of a document that has no other pages. */
  readonly onUnpaged: () => void
}

// Far more than a catalogue has. Without a limit, a server that always names a next page would be read for ever.
const mostPages = 20_000

/** The rows of a first page and of all that follow it, numbered as if they were one document. */
export const rows = <Page extends Fetched>(first: Page, options: PagesOptions<Page>): Stream.Stream<Row, SourceFailure> =>
  Stream.unwrap(Effect.map(Wording, ({ named: setting, option }) => {
    const { accepted, address, bytesOf, following, format, refused, source } = options
    const accepts = (field: string) => AcceptPartial.accepts(accepted, field)
    /** The addresses of pages, or the cursors of a query. */
    const visited = new Set([address.href, first.url.href])
    const judged = new Envelope.Pages()
    const numerals = new Numerals.Evidence()
    const way = options.items?.split(".") ?? ["data"]
    let next: Effect.Effect<Page, SourceFailure> | undefined = Effect.succeed(first)
    let number = 0
    let lines = 0
    /** What the pages begin with. */
    const beginnings = new Set<string>()
    /** How this page was requested, if that was concluded from a cursor or a number of the page before. */
    let concluded: Exclude<NextPage.Next, { readonly _tag: "Address" }> | undefined

    const unvisited = (key: string, fetch: Effect.Effect<Page, SourceFailure>): Effect.Effect<Page, SourceFailure> => {
      if (visited.has(key)) return Effect.fail(refused("its pages form a loop: one names a page that was read already"))
      if (visited.size >= mostPages) return Effect.fail(refused(`it has more than ${mostPages} pages`))
      visited.add(key)
      return fetch
    }

    /** The page that an address, or a field of the page itself, names. */
    const byAddress = ({ fetch, next: field }: Extract<Following<Page>, { readonly _tag: "Address" }>, found: Found) => {
      const { open, open: { url } } = found
      const follow = (next: URL) => unvisited(next.href, fetch(next))
      const followLink = (target: string): Effect.Effect<Page, SourceFailure> => {
        if (!URL.canParse(target, url)) return Effect.fail(refused("the address of its next page is invalid"))
        const linked = new URL(target, url)
        return linked.origin === url.origin
          ? follow(linked)
          : Effect.fail(refused(`its next page is at another origin, ${linked.origin}, and is not followed`))
      }
      const followFound = (found: NextPage.Next): Effect.Effect<Page, SourceFailure> => {
        if (found._tag === "Address") return followLink(found.target)
        concluded = found
        return follow(
          found._tag === "Parameter" ? withParameter(url, found.name, found.value) : withVariable(url, found.name, found.value)
        )
      }
      const named = field && NextPage.named(field, found.document, found.headers)
      if (typeof named === "string") return Effect.fail(refused(`${named}. Correct ${setting("next")}; no row of it was used`))
      if (named !== undefined) return followFound(named)
      if (found.link !== undefined) return followLink(found.link)
      if (found.cursor !== undefined && found.cursor !== "") return follow(withParameter(url, "cursor", found.cursor))
      const concludedNext = NextPage.find(open)
      return concludedNext && followFound(concludedNext)
    }

    /** The page that the cursor of a query selects. */
    const byQuery = ({ fetch, nextOf }: Extract<Following<Page>, { readonly _tag: "Query" }>, page: Page, { link }: Found) => {
      const found = nextOf(page)
      if (typeof found === "string") return Effect.fail(refused(found))
      if (found !== undefined) {
        concluded = found
        return unvisited(found.value, fetch(found))
      }
      return link === undefined || accepts("link")
        ? undefined
        : Effect.fail(SourceError.content(source, AcceptPartial.pageRefusal(accepted, ["link"], "its header link names a next page")))
    }

    /** What to do about pages that can't be followed. */
    const remedyOf = (url: URL, evidence: ReadonlyArray<Envelope.Evidence>): string | undefined => {
      if (following._tag === "Query") return undefined
      if (url.searchParams.has("query") && evidence.some(({ field, kind }) => kind === "partial" && field.endsWith("hasNextPage"))) {
        return "Give the query a variable for the cursor of one connection, as in products(first: 100, after: $after), so that its pages are followed"
      }
      if (evidence.some(({ kind }) => kind === "pages") && NextPage.numberIn({ url, evidence }) !== undefined) {
        return "Put the parameter with the number of the first page into the address, as in ?pageNumber=1, so that its pages are followed"
      }
      const cursor = evidence.find(({ field, kind }) => (kind === "next" || kind === "perhaps") && !accepts(field))
      return cursor && `Name the parameter that takes ${cursor.field} with ${setting("next")}, as in ${option("next")} ` +
          `${cursor.field}=PARAMETER, provide a document with all items`
    }

    const page = (fetched: Page): Stream.Stream<Row, SourceFailure> => {
      const { response: { headers }, url } = fetched
      const isFirst = fetched === first
      const offset = lines
      const empty = new EmptyPage()
      const beginning: Array<string> = []
      const charset = options.charset ?? options.charsetOf(fetched)
      let rowCount = 0
      let cursor: string | undefined
      let evidence: ReadonlyArray<Envelope.Evidence> = []
      let outerCount: number | undefined
      let document: unknown
      number++

      const bytes = Stream.map(bytesOf(fetched), (chunk) => {
        if (rowCount === 0) empty.add(chunk)
        return chunk
      })
      const decoded = Rows.rows(format, {
        ...options,
        // A login page is often at another host.
        source: url.host === address.host ? source : `${source}, redirected to ${url.host}`,
        charset,
        isDeclared: options.charset === undefined,
        mayBeEmpty: !isFirst,
        evidence: numerals,
        rowsBefore: offset,
        onNextCursor: (found) => (cursor = found),
        onEvidence: (found, count, envelope) => {
          evidence = found
          outerCount = count
          document = envelope
        }
      })(bytes)
      const numbered = Stream.map(decoded, (row) => {
        rowCount++
        if (row._tag === "Valid" && beginning.length < comparedRows) beginning.push(`${row.productId} ${row.stock}`)
        lines = row.line + offset
        return offset === 0 ? row : { ...row, line: lines }
      })
      const end = Stream.suspend(() => {
        if (!isFirst && format === "json" && rowCount === 0) {
          document = following._tag === "Query" ? following.documentOf(fetched) : empty.document(charset)
          if (!hasItems(document, way)) return Stream.fail(refused("one of its pages holds no array of items; no row of it was used"))
          evidence = Envelope.ofDocument(document, way)
          // A page of products without variants has no rows, and others may follow it.
          outerCount = Envelope.countBelow(document, way)
        }
        const key = beginning.length === 0
          ? undefined
          : createHash("sha256").update(`${rowCount}\n${beginning.join("\n")}`).digest("base64")
        if (concluded !== undefined && key !== undefined && beginnings.has(key)) {
          return Stream.fail(refused(
            `its page ${number} has the rows of an earlier one, so its server seems to ignore ${concluded.name}. ${
              following._tag === "Query"
                ? "Correct the query, or ask the operator of the server"
                : `Name the field and the parameter of the next page with ${setting("next")}`
            }; no row of it was used`
          ))
        }
        if (key !== undefined) beginnings.add(key)
        const all = [...evidence, ...Envelope.ofHeaders(headers, outerCount ?? rowCount)]
        judged.add(all)
        const open = { url, evidence: all.filter(({ field }) => !accepts(field)), number, isEmpty: (outerCount ?? rowCount) === 0 }
        const current = concluded?._tag === "Parameter" && concluded.isNumber === true ? NextPage.numberIn(open) : undefined
        if (current !== undefined && String(current) !== concluded?.value) {
          return Stream.fail(refused(`its server sent page ${current} in place of page ${concluded?.value}; no row of it was used`))
        }
        concluded = undefined
        const found: Found = { open, document, headers, cursor, link: ofLink(headers["link"] ?? "") }
        next = following._tag === "Query" ? byQuery(following, fetched, found) : byAddress(following, found)
        if (next === undefined) {
          const complaint = judged.complaint(accepts)
          if (complaint !== undefined) {
            const { fields, reason } = complaint
            const remedy = remedyOf(url, all.filter(({ field }) => fields.includes(field)))
            return Stream.fail(SourceError.content(source, AcceptPartial.pageRefusal(accepted, fields, reason, remedy)))
          }
          if (isFirst) options.onUnpaged()
        }
        return Stream.empty
      })
      return Stream.concat(numbered, end)
    }

    const fetched = Stream.unfold(undefined, () => {
      const following = next
      next = undefined
      return following === undefined ? Effect.undefined : Effect.map(following, (response) => [response, undefined] as const)
    })
    return Stream.flatMap(fetched, page)
  }))

/** What a page shows of the next one. */
interface Found {
  readonly open: NextPage.Page
  readonly document: unknown
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Its `next_cursor`. */
  readonly cursor: string | undefined
  /** The target of its `Link` header. */
  readonly link: string | undefined
}

/** The target of the first link with the relation `next`, which may be relative. */
export const ofLink = (value: string): string | undefined => Link.parse(value).find(({ relations }) => relations.includes("next"))?.target

// Enough to recognise a page that is sent again.
const comparedRows = 100

const decodeName = Option.liftThrowable(decodeURIComponent)

const nameOf = (parameter: string): string => {
  const name = (parameter.split("=", 1)[0] ?? "").replaceAll("+", " ")
  return Option.getOrElse(decodeName(name), () => name)
}

/** An address with a parameter. The other parameters stay as they are written, because they may be signed. */
const withParameter = (url: URL, name: string, value: string): URL => {
  const others = url.search.slice(1).split("&").filter((parameter) => parameter !== "" && nameOf(parameter) !== name)
  const next = new URL(url)
  next.search = [...others, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`].join("&")
  return next
}

/** The address of a GraphQL query with a variable. */
const withVariable = (url: URL, name: string, value: string): URL => {
  const variables = Option.getOrUndefined(parse(url.searchParams.get("variables") ?? "{}"))
  return withParameter(url, "variables", JSON.stringify({ ...(Predicate.isObject(variables) ? variables : {}), [name]: value }))
}

// A page without items is short.
const maxEmptyBytes = 65_536

/** The document of a JSON text. */
export const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, "")))

/** Distinguishes an empty page of JSON, which ends the pages, from a document without items, such as an error with status 200. */
class EmptyPage {
  private size = 0
  private chunks: Array<Uint8Array> = []

  /** Keeps the bytes of a page that has no row so far. */
  add(chunk: Uint8Array): void {
    this.size += chunk.length
    if (this.size <= maxEmptyBytes) this.chunks.push(chunk)
    else this.chunks = []
  }

  /** None if the page was not short. */
  document(charset: string | undefined): unknown {
    return Option.getOrUndefined(parse(new TextDecoder(charset).decode(Buffer.concat(this.chunks))))
  }
}

/** Whether a document has an array of items at the path. */
const hasItems = (document: unknown, way: ReadonlyArray<string>): boolean =>
  Array.isArray(way.reduce<unknown>(
    (value, name) => Array.isArray(value) ? value : Predicate.isObject(value) ? value[name] : undefined,
    document
  ))
