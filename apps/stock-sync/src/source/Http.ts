/** An `http` or `https` address as a source: one document, or pages that are read as one snapshot. A GraphQL query is sent by POST. */
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as NodeClient from "@plaza/client/node"
import { retryAfter } from "@plaza/domain/ErrorResponse"
import * as AcceptPartial from "@plaza/tabular/AcceptPartial"
import * as Format from "@plaza/tabular/Format"
import type * as NextPage from "@plaza/tabular/NextPage"
import { quoted } from "@plaza/tabular/Quoted"
import * as SourceError from "@plaza/tabular/SourceError"
import * as Utf8 from "@plaza/tabular/Utf8"
import * as Clock from "effect/Clock"
import type { ConfigError } from "effect/Config"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { HttpClientResponse } from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createGunzip } from "node:zlib"
import { Wording } from "../Wording.ts"
import type { GraphqlQuery } from "./http/GraphqlQuery.ts"
import * as GraphqlResponse from "./http/GraphqlResponse.ts"
import * as Pages from "./http/Pages.ts"
import * as Requests from "./http/Requests.ts"
import * as Rows from "./Rows.ts"
import * as Secrets from "./Secrets.ts"
import { failIfSilent, polled, type Source, type SourceFailure, type SourceUnreachable, unreachable } from "./Source.ts"
import * as SourceUri from "./SourceUri.ts"

export interface HttpOptions extends Rows.RowOptions {
  readonly source: string
  readonly authorization?: Redacted.Redacted | undefined
  readonly headers?: Redacted.Redacted<Readonly<Record<string, string>>> | undefined
  /** The field that names the next page (default: those of the forms of NextPage.ts). */
  readonly next?: NextPage.NamedField | undefined
  /** The GraphQL query that is sent by POST, for each read (default: the address is read by GET). */
  readonly graphql?: Effect.Effect<GraphqlQuery, SourceFailure> | undefined
  readonly poll: Duration.Duration
  /** How long the server may be silent, before its response and within it. */
  readonly timeout: Duration.Duration
}

