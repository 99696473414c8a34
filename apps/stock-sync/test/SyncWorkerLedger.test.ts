/** A ledger that fails under a running engine is opened anew, again and again if need be, and nothing is lost. */
import { describe, expect, it } from "@effect/vitest"
import { RateLimit } from "@plaza/client"
import { Clock, Duration, Effect, Exit, Fiber, Layer, Ref } from "effect"
import { Ledger } from "../src/ledger/Ledger.ts"
import { LedgerFault, LedgerInUse } from "../src/ledger/LedgerError.ts"
import { held } from "./support/sandbox.ts"
import {
  entryOf,
  faultsEnd,
  type MemoryLedger,
  memoryLedger,
  once,
  patches,
  products,
  respondsAfter,
  simulated,
  source,
  started
} from "./support/simulation.ts"

const wanted = products(30, () => 5)
const next = products(30, () => 6)
const ids = Object.keys(wanted)
const full = new LedgerFault({ path: "ledger", message: "the ledger ledger can't be written because the disk is full" })
const removed = new LedgerFault({
  path: "ledger",
  message: "the ledger ledger or its lock file was removed or replaced while it was in use"
})
const inUse = new LedgerInUse({ path: "ledger", message: "another plaza-stock-sync works with the ledger" })

interface Broken {
  readonly operations: ReadonlyArray<keyof Ledger["Service"]>
  readonly opening: LedgerFault | LedgerInUse | undefined
}

/** A ledger of which some operations fail while a test wants it, opened as often as the engine asks. */
const breakable = ({ ledger, reopened }: MemoryLedger) =>
  Effect.gen(function*() {
    const broken = yield* Ref.make<Broken>({ operations: [], opening: undefined })
    const opened = yield* Ref.make(0)
    const unless = <A, E, R>(operation: keyof Ledger["Service"], effect: Effect.Effect<A, E, R>) =>
      Effect.flatMap(Ref.get(broken),
        ({ operations }): Effect.Effect<A, E | LedgerFault, R> =>
          operations.includes(operation) ? Effect.fail(operation === "check" ? removed : full) : effect)
    const service: Ledger["Service"] = {
      ...ledger,
      check: unless("check", ledger.check),
      take: (selection) => unless("take", ledger.take(selection)),
      confirm: (send) => unless("confirm", ledger.confirm(send)),
      applySnapshot: (input, policy) => unless("applySnapshot", ledger.applySnapshot(input, policy))
    }
    const layer = Layer.effect(Ledger, Effect.gen(function*() {
      const { opening } = yield* Ref.get(broken)
      if (opening !== undefined) return yield* Effect.fail(opening)
      yield* Ref.update(opened, (times) => times + 1)
      yield* reopened
      return service
    }))
    return {
      layer,
      opened: Ref.get(opened),
      breaks: (operation: keyof Ledger["Service"]) => Ref.set(broken, { operations: [operation], opening: undefined }),
      closes: (opening: LedgerFault | LedgerInUse) => Ref.set(broken, { operations: ["take"], opening }),
      heals: Ref.set(broken, { operations: [], opening: undefined })
    }
  })

describe("a ledger that fails under a running worker", () => {
  for (const operation of ["take", "confirm", "applySnapshot", "check"] as const) {
    it.effect(`at ${operation} is reported and opened again until it works, and nothing is lost`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          const { ledger } = memory
          const breaking = yield* breakable(memory)
          const feed = yield* source(wanted)
          const { state } = yield* started(feed.service, ledger, { ledger: breaking.layer })
          yield* Effect.sleep("30 seconds")
          yield* breaking.breaks(operation)
          yield* feed.set(next)
          yield* Effect.sleep("1 hour")
          expect((yield* state).errors[0]).toMatchObject({
            about: "ledger",
            message: operation === "check" ? removed.message : full.message
          })
          expect(yield* breaking.opened).toBeLessThan(90)
          if (operation === "check") expect(yield* patches).toHaveLength(30)
          yield* breaking.heals
          yield* Effect.sleep("3 minutes")
          expect((yield* state).ledger).toMatchObject({ _tag: "Open" })
          expect(yield* held(...ids)).toEqual(next)
          expect(yield* ledger.counts).toMatchObject({ settled: 30, doubtful: 0, sending: 0 })
        })))
  }

  for (const failure of [full, inUse]) {
    it.effect(`that can't be opened for a while (${failure._tag}) is opened with backoff`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          const breaking = yield* breakable(memory)
          const feed = yield* source(wanted)
          const { state } = yield* started(feed.service, memory.ledger, { ledger: breaking.layer })
          yield* Effect.sleep("30 seconds")
          yield* breaking.closes(failure)
          yield* feed.set(next)
          yield* Effect.sleep("10 minutes")
          expect((yield* state).ledger).toMatchObject({ _tag: "Failing", failure: { tag: failure._tag } })
          yield* breaking.heals
          yield* Effect.sleep("2 minutes")
          expect(yield* held(...ids)).toEqual(next)
        })))

    it.effect(`that can't be opened at the start (${failure._tag}) ends the worker`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          const breaking = yield* breakable(memory)
          yield* breaking.closes(failure)
          const { fiber } = yield* started((yield* source(wanted)).service, memory.ledger, { ledger: breaking.layer })
          expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({ _tag: failure._tag, message: failure.message })
        })))
  }
})

