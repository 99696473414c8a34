/** The read-only HTTP routes of a runner: the pages of the fleet and of its accounts, health, readiness and metrics. */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Responses from "../../observability/HttpResponses.ts"
import * as Page from "../../observability/Page.ts"
import { disconnect } from "../../sync/Disconnect.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import type { FleetDatabase } from "../FleetDatabase.ts"
import type { FleetLedger } from "../FleetLedger.ts"
import { FleetRunner } from "../FleetRunner.ts"
import * as AccountReport from "./AccountReport.ts"
import * as FleetMetrics from "./FleetMetrics.ts"
import * as FleetPages from "./FleetPages.ts"
import * as FleetReadiness from "./FleetReadiness.ts"
import { FleetSampler, maxWorst } from "./FleetSampler.ts"
import * as FleetStatus from "./FleetStatus.ts"

type Requirements = FleetDatabase | FleetLedger | FleetRunner | FleetSampler
type Response = HttpServerResponse.HttpServerResponse

/** How long an overview is shown. Counting a backlog of a million products takes most of a second. */
const overviewTtl = Duration.seconds(5)

/** Pages that read the database at the same time. Many requests must leave its connections to the accounts. */
const maxReads = 1
const maxWait = Duration.seconds(10)

const headings: Readonly<Record<number, string>> = {
  400: "Invalid request",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  503: "No data"
}

const refuse = (status: number, message: string): Response =>
  Responses.page(FleetPages.message(headings[status] ?? String(status), message), status)

const IdPart = Schema.String.check(Schema.isPattern(/^[^\p{Cc}\p{Surrogate}]{0,200}$/u))
const Query = Schema.Struct({
  prefix: Schema.optionalKey(IdPart),
  state: Schema.optionalKey(Schema.Literals(FleetStatus.filters)),
  after: Schema.optionalKey(IdPart),
  before: Schema.optionalKey(IdPart)
})

const decodeQuery = (query: URLSearchParams): Option.Option<FleetStatus.AccountQuery> =>
  Option.map(Schema.decodeUnknownOption(Query)(Object.fromEntries(query)), ({ after, before, prefix = "", state = "all" }) => ({
    prefix,
    filter: state,
    from: after !== undefined
      ? Option.some({ direction: "after", id: after })
      : before !== undefined
      ? Option.some({ direction: "before", id: before })
      : Option.none()
  }))

const accountPrefix = "/accounts/"

/** The id in the path of an account's page. */
const idOf = (path: string, query: URLSearchParams): Option.Option<string> => {
  const encoded = path.slice(accountPrefix.length)
  const decoded = encoded === "" ? Option.fromNullishOr(query.get("id")) : Option.liftThrowable(decodeURIComponent)(encoded)
  return Option.filter(decoded, (id) => id !== "" && Schema.is(IdPart)(id))
}

const decodeTop = Schema.decodeUnknownOption(
  Schema.NumberFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: maxWorst }))
)

const metrics = Effect.fnUntraced(function*(query: URLSearchParams) {
  const top = query.get("top")
  const count = top === null ? Option.some(0) : decodeTop(top)
  if (Option.isNone(count)) return Responses.text(`top must be a whole number from 1 to ${maxWorst}\n`, undefined, 400)
  const { refresh, worst } = yield* FleetSampler
  yield* refresh
  const backlogs = (yield* worst).slice(0, count.value).map(({ account, products }) =>
    Metric.update(Metric.withAttributes(FleetMetrics.accountBacklog, { account }), products)
  )
  // A copy, so that the accounts are in this response only.
  const registry = new Map(yield* Metric.MetricRegistry)
  return yield* Effect.andThen(Effect.all(backlogs, { discard: true }), Responses.metrics).pipe(
    Effect.provideService(Metric.MetricRegistry, registry)
  )
})

const thisRunner = Effect.map(FleetReadiness.current, ({ reasons, state }): FleetPages.ThisRunner => ({
  name: state.runner,
  startedAt: state.startedAt,
  reasons
}))

/** Returns the handler of the requests. `loopback`: accepts only requests whose `Host` is a name of this machine. */
export const make: Effect.Effect<
  (loopback: boolean) => Effect.Effect<Response, never, HttpServerRequest.HttpServerRequest>,
  never,
  Requirements
> = Effect.gen(function*() {
  const context = yield* Effect.context<Requirements>()
  const reads = yield* Semaphore.make(maxReads)
  const limited = <A, E extends { readonly message: string }>(read: Effect.Effect<A, E, Requirements>) =>
    reads.withPermit(read).pipe(
      // A statement that hangs is abandoned.
      disconnect,
      Effect.mapError(({ message }) => message),
      Effect.timeoutOrElse({
        duration: maxWait,
        orElse: () => Effect.fail("the fleet's database did not respond in time: try again later")
      }),
      Effect.result
    )

  const overview = yield* Effect.cachedWithTTL(
    Effect.map(Effect.zip(FleetStatus.overview, DateTime.now), ([overview, at]) => ({ overview, at })),
    // A failure is not kept: the page is back with the database.
    (exit) => Exit.isSuccess(exit) ? overviewTtl : Duration.zero
  )

  const fleet = Effect.fnUntraced(function*(query: URLSearchParams) {
    const decoded = decodeQuery(query)
    if (Option.isNone(decoded)) return refuse(400, "these parameters are invalid: go back to the page of the fleet")
    const found = yield* limited(
      Effect.map(Effect.zip(overview, FleetStatus.accounts(decoded.value)), ([found, accounts]) => ({ ...found, accounts }))
    )
    const page = FleetPages.fleet({ now: yield* DateTime.now, runner: yield* thisRunner, query: decoded.value, found })
    return Responses.page(page, Result.isSuccess(found) ? 200 : 503)
  })

  const account = Effect.fnUntraced(function*(id: string) {
    const found = yield* limited(AccountReport.read(id))
    if (Result.isFailure(found)) return refuse(503, found.failure)
    if (Option.isNone(found.success)) return refuse(404, "there is no account with this id")
    const activity = yield* Effect.flatMap(FleetRunner, ({ activity }) => activity(id))
    const now = { wall: yield* DateTime.now, monotonic: yield* MonotonicClock.now }
    return Responses.page(FleetPages.account({ activity, now, report: found.success.value, runner: yield* thisRunner }))
  })

  const respond = (path: string, query: URLSearchParams): Effect.Effect<Response, never, Requirements> => {
    switch (path) {
      case "/healthz":
        return Effect.succeed(Responses.text("ok\n"))
      case "/readyz":
        return Effect.map(FleetReadiness.current, ({ reasons }) => Responses.readiness(reasons))
      case "/metrics":
        return metrics(query)
      case Page.paths.page:
        return fleet(query)
      default:
        return path.startsWith(accountPrefix)
          ? Option.match(idOf(path, query), {
            onNone: () => Effect.succeed(refuse(404, "there is no account with this id")),
            onSome: account
          })
          : Effect.succeed(Page.asset(path) ?? refuse(404, "there is no page at this address"))
    }
  }

  return (loopback) =>
    Responses.guarded(
      { loopback, formAction: "'self'", refuse },
      (path, query) => Effect.provideContext(respond(path, query), context)
    )
})
