/**
 * A ledger that fails under a running loop: it is opened anew, again and again if it has to be, and nothing is lost.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Ref, Stream } from "effect"
import { Ledger, LedgerFault, LedgerInUse } from "../src/Ledger.js"
import { answersAfter, inShop, latency, patches, products, source, started } from "./support/looping.js"
import { held } from "./support/world.js"

const wanted = products(30, () => 5)
const next = products(30, () => 6)
const ids = Object.keys(wanted)
const full = new LedgerFault({ path: "ledger", message: "the ledger ledger can't be written because the disk is full" })
const inUse = new LedgerInUse({ path: "ledger", message: "Another plaza-stock-sync works with the ledger" })

/** A ledger of which some operations fail while a test wants it, opened as often as it is asked for. */
const breakable = (ledger: Ledger["Type"]) =>
  Effect.gen(function*() {
    const broken = yield* Ref.make<{ readonly operations: ReadonlyArray<keyof Ledger["Type"]>; readonly opening: LedgerFault | LedgerInUse | undefined }>({
      operations: [],
      opening: undefined
    })
    const opened = yield* Ref.make(0)
    const unless = <A, E, R>(operation: keyof Ledger["Type"], effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Ref.get(broken), ({ operations }): Effect.Effect<A, E | LedgerFault, R> => operations.includes(operation) ? Effect.fail(full) : effect)
    const service: Ledger["Type"] = {
      ...ledger,
      take: (choice) => unless("take", ledger.take(choice)),
      confirm: (id, value) => unless("confirm", ledger.confirm(id, value)),
      receive: (rows, terms) => unless("receive", ledger.receive(rows, terms))
    }
    const layer = Layer.effect(Ledger, Effect.gen(function*() {
      const { opening } = yield* Ref.get(broken)
      if (opening !== undefined) return yield* Effect.fail(opening)
      yield* Ref.update(opened, (times) => times + 1)
      // As whoever opens it does.
      yield* Stream.runForEach(Stream.filter(ledger.open, ({ state }) => state === "sending"), ({ productId, wanted }) =>
        ledger.fail(productId, "doubtful", { tag: "Interrupted", code: undefined, message: "cut off", value: wanted }, false))
      return service
    }))
    return {
      layer,
      opened: Ref.get(opened),
      breaks: (...operations: ReadonlyArray<keyof Ledger["Type"]>) => Ref.set(broken, { operations, opening: undefined }),
      shut: (opening: LedgerFault | LedgerInUse) => Ref.set(broken, { operations: ["take"], opening }),
      heals: Ref.set(broken, { operations: [], opening: undefined })
    }
  })

describe("a ledger that fails under a running loop", () => {
  for (const operation of ["take", "confirm", "receive"] as const) {
    it.live(`at ${operation} is opened anew until it works, is said to fail, and nothing is lost`, () =>
      inShop(wanted, (ledger) =>
        Effect.gen(function*() {
          const breaking = yield* breakable(ledger)
          const feed = yield* source(wanted)
          const { standing } = yield* started(feed.service, ledger, { ledger: breaking.layer })
          yield* Effect.sleep("30 seconds")
          yield* breaking.breaks(operation)
          yield* feed.set(next)
          yield* Effect.sleep("1 hour")
          const state = yield* standing.state
          expect(state.errors[0]).toMatchObject({ about: "ledger", message: full.message })
          expect(yield* breaking.opened).toBeLessThan(90)
          yield* breaking.heals
          yield* Effect.sleep("2 minutes")
          expect((yield* standing.state).ledger).toMatchObject({ _tag: "Open" })
          expect(yield* held(...ids)).toEqual(next)
          expect(yield* ledger.counts).toMatchObject({ settled: 30, doubtful: 0, sending: 0 })
        })))
  }

  for (const failure of [full, inUse]) {
    it.live(`and can't be opened again for a while (${failure._tag}) is waited for`, () =>
      inShop(wanted, (ledger) =>
        Effect.gen(function*() {
          const breaking = yield* breakable(ledger)
          const feed = yield* source(wanted)
          const { standing } = yield* started(feed.service, ledger, { ledger: breaking.layer })
          yield* Effect.sleep("30 seconds")
          yield* breaking.shut(failure)
          yield* feed.set(next)
          yield* Effect.sleep("10 minutes")
          expect((yield* standing.state).ledger).toMatchObject({ _tag: "Failing", failure: { tag: failure._tag } })
          yield* breaking.heals
          yield* Effect.sleep("2 minutes")
          expect(yield* held(...ids)).toEqual(next)
        })))

    it.live(`and can't be opened at the start (${failure._tag}) ends the loop at once`, () =>
      inShop(wanted, (ledger) =>
        Effect.gen(function*() {
          const breaking = yield* breakable(ledger)
          yield* breaking.shut(failure)
          const { fiber } = yield* started((yield* source(wanted)).service, ledger, { ledger: breaking.layer })
          expect(yield* Effect.flip(Fiber.join(fiber))).toBe(failure)
        })))
  }

  it.live("of another account ends the loop before anything is taken or sent", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        yield* ledger.bind({ baseUrl: "https://elsewhere/open/v1", id: "1" })
        const { fiber } = yield* started((yield* source(wanted)).service, ledger)
        expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({ _tag: "OtherAccount" })
        expect(yield* patches).toEqual([])
      })))
})

describe("a stop of a running loop", () => {
  it.live("lets finish what is under way, begins nothing new, and leaves a ledger that tells the truth", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        yield* answersAfter(4_000)
        const feed = yield* source(wanted)
        const { fiber, standing, stop } = yield* started(feed.service, ledger, { concurrency: 2 })
        // Whose key it is takes as long as everything else.
        while ((yield* patches).length < 2) yield* Effect.sleep("100 millis")
        yield* Effect.fork(stop)
        yield* Effect.sleep("1 second")
        expect(yield* standing.state).toMatchObject({ stopping: true })
        expect(yield* Fiber.poll(fiber)).toMatchObject({ _tag: "None" })
        expect(Exit.isInterrupted(yield* Fiber.await(fiber))).toBe(true)
        expect(yield* patches).toHaveLength(2)
        expect(yield* ledger.counts).toMatchObject({ settled: 2, pending: 28, sending: 0, doubtful: 0 })
      })))

  it.live("doesn't wait longer than it was told, and remembers what was cut off as doubtful", () =>
    inShop(wanted, (ledger) =>
      Effect.gen(function*() {
        yield* answersAfter(25_000)
        const feed = yield* source(wanted)
        const { stop } = yield* started(feed.service, ledger, { concurrency: 2 })
        while ((yield* patches).length < 2) yield* Effect.sleep("100 millis")
        yield* stop
        expect(yield* ledger.counts).toMatchObject({ doubtful: 2, pending: 28, sending: 0 })
        yield* answersAfter(latency)
        yield* started(feed.service, ledger)
        yield* Effect.sleep("30 seconds")
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})
