/** The greeter against the sandbox, in virtual time. */
import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import type { ConversationId } from "@plaza/domain"
import { Sandbox } from "@plaza/sandbox"
import { Effect, Layer, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { Journal, pass } from "../src/greeter/Greeter.ts"
import { commitsOf, journal, world } from "./support/World.ts"

const fixtures = { generate: { people: 30, follows: 0, posts: 0, products: 0, orders: 0, conversations: 20 } }
const inProcess = (sandbox: Sandbox.Options = {}) => Layer.merge(world({}, sandbox), Layer.provide(Journal.layer, journal()))

const run = pass({ text: "Welcome!", greetExisting: false })
const runAll = pass({ text: "Welcome!", greetExisting: true })

/** A new person with a conversation. */
const personWith = (username: string) =>
  Effect.gen(function*() {
    const sandbox = yield* Sandbox.Sandbox
    const { keys } = yield* sandbox.state
    const shop = String(keys[0]?.accountId)
    const { id } = yield* sandbox.createAccount({ username })
    const conversation = yield* sandbox.createConversation({ peerId: id })
    return { conversation, set: (relation: { follows?: boolean; blocks?: boolean }) => sandbox.setRelation(id, shop, relation) }
  })

const stateOf = (conversation: ConversationId, entries: Effect.Success<typeof run>) =>
  entries.find((entry) => entry.conversation === conversation)?.state

const greeted = Effect.map(commitsOf("sendMessage"), (all) => all.map(({ params }) => params["id"]))

describe("the greeter", () => {
  it.effect("greets each new conversation once, and none that existed before the first pass", () =>
    Effect.gen(function*() {
      expect(new Set((yield* run).map(({ state }) => state))).toEqual(new Set(["skipped"]))
      const { conversation, set } = yield* personWith("new.person")
      yield* set({ follows: true })
      yield* run
      expect(stateOf(conversation, yield* run)).toBe("greeted")
      expect(yield* greeted).toEqual([conversation])
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("waits a day where the chat rules forbid a greeting, and then greets a person who follows", () =>
    Effect.gen(function*() {
      const { countRequests } = yield* Sandbox.Sandbox
      yield* run
      const { conversation, set } = yield* personWith("new.person")
      expect(stateOf(conversation, yield* run)).toBe("waiting")
      yield* set({ follows: true })
      expect(stateOf(conversation, yield* run)).toBe("waiting")
      expect(yield* countRequests({ method: "POST" })).toBe(1)
      yield* TestClock.adjust("1 day")
      expect(stateOf(conversation, yield* run)).toBe("greeted")
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("does not try again with a person who has blocked the account", () =>
    Effect.gen(function*() {
      const { countRequests } = yield* Sandbox.Sandbox
      yield* run
      const { conversation, set } = yield* personWith("new.person")
      yield* set({ follows: true, blocks: true })
      yield* run
      yield* TestClock.adjust("2 days")
      expect(stateOf(conversation, yield* run)).toBe("closed")
      expect(yield* countRequests({ method: "POST" })).toBe(1)
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect("reports a greeting that was being sent when the program ended, and does not repeat it", () =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* run
      const { conversation, set } = yield* personWith("new.person")
      yield* set({ follows: true })
      yield* addFault({ kind: "delay", when: "after", millis: 20_000, method: "POST" })
      yield* Effect.timeoutOption(run, "10 seconds")
      expect(stateOf(conversation, yield* run)).toBe("unknown")
      expect(yield* greeted).toEqual([conversation])
    }).pipe(TestTime.advancing, Effect.provide(inProcess())))

  it.effect.each([1, 2, 3, 4])("greets nobody twice while the service fails: latitude %i", (latitude) =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      yield* addFault({ kind: "drop", when: "after", method: "POST", rate: 0.3 })
      yield* addFault({ kind: "status", when: "after", status: 503, method: "POST", rate: 0.3 })
      yield* addFault({ kind: "status", when: "before", status: 401, rate: 0.05 })
      // Some services fail in every pass. The journal is right all the same.
      yield* Effect.repeat(Effect.ignore(runAll), Schedule.spaced("1 hour").pipe(Schedule.upTo({ times: 20 })))
      const entries = yield* Effect.flatMap(Journal, (kept) => kept.entries)
      const sent = yield* greeted
      expect(new Set(sent).size).toBe(sent.length)
      expect(entries.length).toBeGreaterThan(20)
      for (const { conversation, state } of entries) {
        if (state === "greeted") expect(sent).toContain(conversation)
        if (state === "waiting" || state === "closed") expect(sent).not.toContain(conversation)
      }
      expect(entries.filter(({ state }) => state === "unknown").length).toBeGreaterThan(0)
    }).pipe(TestTime.advancing, Effect.provide(inProcess({ latitude, fixtures }))))
})
