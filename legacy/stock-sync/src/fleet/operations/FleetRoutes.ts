/** The read-only HTTP routes of a runner: the pages of the fleet and of its accounts, health, readiness and metrics. */
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Responses from "../../observability/HttpResponses.ts"
import * as Page from "../../observability/Page.ts"
import * as Prometheus from "../../observability/Prometheus.ts"
import * as MonotonicClock from "../../sync/MonotonicClock.ts"
import type { FleetDatabase } from "../FleetDatabase.ts"
import { FleetRunner } from "../FleetRunner.ts"
import type { FleetLedger } from "../ledger/FleetLedger.ts"
import * as AccountReport from "./AccountReport.ts"
import * as FleetMetrics from "./FleetMetrics.ts"
import * as FleetPages from "./FleetPages.ts"
import * as FleetReadiness from "./FleetReadiness.ts"
import { FleetSampler, maxWorst } from "./FleetSampler.ts"
import * as FleetStatus from "./FleetStatus.ts"

type Requirements = FleetDatabase | FleetLedger | FleetRunner | FleetSampler

/** How long an overview is shown. Counting a backlog of a million products takes most of a second. */
const overviewTtl = Duration.seconds(5)

/** Pages that read the database at the same time. Many requests must leave its connections to the accounts. */
const maxReads = 1
const maxWait = Duration.seconds(10)

const refuse = (status: number, message: string): HttpServerResponse.HttpServerResponse => {
  const headings: Readonly<Record<number, string>> = {
    400: "Invalid request",
    403: "Forbidden",
    404: "Not found",
    405: "Method not allowed",
    503: "No data"
  }
  return Responses.page(FleetPages.message(headings[status] ?? String(status), message), status)
}

const IdPart = Schema.String.pipe(Schema.pattern(/^[^\p{Cc}\p{Surrogate}]{0,200}$/u))
const Query = Schema.Struct({
  prefix: Schema.optionalWith(IdPart, { default: () => "" }),
  state: Schema.optionalWith(Schema.Literal(...FleetStatus.filters), { default: () => "all" as const }),
  after: Schema.optional(IdPart),
  before: Schema.optional(IdPart)
})

const decodeQuery = (query: URLSearchParams): Option.Option<FleetStatus.AccountQuery> =>
  Option.map(Schema.decodeUnknownOption(Query)(Object.fromEntries(query)), ({ after, before, prefix, state }) => ({
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
  const decoded = encoded === "" ? Option.fromNullable(query.get("id")) : Option.liftThrowable(decodeURIComponent)(encoded)
  return Option.filter(decoded, (id) => id !== "" && Schema.is(IdPart)(id))
}

const Top = Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, maxWorst))

const metrics = (query: URLSearchParams) =>
  Effect.gen(function*() {
    const sampler = yield* FleetSampler
    const top = query.get("top")
    const count = top === null ? Option.some(0) : Schema.decodeUnknownOption(Top)(top)
    if (Option.isNone(count)) return Responses.text(`top must be a whole number from 1 to ${maxWorst}\n`, undefined, 400)
    yield* sampler.refresh
    const backlogs = FleetMetrics.accountBacklogs((yield* sampler.worst).slice(0, count.value))
    return Responses.text(Prometheus.text([...yield* Metric.snapshot, ...backlogs]), Prometheus.contentType)
  })

const thisRunner = Effect.map(FleetReadiness.current, ({ reasons, state }): FleetPages.ThisRunner => ({
  name: state.runner,
  startedAt: state.startedAt,
  reasons
}))

/** Returns the handler of the requests. */
export const make: Effect.Effect<
  (loopback: boolean) => Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>,
  never,
  Requirements
> = Effect.gen(function*() {
  const context = yield* Effect.context<Requirements>()
  const reads = yield* Effect.makeSemaphore(maxReads)
  const limited = <A, E extends { readonly message: string }>(read: Effect.Effect<A, E, Requirements>) =>
    read.pipe(
      reads.withPermits(1),
      // A statement that hangs is abandoned, not waited for.
      Effect.disconnect,
      Effect.timeoutFail({
        duration: maxWait,
        onTimeout: () => ({ message: "the fleet's database did not respond in time: try again later" })
      }),
      Effect.mapError(({ message }) => message),
      Effect.either
    )

  const overview = yield* Effect.cachedWithTTL(
    Effect.map(Effect.zip(FleetStatus.overview, DateTime.now), ([overview, at]) => ({ overview, at })),
    overviewTtl
  )

  const fleet = (query: URLSearchParams) =>
    Effect.gen(function*() {
      const decoded = decodeQuery(query)
      if (Option.isNone(decoded)) return refuse(400, "these parameters are invalid: go back to the page of the fleet")
      const found = yield* limited(Effect.map(
        Effect.zip(overview, FleetStatus.accounts(decoded.value)),
        ([found, accounts]) => ({ ...found, accounts })
      ))
      const page = FleetPages.fleet({ now: yield* DateTime.now, runner: yield* thisRunner, query: decoded.value, found })
      return Responses.page(page, Either.isRight(found) ? 200 : 503)
    })

  const account = (id: string) =>
    Effect.gen(function*() {
      const found = yield* limited(AccountReport.read(id))
      if (Either.isLeft(found)) return refuse(503, found.left)
      if (Option.isNone(found.right)) return refuse(404, "there is no account with this id")
      const activity = yield* Effect.flatMap(FleetRunner, ({ activity }) => activity(id))
      const now = { wall: yield* DateTime.now, monotonic: yield* MonotonicClock.now }
      return Responses.page(FleetPages.account({ activity, now, report: found.right.value, runner: yield* thisRunner }))
    })

  const respond = (path: string, query: URLSearchParams): Effect.Effect<HttpServerResponse.HttpServerResponse, never, Requirements> => {
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
      (path, query) => Effect.provide(respond(path, query), context)
    )
})
