/**
 * Products that sell out behind ten thousand waiting ones: how many are sent before each, and how long it takes, with
 * the engine and with the same number of FIFO workers.
 */
import { Store } from "@plaza/client"
import * as SimulatedTime from "@plaza/testing/SimulatedTime"
import { Clock, Effect, Random } from "effect"
import { answering } from "../answering.js"
import * as Looping from "./Looping.js"

export interface Task {
  readonly kind: "loop" | "fifo"
  /** Where the ledger lies. */
  readonly place: string
  readonly products: number
  readonly changes: number
}

export interface Change {
  readonly slotsBefore: number
  readonly seconds: number
}

const judged = (requests: ReadonlyArray<Looping.Request>, at: number, productId: string): Change | undefined => {
  const mine = requests.find((request) => request.productId === productId && request.sentAt >= at)
  return mine === undefined ? undefined : {
    slotsBefore: requests.filter(({ sentAt }) => sentAt > at && sentAt < mine.sentAt).length,
    seconds: (mine.sentAt - at) / 1_000
  }
}

/** Changes one product after the other, from the end. */
const changing = (task: Task, change: (product: number) => Effect.Effect<void>) =>
  Effect.forEach(Array.from({ length: task.changes }, (_, index) => index), (index) =>
    Effect.gen(function*() {
      // Further apart than the window, so that no two wait at once.
      yield* Effect.sleep(yield* Random.nextIntBetween(65_000, 125_000))
      const product = task.products - 1 - index
      yield* change(product)
      return { at: yield* Clock.currentTimeMillis, productId: Looping.idOf(product) }
    }))

const whole = (
  task: Task,
  requests: ReadonlyArray<Looping.Request>,
  changes: ReadonlyArray<{ readonly at: number; readonly productId: string }>
) =>
  Effect.gen(function*() {
    const judge = () => changes.flatMap(({ at, productId }) => judged(requests, at, productId) ?? [])
    while (judge().length < task.changes) yield* Effect.sleep(60_000)
    return judge()
  })

const withLoop = (task: Task) =>
  Effect.gen(function*() {
    const { layer, requests } = Looping.service()
    const ledger = yield* Looping.opened(task.place)
    const stocks = Array.from({ length: task.products }, () => 5)
    return yield* Effect.gen(function*() {
      const feed = yield* Looping.source(stocks)
      yield* Effect.forkScoped(Looping.loop(ledger, feed.service, 0.1))
      const changes = yield* changing(task, (product) => {
        stocks[product] = 0
        return feed.changed
      })
      return yield* whole(task, requests, changes)
    }).pipe(Effect.provide(layer), Effect.scoped, SimulatedTime.run)
  }).pipe(Effect.scoped)

const inOrder = (task: Task) =>
  Effect.gen(function*() {
    const { layer, requests } = Looping.service()
    return yield* Effect.gen(function*() {
      const store = yield* Store
      const queue = Array.from({ length: task.products }, (_, product) => product)
      // A product that changes while it waits keeps its place in many a queue; here it was sent already, as in the better case.
      queue.splice(task.products - task.changes)
      const work = Effect.forever(Effect.suspend(() => {
        const product = queue.shift()
        return product === undefined ? Effect.sleep(100) : Effect.ignore(store.setStock(Looping.idOf(product), 0))
      }))
      for (let worker = 0; worker < Looping.concurrency; worker++) yield* Effect.forkScoped(work)
      const changes = yield* changing(task, (product) => Effect.sync(() => void queue.push(product)))
      return yield* whole(task, requests, changes)
    }).pipe(Effect.provide(layer), Effect.scoped, SimulatedTime.run)
  })

answering((question) => {
  // The process that asks is ours and asks by this type.
  const task = question as Task
  return Effect.runPromise(Effect.withRandom(task.kind === "loop" ? withLoop(task) : inOrder(task), Random.make("urgency")))
})
