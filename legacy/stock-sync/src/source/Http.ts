/** An `http` or `https` address as a source: one document, or pages that are read as one snapshot. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import type * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as NodeClient from "@plaza-legacy/client/node"
import * as AcceptPartial from "@plaza-legacy/tabular/AcceptPartial"
import * as Envelope from "@plaza-legacy/tabular/Envelope"
import * as Format from "@plaza-legacy/tabular/Format"
import * as SourceError from "@plaza-legacy/tabular/SourceError"
import type { Row } from "@plaza-legacy/tabular/Stock"
import * as Chunk from "effect/Chunk"
import type { ConfigError } from "effect/ConfigError"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createGunzip } from "node:zlib"
import { Wording } from "../config/Wording.ts"
import * as EmptyPage from "./http/EmptyPage.ts"
import * as NextPage from "./http/NextPage.ts"
import * as Requests from "./http/Requests.ts"
import * as Validators from "./http/Validators.ts"
import * as PollInterval from "./PollInterval.ts"
import * as Rows from "./Rows.ts"
import { type Source, type SourceFailure, SourceUnreachable } from "./Source.ts"
import * as SourceUri from "./SourceUri.ts"

export interface HttpOptions extends Rows.RowOptions {
  readonly source: string
  readonly authorization?: Redacted.Redacted | undefined
  readonly headers?: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  readonly poll: Duration.Duration
  /** How long the server may be silent, before its response and within it. */
  readonly timeout: Duration.Duration
}

// Far more than a catalogue has. Without a limit, a server that always names a next page would be read for ever.
const mostPages = 20_000