export const make = Effect.fnUntraced(function*(options: HttpOptions) {
  const name = SourceUri.shown(options.source)
  const { place } = yield* Wording
  const accepted = yield* Rows.accepting(options)
  const accepts = (field: string) => AcceptPartial.accepts(accepted, field)
  const refused = (reason: string) => new SourceError.SourceError({ source: name, line: undefined, message: `${name}: ${reason}` })
  if (!URL.canParse(options.source)) return yield* refused(`this is not a valid address: correct ${place("source")}`)
  const address = new URL(options.source)
  if (address.username !== "" || address.password !== "") {
    return yield* refused(`put the user and the password into ${place("source-authorization")}, not into the address`)
  }
  const redact = Secrets.make(options)
  const { get, post } = yield* Requests.make({
    address,
    authorization: options.authorization,
    headers: options.headers,
    timeout: options.timeout,
    name,
    redact,
    refused
  })

  const shown = (text: string) => quoted(redact(text))

  const checked = (fetched: Requests.Fetched): Effect.Effect<Requests.Fetched, SourceError.SourceError> => {
    const { headers, status } = fetched.response
    const encoding = encodingOf(headers)
    const refusal = status === 401 || status === 403
      ? `it responded ${status}: check ${place("source-authorization")} and ${place("source-headers")}`
      // 206 and 204 are successes, but not whole snapshots.
      : status === 206 && !accepts("content-range")
      ? AcceptPartial.pageRefusal(accepted, ["content-range"], "it responded 206, which is a part")
      : status !== 200 && status !== 206
      ? `it responded ${status}`
      : encoding !== "identity" && encoding !== "gzip"
      ? `its content encoding ${shown((headers["content-encoding"] ?? "").trim())} is not supported: send plain bytes or gzip`
      : options.charset === undefined && labelOf(headers) !== undefined && Utf8.charsetOf(labelOf(headers) ?? "") === undefined
      ? `its charset ${shown(labelOf(headers) ?? "")} is not known: send UTF-8, or name another one with ${place("charset")}`
      : undefined
    return refusal === undefined ? Effect.succeed(fetched) : Effect.fail(refused(refusal))
  }

  const uncompressed = ({ headers, stream }: HttpClientResponse): Stream.Stream<Uint8Array, SourceUnreachable> => {
    const cut = () => unreachable(name, "the response was cut short")
    const bytes = stream.pipe(Stream.mapError(cut), failIfSilent(name, options.timeout))
    return encodingOf(headers) === "gzip" ? NodeStream.pipeThroughDuplex(bytes, { evaluate: () => createGunzip(), onError: cut }) : bytes
  }

  /** The body, unless it can end anywhere: without a length, the end of the connection is that of the response. */
  const bytesOf = (format: Format.Format) => ({ response }: Requests.Fetched): Stream.Stream<Uint8Array, SourceFailure> => {
    const { headers } = response
    const bytes = uncompressed(response)
    return hasLength(headers) || format === "json" || encodingOf(headers) === "gzip" || accepts("length")
      ? bytes
      : Stream.suspend(() => {
        let head: Uint8Array | undefined = new Uint8Array()
        return Stream.mapEffect(bytes, (chunk) => {
          if (head === undefined) return Effect.succeed(chunk)
          head = Buffer.concat([head, chunk])
          if (head.length < Format.archiveHead) return Effect.succeed(chunk)
          const [first, second] = head
          const isArchive = Format.isArchive(head)
          head = undefined
          // The trailer of gzip and the directory of a workbook show that a file is complete.
          if ((first === 0x1f && second === 0x8b) || isArchive) return Effect.succeed(chunk)
          const reason = "its response has neither a Content-Length nor chunks, so nothing shows that it is complete"
          return Effect.fail(SourceError.content(name, AcceptPartial.cutRefusal(accepted, "length", reason)))
        })
      })
  }

  /** The whole document of a response to a query, once it shows that it is one page or the last one. */
  const readPage = (query: GraphqlQuery) => (fetched: Requests.Fetched): Effect.Effect<QueryPage, SourceFailure> =>
    Effect.gen(function*() {
      const { headers, status } = fetched.response
      // A service may report an invalid query with the status of an invalid request.
      const isRefused = status >= 400 && status !== 401 && status !== 403
      if (!isRefused) yield* checked(fetched)
      const body = yield* Stream.runCollect(Stream.limitBytes(uncompressed(fetched.response), maxPageBytes, () =>
        Stream.fail<SourceFailure>(refused(`one of its pages has more than 16 MiB: ask for fewer items at once by a smaller first`))))
      const bytes = Buffer.concat(body)
      const document = Option.getOrUndefined(Pages.parse(new TextDecoder(options.charset ?? charsetOf(fetched)).decode(bytes)))
      if (isRefused) {
        const errors = GraphqlResponse.errorsOf(document, redact)
        return yield* refused(`it responded ${status}${errors === undefined ? "" : `, and ${errors.reason}`}`)
      }
      if (document === undefined) {
        // The decoder of rows says what it is instead.
        return { ...fetched, bytes, document, next: "it is not JSON" }
      }
      const judged = GraphqlResponse.judge(document, query, accepted, redact)
      if (Result.isSuccess(judged))
        return { ...fetched, bytes, document, next: judged.success.next }
      const { reason, retry } = judged.failure
      if (retry === undefined)
        return yield* SourceError.content(name, reason)
      const now = yield* Clock.currentTimeMillis
      const wait = Duration.max(retry.after, Option.getOrElse(retryAfter(headers["retry-after"], now, headers["date"]), () =>
        Duration.zero))
      if (Duration.isZero(wait)) return yield* unreachable(name, reason)
      const at = DateTime.makeUnsafe(now + Duration.toMillis(wait))
      return yield* unreachable(name, `${reason}; it asks to wait until ${DateTime.formatIso(at)}`, at)
    })

  const openQuery = (query: GraphqlQuery) =>
    Effect.gen(function*() {
      // Each page is in memory, so its response needs no scope of the rows.
      const fetch = (variables: Readonly<Record<string, string>>) =>
        Effect.scoped(post(address, JSON.stringify({ query: query.text, variables }), readPage(query)))
      const first = yield* fetch({})
      return {
        // A validator of HTTP is one of a GET. Rows that are unchanged are not sent again, so the pages are read each time.
        version: Option.none<string>(),
        unit: Rows.unitOf("json"),
        excluded: new Set<string>(),
        rows: Pages.rows(first, {
          ...options,
          items: query.items,
          source: name,
          format: "json",
          address,
          accepted,
          refused,
          following: {
            _tag: "Query",
            nextOf: ({ next }) => next,
            documentOf: ({ document }) => document,
            fetch: ({ name, value }) => fetch({ [name]: value })
          },
          bytesOf: ({ bytes }) => Stream.succeed(bytes),
          charsetOf,
          onUnpaged: () => undefined
        })
      }
    })

  // The version of the last document that was read to its end and had no next page. Validators of a first page do not cover the other
  // pages, so only this version is sent as a condition.
  let unpaged = Option.none<string>()

  const source: Source["Service"] = {
    name,
    changes: polled(options.poll),
    open: (before) =>
      Effect.gen(function*() {
        if (options.graphql !== undefined) return Option.some(yield* openQuery(yield* options.graphql))
        const scope = yield* Effect.scope
        const isConditional = Option.isSome(before) && Option.contains(unpaged, before.value)
        const first = yield* get(address, isConditional ? Requests.newerThan(before.value) : {})
        if (isConditional && first.response.status === 304) return Option.none()
        const { response, url } = yield* checked(first)
        const format = options.format ?? Format.ofContentType(response.headers["content-type"] ?? "") ?? Format.ofName(url.pathname)
        const version = Requests.versionOf(response.headers)
        const rows = Pages.rows(first, {
          ...options,
          source: name,
          format,
          address,
          accepted,
          refused,
          following: {
            _tag: "Address",
            fetch: (next) => Effect.flatMap(get(next), checked).pipe(Scope.provide(scope)),
            next: options.next
          },
          bytesOf: bytesOf(format),
          charsetOf,
          onUnpaged: () => (unpaged = version)
        })
        return Option.some({ version, unit: Rows.unitOf(format), excluded: new Set<string>(), rows })
      })
  }
  return source
})