describe("a ledger that is replaced under a running worker", () => {
  for (const [name, before] of [["an empty one", undefined], ["an older copy", wanted]] as const) {
    it.effect(`by ${name} is filled from the unchanged source`, () =>
      simulated(wanted, (first) =>
        Effect.gen(function*() {
          const second = yield* memoryLedger()
          if (before !== undefined) yield* once(second, before)
          const current = yield* Ref.make({ ledger: first.ledger, isRemoved: false })
          const layer = Layer.effect(Ledger, Effect.map(Ref.get(current), ({ ledger }) => ({
            ...ledger,
            check: Effect.flatMap(Ref.get(current), ({ isRemoved }) =>
              isRemoved && ledger === first.ledger ? Effect.fail(removed) : Effect.void)
          })))
          const feed = yield* source(wanted)
          yield* started(feed.service, first.ledger, { ledger: layer })
          yield* Effect.sleep("30 seconds")
          yield* feed.set(next)
          yield* Effect.sleep("30 seconds")
          yield* Ref.set(current, { ledger: second.ledger, isRemoved: true })
          yield* Effect.sleep("1 minute")
          expect(yield* held(...ids)).toEqual(next)
          expect(yield* second.ledger.counts).toMatchObject({ settled: 30 })
          expect(yield* entryOf(second.ledger, "P0000")).toMatchObject({ wanted: 6, confirmed: 6 })
        })))
  }
})

describe("the shutdown of a worker", () => {
  it.effect("waits for requests in flight, starts none, and leaves a correct ledger", () =>
    simulated(wanted, ({ ledger }) =>
      Effect.gen(function*() {
        yield* respondsAfter(4_000)
        const { fiber, state, stop } = yield* started((yield* source(wanted)).service, ledger, { concurrency: 2 })
        // GET /me takes as long as everything else.
        while ((yield* patches).length < 2) yield* Effect.sleep("100 millis")
        yield* Effect.forkChild(stop)
        yield* Effect.sleep("1 second")
        expect(yield* state).toMatchObject({ stopping: true })
        expect(fiber.pollUnsafe()).toBeUndefined()
        expect(Exit.hasInterrupts(yield* Fiber.await(fiber))).toBe(true)
        expect(yield* patches).toHaveLength(2)
        expect(yield* ledger.counts).toMatchObject({ settled: 2, pending: 28, sending: 0, doubtful: 0 })
      })))

  it.effect("waits at most for --stop-within, and interrupted requests are doubtful", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        const { ledger } = memory
        yield* respondsAfter(25_000)
        const feed = yield* source(wanted)
        const { stop } = yield* started(feed.service, ledger, { concurrency: 3 })
        while ((yield* patches).length < 2) yield* Effect.sleep("100 millis")
        yield* stop
        expect(yield* ledger.counts).toMatchObject({ doubtful: 2, pending: 28, sending: 0 })
        yield* faultsEnd
        yield* started(feed.service, ledger)
        yield* Effect.sleep("30 seconds")
        expect(yield* held(...ids)).toEqual(wanted)
      })))
})

