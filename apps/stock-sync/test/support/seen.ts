/**
 * A running loop as whoever looks at it knows it: what it tells, and a ledger of its own; both are moved by the test.
 */
import { HttpServerRequest, HttpServerResponse } from "@effect/platform"
import { NodeContext } from "@effect/platform-node"
import { ProductId } from "@plaza/domain"
import { Duration, Effect, Layer, Logger, LogLevel, Option, Stream } from "effect"
import { Ledger } from "../../src/Ledger.js"
import * as LedgerSqlite from "../../src/Ledger/Sqlite.js"
import * as Answers from "../../src/Seen/Answers.js"
import * as Journal from "../../src/Seen/Journal.js"
import * as Lookout from "../../src/Seen/Lookout.js"
import { type Failure, type Happening, layer as layerStanding, Standing } from "../../src/Standing.js"
import { row, terms } from "./world.js"

export const id = (text: string) => ProductId.make(text)

export const failure = (more: Partial<Failure> = {}): Failure => ({
  at: 0,
  about: "account",
  productId: undefined,
  tag: "InvalidApiKey",
  code: "INVALID_API_KEY",
  message: "the key is revoked",
  ...more
})

export const tell = (happening: Happening) => Effect.flatMap(Standing, (standing) => standing.tell(happening))

/** The ledger is open, and that is told. */
export const opened = Effect.flatMap(Ledger, (ledger) => tell({ _tag: "LedgerIs", ledger: { _tag: "Open", since: 0, ledger } }))

/** A snapshot is taken into the ledger, and that is told. */
export const taken = (wanted: Readonly<Record<string, number>>, bad: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const good = Object.entries(wanted).map(([productId, stock], index) => row(productId, stock, index + 2))
    const rows = [...good, ...bad.map((reason, index) => ({ _tag: "Bad", line: good.length + 2 + index, productId: undefined, reason } as const))]
    const received = yield* Effect.flatMap(Ledger, (ledger) => ledger.receive(Stream.fromIterable(rows), terms))
    yield* tell({ _tag: "SourceTaken", rows: rows.length, received })
  })

/** The most urgent product is sent, with this outcome. */
export const sent = (outcome: "confirmed" | "quarantined" | "doubtful", reason = failure({ about: "product", tag: "NotFound", code: "NOT_FOUND", message: "no such product" })) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger
    const next = Option.getOrThrow(yield* ledger.take({ resting: [], assertBefore: Option.none() }))
    const { productId, value } = next
    yield* outcome === "confirmed"
      ? ledger.confirm(productId, value)
      : ledger.fail(productId, outcome, { tag: reason.tag, code: reason.code, message: reason.message, value }, false)
    yield* tell({ _tag: "Sent", ...next, outcome, failure: outcome === "confirmed" ? undefined : { ...reason, productId } })
    return productId
  })

/** Everything is as it should be: the ledger is open, the key is good, the source is read. */
export const well = (wanted: Readonly<Record<string, number>> = {}) =>
  Effect.gen(function*() {
    yield* opened
    yield* tell({ _tag: "Bound", owner: { baseUrl: "https://shop.example/open/v1", id: "acc_1" } })
    yield* tell({ _tag: "AccountIs", account: { _tag: "Running", since: 0 } })
    yield* taken({ "ALWAYS-THERE": 1, ...wanted })
  })

export const options = { rateLimit: 120, rateWindow: Duration.seconds(60), sourcePatience: Duration.minutes(5), loopback: true }

export interface Answered {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Asks in process. */
export const ask = (path: string, { headers = {}, method = "GET" }: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {}) =>
  Effect.gen(function*() {
    const request = new Request(`http://localhost${path}`, { method, headers: { host: "localhost:9000", ...headers } })
    const answer = HttpServerResponse.toWeb(
      yield* Effect.provideService(Answers.handle(options), HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request))
    )
    const answered: Answered = { status: answer.status, headers: answer.headers, body: yield* Effect.promise(() => answer.text()) }
    return answered
  })

/** The value of a metric as `/metrics` has it. */
export const metric = (name: string) =>
  Effect.map(ask("/metrics"), ({ body }) => {
    const found = body.split("\n").find((line) => line.startsWith(`${name} `))
    return found === undefined ? undefined : Number(found.slice(name.length + 1))
  })

/** A ledger at a path, what the loop says, and who looks at both. Lines of the log go into the array. */
export const layer = (path: string, lines: Array<string> = []) =>
  Lookout.layer(options).pipe(
    Layer.provideMerge(Layer.scopedDiscard(Journal.keep)),
    Layer.provideMerge(layerStanding),
    Layer.provideMerge(Layer.provide(LedgerSqlite.layer(path), NodeContext.layer)),
    Layer.provideMerge(Logger.replace(Logger.defaultLogger, Logger.map(Logger.logfmtLogger, (line) => void lines.push(line)))),
    Layer.provideMerge(Logger.minimumLogLevel(LogLevel.Info))
  )