/** A response to a query, whose document is in memory. */
interface QueryPage extends Requests.Fetched {
  readonly bytes: Uint8Array
  readonly document: unknown
  /** A text says why the response is none. */
  readonly next: GraphqlResponse.Page["next"] | string
}

// A page is judged as a whole document.
const maxPageBytes = 16_777_216

const charsetOf = ({ response }: Requests.Fetched): string | undefined => Utf8.charsetOf(labelOf(response.headers) ?? "")

/** Whether the end of a response is known from its headers. The encoding that comes last delimits it. */
const hasLength = (headers: HttpClientResponse["headers"]): boolean =>
  headers["content-length"] !== undefined || /(?:^|,)\s*chunked\s*$/i.test(headers["transfer-encoding"] ?? "")

/** The charset of the content type. */
const labelOf = (headers: HttpClientResponse["headers"]): string | undefined => {
  const [, inQuotes, bare] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(headers["content-type"] ?? "") ?? []
  const label = (inQuotes ?? bare ?? "").trim()
  // PHP and others send this for files that are no text to them.
  return label === "" || label.toLowerCase() === "binary" ? undefined : label
}

const encodingOf = (headers: HttpClientResponse["headers"]): string => {
  const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase()
  return encoding === "" ? "identity" : encoding === "x-gzip" ? "gzip" : encoding
}

/** The source on Node's HTTP client, until the scope closes. Fails for an invalid proxy variable. */
export const makeOnNode = (
  options: HttpOptions
): Effect.Effect<Source["Service"], ConfigError | SourceError.SourceError, Scope.Scope> =>
  Effect.flatMap(Layer.build(NodeClient.layerConfig), (context) => Effect.provide(make(options), context))
