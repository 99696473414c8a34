/**
 * A program that is killed over and over while its source keeps changing and the service fails in every way, and what is true of the
 * shop and the ledger after each kill and at the end. The seed says what changes, which faults strike and how long each life lasts; what
 * a life gets to in its time is the machine's.
 */
import { FileSystem } from "@effect/platform"
import type { Fault } from "@plaza/sandbox/Fault"
import { Duration, Effect, Fiber, Random } from "effect"
import { dist, type Ended, start } from "../program.js"
import * as Feed from "./Feed.js"
import * as Remembered from "./Remembered.js"
import * as Stage from "./Stage.js"

export interface Options {
  readonly kills: number
  readonly products: number
  /** Where the ledger lies: the address of a Postgres, or the name of a file. */
  readonly ledger: string
}

// Of the way there and of the way back each; a delay is longer than the program waits for an answer.
const share = 0.04
const limit = 200
const faults: ReadonlyArray<Fault> = (["before", "after"] as const).flatMap((when): ReadonlyArray<Fault> => [
  { kind: "delay", when, millis: 1_500, method: "PATCH", rate: share },
  { kind: "drop", when, method: "PATCH", rate: share },
  { kind: "status", when, status: 503, method: "PATCH", rate: share }
])

/** How long a life lasts: until the program has asked for so much, or this time is over, which may be while it starts. */
const lifetime = Effect.flatMap(Random.next, (random) =>
  random < 0.25
    ? Effect.map(Random.nextIntBetween(20, 400), (millis) => ({ requests: Number.POSITIVE_INFINITY, millis }))
    : Effect.map(Random.nextIntBetween(1, 40), (requests) => ({ requests, millis: 5_000 })))
// Longer than a file has to rest before it is read again, from time to time.
const pause = Effect.flatMap(Random.next, (random) => random < 0.8 ? Random.nextIntBetween(50, 500) : Random.nextIntBetween(1_200, 2_500))

/** What a ledger remembers that isn't so: what it takes for certain has to be what the shop holds. */
const untrue = (memory: ReadonlyArray<Remembered.Remembered>, stock: ReadonlyMap<string, number>) =>
  memory.filter(({ confirmed, id, state }) => {
    // Of what was on its way nothing is certain.
    const certain = state === "settled" || (state === "pending" && confirmed !== null)
    return certain && confirmed !== stock.get(id)
  })

const until = <A, E, R>(look: Effect.Effect<A, E, R>, satisfied: (seen: A) => boolean) =>
  Effect.repeat(Effect.delay(look, "20 millis"), { until: satisfied })

export const run = ({ kills, ledger, products }: Options) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const cwd = yield* files.makeTempDirectoryScoped()
    const place = ledger.startsWith("postgres:") ? ledger : `${cwd}/${ledger}`
    const ids = Array.from({ length: products }, (_, index) => `P${index}`)
    const feed = yield* Feed.make(`${cwd}/stock.csv`, ids)
    const shop = yield* Stage.open(`${cwd}/shop.db`, products, limit)
    yield* feed.change

    const env = {
      ...shop.env,
      PLAZA_TIMEOUT: "1 second",
      PLAZA_RATE_LIMIT: String(limit),
      PLAZA_RATE_WINDOW: "1 second",
      STOCK_SYNC_SOURCE: "stock.csv",
      STOCK_SYNC_LEDGER: place,
      // The brake has tests of its own, and would hold what is meant here.
      STOCK_SYNC_BRAKE_COUNT: String(products)
    }
    // A build may replace the program while it is shown.
    yield* files.copy(dist, `${cwd}/program`)
    const begin = start(["run"], { cwd, env, program: `${cwd}/program/plaza-stock-sync.mjs` })

    let requests = 0
    let refused = 0
    const count = Effect.map(shop.asked, (records) => {
      requests += records.length
      refused += records.filter(({ rule }) => rule === "gate.rate").length
      return records
    })

    const atRest = Effect.map(Remembered.all(place), (memory) =>
      memory.length === products && memory.every(({ confirmed, id, state }) => state === "settled" && confirmed === feed.wanted(id)))
    /** A life that nothing disturbs, from its start to a stop some time after everything is in place. */
    const undisturbed = (time: Duration.DurationInput) =>
      Effect.scoped(Effect.gen(function*() {
        const running = yield* begin
        yield* until(shop.askedSince, (records) => records.length > 0)
        yield* until(atRest, (rests) => rests).pipe(
          Effect.timeoutTo({ duration: "2 minutes", onTimeout: () => false, onSuccess: () => true }),
          Effect.filterOrDieMessage((rests) => rests, "the shop never came to equal the source")
        )
        yield* Effect.sleep(time)
        yield* running.kill("SIGTERM")
        return { ended: yield* running.ended, asked: yield* count }
      }))

    // What was once confirmed can be remembered wrongly.
    const first = yield* undisturbed("0 seconds")
    yield* Effect.forEach(faults, shop.addFault, { discard: true })

    const ends: Array<Ended> = []
    const wrong: Array<Remembered.Remembered> = []
    let inFlight = 0
    const life = Effect.gen(function*() {
      const { millis, requests } = yield* lifetime
      const ended = yield* Effect.scoped(Effect.gen(function*() {
        const running = yield* begin
        yield* Effect.timeoutOption(until(shop.askedSince, (records) => records.length >= requests), Duration.millis(millis))
        yield* running.kill("SIGKILL")
        return yield* running.ended
      }))
      // One that ends by itself has given up, which it never may.
      if (ended.status !== "SIGKILL") ends.push(ended)
      const memory = yield* Remembered.all(place)
      if (memory.some(({ state }) => state === "sending")) inFlight++
      wrong.push(...untrue(memory, yield* shop.stock))
    })

    const feeding = yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.flatMap(pause, Effect.sleep), feed.change)))
    yield* Effect.repeatN(Effect.zipRight(life, count), kills - 1)
    yield* Fiber.interrupt(feeding)

    const hits = yield* shop.clearFaults
    yield* count
    const left = (yield* Remembered.all(place)).filter(({ id, state, wanted }) => state !== "settled" || wanted !== feed.wanted(id)).map(({ id }) => id)
    const recovery = yield* undisturbed("0 seconds")
    const rest = yield* undisturbed("2 seconds")
    const stock = yield* shop.stock
    const applied = yield* shop.close

    return {
      figures: { kills, inFlight, changes: feed.changes(), requests, refused, hits, applied: applied.length, left: left.length },
      /** What has to be empty, each. */
      ends,
      untrue: wrong,
      outOfOrder: feed.outOfOrder(applied),
      different: ids.filter((id) => stock.get(id) !== feed.wanted(id)),
      /** Sent by the first undisturbed life, though it was neither wanted otherwise nor in doubt. */
      needless: recovery.asked.filter(({ method, params }) => method === "PATCH" && !left.includes(params["id"] ?? "")),
      /** Asked by the second one, which found everything in place. */
      atRest: rest.asked.map(({ method, path }) => `${method} ${path}`),
      stops: [first, recovery, rest].map(({ ended }) => ended.status)
    }
  }).pipe(Effect.scoped)
