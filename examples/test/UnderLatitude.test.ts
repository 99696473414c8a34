/** The small programs against services that differ in what the document leaves open, such as their codes. */
import { describe, expect, it } from "@effect/vitest"
import { TestTime } from "@plaza/client"
import { ConversationId } from "@plaza/domain"
import { Latitude, Sandbox } from "@plaza/sandbox"
import { Effect, Option } from "effect"
import { postIfPossible } from "../src/CatchCategory.ts"
import { notify } from "../src/NotifyBuyer.ts"
import { setStock } from "../src/SetStock.ts"
import { makeCall } from "./support/Shop.ts"
import { commitsOf, world } from "./support/World.ts"

const seeds = Array.from({ length: 48 }, (_, seed) => seed)

/** A service of this seed, without what responds instead of the chosen faults: gateways, small bursts, pauses after a 503. */
const latitudeOf = (seed: number): Latitude.Latitude => ({
  ...Latitude.fromSeed(seed),
  gatewayStatus: null,
  dailyQuota: null,
  rateBurst: null,
  retryAfterOn503Seconds: 0
})

const against = (seed: number) => world({}, { latitude: latitudeOf(seed) })

const page = "<html>Forbidden</html>"
const mug = "MUG-BLUE-350"

describe("the small programs", () => {
  it.effect.each(seeds)("respond rightly to callers in front of the service of seed %i", (seed) =>
    Effect.gen(function*() {
      const { addFault } = yield* Sandbox.Sandbox
      const call = yield* makeCall
      const stock = (product: string) => Effect.map(call("PUT", `/products/${product}/stock`, { pieces: 7 }), ({ status }) => status)
      const announce = Effect.map(call("POST", "/announcements", { text: "Back in stock" }), ({ status }) => status)

      expect([yield* stock(mug), yield* stock("NONE")]).toEqual([204, 404])
      expect(yield* Effect.map(commitsOf("setStock"), ({ length }) => length)).toBe(1)
      for (const [refusal, response] of [[400, 422], [401, 500], [403, 500], [404, 404], [409, 422], [413, 422]] as const) {
        yield* addFault({ kind: "status", when: "before", status: refusal, code: "BRAND_NEW", method: "PATCH" })
        expect([refusal, yield* stock(mug)]).toEqual([refusal, response])
        // A refusal after an attempt that was carried out, and a page of a proxy.
        yield* addFault({
          kind: "sequence",
          method: "PATCH",
          outcomes: [{ kind: "drop", when: "after" }, { kind: "status", when: "before", status: refusal, code: "BRAND_NEW" }]
        })
        expect([refusal, yield* stock(mug)]).toEqual([refusal, 502])
        yield* addFault({ kind: "status", when: "after", status: refusal, body: page, method: "PATCH" })
        expect([refusal, yield* stock(mug)]).toEqual([refusal, 502])
      }
      yield* addFault({ kind: "status", when: "before", status: 404, code: "BRAND_NEW", method: "POST" })
      expect(yield* announce).toBe(422)
      yield* addFault({ kind: "status", when: "after", status: 403, body: page, method: "POST" })
      expect(yield* announce).toBe(502)
      expect(yield* Effect.map(commitsOf("createPost"), ({ length }) => length)).toBe(1)
    }).pipe(TestTime.advancing, Effect.provide(against(seed))))

  it.effect.each(seeds)("report the outcome of each call to the service of seed %i", (seed) =>
    Effect.gen(function*() {
      const { addFault, state } = yield* Sandbox.Sandbox
      const { conversations } = yield* state
      const conversation = ConversationId.make(String(conversations[0]?.id))
      expect(yield* setStock({ [mug]: 3, NONE: 4 })).toEqual([
        { id: mug, outcome: "set" },
        { id: "NONE", outcome: "unknown product" }
      ])
      yield* addFault({ kind: "status", when: "after", status: 404, body: page, method: "PATCH" })
      expect(yield* setStock({ [mug]: 5 })).toEqual([{ id: mug, outcome: "may be set: repeat it" }])

      yield* addFault({ kind: "status", when: "before", status: 403, code: "BRAND_NEW", method: "POST" })
      expect(yield* notify(conversation, "Hello")).toBe("refused")
      for (const outcome of [{ kind: "drop", when: "after" }, { kind: "status", when: "after", status: 403, body: page }] as const) {
        yield* addFault({ ...outcome, method: "POST" })
        expect(yield* notify(conversation, "Hello")).toBe("unknown")
      }
      expect(yield* Effect.map(commitsOf("sendMessage"), ({ length }) => length)).toBe(2)

      yield* addFault({ kind: "status", when: "before", status: 429, code: "BRAND_NEW", retryAfter: "30", method: "POST" })
      expect(yield* postIfPossible("Hello")).toEqual(Option.none())
    }).pipe(TestTime.advancing, Effect.provide(against(seed))))
})
