/**
 * Reads the pages of a document as one snapshot. The next page is named by a `Link` header (RFC 8288) or by a cursor in the body.
 */
import * as AcceptPartial from "@plaza/tabular/AcceptPartial"
import * as Envelope from "@plaza/tabular/Envelope"
import type * as Format from "@plaza/tabular/Format"
import * as Link from "@plaza/tabular/Link"
import * as SourceError from "@plaza/tabular/SourceError"
import type { Row } from "@plaza/tabular/Stock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import * as Rows from "../Rows.ts"
import type { SourceFailure } from "../Source.ts"
import type { Fetched } from "./Requests.ts"

export interface PagesOptions extends Rows.RowOptions {
  readonly source: string
  readonly format: Format.Format
  readonly address: URL
  readonly accepted: AcceptPartial.AcceptPartial
  readonly refused: (reason: string) => SourceError.SourceError
  readonly fetch: (url: URL) => Effect.Effect<Fetched, SourceFailure>
  readonly bytesOf: (fetched: Fetched) => Stream.Stream<Uint8Array, SourceFailure>
  /** Called at the end of a document that has no other pages. */
  readonly onUnpaged: () => void
}

// Far more than a catalogue has. Without a limit, a server that always names a next page would be read for ever.
const mostPages = 20_000

/** The rows of a first page and of all that follow it, numbered as if they were one document. */
export const rows = (first: Fetched, options: PagesOptions): Stream.Stream<Row, SourceFailure> =>
  Stream.suspend(() => {
    const { accepted, address, bytesOf, fetch, format, refused, source } = options
    const visited = new Set([address.href, first.url.href])
    const judged = new Envelope.Pages()
    const way = options.items?.split(".") ?? ["data"]
    let next: Effect.Effect<Fetched, SourceFailure> | undefined = Effect.succeed(first)
    let lines = 0

    const follow = (url: URL): Effect.Effect<Fetched, SourceFailure> => {
      if (visited.has(url.href)) return Effect.fail(refused("its pages form a loop: one names a page that was read already"))
      if (visited.size >= mostPages) return Effect.fail(refused(`it has more than ${mostPages} pages`))
      visited.add(url.href)
      return fetch(url)
    }

    const followLink = (url: URL, target: string): Effect.Effect<Fetched, SourceFailure> => {
      if (!URL.canParse(target, url)) return Effect.fail(refused("the address of its next page is invalid"))
      const linked = new URL(target, url)
      return linked.origin === url.origin
        ? follow(linked)
        : Effect.fail(refused(`its next page is at another origin, ${linked.origin}, and is not followed`))
    }

    const page = (fetched: Fetched): Stream.Stream<Row, SourceFailure> => {
      const { response: { headers }, url } = fetched
      const isFirst = fetched === first
      const offset = lines
      const empty = new EmptyPage()
      let rowCount = 0
      let cursor: string | undefined
      let evidence: ReadonlyArray<Envelope.Evidence> = []
      let outerCount: number | undefined

      const bytes = Stream.map(bytesOf(fetched), (chunk) => {
        if (rowCount === 0) empty.add(chunk)
        return chunk
      })
      const decoded = Rows.rows(format, {
        ...options,
        mayBeEmpty: !isFirst,
        onNextCursor: (found) => (cursor = found),
        onEvidence: (found, count) => {
          evidence = found
          outerCount = count
        }
      })(bytes)
      const numbered = Stream.map(decoded, (row) => {
        rowCount++
        lines = row.line + offset
        return offset === 0 ? row : { ...row, line: lines }
      })
      const end = Stream.suspend(() => {
        if (!isFirst && format === "json" && rowCount === 0) {
          const document = empty.documentWithItems(way)
          if (document === undefined) return Stream.fail(refused("one of its pages holds no array of items; no row of it was used"))
          evidence = Envelope.ofDocument(document, way)
        }
        judged.add([...evidence, ...Envelope.ofHeaders(headers, outerCount ?? rowCount)])
        const target = ofLink(headers["link"] ?? "")
        if (target !== undefined) next = followLink(url, target)
        else if (cursor !== undefined && cursor !== "") next = follow(withCursor(url, cursor))
        else {
          const complaint = judged.complaint((field) => AcceptPartial.accepts(accepted, field))
          if (complaint !== undefined) {
            return Stream.fail(SourceError.content(source, AcceptPartial.pageRefusal(accepted, complaint.fields, complaint.reason)))
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
  })

/** The target of the first link with the relation `next`, which may be relative. */
export const ofLink = (value: string): string | undefined => Link.parse(value).find(({ relations }) => relations.includes("next"))?.target

const nameOf = (parameter: string): string => parameter.split("=", 1)[0] ?? ""

/**
 * An address with the parameter `cursor`. The other parameters stay as they are written, because they may be signed.
 */
const withCursor = (url: URL, cursor: string): URL => {
  const others = url.search.slice(1).split("&").filter((parameter) => parameter !== "" && nameOf(parameter) !== "cursor")
  const next = new URL(url)
  next.search = [...others, `cursor=${encodeURIComponent(cursor)}`].join("&")
  return next
}

// A page without items is short.
const maxEmptyBytes = 65_536

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text.replace(/^\uFEFF/, "")))

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

  /** The document, if it has an array of items at the path. */
  documentWithItems(way: ReadonlyArray<string>): unknown {
    const document = Option.getOrUndefined(parse(Buffer.concat(this.chunks).toString("utf8")))
    const items = way.reduce<unknown>(
      (value, name) => Array.isArray(value) ? value : Predicate.isObject(value) ? value[name] : undefined,
      document
    )
    return Array.isArray(items) ? document : undefined
  }
}
