/** The state of a worker and a ledger that a test changes, with the sampler, the log and the status page over both. */
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, Layer, Logger, Option, Ref, References, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import * as CurrentLedger from "../../src/ledger/CurrentLedger.ts"
import { Ledger } from "../../src/ledger/Ledger.ts"
import * as Open from "../../src/ledger/Open.ts"
import type { HeldSnapshot } from "../../src/ledger/Snapshot.ts"
import * as EventLogger from "../../src/observability/EventLogger.ts"
import * as Routes from "../../src/observability/Routes.ts"
import * as StatusSampler from "../../src/observability/StatusSampler.ts"
import { layer as layerState, type SyncEvent, SyncStatus } from "../../src/sync/SyncStatus.ts"
import { failure } from "./events.ts"
import { options as ledgerOptions, policy, row } from "./ledger/using.ts"
import { utc } from "./utc.ts"

/** A held snapshot that would sell out 60 of 100 products. */
export const held: HeldSnapshot = {
  number: 3,
  since: utc(0),
  at: utc(0),
  confirmed: false,
  figures: { catalogue: 100, soldOut: 60, fell: 0, rose: 0, missing: 0, zeroed: 0, reverted: 0 }
}

/** Something happens to the worker. */
export const happens = (event: SyncEvent) => Effect.flatMap(SyncStatus, (status) => status.publish(event))

/** The worker opens a ledger. */
export const opens = (ledger: Ledger["Service"]) =>
  Effect.andThen(
    Effect.flatMap(CurrentLedger.CurrentLedger, (current) => Ref.set(current, Option.some(ledger))),
    happens({ _tag: "LedgerChanged", ledger: { _tag: "Open", since: utc(0), path: ledger.path } })
  )

export const ledgerOpens = Effect.flatMap(Ledger, opens)

/** The ledger receives a snapshot, with one bad row for each reason. */
export const received = (wanted: Readonly<Record<string, number>>, reasons: ReadonlyArray<string> = []) =>
  Effect.gen(function*() {
    const good = Object.entries(wanted).map(([productId, stock], index) => row(productId, stock, index + 2))
    const rows = [
      ...good,
      ...reasons.map((reason, index) => ({ _tag: "Rejected", line: good.length + 2 + index, productId: undefined, reason } as const))
    ]
    const result = yield* Effect.flatMap(Ledger,
      (ledger) => ledger.applySnapshot({ source: "stock.csv", unit: "line", excluded: new Set(), rows: Stream.fromIterable(rows) }, policy))
    yield* happens({ _tag: "SnapshotAccepted", rows: rows.length, result })
  })

/** The ledger holds a snapshot that sells out every product. */
export const heldInLedger = (ids: ReadonlyArray<string>) =>
  Effect.gen(function*() {
    const rows = Stream.fromIterable(ids.map((productId, index) => row(productId, 0, index + 2)))
    const { held } = yield* Effect.flip(
      Effect.flatMap(Ledger, (ledger) => ledger.applySnapshot({ source: "stock.csv", unit: "line", excluded: new Set(), rows }, policy))
    ).pipe(
      Effect.flatMap((refused) =>
        refused._tag === "SnapshotHeld" ? Effect.succeed(refused) : Effect.die(new Error("the snapshot is not held"))
      )
    )
    yield* happens({
      _tag: "SnapshotHeld",
      rows: ids.length,
      held,
      failure: failure({ about: "source", tag: "SnapshotHeld", code: undefined, message: "held" })
    })
  })

/** The most urgent product is sent, with this outcome. */
export const sent = (
  outcome: "confirmed" | "quarantined" | "doubtful",
  reason = failure({ about: "product", tag: "NotFound", code: "NOT_FOUND", message: "no such product" })
) =>
  Effect.gen(function*() {
    const ledger = yield* Ledger
    const taken = Option.getOrThrow(yield* ledger.take({ _tag: "Due", confirmedBefore: Option.none() }))
    const { priority, productId, since, value, wasQuarantined } = taken
    yield* outcome === "confirmed"
      ? ledger.confirm(taken)
      : ledger.fail(taken, {
        state: outcome,
        refusal: { tag: reason.tag, code: reason.code, message: reason.message, value },
        retryIn: outcome === "quarantined" ? Duration.days(1) : Duration.zero
      })
    const failed = outcome === "confirmed" ? undefined : { ...reason, productId }
    yield* happens({ _tag: "Sent", productId, priority, since, value, wasQuarantined, wasUncertain: false, outcome, failure: failed })
    return productId
  })

/** The ledger is open, the key is good, and the source is read. */
export const ready = (wanted: Readonly<Record<string, number>> = {}) =>
  Effect.gen(function*() {
    yield* ledgerOpens
    yield* happens({
      _tag: "AccountBound",
      owner: { baseUrl: "https://shop.example/open/v1", id: "acc_1", keyFingerprint: "0123456789abcdef" }
    })
    yield* happens({ _tag: "AccountChanged", account: { _tag: "Running", since: utc(0) } })
    yield* received({ "ALWAYS-THERE": 1, ...wanted })
  })

export const options = { rateLimit: 120, rateWindow: Duration.seconds(60), sourceStaleAfter: Duration.minutes(5) }

export interface Response {
  readonly status: number
  readonly headers: Headers
  readonly body: string
}

/** Requests in process. */
export const request = (
  path: string,
  { headers = {}, method = "GET" }: { readonly method?: string; readonly headers?: Readonly<Record<string, string>> } = {}
) =>
  Effect.gen(function*() {
    const request = new Request(`http://localhost${path}`, { method, headers: { host: "localhost:9000", ...headers } })
    const web = HttpServerResponse.toWeb(
      yield* Effect.provideService(Routes.handle(true), HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request))
    )
    const response: Response = { status: web.status, headers: web.headers, body: yield* Effect.promise(() => web.text()) }
    return response
  })

/** The value of a metric as `/metrics` has it. */
export const metric = (name: string) =>
  Effect.map(request("/metrics"), ({ body }) => {
    const found = body.split("\n").find((line) => line.startsWith(`${name} `))
    return found === undefined ? undefined : Number(found.slice(name.length + 1))
  })

/** A ledger at a path, the worker's state, and what observes both. Log lines go into the array. */
export const layer = (path: string, lines: Array<string> = []) =>
  StatusSampler.layer(options).pipe(
    Layer.provideMerge(EventLogger.layer),
    Layer.provideMerge(Layer.merge(layerState, CurrentLedger.layer)),
    Layer.provideMerge(Layer.provide(Open.layer(path, ledgerOptions), NodeServices.layer)),
    Layer.provideMerge(Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))])),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Info"))
  )
