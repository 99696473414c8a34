/**
 * Products that sell out behind ten thousand waiting ones: measures how many requests go before each and how long it takes, with the
 * worker of `plaza-stock-sync` and with a FIFO queue of the same concurrency.
 */
import { Store, TestTime } from "@plaza/client"
import { Clock, Effect, Random, References } from "effect"
import { TestClock } from "effect/testing"
import { onRequest } from "../ChildProtocol.ts"
import * as SimulatedWorker from "./SimulatedWorker.ts"
import type { Task } from "./Task.ts"

interface Change {
  readonly slotsBefore: number
  readonly seconds: number
}

const changeOf = (requests: ReadonlyArray<SimulatedWorker.Request>, at: number, productId: string): Change | undefined => {
  const mine = requests.find((request) => request.productId === productId && request.sentAt >= at)
  return mine === undefined ? undefined : {
    slotsBefore: requests.filter(({ sentAt }) => sentAt > at && sentAt < mine.sentAt).length,
    seconds: (mine.sentAt - at) / 1_000
  }
}

/** Waits for the bodies of responses, which are promises. */
const inVirtualTime = <A, E, R>(program: Effect.Effect<A, E, R>) => Effect.provide(TestTime.advancing(program), TestClock.layer())

/** Sells out one product after the other, from the end of the list. */
const sellOut = (task: Task, change: (product: number) => Effect.Effect<void>) =>
  Effect.forEach(Array.from({ length: task.changes }, (_, index) => index), (index) =>
    Effect.gen(function*() {
      // More than a window between two changes, so that only one product waits.
      yield* Effect.sleep(yield* Random.nextIntBetween(65_000, 125_000))
      const product = task.products - 1 - index
      yield* change(product)
      return { at: yield* Clock.currentTimeMillis, productId: SimulatedWorker.idOf(product) }
    }))

const waitForAll = (
  task: Task,
  requests: ReadonlyArray<SimulatedWorker.Request>,
  changes: ReadonlyArray<{ readonly at: number; readonly productId: string }>
) =>
  Effect.gen(function*() {
    const measured = () => changes.flatMap(({ at, productId }) => changeOf(requests, at, productId) ?? [])
    while (measured().length < task.changes) yield* Effect.sleep(60_000)
    return measured()
  })

const withWorker = (task: Task) =>
  Effect.gen(function*() {
    const { layer, requests } = SimulatedWorker.service()
    const ledger = yield* SimulatedWorker.opened(task.place)
    const stocks = Array.from({ length: task.products }, () => 5)
    return yield* Effect.gen(function*() {
      const feed = yield* SimulatedWorker.source(stocks)
      yield* Effect.forkScoped(SimulatedWorker.run(ledger, feed.service, 0.1))
      const changes = yield* sellOut(task, (product) => {
        stocks[product] = 0
        return feed.changed
      })
      return yield* waitForAll(task, requests, changes)
    }).pipe(Effect.provide(layer), Effect.scoped, inVirtualTime)
  }).pipe(Effect.scoped)

const withFifo = (task: Task) =>
  Effect.gen(function*() {
    const { layer, requests } = SimulatedWorker.service()
    return yield* Effect.gen(function*() {
      const store = yield* Store
      const queue = Array.from({ length: task.products }, (_, product) => product)
      // The products that sell out are not in the queue at first. A queue that contained them would not move them forward.
      queue.splice(task.products - task.changes)
      const work = Effect.forever(Effect.suspend(() => {
        const product = queue.shift()
        return product === undefined ? Effect.sleep(100) : Effect.ignore(store.setStock(SimulatedWorker.idOf(product), 0))
      }))
      for (let worker = 0; worker < SimulatedWorker.concurrency; worker++) yield* Effect.forkScoped(work)
      const changes = yield* sellOut(task, (product) => Effect.sync(() => void queue.push(product)))
      return yield* waitForAll(task, requests, changes)
    }).pipe(Effect.provide(layer), Effect.scoped, inVirtualTime)
  })

onRequest((request) => {
  // The cast is true: only our parent process sends requests, and of this type.
  const task = request as Task
  const changes = task.kind === "worker" ? withWorker(task) : withFifo(task)
  return Effect.runPromise(changes.pipe(Random.withSeed("urgency"), Effect.provideService(References.MinimumLogLevel, "None")))
})
