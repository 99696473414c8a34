/** Whose store it is: what GET /me shows, does not show, or refuses, and what the ledger makes of it. */
import { describe, expect, it } from "@effect/vitest"
import { type Fault, Sandbox } from "@plaza/sandbox"
import { Effect, Fiber, Option } from "effect"
import type { Account } from "../src/ledger/Ledger.ts"
import { held } from "./support/sandbox.ts"
import {
  fault,
  faultsEnd,
  forEver,
  type MemoryLedger,
  once,
  patches,
  products,
  requestsOf,
  simulated,
  source,
  started,
  stockOf
} from "./support/simulation.ts"

const wanted = products(20, () => 5)
const ids = Object.keys(wanted)
const keyFingerprint = "0123456789abcdef"

const me = (status: number, more: Partial<Extract<Fault, { readonly kind: "status" }>> = {}): Fault => ({
  kind: "status",
  when: "before",
  path: "/me",
  times: forEver,
  status,
  ...more
})
const shows = (profile: unknown): Fault => me(200, { body: JSON.stringify(profile), contentType: "application/json" })

/** `GET /me` does not show whose key it is, and never will. */
const withoutId: ReadonlyArray<readonly [name: string, fault: Fault]> = [
  ["has no id", shows({ username: "shop" })],
  ["has the id null", shows({ id: null, username: "shop" })],
  ["has a number for an id", shows({ id: 1001, username: "shop" })],
  ["is a page of HTML", { kind: "garbage", body: "<html>hello</html>", path: "/me", times: forEver }],
  ["is empty", me(204, { body: "" })],
  ["is 403 INSUFFICIENT_SCOPE", me(403, { code: "INSUFFICIENT_SCOPE" })],
  ["is 403 with an unknown code", me(403, { code: "SOMETHING_NEW" })],
  ["is 400", me(400)]
]

const boundTo = (memory: MemoryLedger) => Effect.map(memory.ledger.account, Option.getOrUndefined)
const bound = (memory: MemoryLedger, account: Partial<Account>) =>
  Effect.flatMap(Sandbox.Sandbox, ({ baseUrl }) => memory.ledger.bind({ baseUrl, id: undefined, keyFingerprint, ...account }))

describe("a worker whose response to GET /me", () => {
  for (const [name, asked] of withoutId) {
    it.effect(`${name} starts and binds the ledger to address and key`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          yield* fault(asked)
          const { state, stop } = yield* started((yield* source(wanted)).service, memory.ledger)
          yield* Effect.sleep("30 seconds")
          expect((yield* state).account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(wanted)
          expect(yield* boundTo(memory)).toMatchObject({ keyFingerprint })
          expect((yield* requestsOf("/me")).length).toBeLessThanOrEqual(1)
          yield* stop
          expect(yield* once(memory, products(20, () => 6))).toMatchObject({ confirmed: 20, ended: { _tag: "Idle" } })
          // The id is added where it is shown later, and stays where it is not shown again.
          yield* faultsEnd
          expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 20 })
          expect(yield* boundTo(memory)).toMatchObject({ id: "1001" })
          yield* fault(asked)
          expect(yield* once(memory, products(20, () => 7))).toMatchObject({ confirmed: 20 })
          expect(yield* boundTo(memory)).toMatchObject({ id: "1001" })
        })))
  }

  for (
    const [name, asked] of [["is 500", me(500)], ["never comes", { kind: "drop", when: "before", path: "/me", times: forEver }]] as const
  ) {
    it.effect(`${name} starts with a ledger of the same address and key`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          yield* bound(memory, { id: "1001" })
          yield* fault(asked)
          const { state } = yield* started((yield* source(wanted)).service, memory.ledger)
          yield* Effect.sleep("30 seconds")
          expect((yield* state).account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(wanted)
          expect(yield* boundTo(memory)).toMatchObject({ id: "1001" })
        })))

    it.effect(`${name} waits with a new ledger until the service responds; once ends with the reason`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          yield* fault(asked)
          expect(yield* once(memory, wanted)).toMatchObject({
            ended: { _tag: "Open", state: { reason: "ServiceFault" } },
            counts: { pending: 0 }
          })
          const { state } = yield* started((yield* source(wanted)).service, memory.ledger)
          yield* Effect.sleep("10 minutes")
          expect((yield* state).account).toMatchObject({ _tag: "Trouble" })
          expect(yield* patches).toEqual([])
          yield* faultsEnd
          yield* Effect.sleep("90 seconds")
          expect((yield* state).account).toMatchObject({ _tag: "Running" })
          expect(yield* held(...ids)).toEqual(wanted)
        })))
  }
})