export const make = (options: HttpOptions): Effect.Effect<Source["Type"], SourceError.SourceError, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const name = SourceUri.shown(options.source)
    const { place } = yield* Wording
    const acceptPartial = yield* Rows.accepting(options)
    const accepts = (field: string) => AcceptPartial.accepts(acceptPartial, field)
    const refused = (what: string) => new SourceError.SourceError({ source: name, line: undefined, message: `${name}: ${what}` })
    const unreachable = (what: string, retryAt?: DateTime.Utc) =>
      new SourceUnreachable({ source: name, message: `${name}: ${what}; no row of it was used`, retryAt })
    if (!URL.canParse(options.source)) return yield* refused(`this is not a valid address: correct ${place("source")}`)
    const address = new URL(options.source)
    if (address.username !== "" || address.password !== "") {
      return yield* refused(`put the user and the password into ${place("source-authorization")}, not into the address`)
    }
    const get = yield* Requests.make({
      address,
      authorization: options.authorization,
      headers: options.headers,
      timeout: options.timeout,
      refused,
      unreachable
    })

    const checked = (fetched: Requests.Fetched): Effect.Effect<Requests.Fetched, SourceError.SourceError> => {
      const { headers, status } = fetched.response
      if (status === 401 || status === 403) {
        return refused(`it responded ${status}: check ${place("source-authorization")} and ${place("source-headers")}`)
      }
      // 206 and 204 are successes, but not whole snapshots.
      if (status === 206 && !accepts("content-range")) {
        return refused(AcceptPartial.pageRefusal(acceptPartial, ["content-range"], "it responded 206, which is a part"))
      }
      if (status !== 200 && status !== 206) return refused(`it responded ${status}`)
      const encoding = encodingOf(headers["content-encoding"])
      return encoding === "identity" || encoding === "gzip"
        ? Effect.succeed(fetched)
        : refused(`its content encoding ${encoding} is not supported: send plain bytes or gzip`)
    }

    /** The same bytes, unless they can end anywhere: without a length, the end of the connection is that of the response. */
    const proven = ({ headers }: HttpClientResponse, format: Format.Format) =>
    (
      bytes: Stream.Stream<Uint8Array, SourceUnreachable>
    ): Stream.Stream<Uint8Array, SourceFailure> =>
      hasLength(headers) || format === "json" || encodingOf(headers["content-encoding"]) === "gzip" || accepts("length")
        ? bytes
        : Stream.suspend(() => {
          let head: Uint8Array | undefined = new Uint8Array()
          return Stream.mapEffect(bytes, (chunk) => {
            if (head === undefined) return Effect.succeed(chunk)
            head = Buffer.concat([head, chunk])
            const [one, two] = head
            if (one === undefined || (one === 0x1f && two === undefined)) return Effect.succeed(chunk)
            head = undefined
            return one === 0x1f && two === 0x8b ? Effect.succeed(chunk) : SourceError.content(
              name,
              AcceptPartial.cutRefusal(
                acceptPartial,
                "length",
                "its response has neither a Content-Length nor chunks, so nothing shows that it is complete"
              )
            )
          })
        })

    const bytesOf = (response: HttpClientResponse): Stream.Stream<Uint8Array, SourceUnreachable> => {
      const cut = () => unreachable("the response was cut short")
      const bytes = response.stream.pipe(
        Stream.mapError(cut),
        Stream.timeoutFail(() => unreachable(`no response for ${Duration.format(options.timeout)}`), options.timeout)
      )
      return encodingOf(response.headers["content-encoding"]) === "gzip"
        ? NodeStream.pipeThroughDuplex(bytes, () => createGunzip(), cut)
        : bytes
    }

    const nextPage = (url: URL, target: string): Effect.Effect<URL, SourceError.SourceError> => {
      if (!URL.canParse(target, url)) return refused("the address of its next page is invalid")
      const next = new URL(target, url)
      return next.origin === url.origin
        ? Effect.succeed(next)
        : refused(`its next page is at another origin, ${next.origin}, and is not followed`)
    }

    // The version of the last document that was read to its end and had no next page. Validators of a first page do not cover the other
    // pages, so only this version is sent as a condition.
    let unpaged = Option.none<string>()

    /** The rows of a first page and of all that follow it, numbered as if they were one document. */
    const pages = (
      first: Requests.Fetched,
      format: Format.Format,
      version: Option.Option<string>,
      scope: Scope.Scope
    ): Stream.Stream<Row, SourceFailure> =>
      Stream.suspend(() => {
        let upcoming: Effect.Effect<Requests.Fetched, SourceFailure> | undefined = Effect.succeed(first)
        let before = 0
        const visited = new Set([address.href, first.url.href])
        const judged = new Envelope.Pages()
        const way = options.items?.split(".") ?? ["data"]

        const go = (url: URL) =>
          Effect.gen(function*() {
            if (visited.has(url.href)) return yield* refused("its pages form a loop: one names a page that was read already")
            if (visited.size >= mostPages) return yield* refused(`it has more than ${mostPages} pages`)
            visited.add(url.href)
            return yield* Effect.flatMap(get(url), checked)
          }).pipe(Scope.extend(scope))

        const page = (fetched: Requests.Fetched): Stream.Stream<Row, SourceFailure> => {
          const { response, url } = fetched
          const isFirst = fetched === first
          const target = NextPage.ofLink(response.headers["link"] ?? "")
          const offset = before
          let cursor: string | undefined
          let evidence: ReadonlyArray<Envelope.Evidence> = []
          let count: number | undefined
          let rowCount = 0
          const empty = EmptyPage.make(options.items)
          const received = proven(response, format)(bytesOf(response))
          const bytes = isFirst || format !== "json" ? received : Stream.tap(received, empty.add)
          const rows = Rows.rows(format, {
            ...options,
            source: name,
            mayBeEmpty: !isFirst,
            onNextCursor: (found) => (cursor = found),
            onEvidence: (found, outerCount) => {
              evidence = found
              count = outerCount
            }
          })(bytes)
          const numbered = Stream.mapChunks(rows, Chunk.map((row) => {
            empty.hasRows()
            rowCount++
            before = row.line + offset
            return offset === 0 ? row : { ...row, line: before }
          }))
          const end = Stream.suspend(() => {
            if (!isFirst && format === "json" && rowCount === 0) {
              const document = empty.document()
              if (document === undefined) return Stream.fail(refused("one of its pages holds no array of items; no row of it was used"))
              evidence = Envelope.ofDocument(document, way)
            }
            judged.add([...evidence, ...Envelope.ofHeaders(response.headers, count ?? rowCount)])
            if (target !== undefined) upcoming = Effect.flatMap(nextPage(url, target), go)
            else if (cursor !== undefined && cursor !== "") upcoming = go(NextPage.withCursor(url, cursor))
            else {
              const complaint = judged.complaint(accepts)
              if (complaint !== undefined) {
                return Stream.fail(
                  SourceError.content(name, AcceptPartial.pageRefusal(acceptPartial, complaint.fields, complaint.reason))
                )
              }
              if (isFirst) unpaged = version
            }
            return Stream.empty
          })
          return Stream.concat(numbered, end)
        }

        return Stream.flatMap(
          Stream.repeatEffectOption(Effect.suspend(() => {
            const next = upcoming
            upcoming = undefined
            return next === undefined ? Effect.fail(Option.none()) : Effect.mapError(next, Option.some)
          })),
          page
        )
      })

    return {
      name,
      changes: PollInterval.every(options.poll),
      open: (accepted) =>
        Effect.gen(function*() {
          const conditions = Option.isSome(accepted) && Option.contains(unpaged, accepted.value) ? Validators.headers(accepted.value) : {}
          const fetched = yield* get(address, conditions)
          if (fetched.response.status === 304 && Object.keys(conditions).length > 0) return Option.none()
          const { response, url } = yield* checked(fetched)
          const format = options.format ?? Format.ofContentType(response.headers["content-type"] ?? "") ?? Format.ofName(url.pathname)
          const version = Validators.of(response.headers)
          return Option.some({
            version,
            unit: Rows.unitOf(format),
            excluded: new Set<string>(),
            rows: pages(fetched, format, version, yield* Effect.scope)
          })
        })
    }
  })

/** Whether the end of a response is known from its headers. The encoding that comes last delimits it. */
const hasLength = (headers: HttpClientResponse["headers"]): boolean =>
  headers["content-length"] !== undefined || /(?:^|,)\s*chunked\s*$/i.test(headers["transfer-encoding"] ?? "")

const encodingOf = (header: string | undefined): string => {
  const encoding = (header ?? "").trim().toLowerCase()
  return encoding === "" ? "identity" : encoding === "x-gzip" ? "gzip" : encoding
}

/** The source on Node's HTTP client, until the scope closes. Fails for an invalid proxy variable. */
export const makeOnNode = (options: HttpOptions): Effect.Effect<Source["Type"], ConfigError | SourceError.SourceError, Scope.Scope> =>
  Effect.flatMap(Layer.build(NodeClient.layerConfig), (context) => Effect.provide(make(options), context))
