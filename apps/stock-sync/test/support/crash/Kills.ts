/**
 * Kills the program again and again while its source changes, the service fails in every way and writes land late, and reports
 * what is wrong with the store and the ledger after each kill and at the end. The seed decides what changes, which faults and
 * which latitude there are and how long each process lives; how far a process gets in its time depends on the machine.
 */
import type { Fault, Latitude } from "@plaza/sandbox"
import { Duration, Effect, Fiber, FileSystem, Option, Random } from "effect"
import { cpSync } from "node:fs"
import { dist, type Ended, start } from "../program.ts"
import * as Feed from "./Feed.ts"
import * as LedgerRows from "./LedgerRows.ts"
import * as RunningSandbox from "./RunningSandbox.ts"

export interface Options {
  readonly kills: number
  readonly products: number
  /** The address of a Postgres, or the name of a file. */
  readonly ledger: string
}

const limit = 200
const timeout = Duration.seconds(1)
const latestCommit = 2_000
// What lands late does so within `latestCommit`; a busy machine needs some more.
const lateWrites = Duration.seconds(4)

// Each for some of the requests; a delay is longer than the program waits.
const share = 0.04
const faults: ReadonlyArray<Fault> = [
  ...(["before", "after"] as const).flatMap((when): ReadonlyArray<Fault> => [
    { kind: "delay", when, millis: 1_500, method: "PATCH", rate: share },
    { kind: "drop", when, method: "PATCH", rate: share },
    { kind: "status", when, status: 503, method: "PATCH", rate: share }
  ]),
  { kind: "status", when: "before", status: 502, method: "PATCH", rate: share },
  { kind: "status", when: "before", status: 504, method: "PATCH", rate: share }
]

const among = <A>(...all: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, all.length, { halfOpen: true }), (index) => Option.getOrThrow(Option.fromUndefinedOr(all[index])))

/** What the interface leaves to the service, as far as setting a stock can meet it. */
const latitude: Effect.Effect<Latitude.Change> = Effect.gen(function*() {
  return {
    lateCommitMillis: yield* Random.nextIntBetween(100, latestCommit),
    lateCommitStatuses: yield* among<Latitude.Change["lateCommitStatuses"] & {}>([502, 504], [500, 502, 503, 504], [503]),
    updateStatus: yield* among<Latitude.Change["updateStatus"] & {}>(200, 201, 204),
    updateBody: yield* among<Latitude.Change["updateBody"] & {}>("resource", "none", "unexpected"),
    stock: yield* among<Latitude.Change["stock"] & {}>("present", "null", "omitted"),
    newCodes: yield* among<Latitude.Change["newCodes"] & {}>([], ["INTERNAL_ERROR"], ["INTERNAL_ERROR", "RATE_LIMITED"]),
    retryAfterOn503Seconds: yield* among<Latitude.Change["retryAfterOn503Seconds"] & {}>(0, 1)
  }
})

/** Until the program has sent so many requests, or until this time is over, which may be while it starts. */
const lifetime = Effect.flatMap(Random.next, (random) =>
  random < 0.25
    ? Effect.map(Random.nextIntBetween(20, 400), (millis) => ({ requests: Number.POSITIVE_INFINITY, millis }))
    : Effect.map(Random.nextIntBetween(1, 40), (requests) => ({ requests, millis: 5_000 })))
// From time to time longer than a file has to rest before it is read again.
const pause = Effect.flatMap(Random.next, (random) => random < 0.8 ? Random.nextIntBetween(50, 500) : Random.nextIntBetween(1_200, 2_500))

/** What the ledger states for certain and the store contradicts. */
const untrue = (rows: ReadonlyArray<LedgerRows.LedgerRow>, stock: ReadonlyMap<string, number>) =>
  rows.filter(({ confirmed, doubt_until, id, state }) => {
    const certain = state === "settled" || (state === "pending" && confirmed !== null && doubt_until === null)
    return certain && confirmed !== stock.get(id)
  })

const until = <A, E, R>(look: Effect.Effect<A, E, R>, satisfied: (found: A) => boolean) =>
  Effect.repeat(Effect.delay(look, "20 millis"), { until: satisfied })

