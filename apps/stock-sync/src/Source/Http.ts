/**
 * An `http` or `https` address as a source: asked from time to time, and only for what has changed since. Knows nothing of what is
 * done with the rows.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import type { HttpClientError } from "@effect/platform/HttpClientError"
import * as NodeClient from "@plaza/client/node"
import * as Format from "@plaza/rows/Format"
import { SourceRefused } from "@plaza/rows/Refused"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Source, SourceUnreachable } from "../Source.js"
import * as Address from "./Address.js"
import * as Mark from "./Mark.js"
import * as Poll from "./Poll.js"
import * as Rows from "./Rows.js"

/** @since 0.1.0 @category models */
export interface HttpOptions extends Rows.RowOptions {
  readonly source: string
  readonly authorization?: Redacted.Redacted | undefined
  readonly poll: Duration.Duration
  /** For how long it may be silent, before it answers and within its answer. */
  readonly patience: Duration.Duration
}

const attempts = 4
const hops = 5

/** @since 0.1.0 @category constructors */
export const make = (options: HttpOptions): Effect.Effect<Source["Type"], SourceRefused, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = HttpClient.withTracerPropagation(yield* HttpClient.HttpClient, false)
    const name = Address.shown(options.source)
    const refused = (what: string) => new SourceRefused({ source: name, line: undefined, message: `${name}: ${what}` })
    const silent = (what: string) => new SourceUnreachable({ source: name, message: `${name}: ${what}; nothing of it was taken` })
    if (!URL.canParse(options.source)) return yield* refused("this is no address: correct --source or STOCK_SYNC_SOURCE")
    const address = new URL(options.source)
    if (address.username !== "" || address.password !== "") {
      return yield* refused("put the user and the password into STOCK_SYNC_SOURCE_AUTHORIZATION, not into the address")
    }
    const tooLong = () => silent(`no answer for ${Duration.format(options.patience)}`)
    const lost = (error: HttpClientError) => silent(`the connection failed (${causeOf(error)})`)

    // What is secret goes to the place that was named and to no other that it points to.
    const ask = (url: URL, taken: Option.Option<string>, left: number): Effect.Effect<
      readonly [URL, HttpClientResponse],
      SourceRefused | SourceUnreachable,
      Scope.Scope
    > =>
      Effect.gen(function*() {
        const secret = url.origin === address.origin ? options.authorization : undefined
        const request = HttpClientRequest.get(url, {
          headers: {
            accept: "text/csv, application/json, application/x-ndjson, */*;q=0.5",
            "accept-encoding": "identity",
            ...Option.match(taken, { onNone: () => ({}), onSome: Mark.headers }),
            ...(secret === undefined ? {} : { authorization: Redacted.value(secret) })
          }
        })
        const response = yield* client.execute(request).pipe(
          Effect.mapError(lost),
          Effect.timeoutFail({ duration: options.patience, onTimeout: tooLong })
        )
        const { location } = response.headers
        if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return [url, response] as const
        if (left === 0 || !URL.canParse(location, url)) return yield* refused("it points elsewhere over and over, or to no address")
        return yield* ask(new URL(location, url), taken, left - 1)
      })

    const answered = (taken: Option.Option<string>) =>
      ask(address, taken, hops).pipe(
        Effect.flatMap((found) => found[1].status >= 500 || found[1].status === 429 ? Effect.fail(silent(`it answered ${found[1].status}`)) : Effect.succeed(found)),
        Effect.retry({ while: (error) => error._tag === "SourceUnreachable", times: attempts - 1, schedule: Schedule.jittered(Schedule.exponential("1 second")) })
      )

    return {
      name,
      changes: Poll.every(options.poll),
      open: (taken) =>
        Effect.gen(function*() {
          const [url, response] = yield* answered(taken)
          const { headers, status } = response
          if (status === 304 && Option.isSome(taken)) return Option.none()
          if (status === 401 || status === 403) return yield* refused(`it answered ${status}: check STOCK_SYNC_SOURCE_AUTHORIZATION`)
          // A part of the rows, or none, is no snapshot however well it went.
          if (status !== 200) return yield* refused(`it answered ${status}`)
          const encoding = headers["content-encoding"] ?? "identity"
          if (encoding !== "identity") return yield* refused(`it sends ${encoding} where plain bytes were asked for`)
          const format = options.format ?? Format.ofContentType(headers["content-type"] ?? "") ?? Format.ofName(url.pathname)
          const bytes = response.stream.pipe(
            Stream.mapError(() => silent("the answer was cut short")),
            Stream.timeoutFail(tooLong, options.patience)
          )
          return Option.some({
            version: Mark.of(headers),
            rows: Rows.rows(format, { ...options, source: name })(bytes)
          })
        })
    }
  })

/**
 * The source with Node's own client, as long as the scope lives.
 *
 * @since 0.1.0
 * @category constructors
 */
export const makeOnNode = (options: HttpOptions): Effect.Effect<Source["Type"], SourceRefused, Scope.Scope> =>
  Effect.flatMap(Layer.build(NodeClient.layer), (context) => Effect.provide(make(options), context))

/** The system's word for it, which tells more than the platform's and nothing of the request. */
const causeOf = (error: HttpClientError): string => {
  const { cause } = error
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : error.reason
}
