import { describe, expect, it } from "@effect/vitest"
import { Profiles, RateLimit } from "@plaza/client"
import { Effect, Layer } from "effect"
import { inVirtualTime, patient, unusable } from "./support/AllowanceRules.js"
import * as Fake from "./support/FakeService.js"

describe("the allowance of a key, in memory", () => {
  inVirtualTime((allowance) => Layer.orDie(RateLimit.layerMemory(allowance)), 30)

  for (const [setting, values] of Object.entries(unusable)) {
    for (const value of values) {
      it.scoped(`is refused with a ${setting} of ${String(value)}, and the setting is named`, () =>
        Effect.gen(function*() {
          const failure = yield* Effect.flip(Layer.build(RateLimit.layerMemory({ [setting]: value })))
          expect(failure).toMatchObject({ _tag: "InvalidSettings", setting, message: expect.stringMatching(`^${setting} must`) as unknown })
        }))
    }
  }
})

describe("a slot that is reserved", () => {
  it.effect("is the one that a call goes out in", () =>
    Effect.gen(function*() {
      const { calls, layer } = Fake.scripted([Fake.json({ id: "1" })], { rateLimit: 1 })
      yield* Effect.scoped(Effect.gen(function*() {
        const limit = yield* RateLimit.RateLimit
        const slot = yield* limit.reserve(patient)
        const { me } = yield* Profiles
        // It would have to wait a minute for another one.
        yield* RateLimit.inSlot(slot)(me)
      })).pipe(Effect.provide(layer))
      expect(calls).toHaveLength(1)
    }))
})