export const run = ({ kills, ledger, products }: Options) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const cwd = yield* files.makeTempDirectoryScoped()
    const place = ledger.startsWith("postgres:") ? ledger : `${cwd}/${ledger}`
    const ids = Array.from({ length: products }, (_, index) => `P${index}`)
    const feed = yield* Feed.make(`${cwd}/stock.csv`, ids)
    const sandbox = yield* RunningSandbox.start(products, limit)
    yield* feed.change

    const env = {
      ...sandbox.env,
      PLAZA_TIMEOUT: `${Duration.toMillis(timeout)} millis`,
      PLAZA_RATE_LIMIT: String(limit),
      PLAZA_RATE_WINDOW: "1 second",
      STOCK_SYNC_SOURCE: "stock.csv",
      STOCK_SYNC_LEDGER: place,
      STOCK_SYNC_LATE_WRITES: `${Duration.toMillis(lateWrites)} millis`,
      // The guard would hold what is meant here.
      STOCK_SYNC_GUARD_COUNT: String(products)
    }
    // A build may replace the program meanwhile.
    cpSync(dist, `${cwd}/program`, { recursive: true })
    const starting = (command: "once" | "run") => start([command], { cwd, env, program: `${cwd}/program/plaza-stock-sync.cjs` })
    const begin = starting("run")

    let requests = 0
    let overRate = 0
    const count = Effect.map(sandbox.requests, (records) => {
      requests += records.length
      overRate += records.filter(({ rule }) => rule === "admission.rate").length
      return records
    })

    const isSettled = Effect.map(LedgerRows.all(place),
      (rows) => rows.length === products && rows.every(({ confirmed, id, state }) => state === "settled" && confirmed === feed.wanted(id)))
    /** A process that nothing disturbs, from its start to a stop some time after everything is settled. */
    const undisturbed = (time: Duration.Input) =>
      Effect.scoped(Effect.gen(function*() {
        const running = yield* begin
        yield* until(sandbox.requestsSince, (records) => records.length > 0)
        yield* until(isSettled, (settled) => settled).pipe(
          Effect.timeoutOption("2 minutes"),
          Effect.filterOrElse(Option.isSome, () =>
            Effect.flatMap(LedgerRows.all(place), (rows) => {
              const unsettled = rows.filter(({ confirmed, id, state }) => state !== "settled" || confirmed !== feed.wanted(id))
              return Effect.die(
                new Error(
                  `the store never came to equal the source: ${JSON.stringify(unsettled.slice(0, 5))}\n${running.stderr().slice(-2_000)}`
                )
              )
            }))
        )
        yield* Effect.sleep(time)
        yield* running.kill("SIGTERM")
        return { ended: yield* running.ended, requests: yield* count }
      }))

    // Only what was confirmed once can be stated wrongly.
    const first = yield* undisturbed("0 seconds")
    yield* Effect.forEach(faults, sandbox.addFault, { discard: true })

    const ends: Array<Ended> = []
    const wrong: Array<LedgerRows.LedgerRow> = []
    const killed = { once: 0, run: 0 }
    let inFlight = 0
    const life = Effect.gen(function*() {
      const { millis, requests } = yield* lifetime
      yield* sandbox.setLatitude(yield* latitude)
      const command = (yield* Random.next) < 0.4 ? "once" : "run"
      const ended = yield* Effect.scoped(Effect.gen(function*() {
        const running = yield* starting(command)
        yield* Effect.timeoutOption(until(sandbox.requestsSince, (records) => records.length >= requests), Duration.millis(millis))
        yield* running.kill("SIGKILL")
        return yield* running.ended
      }))
      // `run` never ends by itself, and `once` only when everything has an outcome.
      const hasFinished = command === "once" && [0, 1, 7].includes(Number(ended.status))
      if (ended.status !== "SIGKILL" && !hasFinished) ends.push(ended)
      if (ended.status === "SIGKILL") killed[command]++
      const rows = yield* LedgerRows.all(place)
      if (rows.some(({ state }) => state === "sending")) inFlight++
      wrong.push(...untrue(rows, yield* sandbox.stock))
    })

    const feeding = yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.flatMap(pause, Effect.sleep), feed.change)))
    yield* Effect.repeat(Effect.andThen(life, count), { times: kills - 1 })
    yield* Fiber.interrupt(feeding)

    const hits = yield* sandbox.clearFaults
    yield* count
    const left = (yield* LedgerRows.all(place)).filter(({ id, state, wanted }) => state !== "settled" || wanted !== feed.wanted(id)).map((
      { id }
    ) => id)
    const recovery = yield* undisturbed("0 seconds")
    const rest = yield* undisturbed("2 seconds")
    const stock = yield* sandbox.stock
    const writes = yield* sandbox.writes

    return {
      figures: {
        killed,
        inFlight,
        changes: feed.changes(),
        requests,
        overRate,
        hits,
        writes: writes.length,
        late: writes.filter(({ isLate }) => isLate).length,
        left: left.length
      },
      /** What has to be empty, each. */
      ends,
      untrue: wrong,
      outOfOrder: feed.outOfOrder(writes),
      different: ids.filter((id) => stock.get(id) !== feed.wanted(id)),
      /** Sent by the first undisturbed process, though it was neither wanted otherwise nor in doubt. */
      needless: recovery.requests.filter(({ method, params }) => method === "PATCH" && !left.includes(params["id"] ?? "")),
      /** Sent by the second one, which found everything settled. */
      atRest: rest.requests.map(({ method, path }) => `${method} ${path}`),
      stops: [first, recovery, rest].map(({ ended }) => ended.status)
    }
  }).pipe(Effect.scoped)