describe("a base address without GET /me", () => {
  it.effect("is rejected by run and once before they read the source or send", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* fault(me(404))
        const { fiber } = yield* started((yield* source(wanted)).service, memory.ledger)
        expect(yield* Effect.flip(Fiber.join(fiber))).toMatchObject({ _tag: "WrongAddress" })
        expect(yield* Effect.flip(once(memory, wanted))).toMatchObject({
          _tag: "WrongAddress",
          message: expect.stringContaining("PLAZA_BASE_URL") as string
        })
        expect(yield* patches).toEqual([])
        expect(yield* boundTo(memory)).toBeUndefined()
      })))

  it.effect("does not stop a worker whose ledger knows the address and the key", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* bound(memory, { id: "1001" })
        yield* fault(me(404))
        expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 20 })
      })))
})

describe("three refused products", () => {
  const unhelpful = [...withoutId, ["is 500", me(500)], ["never comes", {
    kind: "drop",
    when: "before",
    path: "/me",
    times: forEver
  }]] as const
  for (const [name, asked] of unhelpful) {
    it.effect(`delay no other product if the response to GET /me ${name}`, () =>
      simulated(wanted, (memory) =>
        Effect.gen(function*() {
          yield* bound(memory, { id: "1001" })
          yield* fault(asked)
          for (const id of ["P0000", "P0001", "P0002"]) {
            yield* fault({ kind: "status", when: "before", status: 403, code: "STORE_BLOCKED", path: stockOf(id), times: forEver })
          }
          const { state } = yield* started((yield* source(wanted)).service, memory.ledger, { concurrency: 1 })
          yield* Effect.sleep("30 seconds")
          expect((yield* state).account).toMatchObject({ _tag: "Running" })
          expect(yield* memory.ledger.counts).toMatchObject({ settled: 17, quarantined: 3 })
        })))
  }
})

describe("a ledger", () => {
  const refusedFor = (account: Partial<Account>, ...faults: ReadonlyArray<Fault>) =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* bound(memory, account)
        yield* Effect.forEach(faults, fault, { discard: true })
        const { fiber } = yield* started((yield* source(wanted)).service, memory.ledger)
        const running = yield* Effect.flip(Fiber.join(fiber))
        expect(running).toMatchObject({ _tag: "OtherAccount" })
        expect(yield* Effect.flip(once(memory, wanted))).toMatchObject({ _tag: "OtherAccount" })
        expect(yield* patches).toEqual([])
        expect(yield* memory.ledger.counts).toMatchObject({ pending: 0 })
        return running.message
      }))

  it.effect("of another account is rejected before the source is read or anything is sent", () =>
    Effect.map(refusedFor({ id: "4711" }), (message) => expect(message).toContain("belongs to account 4711")))

  it.effect("of another address is rejected, with the command that adopts it", () =>
    Effect.map(refusedFor({ baseUrl: "https://elsewhere.example/open/v1" }), (message) =>
      expect(message).toContain("plaza-stock-sync adopt")))

  it.effect("of another key is rejected if GET /me does not show that the account is the same", () =>
    Effect.map(refusedFor({ keyFingerprint: "fedcba9876543210" }, me(403, { code: "INSUFFICIENT_SCOPE" })), (message) =>
      expect(message).toContain("plaza-stock-sync adopt")))

  it.effect("of another key of the same account is used", () =>
    simulated(wanted, (memory) =>
      Effect.gen(function*() {
        yield* bound(memory, { id: "1001", keyFingerprint: "fedcba9876543210" })
        expect(yield* once(memory, wanted)).toMatchObject({ confirmed: 20 })
        expect(yield* boundTo(memory)).toMatchObject({ id: "1001", keyFingerprint })
      })))
})
