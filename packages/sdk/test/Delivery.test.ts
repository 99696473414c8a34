/** Delivery on fake timers: what the client does after a failure, and what its errors say. No test waits. */
import {
  AttemptTimeout,
  Conflict,
  type Failure,
  isPlazaError,
  OutcomeUnknown,
  type Plaza,
  RateLimited,
  RateLimitWaitExceeded
} from "@plaza/sdk"
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { collect, failureOf } from "./support/Outcome.ts"
import { start } from "./support/Start.ts"

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** Lets time pass until a call ends. */
const passing = async <A>(call: Promise<A>): Promise<A> => {
  let isDone = false
  const ended = call.finally(() => {
    isDone = true
  })
  ended.catch(() => {})
  while (!isDone) await vi.advanceTimersByTimeAsync(100)
  return ended
}

const order = "500001"
const shipment = { carrier: "DHL", trackingNumber: "JD01" }
const ship = ({ store }: Plaza) => store.ship(order, shipment)

it("a post whose response was lost is found, and not sent again", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  await sandbox.addFault({ kind: "status", when: "after", status: 503, method: "POST", path: "/posts" })
  const post = await passing(plaza.posts.create({ text: "Once" }))
  const { posts } = await sandbox.state()
  expect(posts.filter(({ text }) => text === "Once")).toMatchObject([{ id: post.id }])
  expect(await sandbox.countRequests({ method: "POST", path: "/posts" })).toBe(1)
})

it("a shipment that met a conflict after a failure is unknown, and most likely done", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  await sandbox.addFault({ kind: "status", when: "after", status: 503, path: "/store/orders/*/ship" })
  const failure = await passing(failureOf(ship(plaza)))
  expect(failure).toBeInstanceOf(OutcomeUnknown)
  expect(failure).toMatchObject({ _tag: "OutcomeUnknown", likely: "done", mayHaveHappened: true, operation: "shipOrder", attempts: 2 })
  expect(failure.cause).toBeInstanceOf(Conflict)
  expect(failure.cause).toMatchObject({ status: 409, code: "CONFLICT", category: "Conflict" })
  // A second call is a definite refusal.
  expect(await passing(failureOf(ship(plaza)))).toMatchObject({ _tag: "Conflict", mayHaveHappened: false })
})

it("a message after an ambiguous failure is not sent again", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  const [conversation] = await passing(collect(plaza.chat.list()))
  await sandbox.addFault({ kind: "drop", when: "after", method: "POST" })
  const failure = await passing(failureOf(plaza.chat.send(conversation?.id ?? "", "On its way")))
  expect(failure).toMatchObject({ _tag: "OutcomeUnknown", cause: { _tag: "ConnectionLost", reason: "ECONNRESET" } })
  expect(await sandbox.countRequests({ method: "POST" })).toBe(1)
})

it("retries are those of the options of the call, else of the client", async () => {
  await using started = await start({ retry: { times: 2, delay: "1s" } })
  const { plaza, sandbox } = started
  const attempts: Array<readonly [number, number | undefined, boolean]> = []
  const onAttempt = ({ delay, failure, number }: { delay: number | undefined; failure: Failure | undefined; number: number }) => {
    attempts.push([number, delay, isPlazaError(failure)])
  }
  await sandbox.addFault({ kind: "status", when: "before", status: 503, times: 10 })
  expect(await passing(failureOf(plaza.profiles.me({ onAttempt })))).toMatchObject({ status: 503, attempts: 3, mayHaveHappened: false })
  expect(attempts.map(([number, , isFailure]) => [number, isFailure])).toEqual([[1, true], [2, true], [3, true]])
  // With the jitter of a fifth.
  const [first, second] = attempts.map(([, delay]) => delay ?? 0)
  expect(first).toBeGreaterThanOrEqual(800)
  expect(first).toBeLessThanOrEqual(1_200)
  expect(second).toBeGreaterThanOrEqual(1_600)
  expect(attempts[2]?.[1]).toBeUndefined()
  expect(await passing(failureOf(plaza.profiles.me({ retry: false })))).toMatchObject({ attempts: 1 })
  expect(await passing(failureOf(plaza.profiles.me({ retry: { times: 1 } })))).toMatchObject({ attempts: 2 })
})

it("a call without a response fails after its timeout, in milliseconds", async () => {
  await using started = await start({ timeout: "2s", retry: false })
  const { plaza, sandbox } = started
  await sandbox.addFault({ kind: "delay", when: "before", millis: 60_000, times: 2 })
  const failure = await passing(failureOf(plaza.profiles.me()))
  expect(failure).toBeInstanceOf(AttemptTimeout)
  expect(failure).toMatchObject({ timeout: 2_000, attempts: 1 })
  expect(await passing(failureOf(plaza.profiles.me({ timeout: 500 })))).toMatchObject({ timeout: 500 })
})

it("a quota is reported with its wait, and a wait beyond maxWait with its end", async () => {
  const logged: Array<unknown> = []
  await using started = await start({ rateLimit: 2, logger: ({ event, fields, level }) => logged.push([level, event, fields]) })
  const { plaza, sandbox } = started
  await passing(plaza.profiles.me())
  await passing(plaza.profiles.me())
  const waiting = await passing(failureOf(plaza.profiles.me({ maxWait: "10s" })))
  expect(waiting).toBeInstanceOf(RateLimitWaitExceeded)
  expect(waiting).toMatchObject({ category: "RateLimited", retryAt: expect.any(Date) as unknown })
  const seconds = ((waiting instanceof RateLimitWaitExceeded ? waiting.retryAt.getTime() : 0) - Date.now()) / 1_000
  expect(Math.round(seconds)).toBe(60)
  await vi.advanceTimersByTimeAsync(60_000)
  await sandbox.addFault({ kind: "status", when: "before", status: 429, retryAfter: "7200" })
  const quota = await passing(failureOf(plaza.profiles.me()))
  expect(quota).toBeInstanceOf(RateLimited)
  expect(quota).toMatchObject({ status: 429, code: "RATE_LIMITED", retryAfter: 7_200_000 })
  expect((await plaza.rateLimit.status()).pausedOperations).toMatchObject([{ operation: "getMe", until: expect.any(Date) as unknown }])
  expect(logged).toContainEqual(["Warn", "rate_limit.operation_paused", { operation: "getMe", seconds: 7_200 }])
})

it("calls of a closed client fail, those in flight with what is known", async () => {
  await using started = await start()
  const { plaza, sandbox } = started
  await sandbox.addFault({ kind: "delay", when: "after", millis: 60_000, times: 2 })
  const read = failureOf(plaza.profiles.me())
  const write = failureOf(plaza.chat.send("conv_301", "Hello"))
  await vi.advanceTimersByTimeAsync(10)
  await plaza.close()
  expect(await read).toMatchObject({ _tag: "ConnectionLost", reason: "CLOSED" })
  expect(await write).toMatchObject({ _tag: "OutcomeUnknown", mayHaveHappened: true })
  expect(await failureOf(plaza.profiles.me())).toMatchObject({ _tag: "ClientClosed", mayHaveHappened: false })
  await plaza.close()
})