/** A ledger whose database may fall silent: no statement ends, and none can be interrupted, as in a transaction. */
const silenceable = ({ ledger, reopened }: MemoryLedger) =>
  Effect.gen(function*() {
    const silent = yield* Ref.make(false)
    const unless = <A, E, R>(statement: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.flatMap(Ref.get(silent), (now) => now ? Effect.uninterruptible(Effect.never) : statement)
    const lost = new LedgerFault({ path: "ledger", message: "the ledger did not respond in time" })
    const service: Ledger["Service"] = {
      ...ledger,
      check: unless(ledger.check),
      counts: unless(ledger.counts),
      snapshot: unless(ledger.snapshot),
      nextDue: (maxAttempts) => unless(ledger.nextDue(maxAttempts)),
      take: (selection) => unless(ledger.take(selection)),
      confirm: (send) => unless(ledger.confirm(send)),
      fail: (send, failed) => unless(ledger.fail(send, failed)),
      applySnapshot: (input, policy) => unless(ledger.applySnapshot(input, policy)),
      // The ledger of a server looks every two seconds, and waits for six.
      lost: Effect.forever(
        Effect.flatMap(Effect.delay(Ref.get(silent), "2 seconds"),
          (now) => now ? Effect.delay(Effect.fail(lost), "6 seconds") : Effect.void)
      )
    }
    return {
      service,
      layer: Layer.effect(Ledger, Effect.as(unless(reopened), service)),
      fallsSilent: Ref.set(silent, true),
      responds: Ref.set(silent, false)
    }
  })

/** How long an effect takes, in seconds. */
const secondsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    yield* effect
    return ((yield* Clock.currentTimeMillis) - start) / 1_000
  })

// With the time in which the outcomes of the last requests are recorded.
const stopLimit = 11

describe("a ledger that falls silent", () => {
  it.effect("is in the status within ten seconds, and opened again when it responds", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        const { fallsSilent, layer, responds } = yield* silenceable(memory)
        const feed = yield* source(wanted)
        const { state } = yield* started(feed.service, memory.ledger, { ledger: layer })
        yield* Effect.sleep("30 seconds")
        yield* fallsSilent
        yield* feed.set(next)
        yield* Effect.sleep("10 seconds")
        expect((yield* state).ledger).toMatchObject({ _tag: "Failing", failure: { message: "the ledger did not respond in time" } })
        expect(yield* patches).toHaveLength(30)
        yield* responds
        yield* Effect.sleep("1 minute")
        expect((yield* state).ledger).toMatchObject({ _tag: "Open" })
        expect(yield* held(...ids)).toEqual(next)
        expect(yield* memory.ledger.counts).toMatchObject({ settled: 30, doubtful: 0, sending: 0 })
      })))

  it.effect("keeps no request in flight for longer than a stop does, so that none meets one of the next session", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        const { fallsSilent, layer } = yield* silenceable(memory)
        const { status } = yield* RateLimit.RateLimit
        const inFlight = Effect.map(status, (now) => now.inFlight)
        const feed = yield* source(wanted)
        yield* started(feed.service, memory.ledger, { ledger: layer })
        yield* Effect.sleep("30 seconds")
        yield* respondsAfter(200_000)
        yield* feed.set(next)
        yield* Effect.sleep("1 second")
        expect(yield* inFlight).toBe(7)
        yield* fallsSilent
        yield* Effect.sleep("19 seconds")
        // The slot of the product that the ledger does not return.
        expect(yield* inFlight).toBeLessThanOrEqual(1)
      }), { timeout: Duration.minutes(5) }))

  for (const after of [0, 1, 9, 60]) {
    it.effect(`delays no stop that comes ${after} seconds later`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          const { fallsSilent, layer } = yield* silenceable(memory)
          const feed = yield* source(wanted)
          const { stop } = yield* started(feed.service, memory.ledger, { ledger: layer })
          yield* Effect.sleep("30 seconds")
          yield* fallsSilent
          yield* feed.set(next)
          yield* Effect.sleep(after * 1_000)
          expect(yield* secondsOf(stop)).toBeLessThanOrEqual(stopLimit)
        })))

    it.effect(`delays no stop of \`once\` that comes ${after} seconds later, and ends it`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          const { fallsSilent, service } = yield* silenceable(memory)
          const fiber = yield* Effect.forkChild(once({ ...memory, ledger: service }, wanted, { concurrency: 1 }))
          yield* Effect.sleep("1 second")
          yield* fallsSilent
          yield* Effect.sleep(after * 1_000)
          expect(yield* secondsOf(Fiber.interrupt(fiber))).toBeLessThanOrEqual(stopLimit)
          const exit = yield* Fiber.await(fiber)
          expect(Exit.hasInterrupts(exit) || Exit.hasFails(exit)).toBe(true)
          if (after > 20)
            expect(exit).toEqual(Exit.fail(new LedgerFault({ path: "ledger", message: "the ledger did not respond in time" })))
        })))
  }
})
